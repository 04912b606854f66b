import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeOfCut } from './cut-strings-code.ts'
import { createCutter, LINES_AT, STAND_IN } from './cut-strings.ts'
import { isObject, parseJson, type Json } from './json.ts'

const LONGEST = 40
const cutter = createCutter(
  codeOfCut({ keys: ['content', 'originalFile'], whole: 'input', longest: LONGEST }),
)

/** Undefined for a line that is odd. */
function cut(line: Buffer): { readonly text: string; readonly cuts: number } | undefined {
  if (cutter === undefined) throw new Error('no WebAssembly')
  const out = LINES_AT + line.length + 1
  const room = cutter.room(out + line.length)
  line.copy(room, LINES_AT)
  room[LINES_AT + line.length] = 0x0a
  const length = cutter.cut(LINES_AT, out)
  if (length === -1) return undefined
  expect(cutter.end()).toBe(LINES_AT + line.length)
  const cuts = cutter.cuts()
  const found = cuts === 0 ? line.toString() : room.toString('utf8', out, out + length)
  if (cutter.isAscii() && parseJson(found) !== undefined) expect(line.some((byte) => byte > 0x7f)).toBe(false)
  return { text: found, cuts }
}

/** What is left of a value, by what is promised. */
function expected(value: Json, key: string | undefined, isWhole: boolean): Json {
  if (typeof value === 'string') {
    const isCut = !isWhole && (key === 'content' || key === 'originalFile')
    return isCut && Buffer.byteLength(JSON.stringify(value)) - 2 > LONGEST ? STAND_IN : value
  }
  if (Array.isArray(value)) return value.map((one: Json) => expected(one, undefined, isWhole))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      expected(one, name, isWhole || (name === 'input' && typeof one !== 'string')),
    ]),
  )
}

const words = fc.oneof(
  fc.string({ maxLength: 100, size: 'max' }),
  fc
    .array(fc.constantFrom('"', '\\', '\n', 'é', '漢', '🦊', '{', '[', ':', ',', '\u0001', 'word '), {
      maxLength: 60,
      size: 'max',
    })
    .map((parts) => parts.join('')),
)
const { value } = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.constantFrom(null, true, 1.5e3, -7),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(
    fc.constantFrom('content', 'originalFile', 'input', 'text', 'type', 'contents', 'inputs', ''),
    tie('value'),
    { maxKeys: 5 },
  ),
}))
const line = fc
  .dictionary(fc.constantFrom('content', 'message', 'input', 'x'), value, { maxKeys: 4 })
  .map((one) => JSON.stringify(one))

describe('a line whose long strings are cut', () => {
  it('is the line but for those', () => {
    let cuts = 0
    fc.assert(
      fc.property(line, (one) => {
        const found = cut(Buffer.from(one))
        expect(parseJson(found?.text ?? '')).toEqual(expected(parseJson(one) ?? null, undefined, false))
        cuts += found?.cuts ?? 0
      }),
      { numRuns: 3000 },
    )
    expect(cuts).toBeGreaterThan(500)
  })

  it('is JSON where the line is, and nowhere else', () => {
    const bytes = fc.constantFrom(0x22, 0x5c, 0x0d, 0x7d, 0x20, 0x75, 0xff)
    fc.assert(
      fc.property(line, fc.nat(), bytes, (one, where, byte) => {
        const broken = Buffer.from(one)
        broken[where % broken.length] = byte
        const found = cut(broken)
        if (found === undefined) return
        expect(parseJson(found.text) === undefined).toBe(parseJson(broken.toString()) === undefined)
      }),
      { numRuns: 3000 },
    )
  })

  it('is odd where a key is spelled with a backslash, or its colon stands apart', () => {
    const long = 'x'.repeat(LONGEST + 1)
    expect(cut(Buffer.from(String.raw`{"inp\u0075t":{"content":"${long}"}}`))).toBeUndefined()
    expect(cut(Buffer.from(`{"content" : "${long}"}`))).toBeUndefined()
    expect(cut(Buffer.from(`{"content": "${long}"}`))?.cuts).toBe(1)
    expect(cut(Buffer.from(`{"input": {"content": "${long}"}}`))?.cuts).toBe(0)
  })
})
