import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFraming } from './chunk-framing.ts'

type Followed = {
  readonly content: string
  readonly length: number
  readonly framing: ReturnType<typeof createFraming>
}

/** In pieces that end at these places. */
function follow(text: string, ends: readonly number[] = []): Followed {
  const framing = createFraming()
  const bytes = Buffer.from(text, 'latin1')
  const places = [...ends.map((end) => end % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  let content = ''
  let length = 0
  let from = 0
  for (const end of places) {
    const piece = bytes.subarray(from, end)
    from = end
    length += framing.follow(piece, (part) => (content += part.toString('latin1')))
  }
  return { content, length, framing }
}

const chunk = fc.tuple(
  fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' }),
  fc.constantFrom('', ';a=b', ';x'),
)
const trailers = fc.array(fc.constantFrom('x-a: 1\r\n', 'x-b: two\r\n'), { maxLength: 3 })

describe('the framing of a chunked body', () => {
  it('says what is content and where the body ends, wherever it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(chunk),
        trailers,
        fc.array(fc.nat()),
        fc.string(),
        (chunks, lines, ends, behind) => {
          const text = chunks
            .map(([data, more]) => `${data.length.toString(16)}${more}\r\n${data}\r\n`)
            .join('')
          const body = `${text}0\r\n${lines.join('')}\r\n`
          const { content, length, framing } = follow(body + behind, ends)
          expect(content).toBe(chunks.map(([data]) => data).join(''))
          expect(length).toBe(body.length)
          expect(framing.isOver()).toBe(true)
        },
      ),
    )
  })

  it('is between chunks where one has ended and the next has not begun', () => {
    const isBetween = (text: string): boolean => follow(text).framing.isBetween()
    expect(['', '3\r\nabc\r\n', '3\r\nabc\r\n1\r\nx\r\n'].map(isBetween)).toEqual([true, true, true])
    const within = [
      '3',
      '3\r',
      '3\r\n',
      '3\r\nab',
      '3\r\nabc',
      '3\r\nabc\r',
      '3\r\nabc\r\n0',
      '0\r\n',
      '0\r\n\r\n',
    ]
    expect(within.map(isBetween)).toEqual(within.map(() => false))
  })

  it.each([
    ['zz\r\n', 0],
    ['\r\n', 0],
    ['3\nabc', 1],
    ['3 \r\nabc', 1],
    ['3;a\nabc', 3],
    ['3\r\nabcd\r\n', 6],
    ['3\r\nabc\rx', 7],
    ['00000000000003\r\nabc', 13],
    ['0\r\n\rx', 4],
  ])('of %j goes as far as it is one', (text, length) => {
    const followed = follow(`${text}3\r\nabc\r\n`)
    expect(followed.length).toBe(length)
    expect(followed.framing.isBroken()).toBe(true)
    expect(followed.framing.isOver()).toBe(false)
  })
})
