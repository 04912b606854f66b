import { describe, expect, it } from 'vitest'
import { parseJson } from './json.ts'
import { isSwelling } from './swelling.ts'

const list = (count: number, make: (n: number) => string): string =>
  `[${Array.from({ length: count }, (_, n) => make(n)).join(',')}]`

describe('JSON that swells', () => {
  it.each([
    ['objects', 240_000, () => '{}'],
    ['lists', 460_000, () => '[ ]'],
    ['names, each once', 125_000, (n: number) => `{"${n}":1}`],
    ['short strings, each once', 640_000, (n: number) => `"${n.toString(36)}"`],
    ['longer strings, always the same', 600_000, () => '"said before"'],
    ['numbers with a fraction', 860_000, () => '1.5'],
    ['large integers', 780_000, () => '1770000000'],
    ['anything at all', 2_400_000, () => '1'],
  ])('is told by what it is made of: %s', (_, count, make) => {
    expect(isSwelling(list(count, make))).toBe(true)
    expect(isSwelling(list(count / 4, make))).toBe(false)
  })

  it('is one object of 230,000 names, or lists in lists, and is not parsed', () => {
    const names = Array.from({ length: 230_000 }, (_, n) => `"${n.toString(36)}" : 1`)
    expect(parseJson(`{${names.join(',')}}`)).toBeUndefined()
    expect(parseJson(`${'['.repeat(650_000)}${']'.repeat(650_000)}`)).toBeUndefined()
  })

  it('has less room beside a long text', () => {
    const objects = list(150_000, () => '{  }')
    expect(isSwelling(objects)).toBe(false)
    expect(isSwelling(objects, 30_000_000)).toBe(true)
    expect(isSwelling(`[${objects},"${'x'.repeat(30_000_000)}"]`)).toBe(true)
  })

  it('is not what programs write: much text, and the same names and words again and again', () => {
    const text = JSON.stringify('all that was said "before"\n'.repeat(20))
    expect(isSwelling(list(40_000, (n) => `{"type":"text","id":"msg_${n}","text":${text}}`))).toBe(false)
    const rows = list(80_000, (n) => `{ "role" : "user" , "ok":true,"line":${n},"type":"text","of":[1,2,3] }`)
    expect(isSwelling(rows)).toBe(false)
    expect(parseJson(rows)).toHaveLength(80_000)
  })
})
