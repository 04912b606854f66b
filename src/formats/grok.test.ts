import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { grok } from './grok.ts'

const UUID = '0b0a7f3e-3a53-4d52-9a53-0c5c1f2f5a10'
const LINES: readonly Json[] = [
  { type: 'system', content: 'You are Grok.' },
  {
    type: 'user',
    content: [{ type: 'text', text: '<user_info/>' }],
    synthetic_reason: 'environment_context',
  },
  {
    type: 'user',
    content: [
      { type: 'image', url: 'data:image/png;base64,QUJD' },
      { type: 'text', text: 'Look.' },
    ],
    prompt_index: 0,
  },
  {
    type: 'reasoning',
    id: 'rs',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'e',
    status: 'completed',
  },
  {
    type: 'assistant',
    content: 'Reading.',
    tool_calls: [{ id: 'c1', name: 'read_file', arguments: '{"p":1}' }],
    model_id: 'grok-4.5',
    reasoning_effort: 'high',
  },
  { type: 'tool_result', tool_call_id: 'c1', content: 'text' },
  { type: 'backend_tool_call', kind: { tool_type: 'web_search', id: 'w' } },
]
const LOG = LINES.map((value) => `${toJson(value)}\n`).join('')

describe("Grok's history", () => {
  it('is told by what only Grok writes', async () => {
    expect((await grok.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    const plain = [
      { type: 'user', content: 'a' },
      { type: 'assistant', content: 'b' },
    ]
      .map((value) => `${toJson(value)}\n`)
      .join('')
    expect(await grok.detect(memoryFileSource('x', plain))).toBeUndefined()
  })

  it('is what the model was given and said, without times or tokens', async () => {
    const [one] = await readAll(grok, memoryFileSource('x', LOG))
    expect(one?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'system',
      'user',
      'user',
      'assistant',
      'assistant',
      'tool',
      'event',
    ])
    expect(one?.entries[2]?.blocks).toEqual([
      { type: 'image', mediaType: 'image/png', data: 'QUJD' },
      { type: 'text', text: 'Look.' },
    ])
    expect(one?.entries[3]?.blocks).toEqual([{ type: 'thinking', text: 'hm', redacted: 'e' }])
    expect(one?.entries[4]).toMatchObject({
      model: 'grok-4.5',
      blocks: [{ text: 'Reading.' }, { type: 'tool-call', callId: 'c1', name: 'read_file', input: { p: 1 } }],
      metadata: { reasoning_effort: 'high' },
    })
    expect(one?.entries.some(({ usage, at }) => usage !== undefined || at !== undefined)).toBe(false)
  })

  it('is named by its folder, and by the summary beside it', async () => {
    const folder = files({
      [`p/${UUID}/chat_history.jsonl`]: LOG,
      [`p/${UUID}/summary.json`]: toJson({ title: 'A look', cwd: '/w' }),
    })
    const [one, ...others] = await readAll(grok, memorySource(folder))
    expect(others).toEqual([])
    expect(one?.session).toMatchObject({
      native: { agent: 'grok', sessionId: UUID },
      title: 'A look',
      cwd: '/w',
      model: 'grok-4.5',
    })
  })

  it('is read up to any byte', () => expectToSurviveCuts(grok, LOG))
})
