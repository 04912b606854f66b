import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import { parseCut } from './cut-json.ts'
import { joinEnds } from './json-ends.ts'

/** The document without its middle. */
function join(document: Json, head: number, tail: number, indent?: number): Json {
  const text = JSON.stringify(document, undefined, indent)
  return joinEnds(parseCut(text.slice(0, head)) ?? null, text.slice(-tail))
}

const long = 'x"\\ \n'.repeat(1000)

describe('the two ends of a document', () => {
  it('are its keys before and behind what is long', () => {
    const document = { a: 1, info: { id: 'i', text: long, more: { b: 2 } }, list: [{ c: 3 }], z: null }
    for (const indent of [undefined, 2]) {
      const joined = join(document, 100, 150, indent)
      expect(joined).toMatchObject({ a: 1, info: { id: 'i', more: { b: 2 } }, list: [{ c: 3 }], z: null })
    }
  })

  it('are the first and the last elements of a list', () => {
    const list = Array.from({ length: 500 }, (_, n) => ({ n, text: 'said' }))
    const joined = join({ list, end: true }, 60, 60) as { list: { n: number }[]; end: boolean }
    expect(joined.end).toBe(true)
    expect(joined.list[0]).toEqual({ n: 0, text: 'said' })
    expect(joined.list.at(-1)).toEqual({ n: 499, text: 'said' })
  })

  it.each(['', 'no end', '"}', '{"a":1}', ', 3', '}}]', '"a":1} more', '\0\0\0'])(
    'is the first where %j ends it',
    (end) => {
      expect(joinEnds({ a: 0 }, end)).toHaveProperty('a')
    },
  )

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('are the first alone where %j is nested without end', (open, close) => {
    const beginning = parseCut(`${open.repeat(30_000)}1`) ?? null
    expect(joinEnds(beginning, close.repeat(30_000)) === beginning).toBe(true)
  })

  it('add nothing that is not there', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 3 }),
        fc.nat(),
        fc.nat(),
        (document, a, b) => {
          const { length } = JSON.stringify(document)
          const joined = join(document as Json, 1 + (a % length), 1 + (b % length))
          if (joined === null) return
          for (const key of Object.keys(joined))
            expect(JSON.stringify(document)).toContain(JSON.stringify(key))
        },
      ),
    )
  })
})
