import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { atof } from './atof.ts'

const scope = (edge: string, category: string, uuid: string, more: object) => ({
  kind: 'scope',
  scope_category: edge,
  atof_version: '0.1',
  category,
  uuid,
  parent_uuid: 'a',
  name: uuid,
  timestamp: '2026-01-01T00:00:00Z',
  ...more,
})
const read = async (...events: readonly object[]): Promise<Transcript> => {
  const text = [scope('start', 'agent', 'a', { parent_uuid: null, data: { input: 'x' } }), ...events]
    .map((one) => `${JSON.stringify(one)}\n`)
    .join('')
  const [told] = await readAll(atof, memoryFileSource('x.jsonl', text))
  return told as Transcript
}
const user = { role: 'user', content: 'hi' }
const call = { id: 'c', name: 'add', arguments: { a: 1 } }

describe("ATOF's events", () => {
  it('tell each message once, though every request repeats them', async () => {
    const { entries } = await read(
      scope('start', 'llm', 'l1', { data: { messages: [user] } }),
      scope('end', 'llm', 'l1', {
        data: { content: '', tool_calls: [call] },
        timestamp: '2026-01-01T00:00:02Z',
      }),
      scope('start', 'tool', 't', { category_profile: { tool_call_id: 'c' }, data: { a: 1 } }),
      scope('end', 'tool', 't', { category_profile: { tool_call_id: 'c' }, data: { result: 7 } }),
      scope('start', 'llm', 'l2', {
        data: {
          messages: [
            user,
            { role: 'assistant', tool_calls: [call] },
            { role: 'tool', tool_call_id: 'c', content: 7 },
          ],
        },
      }),
      scope('end', 'llm', 'l2', { data: { content: 'seven' } }),
    )
    const messages = entries.filter(({ kind }) => kind === 'message')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages[1]).toMatchObject({ durationMs: 2000, blocks: [{ type: 'tool-call', callId: 'c' }] })
    expect(messages[2]?.blocks).toMatchObject([{ type: 'tool-result', callId: 'c', output: '7' }])
  })

  it('say a second time what was said a second time', async () => {
    const { entries } = await read(
      scope('start', 'llm', 'l1', { data: { messages: [user] } }),
      scope('start', 'llm', 'l2', { data: { messages: [user, user] } }),
    )
    expect(entries.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  it('of an agent inside another are a subagent’s', async () => {
    const { entries } = await read(
      scope('start', 'agent', 'b', { data: {} }),
      scope('end', 'llm', 'l', {
        parent_uuid: 'b',
        data: { content: 'x', usage: { prompt_tokens: 3, completion_tokens: 1 } },
      }),
    )
    expect(entries.at(-1)).toMatchObject({ source: 'subagent:b', usage: { input: 3, output: 1 } })
  })

  it('hold answers of other providers as these say them', async () => {
    const { entries } = await read(
      scope('end', 'llm', 'l', {
        data: {
          candidates: [{ content: { role: 'model', parts: [{ text: 'four' }] }, finishReason: 'STOP' }],
        },
      }),
    )
    expect(entries.at(-1)).toMatchObject({ role: 'assistant', blocks: [{ type: 'text', text: 'four' }] })
  })
})
