import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { uncountedOf } from '../replay/call-bytes.ts'
import type { Entry } from '../transcript/entry.ts'
import { createCallFold } from '../transcript/totals.ts'
import { QUALITIES, type Usage } from '../transcript/usage.ts'
import { MARKS, usageOf } from './outline-row.ts'
import { createSums, type Sums } from './outline-sums.ts'

let made = 0
const answer = (messageId: string, usage?: Usage, model = 'claude-sonnet-4-5'): Entry => ({
  id: `e${(made += 1)}`,
  source: 'primary',
  sequence: made,
  kind: 'message',
  role: 'assistant',
  blocks: [],
  model,
  call: { messageId },
  ...(usage && { usage }),
})
const SAID = { id: 'u', source: 'primary', sequence: 0, kind: 'message', role: 'user', blocks: [] } as const

function sumsOf(entries: readonly Entry[]): readonly Sums[] {
  const fold = createSums()
  return entries.map((entry) => fold.add(entry, {}))
}
const qualities = (all: readonly Sums[]) => all.map((sums) => usageOf(sums)?.quality)

describe('a sum that runs through a session', () => {
  it('is not known before anything is, and keeps what is not known apart from what is zero', () => {
    const [first, second, third] = sumsOf([
      SAID,
      answer('a', { output: 0, cacheRead: 7, quality: 'reported' }),
      answer('b', { input: 3, quality: 'reported' }),
    ]).map(usageOf)
    expect(first).toBeUndefined()
    expect(second).toEqual({ output: 0, cacheRead: 7, quality: 'reported' })
    expect(third).toEqual({ input: 3, output: 0, cacheRead: 7, quality: 'reported' })
  })

  it('is as sure as the worst call in it, each by its last word so far', () => {
    const all = sumsOf([
      answer('a', { input: 9, output: 1, quality: 'partial' }),
      answer('a', { input: 9, output: 40, quality: 'reported' }),
      answer('b', { input: 9, output: 1, quality: 'partial' }),
      answer('c', { input: 9, output: 1, quality: 'estimated' }),
      answer('c', { input: 9, output: 1, quality: 'reported' }),
      answer('b', { input: 9, output: 30, quality: 'reported' }),
    ])
    expect(qualities(all)).toEqual(['partial', 'reported', 'partial', 'estimated', 'partial', 'reported'])
  })

  it('counts the answers that nobody counted, until somebody does', () => {
    const all = sumsOf([
      answer('a'),
      answer('b', { input: 9, output: 1, quality: 'reported' }),
      answer('a', { input: 9, output: 1, quality: 'reported' }),
    ])
    expect(all.map(({ calls }) => uncountedOf(calls))).toEqual([1, 1, 0])
    expect(qualities(all)).toEqual([undefined, 'partial', 'reported'])
  })

  it('knows from a call without a price on that it lacks one', () => {
    const usage = { input: 9, output: 1, quality: 'reported' } as const
    const all = sumsOf([answer('a', usage), answer('b', usage, 'unheard-of-1'), SAID])
    expect(all.map(({ marks }) => (marks & MARKS.unpricedSoFar) !== 0)).toEqual([false, true, true])
  })

  it('is at the end what all calls come to, however they were reported', () => {
    const count = fc.option(fc.nat(1000), { nil: undefined })
    const usage = fc
      .record({ input: count, output: count, cacheRead: count, quality: fc.constantFrom(...QUALITIES) })
      .map(({ quality, ...counts }): Usage => {
        const known = Object.entries(counts).filter(([, tokens]) => tokens !== undefined)
        return { ...Object.fromEntries(known), quality }
      })
    const reports = fc.array(
      fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.option(usage, { nil: undefined })),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(reports, (all) => {
        const entries = all.map(([id, used]) => answer(id, used))
        const calls = createCallFold()
        for (const entry of entries) calls.add(entry)
        const last = sumsOf(entries).at(-1)
        const { usage: sum, uncounted = 0 } = calls.totals()
        expect([last && usageOf(last), last && uncountedOf(last.calls)]).toEqual([sum, uncounted])
      }),
    )
  })

  it('goes on from a row as if it had never stopped', () => {
    const entries = [
      answer('a', { input: 9, output: 1, quality: 'partial' }),
      answer('b'),
      answer('c', { output: 3, quality: 'estimated' }, 'unheard-of-1'),
      answer('d', { input: 1, output: 3, quality: 'reported' }),
      SAID,
    ]
    const whole = createSums()
    const rows = entries.map((entry) => whole.add(entry, {}))
    const rest = createSums({ from: { position: 3, row: rows[2], unpriced: [...whole.unpriced] } })
    expect(entries.slice(3).map((entry) => rest.add(entry, {}))).toEqual(rows.slice(3))
  })
})
