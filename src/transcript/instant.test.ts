import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromMillis, millisBetween, parseInstant, toMillis } from './instant.ts'

describe('instants', () => {
  it.each([
    ['2025-01-15T10:30:00Z', '2025-01-15T10:30:00.000Z'],
    ['2025-12-09T14:30:22.123456Z', '2025-12-09T14:30:22.123456Z'],
    ['2025-12-09T14:30:22.120000Z', '2025-12-09T14:30:22.120Z'],
    ['2025-12-09T09:38:51.058956+00:00Z', '2025-12-09T09:38:51.058956Z'],
    ['2026-02-08T14:30:00+08:00', '2026-02-08T06:30:00.000Z'],
    ['2026-02-08T14:30:00.5-0330', '2026-02-08T18:00:00.500Z'],
    ['2026-02-08 14:30:00', '2026-02-08T14:30:00.000Z'],
    ['2026-02-08T14:30', '2026-02-08T14:30:00.000Z'],
    ['2026-02-10T23:31:00.123456789Z', '2026-02-10T23:31:00.123456789Z'],
  ])('reads %s', (text, instant) => {
    expect(parseInstant(text)).toBe(instant)
  })

  it.each([
    '',
    'yesterday',
    '2025-13-45T99:99:99Z',
    '0001-01-01T00:00:00Z',
    null,
    undefined,
    {},
    Number.NaN,
    1e20,
  ])('is unknown for %j', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })

  it('reads its own spelling back unchanged, at any time and precision', () => {
    const millis = fc.integer({ min: 0, max: 4_000_000_000_000 })
    fc.assert(
      fc.property(millis, fc.integer({ min: 1, max: 999 }), (at, micros) => {
        const instant = fromMillis(at) as string
        expect(parseInstant(instant)).toBe(instant)
        expect(toMillis(instant)).toBe(at)
        const precise = `${instant.slice(0, 23)}${String(micros).padStart(3, '0')}Z`
        expect(parseInstant(precise)).toBe(precise)
        expect(toMillis(precise)).toBe(at)
      }),
    )
  })

  it('takes the floor of a duration in milliseconds', () => {
    expect(millisBetween('2025-12-09T14:30:22.000Z', '2025-12-09T14:30:26.800Z')).toBe(4800)
    expect(millisBetween('2025-12-09T14:30:22.000999Z', '2025-12-09T14:30:22.100998Z')).toBe(99)
    expect(millisBetween(undefined, '2025-12-09T14:30:26.800Z')).toBeUndefined()
  })

  it('are as far apart as they are, whichever were asked for before', () => {
    const spelled = fc.constantFrom(
      '2025-12-09T14:30:22.000Z',
      '2025-12-09T14:30:22.001Z',
      '2025-12-10T00:00:00.000Z',
      '2025-12-09T14:30:22.000999Z',
      '2025-12-09 14:30:22.000Z',
      'not-an-instant-at-all-24',
      '',
    )
    const micros = (text: string): number =>
      Date.parse(text.length > 24 ? `${text.slice(0, 23)}Z` : text) * 1000 +
      Number(text.slice(23, 26).replace('Z', '') || 0)
    fc.assert(
      fc.property(fc.array(fc.tuple(spelled, spelled), { minLength: 2 }), (pairs) => {
        for (const [from, to] of pairs)
          expect(millisBetween(from, to)).toBe(Math.floor((micros(to) - micros(from)) / 1000))
      }),
    )
  })

  it('are as many milliseconds as Date.parse says, however they are spelled', () => {
    const digits = fc.array(fc.constantFrom('0', '1', '2', '3', '9', 'T', ':', '-', '.', 'Z', ' '), {
      minLength: 24,
      maxLength: 24,
    })
    const near = fc
      .tuple(
        fc.date({ noInvalidDate: true }),
        fc.nat({ max: 23 }),
        fc.constantFrom('0', '1', '2', '3', '9', 'T', ':', '-', '.', 'Z'),
      )
      .map(([date, at, letter]) => {
        const text = date.toISOString()
        return text.slice(0, at) + letter + text.slice(at + 1)
      })
    fc.assert(
      fc.property(
        fc.oneof(
          near,
          digits.map((all) => all.join('')),
        ),
        (text) => {
          const expected = Date.parse(text.length > 24 ? `${text.slice(0, 23)}Z` : text)
          expect(toMillis(text)).toBe(expected)
          expect(toMillis(text)).toBe(expected)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
