import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paletteColour, toAnsi } from './ansi.ts'

const ESC = '\u001b'
const textOf = (text: string): string =>
  toAnsi(text)
    .map(({ text: part }) => part)
    .join('')

describe('the output of programs', () => {
  it('is itself where it has no sequences', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        // oxlint-disable-next-line no-control-regex
        const plain = text.replaceAll(/[\u001b\u009b\r\b]/g, '')
        expect(textOf(plain)).toBe(plain)
      }),
    )
  })

  it('keeps the text between sequences, and nothing of them', () => {
    const sequence = fc.constantFrom(
      `${ESC}[1m`,
      `${ESC}[38;5;200m`,
      `${ESC}[0m`,
      `${ESC}[2J`,
      `${ESC}[10;3H`,
      `${ESC}]0;title\u0007`,
      `${ESC}]8;;http://x${ESC}\\`,
      `${ESC}(B`,
      `${ESC}7`,
      '\u009b31m',
      `${ESC}P1$r${ESC}\\`,
    )
    const piece = fc.oneof(sequence, fc.stringMatching(/^[a-z \n]{0,8}$/))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        // oxlint-disable-next-line no-control-regex
        const plain = pieces.filter((one) => !/[\u001b\u009b]/.test(one)).join('')
        expect(textOf(pieces.join(''))).toBe(plain)
      }),
    )
  })

  it('has colours and weights', () => {
    expect(
      toAnsi(
        `${ESC}[1;31mbad${ESC}[0m ${ESC}[38;5;208ma${ESC}[38;2;1;2;255;4mb${ESC}[39;24;48:5:3mc${ESC}[97md`,
      ),
    ).toEqual([
      { text: 'bad', style: { bold: true, fg: 1 } },
      { text: ' ' },
      { text: 'a', style: { fg: 208 } },
      { text: 'b', style: { fg: '#0102ff', underline: true } },
      { text: 'c', style: { bg: 3 } },
      { text: 'd', style: { bg: 3, fg: 15 } },
    ])
  })

  it('overwrites a line that was gone back to, as a terminal does', () => {
    expect(textOf('10%\r20%\r100% done\nnext')).toBe('100% done\nnext')
    expect(textOf('abcdef\rxy')).toBe('xycdef')
    expect(textOf(`abcdef\rxy${ESC}[K`)).toBe('xy')
    expect(textOf('ab\b\bX\r\nY')).toBe('Xb\nY')
    expect(textOf(`long line\r${ESC}[2Knew`)).toBe('new')
  })

  it('swallows nothing after a sequence that never ends', () => {
    expect(textOf(`${ESC}]0;no end\nthe rest`)).toContain('the rest')
    expect(textOf(`${ESC}[`)).toContain('[')
    expect(textOf(`a${ESC}`)).toBe(`a${ESC}`)
  })

  it.each([
    ESC,
    `${ESC}[`,
    `${ESC}]`,
    `${ESC}[1m`,
    `${ESC}[${'1;'.repeat(90)}m`,
    '\r',
    'a\r',
    '\b',
    `${ESC}[K`,
    `${ESC}P`,
    `a${ESC}[2K`,
    `${ESC}[1K`,
  ])('takes time in proportion to %j over and over', (piece) => {
    const time = (length: number): number => {
      const text = piece.repeat(length / piece.length)
      const began = process.cpuUsage()
      toAnsi(text)
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000
    }
    expect(Math.min(time(400_000), time(400_000))).toBeLessThan(1500)
  })

  it('has the colours of 256', () => {
    expect([16, 231, 232, 255, 196].map(paletteColour)).toEqual([
      'rgb(0 0 0)',
      'rgb(255 255 255)',
      'rgb(8 8 8)',
      'rgb(238 238 238)',
      'rgb(255 0 0)',
    ])
  })
})
