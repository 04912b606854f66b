import { describe, expect, it } from 'vitest'
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

  it('drop no block of a list and no key of a dict', () => {
    const content = [{ type: 'text', text: 'a' }, 'b', { type: 'image', source: 1 }]
    expect(convertClaudeTranscriptEntry({ ...flat, type: 'user', content }).content).toBe(
      'a\nb\n{"type":"image","source":1}',
    )
    expect(convertClaudeTranscriptEntry({ ...flat, type: 'user', content: { a: 1 } }).content).toBe(
      '{\n  "a": 1\n}',
    )
  })

  it('without a time are given one that is asked for, and never now', () => {
    const line = { type: 'user', content: 'x' }
    expect(convertClaudeTranscriptEntry(line).created_at).toBe('1970-01-01T00:00:00+00:00')
    const createdAt = '2026-01-05T00:00:00+00:00'
    expect(convertClaudeTranscriptEntry({ ...line, timestamp: 'x' }, { createdAt }).created_at).toBe(
      createdAt,
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

  it('that are no messages are kept whole, and are not the assistant’s', () => {
    const record = { type: 'file-history-snapshot', messageId: 'm' }
    const [entry] = convertClaudeTranscriptLine(record)
    expect(entry?.role).toBe('system')
    expect(JSON.parse(entry?.content ?? '')).toEqual(record)
  })
})
