/** Claude Code's lines as it writes them: one for each block of a message, with the whole envelope. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { toLines } from './case.ts'

export const SESSION = '11111111-1111-4111-8111-111111111111'
export const RESUMED = '22222222-2222-4222-8222-222222222222'
export const FORKED = '33333333-3333-4333-8333-333333333333'
export const AGENT = 'a1b2c3d'

export const time = (second: number): string => new Date(Date.UTC(2026, 4, 20, 9, 0, second)).toISOString()

/** Lines are made in order: each hangs off the one before. */
let count = 0
export const line = (type: string, facts: JsonObject): JsonObject => {
  count += 1
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  return {
    parentUuid: count === 1 ? null : uuid(count - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/project',
    sessionId: SESSION,
    version: '2.1.120',
    gitBranch: 'main',
    type,
    uuid: uuid(count),
    timestamp: time(count),
    ...facts,
  }
}

export const asked = (text: string): JsonObject => line('user', { message: { role: 'user', content: text } })
export const answered = (id: string, facts: JsonObject = {}): JsonObject =>
  line('user', {
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    ...facts,
  })

export type Counts = {
  readonly input: number
  readonly read: number
  readonly write5m?: number
  readonly write1h?: number
  readonly output: number
}
export const usage = ({ input, read, write5m = 0, write1h = 0, output }: Counts): JsonObject => ({
  input_tokens: input,
  cache_creation_input_tokens: write5m + write1h,
  cache_read_input_tokens: read,
  cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
  output_tokens: output,
  service_tier: 'standard',
})
export const TEXT: JsonObject = { type: 'text', text: 'I looked.' }
export const THINKING: JsonObject = { type: 'thinking', thinking: 'Let me look.', signature: 'c2ln' }
export const tool = (id: string, name = 'Bash'): JsonObject => ({ type: 'tool_use', id, name, input: {} })

/** One line of a message: one block, and the whole envelope. */
export const said = (
  id: string,
  block: JsonObject,
  used: JsonObject,
  stop: string | null = 'end_turn',
  facts: JsonObject = {},
): JsonObject =>
  line('assistant', {
    requestId: `req_${id}`,
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: stop,
      stop_sequence: null,
      usage: used,
    },
    ...facts,
  })

/** The same line as another file has it. */
export const copied = (one: JsonObject, sessionId: string): JsonObject => ({ ...one, sessionId })

export const log = (session: string, ...lines: readonly Json[]): Record<string, string> => ({
  [`-project/${session}.jsonl`]: toLines(...lines),
})
