/** Lines as Claude Code writes them, small and of our own making. */
import { expect } from 'vitest'
import { claudeCode } from '../src/formats/claude-code.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import type { Source } from '../src/transcript/source.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { memoryFileSource, readAll } from './memory-files.ts'

export const SESSION = '11111111-1111-4111-8111-111111111111'
export const OTHER = '22222222-2222-4222-8222-222222222222'

export const wrapper: JsonObject = {
  parentUuid: null,
  isSidechain: false,
  userType: 'external',
  cwd: '/p',
  sessionId: SESSION,
  version: '2.1.42',
  gitBranch: 'main',
}

/** A prompt that says its own uuid, unless the facts say otherwise. */
export const line = (uuid: string, facts: JsonObject = {}): JsonObject => ({
  ...wrapper,
  type: 'user',
  uuid,
  timestamp: '2026-02-10T10:00:01.123Z',
  message: { role: 'user', content: uuid },
  ...facts,
})

/** A line that is no message. */
export const bare = (uuid: string, facts: JsonObject): JsonObject => {
  const { message: _, ...rest } = line(uuid, facts)
  return rest
}

/** A line of `msg_1` with one block; `facts` are of the message. */
export const assistant = (uuid: string, block: JsonObject, facts: JsonObject = {}): JsonObject =>
  line(uuid, {
    type: 'assistant',
    requestId: 'req_1',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 3,
        output_tokens: 1,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 0,
      },
      ...facts,
    },
  })

export const result = (uuid: string, callId: string, facts: JsonObject = {}): JsonObject =>
  line(uuid, {
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: 'ok' }] },
    ...facts,
  })

export const text = (...lines: readonly Json[]): string =>
  lines.map((one) => `${JSON.stringify(one)}\n`).join('')

export async function read(...lines: readonly Json[]): Promise<Transcript> {
  return readOne(memoryFileSource(`${SESSION}.jsonl`, text(...lines)))
}

export async function readOne(source: Source): Promise<Transcript> {
  const all = await readAll(claudeCode, source)
  expect(all).toHaveLength(1)
  return all[0] as Transcript
}
