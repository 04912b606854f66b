/** pi's sessions, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, toLines, total, type Tally, type TortureCase } from './case.ts'

const time = (second: number): string => new Date(Date.UTC(2026, 4, 20, 9, 0, second)).toISOString()

const ms = (second: number): number => Date.UTC(2026, 4, 20, 9, 0, second)
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
