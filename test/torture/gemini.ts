/** Gemini CLI's sessions, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { numberAt, objectsIn, toLines, total, type Tally, type TortureCase } from './case.ts'

const time = (second: number): string => new Date(Date.UTC(2026, 4, 20, 9, 0, second)).toISOString()

const GEMINI = '55555555-5555-4555-8555-555555555555'
const header = {
  sessionId: GEMINI,
  projectHash: 'ab'.repeat(32),
  startTime: time(0),
  lastUpdated: time(9),
}
const prompt = (id: string, text: string): JsonObject => ({
  id,
  timestamp: time(1),
  type: 'user',
  content: text,
})
const tokens = (input: number, cached: number, output: number, thoughts: number, tool = 0): JsonObject => ({
  input,
  output,
  cached,
  thoughts,
  tool,
  total: input + output + thoughts + tool,
})
const answer = (id: string, counts: JsonObject | null, text = 'I looked.'): JsonObject => ({
  id,
  timestamp: time(2),
  type: 'gemini',
  content: text,
  thoughts: [],
  model: 'gemini-3-pro',
  ...(counts !== null && { tokens: counts }),
})
const uuid = (n: number): string => `66666666-6666-4666-8666-${String(n).padStart(12, '0')}`
const geminiLog = (...lines: readonly Json[]): Record<string, string> => ({
  [`chats/session-2026-05-20T09-00-55555555.jsonl`]: toLines(header, ...lines),
})
const everyTokens = (files: Readonly<Record<string, string>>): Partial<Tally> => {
  const all = objectsIn(files).filter((one) => 'thoughts' in one && 'cached' in one)
  return {
    input: total(all, (one) => numberAt(one, 'input')),
    output: total(all, (one) => numberAt(one, 'output')),
    calls: all.length,
  }
}
const A = tokens(1000, 700, 50, 30, 5)
const B = tokens(400, 0, 20, 0)

export const geminiCases: readonly TortureCase[] = [
  {
    name: 'a cached prompt inside the input, thoughts beside the output',
    format: 'gemini-cli',
    files: {
      'chats/session-2026-05-20T09-00-55555555.json': JSON.stringify({
        ...header,
        messages: [prompt(uuid(1), 'look'), answer(uuid(2), A)],
      }),
    },
    naive: { does: 'takes input and output as they stand', count: everyTokens },
    truth: { input: 305, cacheRead: 700, output: 80, reasoning: 30, calls: 1, quality: 'reported' },
  },
  {
    name: 'a message written again each time it changes',
    format: 'gemini-cli',
    files: geminiLog(
      prompt(uuid(1), 'look'),
      answer(uuid(2), null, 'I'),
      answer(uuid(2), A, 'I look'),
      { $set: { lastUpdated: time(5) } },
      answer(uuid(2), A),
      answer(uuid(3), B),
    ),
    naive: { does: 'counts each line', count: everyTokens },
    truth: { input: 705, cacheRead: 700, output: 100, reasoning: 30, calls: 2, quality: 'reported' },
  },
  {
    name: 'messages taken back, which were paid for',
    format: 'gemini-cli',
    files: geminiLog(
      prompt(uuid(1), 'look'),
      answer(uuid(2), A),
      { $rewindTo: uuid(1) },
      prompt(uuid(3), 'look again'),
      answer(uuid(4), B),
    ),
    naive: {
      does: 'counts what the program still shows',
      count: () => ({ input: 400, output: 20, calls: 1 }),
    },
    truth: { input: 705, cacheRead: 700, output: 100, reasoning: 30, calls: 2, quality: 'reported' },
  },
  {
    name: 'a list of messages that restates what was said',
    format: 'gemini-cli',
    files: geminiLog(prompt(uuid(1), 'look'), answer(uuid(2), A), {
      $set: { messages: [prompt(uuid(1), 'look'), answer(uuid(2), A)] },
    }),
    naive: { does: 'counts each usage there is', count: everyTokens },
    truth: { input: 305, cacheRead: 700, output: 80, reasoning: 30, calls: 1, quality: 'reported' },
  },
  {
    name: 'an answer without counts',
    format: 'gemini-cli',
    files: geminiLog(prompt(uuid(1), 'look'), answer(uuid(2), null)),
    naive: { does: 'says 0', count: () => ({ input: 0, output: 0 }) },
    truth: { calls: 0, quality: 'unavailable' },
  },
]
