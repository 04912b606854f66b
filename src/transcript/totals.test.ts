import { describe, expect, it } from 'vitest'
import type { Entry } from './entry.ts'
import { createCallFold, type BilledCall } from './totals.ts'

const report = (call: number, tool: string, output: number): Entry => ({
  id: `${call}-${tool}`,
  parent: null,
  source: 'primary',
  sequence: 0,
  kind: 'message',
  role: 'assistant',
  call: { messageId: `m${call}` },
  usage: { output, quality: 'reported' },
  blocks: [{ type: 'tool-call', callId: tool, name: tool, input: {} }],
})

describe('calls of many tools with long names', () => {
  it('are each settled once, with all of them, though few are held', () => {
    const settled: BilledCall[] = []
    const fold = createCallFold({ window: 10_000, isNotSummed: true, settle: (call) => settled.push(call) })
    const names = Array.from({ length: 50 }, (_, n) => `tool-${n}-`.padEnd(200, 'y'))
    for (let call = 0; call < 1000; call += 1)
      for (const [at, name] of names.entries()) fold.add(report(call, name, at))
    const before = settled.length
    expect(before).toBeGreaterThan(800)
    expect(fold.totals()).toMatchObject({ calls: 1000, toolCalls: 50_000 })
    expect(settled).toHaveLength(1000)
    expect(new Set(settled.map(({ key }) => key)).size).toBe(1000)
    expect(settled.every(({ tools, usage }) => tools?.length === 50 && usage.output === 49)).toBe(true)
  })

  it('of which one is more than all may be stays open while it is reported', () => {
    const settled: BilledCall[] = []
    const fold = createCallFold({ window: 1, settle: (call) => settled.push(call) })
    for (const name of ['a', 'b', 'c']) fold.add(report(1, name.repeat(200), 1))
    expect(settled).toEqual([])
    fold.add(report(2, 'a', 1))
    expect(settled.map(({ tools }) => tools?.length)).toEqual([3])
  })
})

describe('an answer without counts', () => {
  const answer = (blocks: Entry['blocks']): Entry => ({
    id: 'a',
    source: 'primary',
    sequence: 0,
    kind: 'message',
    role: 'assistant',
    blocks,
    call: { messageId: 'm' },
    usage: { quality: 'unavailable' },
  })

  it('is a call that nobody counted, unless it is nothing but an error: such a request was refused', () => {
    const totals = (blocks: Entry['blocks']) => {
      const fold = createCallFold()
      fold.add(answer(blocks))
      return fold.totals()
    }
    const refused = { type: 'error', message: '429 slow down' } as const
    expect(totals([refused])).not.toHaveProperty('uncounted')
    expect(totals([refused]).calls).toBe(0)
    expect(totals([{ type: 'text', text: 'It begi' }, refused])).toMatchObject({ calls: 0, uncounted: 1 })
    expect(totals([])).toMatchObject({ uncounted: 1 })
  })
})
