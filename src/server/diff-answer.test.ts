import { describe, expect, it } from 'vitest'
import { createSide, diffSessions, type Taken } from '../replay/diff/diff.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Totals } from '../transcript/session.ts'
import { diffSchema } from './api-diff.ts'
import { MOST_CHANGES, toDiffAnswer } from './diff-answer.ts'

const row = (id: string) => ({ id, status: 'completed' as const, models: [] })
const rows = { a: row('a'), b: row('b') }

function taken(id: string, prompts: readonly string[]): Taken {
  const side = createSide()
  prompts.forEach((text, sequence) => {
    const entry: Entry = {
      id: `${id}-${sequence}`,
      source: 'primary',
      sequence,
      kind: 'message',
      role: 'user',
      blocks: [{ type: 'text', text }],
    }
    side.add(entry)
  })
  return side.end({ id, status: 'completed' })
}

const compare = (a: readonly string[], b: readonly string[]) =>
  toDiffAnswer(diffSessions(taken('a', a), taken('b', b)), rows)

describe('a comparison for a page', () => {
  it('of two that say the same is empty', () => {
    const answer = compare(['one', 'two'], ['one', 'two'])
    expect(answer).toMatchObject({ isSame: true, changes: [], counts: { changed: 0 } })
    expect(diffSchema.safeParse(answer).error).toBeUndefined()
  })

  it('says how sure the tokens of each side are', () => {
    const side = (id: string, totals: Totals): Taken => createSide().end({ id, status: 'completed', totals })
    const usage = { input: 10, output: 5, quality: 'partial' } as const
    const sums = { entries: 1, toolCalls: 0, calls: 1 }
    const { a, b } = toDiffAnswer(diffSessions(side('a', { ...sums, usage }), side('b', sums)), rows)
    expect([a.tokensIn, a.tokensOut, a.quality, b.quality]).toEqual([10, 5, 'partial', undefined])
  })

  it('names the entry of each side', () => {
    const { changes } = compare(['one', 'two', 'three'], ['one', 'three', 'four'])
    expect(changes.map(({ type, a, b }) => [type, a?.position, b?.position])).toEqual([
      ['gone', 1, undefined],
      ['come', undefined, 2],
    ])
  })

  it('shows of long texts the part from where they differ', () => {
    const same = 'a line that is the same\n'.repeat(5000)
    const tail = 'and so on '.repeat(5000)
    const [change] = compare([`${same}red${tail}`], [`${same}blue${tail}`]).changes
    const { a, b } = change ?? {}
    expect(a?.text?.includes('red')).toBe(true)
    expect(b?.text?.includes('blue')).toBe(true)
    expect(a?.text?.startsWith('a line')).toBe(true)
    expect(a?.text?.length).toBeLessThanOrEqual(32_768)
    expect((a?.skipped ?? 0) + (a?.text?.length ?? 0) + (a?.cut ?? 0)).toBe(same.length + 3 + tail.length)
    expect(a?.skipped).toBe(b?.skipped)
  })

  it('does not cut through a character', () => {
    const same = '😀'.repeat(20_000)
    for (const shift of ['', 'x']) {
      const [{ a } = {}] = compare([`${shift}${same}1${same}`], [`${shift}${same}2${same}`]).changes
      expect(a?.text).not.toMatch(/\p{Cs}/u)
    }
  })

  it('is bounded, and says how much is left out', () => {
    const many = (word: string): readonly string[] =>
      Array.from({ length: 3000 }, (_, at) => `${word} ${at} ${'x'.repeat(20_000)}`)
    const answer = compare(many('this'), many('that'))
    expect(answer.changes).toHaveLength(MOST_CHANGES)
    expect(answer.changes.length + answer.more.changes).toBe(
      answer.counts.changed + answer.counts.gone + answer.counts.come + answer.counts.moved,
    )
    expect(JSON.stringify(answer).length).toBeLessThan(6_000_000)
  })
})
