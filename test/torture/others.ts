/** Gemini CLI, OpenCode and pi, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asString } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, objectsIn, toLines, total, type Tally, type TortureCase } from './case.ts'

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

const ms = (second: number): number => Date.UTC(2026, 4, 20, 9, 0, second)
type OpenCounts = {
  readonly total?: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly read: number
  readonly write: number
}
const openTokens = ({ total: all, input, output, reasoning, read, write }: OpenCounts): JsonObject => ({
  ...(all !== undefined && { total: all }),
  input,
  output,
  reasoning,
  cache: { read, write },
})
const openAnswer = (n: number, counts: OpenCounts, ...parts: readonly JsonObject[]): JsonObject => ({
  info: {
    id: `msg_${n}`,
    sessionID: 'ses_1',
    role: 'assistant',
    time: { created: ms(n), completed: ms(n + 1) },
    parentID: 'msg_0',
    modelID: 'claude-opus-4-5',
    providerID: 'anthropic',
    mode: 'build',
    path: { cwd: '/project', root: '/project' },
    cost: 0.01,
    tokens: openTokens(counts),
    finish: 'stop',
  },
  parts: [
    { id: `prt_${n}1`, messageID: `msg_${n}`, sessionID: 'ses_1', type: 'text', text: 'I looked.' },
    ...parts,
    {
      id: `prt_${n}9`,
      messageID: `msg_${n}`,
      sessionID: 'ses_1',
      type: 'step-finish',
      reason: 'stop',
      cost: 0.01,
      tokens: openTokens(counts),
    },
  ],
})
const openTool = (n: number, callID: string): JsonObject => ({
  id: `prt_${n}2`,
  messageID: `msg_${n}`,
  sessionID: 'ses_1',
  type: 'tool',
  callID,
  tool: 'bash',
  state: { status: 'completed', input: {}, output: 'done', time: { start: ms(n), end: ms(n) } },
})
const openExport = (version: string, ...messages: readonly JsonObject[]): Record<string, string> => ({
  'export.json': JSON.stringify({
    info: {
      id: 'ses_1',
      version,
      projectID: 'p',
      directory: '/project',
      title: 'Look',
      time: { created: ms(0), updated: ms(9) },
    },
    messages: [
      {
        info: { id: 'msg_0', sessionID: 'ses_1', role: 'user', time: { created: ms(0) }, agent: 'build' },
        parts: [{ id: 'prt_0', messageID: 'msg_0', sessionID: 'ses_1', type: 'text', text: 'look' }],
      },
      ...messages,
    ],
  }),
})
const everyOpenTokens = (files: Readonly<Record<string, string>>): Partial<Tally> => {
  const all = objectsIn(files).filter((one) => 'cache' in one && 'reasoning' in one)
  return {
    input: total(all, (one) => numberAt(one, 'input')),
    output: total(all, (one) => numberAt(one, 'output')),
    calls: all.length,
  }
}
const oldSide: OpenCounts = { total: 1310, input: 10, output: 300, reasoning: 120, read: 900, write: 100 }
const newSide: OpenCounts = { total: 1430, input: 10, output: 300, reasoning: 120, read: 900, write: 100 }
const openTruth = (output: number, quality: Tally['quality'] = 'reported'): Tally => ({
  input: 10,
  cacheRead: 900,
  cacheWrite5m: 100,
  output,
  reasoning: 120,
  calls: 1,
  quality,
})

export const opencodeCases: readonly TortureCase[] = [
  {
    name: 'a step’s counts and its message’s, which are the same',
    format: 'opencode',
    files: openExport('1.2.0', openAnswer(1, oldSide)),
    naive: { does: 'adds up both', count: everyOpenTokens },
    truth: openTruth(300),
  },
  {
    name: 'reasoning inside the output, as the total tells',
    format: 'opencode',
    files: openExport('1.2.0', openAnswer(1, oldSide)),
    naive: {
      does: 'adds reasoning to output',
      count: () => ({ output: oldSide.output + oldSide.reasoning }),
    },
    truth: openTruth(300),
  },
  {
    name: 'reasoning beside the output, as the total tells',
    format: 'opencode',
    files: openExport('1.3.20', openAnswer(1, newSide)),
    naive: { does: 'takes output as it stands', count: () => ({ output: newSide.output }) },
    truth: openTruth(420),
  },
  {
    name: 'reasoning on a side that nothing tells',
    format: 'opencode',
    files: openExport('1.3.20', openAnswer(1, { ...newSide, total: 0 })),
    naive: { does: 'takes it for exact', count: () => ({ quality: 'reported' }) },
    truth: openTruth(420, 'estimated'),
  },
  {
    name: 'tool calls whose ids all read REDACTED',
    format: 'opencode',
    files: openExport(
      '1.2.0',
      openAnswer(1, oldSide, openTool(1, 'REDACTED')),
      openAnswer(2, oldSide, openTool(2, 'REDACTED')),
    ),
    naive: {
      does: 'joins what has the same id',
      count: (files) => ({
        calls: new Set(objectsIn(files).flatMap((one) => asString(one['callID']) ?? [])).size,
      }),
    },
    truth: {
      input: 20,
      cacheRead: 1800,
      cacheWrite5m: 200,
      output: 600,
      reasoning: 240,
      calls: 2,
      quality: 'reported',
    },
  },
]

const piLine = (id: string, parentId: string | null, message: JsonObject): JsonObject => ({
  type: 'message',
  id,
  parentId,
  timestamp: time(Number.parseInt(id.slice(-1), 16)),
  message: { ...message, timestamp: ms(Number.parseInt(id.slice(-1), 16)) },
})
const piUsage = (input: number, read: number, write: number, output: number): JsonObject => ({
  input,
  output,
  cacheRead: read,
  cacheWrite: write,
  totalTokens: input + output + read + write,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.001 },
})
const piSaid = (usage: JsonObject, stopReason = 'stop', responseId?: string): JsonObject => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'I looked.' }],
  api: 'anthropic-messages',
  provider: 'anthropic',
  model: 'claude-opus-4-5',
  usage,
  stopReason,
  ...(responseId !== undefined && { responseId }),
})
const PI = '77777777-7777-4777-8777-777777777777'
const PI_BRANCH = '88888888-8888-4888-8888-888888888888'
const piHeader = (id: string, facts: JsonObject = {}): JsonObject => ({
  type: 'session',
  version: 3,
  id,
  timestamp: time(0),
  cwd: '/project',
  ...facts,
})
const piFile = (id: string, ...lines: readonly Json[]): Record<string, string> => ({
  [`--project--/2026-05-20T09-00-00-000Z_${id}.jsonl`]: toLines(...lines),
})
const piAsked = piLine('0000000a', null, { role: 'user', content: [{ type: 'text', text: 'look' }] })
const piFirst = piLine('0000000b', '0000000a', piSaid(piUsage(100, 2000, 30, 40)))
const piOther = piLine('0000000c', '0000000a', piSaid(piUsage(110, 2000, 0, 60)))
const everyPi = (files: Readonly<Record<string, string>>): Partial<Tally> => {
  const all = linesIn(files).filter((one) => at(one, 'message', 'usage') !== undefined)
  return {
    input: total(all, (one) => numberAt(one, 'message', 'usage', 'input')),
    output: total(all, (one) => numberAt(one, 'message', 'usage', 'output')),
    calls: all.length,
  }
}

export const piCases: readonly TortureCase[] = [
  {
    name: 'a branch that was left, which was paid for',
    format: 'pi',
    files: piFile(PI, piHeader(PI), piAsked, piFirst, piOther),
    naive: {
      does: 'walks from the last line to the root',
      count: () => ({ input: 110, output: 60, calls: 1 }),
    },
    truth: { input: 210, cacheRead: 4000, cacheWrite5m: 30, output: 100, calls: 2, quality: 'reported' },
  },
  {
    name: 'a cached prompt beside the input',
    format: 'pi',
    files: piFile(PI, piHeader(PI), piAsked, piFirst),
    naive: { does: 'takes what was cached out of the input', count: () => ({ input: 0, cacheRead: 2000 }) },
    truth: { input: 100, cacheRead: 2000, cacheWrite5m: 30, output: 40, calls: 1, quality: 'reported' },
  },
  {
    name: 'a session branched into another file',
    format: 'pi',
    files: {
      ...piFile(PI, piHeader(PI), piAsked, piFirst),
      ...piFile(
        PI_BRANCH,
        piHeader(PI_BRANCH, { parentSession: `/s/2026-05-20T09-00-00-000Z_${PI}.jsonl` }),
        piAsked,
        piFirst,
        piOther,
      ),
    },
    naive: { does: 'adds up both files', count: everyPi },
    truth: { input: 210, cacheRead: 4000, cacheWrite5m: 30, output: 100, calls: 2, quality: 'reported' },
  },
  {
    name: 'a call that was cut short',
    format: 'pi',
    files: piFile(
      PI,
      piHeader(PI),
      piAsked,
      piLine('0000000b', '0000000a', piSaid(piUsage(100, 0, 0, 4), 'aborted')),
    ),
    naive: { does: 'takes it for exact', count: () => ({ output: 4, quality: 'reported' }) },
    truth: { input: 100, cacheRead: 0, cacheWrite5m: 0, output: 4, calls: 1, quality: 'partial' },
  },
  {
    name: 'a server that gives every answer one id',
    format: 'pi',
    files: piFile(
      PI,
      piHeader(PI),
      piAsked,
      piLine('0000000b', '0000000a', piSaid(piUsage(100, 0, 0, 4), 'stop', 'chatcmpl-1')),
      piLine('0000000c', '0000000b', piSaid(piUsage(120, 0, 0, 6), 'stop', 'chatcmpl-1')),
    ),
    naive: { does: 'joins what has the same id', count: () => ({ calls: 1, output: 6 }) },
    truth: { input: 220, cacheRead: 0, cacheWrite5m: 0, output: 10, calls: 2, quality: 'reported' },
  },
]
