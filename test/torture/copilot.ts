/** Copilot CLI's events, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asObject } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, toLines, total, type Tally, type TortureCase } from './case.ts'

const SESSION = '99999999-9999-4999-8999-999999999999'
const MODEL = 'claude-sonnet-4.6'
const time = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()

let count = 0
const line = (type: string, data: JsonObject): JsonObject => {
  count += 1
  const parentId = count === 1 ? null : `event-${count - 1}`
  return { type, data, id: `event-${count}`, timestamp: time(count), parentId }
}
const begun = [
  line('session.start', {
    sessionId: SESSION,
    version: 1,
    producer: 'copilot-agent',
    copilotVersion: '1.0.68',
    startTime: time(0),
    context: { cwd: '/project', gitRoot: '/project', branch: 'main', repository: 'o/r' },
  }),
  line('user.message', { content: 'look', transformedContent: 'look', attachments: [] }),
]
const said = (id: string, outputTokens: number): JsonObject =>
  line('assistant.message', {
    messageId: `message-${id}`,
    apiCallId: `msg_${id}`,
    model: MODEL,
    content: 'I looked.',
    toolRequests: [],
    outputTokens,
  })
const shutdown = (
  input: number,
  output: number,
  read: number,
  write: number,
  reasoning: number,
): JsonObject =>
  line('session.shutdown', {
    shutdownType: 'routine',
    totalPremiumRequests: 2,
    modelMetrics: {
      [MODEL]: {
        requests: { count: 2, cost: 2 },
        usage: {
          inputTokens: input,
          outputTokens: output,
          cacheReadTokens: read,
          cacheWriteTokens: write,
          reasoningTokens: reasoning,
        },
      },
    },
  })
const log = (...lines: readonly Json[]): Record<string, string> => ({
  [`session-state/${SESSION}/events.jsonl`]: toLines(...lines),
})

const shutdowns = (files: Readonly<Record<string, string>>): readonly (JsonObject | undefined)[] =>
  linesIn(files)
    .filter((one) => one['type'] === 'session.shutdown')
    .map((one) => asObject(at(one, 'data', 'modelMetrics', MODEL, 'usage')))
const messages = (files: Readonly<Record<string, string>>): number =>
  total(
    linesIn(files).filter((one) => one['type'] === 'assistant.message'),
    (one) => numberAt(one, 'data', 'outputTokens'),
  )
const everyShutdown = (files: Readonly<Record<string, string>>): Partial<Tally> => ({
  input: total(shutdowns(files), (one) => numberAt(one, 'inputTokens')),
  output: total(shutdowns(files), (one) => numberAt(one, 'outputTokens')),
})

const answers = [said('1', 120), said('2', 80)]
const whole: Tally = {
  input: 400,
  cacheRead: 5000,
  cacheWrite5m: 600,
  output: 200,
  reasoning: 30,
  calls: 2,
  quality: 'reported',
}

export const copilotCases: readonly TortureCase[] = [
  {
    name: 'the output of messages, and of the shutdown that sums them',
    format: 'copilot-cli',
    files: log(...begun, ...answers, shutdown(6000, 200, 5000, 600, 30)),
    naive: {
      does: 'adds up messages and shutdown',
      count: (files) => ({ output: messages(files) + (everyShutdown(files).output ?? 0) }),
    },
    truth: whole,
  },
  {
    name: 'a cached prompt inside the input',
    format: 'copilot-cli',
    files: log(...begun, ...answers, shutdown(6000, 200, 5000, 600, 30)),
    naive: { does: 'takes input as it stands', count: everyShutdown },
    truth: whole,
  },
  {
    name: 'a shutdown after a resume, which sums the first leg again',
    format: 'copilot-cli',
    files: log(
      ...begun,
      said('1', 120),
      shutdown(3000, 120, 2500, 300, 10),
      line('session.resume', { resumeTime: time(40), eventCount: 4 }),
      said('2', 80),
      shutdown(6000, 200, 5000, 600, 30),
    ),
    naive: { does: 'adds up the shutdowns', count: everyShutdown },
    truth: whole,
  },
  {
    name: 'a session that never came to its shutdown',
    format: 'copilot-cli',
    files: log(...begun, ...answers),
    naive: { does: 'says 0 for the input', count: () => ({ input: 0, quality: 'reported' }) },
    truth: { output: 200, calls: 2, quality: 'partial' },
  },
]
