/** Codex's lines as its rollouts hold them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { toLines } from './case.ts'

/** UUIDs of version 7 begin with their time: the second thread is younger than the first, and so are its turns. */
export const THREAD = '01990000-0000-7000-8000-00000000000a'
export const OTHER = '01990000-9000-7000-8000-00000000000b'
export const OLD_TURN = '01990000-1000-7000-8000-00000000000c'
export const NEW_TURN = '01990000-9001-7000-8000-00000000000d'

export const time = (second: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, second)).toISOString()
export const line = (second: number, type: string, payload: JsonObject): JsonObject => ({
  timestamp: time(second),
  type,
  payload,
})
export const meta = (second: number, id: string, facts: JsonObject = {}): JsonObject =>
  line(second, 'session_meta', {
    id,
    timestamp: time(second),
    cwd: '/project',
    originator: 'codex_cli_rs',
    cli_version: '0.140.0',
    source: 'cli',
    model_provider: 'openai',
    ...facts,
  })
export const turn = (second: number, id: string, model = 'gpt-5.5'): JsonObject =>
  line(second, 'turn_context', { turn_id: id, cwd: '/project', approval_policy: 'never', model })
export const event = (second: number, type: string, facts: JsonObject = {}): JsonObject =>
  line(second, 'event_msg', { type, ...facts })
export const asked = (second: number, text: string): JsonObject =>
  line(second, 'response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
export const said = (second: number, text: string): JsonObject =>
  line(second, 'response_item', {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  })

/** Input, of which cached; output, of which reasoning: as Codex counts. */
export type Counts = readonly [input: number, cached: number, output: number, reasoning: number]
export const counts = ([input, cached, output, reasoning]: Counts): JsonObject => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: reasoning,
  total_tokens: input + output,
})
/** As `codex exec --json` prints them. */
export const printed = ([input, cached, output]: Counts): JsonObject => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
})
export const counted = (second: number, sum: Counts, last: Counts): JsonObject =>
  event(second, 'token_count', {
    info: {
      total_token_usage: counts(sum),
      last_token_usage: counts(last),
      model_context_window: 272_000,
    },
    rate_limits: null,
  })
export const recorded = (
  second: number,
  thread: string,
  response: string,
  used: Counts,
  sum: Counts,
): JsonObject =>
  line(second, 'token_usage_record', {
    thread_id: thread,
    session_id: thread,
    turn_id: NEW_TURN,
    response_id: response,
    usage: counts(used),
    turn_token_usage: counts(sum),
    thread_token_usage: counts(sum),
  })

export const rollout = (thread: string, ...lines: readonly Json[]): Record<string, string> => ({
  [`sessions/2026/02/10/rollout-2026-02-10T10-00-00-${thread}.jsonl`]: toLines(...lines),
})
