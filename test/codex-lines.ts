/** Lines of a Codex rollout, and what is read of them. */
import { expect } from 'vitest'
import { codex } from '../src/formats/codex.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { createCallFold } from '../src/transcript/totals.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { memoryFileSource, readAll } from './memory-files.ts'
import { counts, type Counts } from './torture/codex-lines.ts'

/** UUIDs of version 7: the first 12 digits are the time. */
export const PARENT = '01990000-0000-7000-8000-00000000000a'
export const THREAD = '01990000-9000-7000-8000-00000000000b'
export const OWN_TURN = '01990000-9001-7000-8000-00000000000d'
export const at = (second: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, second)).toISOString()

export const line = (type: string, payload: JsonObject, second = 1): JsonObject => ({
  timestamp: at(second),
  type,
  payload,
})

export const meta = (facts: JsonObject = {}): JsonObject =>
  line('session_meta', {
    id: THREAD,
    timestamp: at(0),
    cwd: '/p',
    cli_version: '0.135.0',
    source: 'cli',
    ...facts,
  })

export const turn = (model: string): JsonObject =>
  line('turn_context', { cwd: '/p', model, turn_id: OWN_TURN })

export const event = (type: string, facts: JsonObject = {}, second = 1): JsonObject =>
  line('event_msg', { type, ...facts }, second)

export const item = (payload: JsonObject, second = 1): JsonObject => line('response_item', payload, second)

export const said = (text: string, second = 1): JsonObject =>
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }, second)

export const asked = (text: string): JsonObject =>
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

export const called = (callId: string): JsonObject =>
  item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: callId })

export const answered = (callId: string, output: Json = 'ok'): JsonObject =>
  item({ type: 'function_call_output', call_id: callId, output })

export const counted = (total: Counts, last: Counts = total, second = 1): JsonObject =>
  event(
    'token_count',
    { info: { total_token_usage: counts(total), last_token_usage: counts(last) }, rate_limits: null },
    second,
  )

export const text = (...lines: readonly Json[]): string =>
  lines.map((one) => `${JSON.stringify(one)}\n`).join('')

export async function read(...lines: readonly Json[]): Promise<Transcript> {
  const [only, ...others] = await readAll(codex, memoryFileSource('x.jsonl', text(...lines)))
  expect(others).toEqual([])
  return only as Transcript
}

export function totals({ entries }: Transcript): unknown {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const { calls, usage } = fold.totals()
  return { calls, ...usage }
}
