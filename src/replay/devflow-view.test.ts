import { describe, expect, it } from 'vitest'
import { call, entry, result, session } from '../../test/replay-entries.ts'
import { toDollars } from './amounts.ts'
import { toDuration } from './clock.ts'
import { createDevflowView } from './devflow-view.ts'
import { render } from './view.ts'

const timeZone = 'UTC'

describe('devflow’s views', () => {
  const entries = [
    entry('user', 'Fix\nthe bug', { usage: { input: 1200, quality: 'reported' } }),
    entry('assistant', [{ type: 'text', text: 'Reading' }, call('t')], {
      usage: { output: 800, quality: 'reported' },
      durationMs: 412,
    }),
    entry('tool', [result('t', '😀'.repeat(201), { error: 'broken pipe' })]),
    entry('assistant', 'x'.repeat(150)),
  ]

  it('open with what the run was, took and cost', () => {
    const rule = '═'.repeat(60)
    expect(render(createDevflowView({ timeZone }), session, [])).toBe(
      `${rule}
Run: 2025-01-15-ticket-to-pr-TK-421
Flow: ticket-to-pr | Status: failed
Started: 2025-01-15 14:30:22 | Duration: 15m32s
Tokens: 5,200 in / 1,800 out | Cost: $0.12
Error: out of luck
${rule}
`,
    )
  })

  it('say unknown for what is unknown, never 0', () => {
    const text = render(createDevflowView(), { id: 's', status: 'running' }, [])
    expect(text).toContain(
      'Started: unknown | Duration: unknown\nTokens: unknown in / unknown out | Cost: unknown\n',
    )
    expect(text).not.toContain('0')
  })

  it('mark what is no exact count, but not what devflow itself says of whole prompts', () => {
    const usage = { input: 5200, output: 3, quality: 'estimated' } as const
    const turns = [entry('assistant', 'Hm', { usage })]
    const drawn = (names: object): string =>
      render(createDevflowView(), { id: 's', status: 'completed', reportedUsage: usage, ...names }, turns)
    expect(drawn({})).toContain('Tokens: ~ 5,200 in / ~ 3 out |')
    expect(drawn({})).toContain('[~ 5,200 tokens in] [~ 3 tokens out]')
    const own = drawn({ names: { devflow: 'a-run' } })
    expect(own).toContain('Tokens: 5,200 in / 3 out |')
    expect(own).toContain('[5,200 tokens in] [3 tokens out]')
    const partial = { ...usage, quality: 'partial' } as const
    expect(drawn({ names: { devflow: 'a-run' }, reportedUsage: partial })).toContain('Tokens: ≥ 5,200 in')
  })

  it('full: each turn with tokens, duration, and tools with output cut at a character', () => {
    const text = render(createDevflowView({ timeZone }), session, entries)
    expect(text).toContain('[1] USER (09:15:32) [1,200 tokens in]\nFix\nthe bug\n')
    expect(text).toContain('[2] ASSISTANT (09:15:32) [800 tokens out] [412ms]\nReading\n  Tool: Read\n')
    expect(text).toContain('  Input: {\n    "path": "src/main.py"\n  }\n')
    expect(text).toContain(`  Output: ${'😀'.repeat(200)}...\n  Error: broken pipe\n`)
  })

  it('summary: a line for each turn, its first 100 characters', () => {
    const text = render(createDevflowView({ mode: 'summary' }), session, entries)
    expect(text).toContain(
      `  [1] user: Fix the bug\n  [2] assistant: Reading\n  [3] assistant: ${'x'.repeat(100)}...\n`,
    )
  })

  it('assistant: only what the assistant said; turn: only that turn', () => {
    expect(render(createDevflowView({ mode: 'assistant' }), session, entries)).not.toContain('USER')
    const one = render(createDevflowView({ mode: 'turn', turn: 2 }), session, entries)
    expect(one).toContain('[2] ASSISTANT')
    expect(one).not.toContain('[3]')
    expect(() => render(createDevflowView({ mode: 'turn', turn: 9 }), session, entries)).toThrow(
      'there is no turn 9: the session has 3',
    )
    expect(() => createDevflowView({ mode: 'turn' })).toThrow('none is named')
  })

  it('write durations and money as people do', () => {
    expect([0, 45_000, 932_400, 3_723_000, undefined].map(toDuration)).toEqual([
      '0s',
      '45s',
      '15m32s',
      '1h2m3s',
      'unknown',
    ])
    expect(['0.12', '0.125', '0.000120', '1234.5', '0', '0.01', '0.995'].map(toDollars)).toEqual([
      '$0.12',
      '$0.13',
      '$0.00012',
      '$1,234.50',
      '$0.00',
      '$0.01',
      '$1.00',
    ])
  })
})
