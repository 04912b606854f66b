import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../transcript/json.ts'
import { convertClaudeTranscriptEntry, convertClaudeTranscriptLine } from './weakincentives-claude.ts'

const flat = { timestamp: '2026-01-05T09:15:32Z', session_id: 's1' }

describe('the flat lines of the seed', () => {
  it.each([
    ['user', 'user'],
    ['assistant', 'assistant'],
    ['tool_use', 'assistant'],
    ['tool_result', 'tool'],
    ['system', 'system'],
    ['novelty', 'assistant'],
  ])('of type %s have role %s', (type, role) => {
    const entry = convertClaudeTranscriptEntry({ ...flat, type, content: 'hi' })
    expect(entry).toMatchObject({ role, content: 'hi', created_at: '2026-01-05T09:15:32+00:00' })
    expect(entry.metadata).toEqual({ raw_type: type, claude_session_id: 's1' })
  })

  it('keep the tool’s name, its call and its input', () => {
    const call = { ...flat, type: 'tool_use', tool_name: 'Read', tool_use_id: 't1', input: { path: 'a' } }
    expect(convertClaudeTranscriptEntry(call, { source: 'subagent:x', sequence: 7 })).toMatchObject({
      content: '{\n  "path": "a"\n}',
      tool_name: 'Read',
      tool_call_id: 't1',
      tool_input: { path: 'a' },
      source: 'subagent:x',
      sequence: 7,
    })
    const result = convertClaudeTranscriptEntry({
      ...flat,
      type: 'tool_result',
      tool_name: 'Read',
      tool_use_id: 't1',
      content: 'x',
    })
    expect(result).toMatchObject({ role: 'tool', tool_name: 'Read', tool_call_id: 't1', tool_input: null })
  })

  it.each<[string, JsonObject, string]>([
    ['a text', { content: 'hi' }, 'hi'],
    ['a dict as formatted JSON', { content: { a: 1 } }, '{\n  "a": 1\n}'],
    ['a dict with its letters, which Python would escape', { content: { a: 'é' } }, '{\n  "a": "é"\n}'],
    ['the arguments of a call without content', { type: 'tool_use', input: { a: 1 } }, '{\n  "a": 1\n}'],
    ['the texts of a list', { content: [{ type: 'text', text: 'a' }, 'b', { type: 'image' }, 5] }, 'a\nb'],
    ['nothing where there is none', {}, ''],
    ['null as Python spells it', { content: null }, 'None'],
    ['a number', { content: 5 }, '5'],
    ['a truth value as Python spells it', { content: true }, 'True'],
  ])('have as content: %s', (_, said, content) => {
    expect(convertClaudeTranscriptEntry({ ...flat, type: 'user', ...said }).content).toBe(content)
  })

  it('lose nothing that their content leaves out', () => {
    const content = ['a', { type: 'image', source: 1 }]
    expect(convertClaudeTranscriptEntry({ ...flat, type: 'user', content }).metadata).toEqual({
      raw_type: 'user',
      claude_session_id: 's1',
      blocks: [
        { type: 'text', text: 'a' },
        { type: 'image', source: 1 },
      ],
    })
  })

  it.each(['', 'noon', undefined, 5])(
    'with %j for a time get that of the reading, marked as filled in, and keep what they say',
    (timestamp) => {
      const line = { type: 'user', content: 'x', ...(timestamp !== undefined && { timestamp }) }
      const before = Date.now()
      const { created_at, metadata } = convertClaudeTranscriptEntry(line)
      expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before)
      expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.now())
      const { type: raw_type, content: _, ...said } = line
      expect(metadata).toEqual({ raw_type, claude_session_id: null, filled: ['created_at'], ...said })
      const createdAt = '2026-01-05T00:00:00+00:00'
      expect(convertClaudeTranscriptEntry(line, { createdAt }).created_at).toBe(createdAt)
    },
  )

  it('have ids of version 4', () => {
    expect(convertClaudeTranscriptEntry({ ...flat, type: 'user', content: 'x' }).entry_id).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
})

describe('the nested lines of Claude Code', () => {
  const line = {
    type: 'assistant',
    uuid: '00000000-0000-4000-8000-000000000001',
    sessionId: 's2',
    timestamp: '2026-01-05T09:15:32.120Z',
    requestId: 'req_1',
    message: {
      id: 'msg_1',
      role: 'assistant',
      model: 'claude-opus-4-5',
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 4 },
      content: [
        { type: 'text', text: 'reading' },
        { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'a' } },
      ],
    },
  }

  it('become an entry for each part, with model and usage', () => {
    const entries = convertClaudeTranscriptLine(line, { sequence: 4 })
    expect(
      entries.map(({ role, content, tool_name, sequence }) => [role, content, tool_name, sequence]),
    ).toEqual([
      ['assistant', 'reading', null, 4],
      ['assistant', '{\n  "path": "a"\n}', 'Read', 5],
    ])
    expect(entries[0]).toMatchObject({ entry_id: line.uuid, created_at: '2026-01-05T09:15:32.120000+00:00' })
    expect(entries[1]?.metadata).toMatchObject({
      raw_type: 'assistant',
      claude_session_id: 's2',
      model: 'claude-opus-4-5',
      usage: { input_tokens: 3, output_tokens: 4 },
      stop_reason: 'tool_use',
    })
    expect(new Set(entries.map(({ entry_id }) => entry_id)).size).toBe(2)
  })

  it('are one entry where one is asked for, with nothing dropped', () => {
    expect(convertClaudeTranscriptEntry(line).content).toBe('reading\nRead: {\n  "path": "a"\n}')
  })

  it('with tool results have role tool', () => {
    const content = [{ type: 'tool_result', tool_use_id: 't1', content: 'ok', is_error: true }]
    const [entry] = convertClaudeTranscriptLine({ type: 'user', message: { role: 'user', content } })
    expect(entry).toMatchObject({
      role: 'tool',
      content: 'ok',
      tool_call_id: 't1',
      metadata: { success: false },
    })
  })

  it('that are no messages are kept whole, as the assistant’s without content, which is what the seed’s code makes', () => {
    const record = { type: 'file-history-snapshot', messageId: 'm' }
    const [entry] = convertClaudeTranscriptLine(record)
    expect(entry).toMatchObject({ role: 'assistant', content: '', metadata: { raw: record } })
  })
})
