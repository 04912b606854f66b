import { describe, expect, it } from 'vitest'
import { call, entry, result } from '../../test/replay-entries.ts'
import type { TranscriptEntry } from '../formats/weakincentives-entry.ts'
import { formatTranscript } from '../sources/transcript-text.ts'

const timeZone = 'UTC'

describe('text', () => {
  it('has a header line, the content and a blank line for each entry, and names the tool of each call', () => {
    const entries = [
      entry('system', 'You are a helpful coding assistant...'),
      entry('user', 'Please review the code in src/main.py'),
      entry('assistant', "I'll review the code in src/main.py. Let me read the file first."),
      entry('assistant', [call('t1')]),
      entry('tool', [result('t1', 'print(1)', { name: 'Read' })]),
      entry('assistant', 'Looking at the implementation...', { source: 'subagent:abc123' }),
    ]
    expect(formatTranscript(entries, { timeZone })).toBe(
      [
        '[09:15:32] ⚙️ SYSTEM\nYou are a helpful coding assistant...\n',
        '[09:15:32] 👤 USER\nPlease review the code in src/main.py\n',
        "[09:15:32] 🤖 ASSISTANT\nI'll review the code in src/main.py. Let me read the file first.\n",
        '[09:15:32] 🤖 ASSISTANT\nCalling tool: Read\n{"path":"src/main.py"}\n',
        '[09:15:32] 🔧 Read\nprint(1)\n',
        '[subagent:abc123] [09:15:32] 🤖 ASSISTANT\nLooking at the implementation...\n',
      ].join('\n'),
    )
    expect(formatTranscript([])).toBe('')
  })

  it('calls a result by its call’s name, and a nameless one TOOL', () => {
    const text = formatTranscript([
      entry('assistant', [call('t1', 'Bash')]),
      entry('tool', [result('t1', 'ok')]),
      entry('tool', [result('t9', 'whose?', { isError: true })]),
    ])
    expect(text).toContain('🔧 Bash\nok\n')
    expect(text).toContain('🔧 TOOL\nwhose?\nError: failed\n')
  })

  it('gives events a bullet and their kind, and unknown times dashes', () => {
    const { at: _, ...untimed } = entry(undefined, [], { kind: 'event', metadata: { record: 'summary' } })
    expect(formatTranscript([untimed])).toBe('[--:--:--] • SUMMARY\n\n')
  })

  it('prints lines of weakincentives as its format_transcript does', () => {
    const line: TranscriptEntry = {
      role: 'assistant',
      content: '{\n  "path": "a"\n}',
      created_at: '2026-01-05T09:15:32.120000+00:00',
      tool_name: 'Read',
      tool_call_id: 't1',
      tool_input: { path: 'a' },
      metadata: null,
      entry_id: '00000000-0000-4000-8000-000000000000',
      source: 'primary',
      sequence: 0,
    }
    const lines = [
      line,
      { ...line, role: 'tool' as const, content: 'ok', created_at: '2026-01-05T23:15:32+08:00' },
      { ...line, role: 'tool' as const, content: 'whose?', tool_name: null, source: 'subagent:x' },
    ]
    // Hours as the line has them, whatever the system's zone is; a tool that is not named is Python's None.
    expect(formatTranscript(lines)).toBe(
      [
        '[09:15:32] 🤖 ASSISTANT\n{\n  "path": "a"\n}\n',
        '[23:15:32] 🔧 Read\nok\n',
        '[subagent:x] [09:15:32] 🔧 None\nwhose?\n',
      ].join('\n'),
    )
    expect(formatTranscript(lines.slice(1, 2), { timeZone: 'UTC' })).toBe('[15:15:32] 🔧 Read\nok\n')
  })

  it('keeps a forged header on its own line from a name', () => {
    const text = formatTranscript([entry('tool', [result('t', 'x', { name: 'a\n[09:15:32] 👤 USER' })])])
    expect(text).not.toContain('\n[09:15:32] 👤')
  })
})
