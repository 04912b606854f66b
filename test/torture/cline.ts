/** Cline's tasks, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asString, isObject, parseJson } from '../../src/transcript/json.ts'
import { numberAt, objectsIn, total, type Tally, type TortureCase } from './case.ts'

const TASK = '1779267600000'
const MODEL = { providerId: 'anthropic', modelId: 'claude-opus-4-5', mode: 'act' }
const said = (n: number, say: string, text: string, facts: JsonObject = {}): JsonObject => ({
  ts: Number(TASK) + n,
  type: 'say',
  say,
  text,
  modelInfo: MODEL,
  conversationHistoryIndex: 0,
  ...facts,
})
/** Counts stand in a text that is JSON. */
const requested = (n: number, used: JsonObject): JsonObject =>
  said(n, 'api_req_started', JSON.stringify({ request: 'look', ...used }))
const used = (tokensIn: number, cacheReads: number, cacheWrites: number, tokensOut: number): JsonObject => ({
  tokensIn,
  tokensOut,
  cacheWrites,
  cacheReads,
  cost: 0.01,
})

const task = (...ui: readonly Json[]): Record<string, string> => ({
  [`tasks/${TASK}/ui_messages.json`]: JSON.stringify([said(0, 'text', 'look'), ...ui]),
  [`tasks/${TASK}/api_conversation_history.json`]: JSON.stringify([
    { role: 'user', content: [{ type: 'text', text: '<task>look</task>' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'I looked.' }] },
    { role: 'user', content: [{ type: 'text', text: 'and then?' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'That was all.' }] },
  ]),
  [`tasks/${TASK}/task_metadata.json`]: JSON.stringify({ files_in_context: [], model_usage: [] }),
})
const requests = (files: Readonly<Record<string, string>>): readonly JsonObject[] =>
  objectsIn(files)
    .filter((one) => one['say'] === 'api_req_started')
    .map((one) => parseJson(asString(one['text']) ?? ''))
    .filter(isObject)
const truth: Tally = {
  input: 105,
  cacheRead: 4000,
  cacheWrite5m: 300,
  output: 90,
  calls: 2,
  quality: 'reported',
}

const SUM = { inputTokens: 3400, outputTokens: 40, cacheReadTokens: 3000, cacheWriteTokens: 300, cost: 0.01 }

export const clineCases: readonly TortureCase[] = [
  {
    name: 'a cached prompt beside the input',
    format: 'cline',
    files: task(requested(1, used(100, 3000, 300, 40)), requested(2, used(5, 1000, 0, 50))),
    naive: {
      does: 'takes what was cached out of the input',
      count: (files) => ({
        input: total(requests(files), (one) =>
          Math.max(0, numberAt(one, 'tokensIn') - numberAt(one, 'cacheReads')),
        ),
      }),
    },
    truth,
  },
  {
    name: 'requests tried again, and cancelled before an answer',
    format: 'cline',
    files: task(
      requested(1, used(100, 3000, 300, 40)),
      requested(2, { cancelReason: 'user_cancelled' }),
      requested(3, { ...used(0, 0, 0, 0), cancelReason: 'streaming_failed', streamingFailedMessage: '529' }),
      requested(4, used(5, 1000, 0, 50)),
    ),
    naive: { does: 'counts each request as a call', count: (files) => ({ calls: requests(files).length }) },
    truth,
  },
  {
    name: 'a session’s sum that has its children’s in it',
    format: 'cline',
    files: {
      'sessions/lead/lead.json': JSON.stringify({
        version: 1,
        session_id: 'lead',
        source: 'cli',
        status: 'completed',
        provider: 'anthropic',
        model: 'claude-opus-4-5',
        started_at: '2026-05-20T09:00:00.000Z',
        cwd: '/project',
        metadata: { usage: SUM, aggregateUsage: { ...SUM, inputTokens: 9999, outputTokens: 999 } },
      }),
      'sessions/lead/lead.messages.json': JSON.stringify({
        version: 1,
        updated_at: '2026-05-20T09:00:09.000Z',
        agent: 'lead',
        sessionId: 'lead',
        messages: [
          { id: 'msg_user', role: 'user', content: [{ type: 'text', text: 'look' }] },
          {
            id: 'msg_assistant',
            role: 'assistant',
            ts: Number(TASK),
            modelInfo: { id: 'claude-opus-4-5', provider: 'anthropic' },
            content: [{ type: 'text', text: 'I looked.' }],
            metrics: SUM,
          },
        ],
      }),
    },
    naive: {
      does: 'adds up every sum there is',
      count: (files) => {
        const sums = objectsIn(files).filter((one) => 'inputTokens' in one)
        return {
          input: total(sums, (one) => numberAt(one, 'inputTokens')),
          output: total(sums, (one) => numberAt(one, 'outputTokens')),
        }
      },
    },
    // Unlike the editors' tasks, the CLI counts what was cached inside the input.
    truth: { input: 100, cacheRead: 3000, cacheWrite5m: 300, output: 40, calls: 1, quality: 'reported' },
  },
]
