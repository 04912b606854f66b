import { expect, it } from 'vitest'
import { countText, moneyText, tokensText, whyOf } from './numbers.ts'

const cost = { usd: '1.04', unpriced: [] }
const usage = { input: 10, output: 5, quality: 'reported' } as const

it('marks money and tokens as every other view does, and says why on pointing at them', () => {
  expect(moneyText(cost, { usage })).toEqual({ short: '$1.04', exact: 'US$ 1.04' })
  expect(moneyText(cost, { usage: { ...usage, quality: 'partial' } })).toEqual({
    short: '≥ $1.04',
    exact: 'at least US$ 1.04\nsome answers were counted only in part',
  })
  expect(moneyText(cost, { usage: { ...usage, quality: 'estimated' } })?.short).toBe('~ $1.04')
  expect(moneyText(cost, { usage: { output: 5, quality: 'reported' } })).toEqual({
    short: '≥ $1.04',
    exact: 'at least US$ 1.04\nwhat was read is not known',
  })
  expect(tokensText(usage)?.short).toBe('15')
  expect(tokensText({ ...usage, quality: 'partial' })?.short).toBe('≥ 15')
  expect(tokensText(usage, 2)?.exact).toBe('10 input\n5 output\n2 answers were not counted')
})

it('marks one kind of token by how it was counted, whatever is known of another', () => {
  expect(countText(1500, 'tokens')).toEqual({ short: '1.5k', exact: '1,500 tokens' })
  expect(countText(1500, 'tokens', { usage: { quality: 'partial' } })).toEqual({
    short: '≥ 1.5k',
    exact: 'at least 1,500 tokens\nsome answers were counted only in part',
  })
  expect(countText(1500, 'tokens', { usage: { quality: 'unavailable' } }).exact).toBe(
    '1,500 tokens\nsome counts are estimated',
  )
})

it('says why a sum is not exact, and nothing of what is', () => {
  expect(whyOf({ usage, cost })).toEqual([])
  expect(whyOf({ usage: { ...usage, quality: 'partial' }, uncounted: 1 })).toEqual([
    '1 answer was not counted',
  ])
  expect(whyOf({ usage, cost: { usd: '1', unpriced: ['some of it'] } })).toEqual([
    'no price is known for some of it',
  ])
})
