import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseUsd, perToken, timesFactor, toUsd } from './money.ts'

describe('money', () => {
  it('says and reads the same amount, digit for digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (pico) => {
        expect(parseUsd(toUsd(pico, 12))).toBe(pico)
      }),
    )
  })

  it('rounds halves to the even neighbour, and only when shown', () => {
    expect(toUsd(18_110_000_000n)).toBe('0.018110')
    expect(toUsd(500_000n)).toBe('0.000000')
    expect(toUsd(500_001n)).toBe('0.000001')
    expect(toUsd(1_500_000n)).toBe('0.000002')
    expect(toUsd(2_500_000n)).toBe('0.000002')
    expect(toUsd(999_999_500_000n)).toBe('1.000000')
    expect(toUsd(-1_500_000n)).toBe('-0.000002')
    expect(toUsd(-1n)).toBe('0.000000')
    expect(toUsd(1_500_000_000_000n, 0)).toBe('2')
    expect(toUsd(12_345_000_000_000n, 2)).toBe('12.34')
  })

  it('takes a decimal string and nothing else', () => {
    expect(parseUsd('0.12')).toBe(120_000_000_000n)
    expect(parseUsd('3')).toBe(3_000_000_000_000n)
    for (const text of [
      '',
      '.5',
      '1.',
      '1e3',
      '$1',
      '1,000',
      ' 1',
      'NaN',
      '0.0000000000001',
      '9'.repeat(16),
    ]) {
      expect(parseUsd(text)).toBeUndefined()
    }
  })

  it('turns dollars per million tokens into pico-dollars per token, exactly or not at all', () => {
    expect(perToken('1')).toBe(1_000_000n)
    expect(perToken('0.005')).toBe(5_000n)
    expect(perToken('0.000001')).toBe(1n)
    for (const price of ['-1', '0.0000001', 'free']) expect(() => perToken(price)).toThrow(/not a price/)
    expect(timesFactor(5_000n, '0.5')).toBe(2_500n)
    expect(() => timesFactor(1n, '0.5')).toThrow(/not a factor/)
    expect(() => timesFactor(1n, '0')).toThrow(/not a factor/)
  })
})
