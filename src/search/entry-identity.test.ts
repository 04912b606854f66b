import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../sources/entry-keys.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import { createJoin, identityOf } from './entry-identity.ts'

const saying = (raw: Json, more: Partial<Entry> = {}): Entry => ({
  id: 'primary/0',
  source: 'primary',
  sequence: 0,
  kind: 'event',
  blocks: [{ type: 'unknown', raw }],
  ...more,
})

/** As 1e999 is read. */
const LARGEST = Number.POSITIVE_INFINITY

/** Few, so that many are the same: and such as JSON spells alike, 1e999 and null among them. */
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(null, 0, -0, LARGEST, true, '', '0', 'null', 'a'),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 2 }),
  ),
})).value

describe('which entry it is', () => {
  it('is the same for those that show takes for one, and no others', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const [a, b] = [saying(one), saying(other)]
        expect(identityOf(a) === identityOf(b)).toBe(digestOf('', a) === digestOf('', b))
      }),
      {
        numRuns: 5000,
        examples: [
          [LARGEST, null],
          [[LARGEST], [null]],
          [-0, 0],
        ],
      },
    )
  })

  it('goes by who said it, when and how, and by metadata where nothing else is said', () => {
    const all = [
      saying('a'),
      saying('a', { source: 'subagent:x', id: 'subagent:x/0' }),
      saying('a', { at: '2026-03-01T10:00:00.000Z' }),
      saying('a', { role: 'user' }),
      saying('a', { kind: 'message' }),
      saying('a', { id: 'of its own' }),
      saying('a', { blocks: [], metadata: { a: 'a' } }),
      saying('a', { blocks: [], metadata: { a: 'b' } }),
    ]
    expect(new Set(all.map(identityOf)).size).toBe(all.length)
    expect(identityOf(saying('a', { metadata: { a: 'a' } }))).toBe(identityOf(saying('a')))
  })

  it('is another for what one recording says again, and the same for what the next does', () => {
    const said = ['a', 'a', 'b'].map((text, sequence) =>
      saying(text, { id: `primary/${sequence}`, sequence }),
    )
    const join = createJoin()
    const first = join()
    expect(said.map((entry) => first(identityOf(entry)))).toEqual([true, true, true])
    const second = join()
    const more = ['b', 'a', 'a', 'a'].map((text) => second(identityOf(saying(text))))
    expect(more).toEqual([false, false, false, true])
  })
})
