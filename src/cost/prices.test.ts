import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createPriceBook } from './price-book.ts'
import { renderPriceTable } from './price-table.ts'
import { PRICE_ROWS, type PriceRow, type Prices } from './prices.ts'

/** Floats are fine for sanity: the bounds are wide. */
const n = (price: string | undefined): number | undefined => (price === undefined ? undefined : Number(price))

/** What is wrong with prices, in words. The bounds would have caught every error found in public price tables. */
function faults(prices: Prices): string[] {
  const found: string[] = []
  const input = Number(prices.input)
  const output = Number(prices.output)
  const read = n(prices.cacheRead)
  const minutes = n(prices.cacheWrite5m)
  const hour = n(prices.cacheWrite1h)
  if (!(input > 0 && input <= 100)) found.push('input out of range')
  if (!(output >= input && output <= input * 12)) found.push('output not 1 to 12 times input')
  if (read !== undefined && !(read > 0 && read <= input)) found.push('cache read above input')
  if (minutes !== undefined && !(minutes >= input && minutes <= (hour ?? input * 2)))
    found.push('5m write not between')
  if (hour !== undefined && !(hour / input >= 1 && hour / input <= 2.5))
    found.push('1h write not 1 to 2.5 times input')
  return found
}

const KINDS = ['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const

describe('the price table', () => {
  it('has only rows that are exact under every factor, as those of others must be', () => {
    expect(() => createPriceBook(PRICE_ROWS)).not.toThrow()
  })

  it.each(PRICE_ROWS.map((row) => [row.id, row] as const))('%s is sane', (_, row) => {
    expect(faults(row)).toEqual([])
    expect(row.id.startsWith(`${row.provider}/${row.model}`)).toBe(true)
    expect(row.source).toMatch(/^https:\/\/[a-z.]+\//)
    expect(row.fetchedAt).toMatch(/^20\d\d-\d\d-\d\d$/)
    for (const instant of [row.from, row.to]) {
      if (instant !== undefined)
        expect(new Date(instant).toISOString().slice(0, 19)).toBe(instant.slice(0, 19))
    }
    if (row.from !== undefined && row.to !== undefined) expect(row.from < row.to).toBe(true)
    if (row.from !== undefined) expect(row.id.endsWith(`@${row.from.slice(0, 10)}`)).toBe(true)
  })

  it('charges long prompts no less, in every kind that it prices at all', () => {
    for (const row of PRICE_ROWS) {
      let before = 0
      for (const tier of row.tiers ?? []) {
        expect(tier.abovePromptTokens).toBeGreaterThan(before)
        before = tier.abovePromptTokens
        expect(faults(tier)).toEqual([])
        for (const kind of KINDS) {
          expect(tier[kind] === undefined).toBe(row[kind] === undefined)
          expect(n(tier[kind]) ?? 0).toBeGreaterThanOrEqual(n(row[kind]) ?? 0)
        }
      }
    }
  })

  it('discounts batch and flex, and charges priority and fast 1 to 6 times', () => {
    for (const { serviceTiers = {}, geos = {} } of PRICE_ROWS) {
      for (const [tier, factor] of Object.entries(serviceTiers)) {
        if (tier === 'batch' || tier === 'flex') expect(Number(factor)).toBeLessThanOrEqual(1)
        else expect(['priority', 'fast']).toContain(tier)
        if (tier === 'priority' || tier === 'fast') expect(Number(factor)).toBeGreaterThanOrEqual(1)
        expect(Number(factor)).toBeLessThanOrEqual(6)
      }
      for (const factor of Object.values(geos)) expect(Number(factor)).toBeCloseTo(1.1)
    }
  })

  it('leaves no gap and no overlap between the prices of a model', () => {
    for (const rows of byModel().values()) {
      expect(rows[0]?.from).toBeUndefined()
      expect(rows.at(-1)?.to).toBeUndefined()
      for (let i = 1; i < rows.length; i += 1) expect(rows[i]?.from).toBe(rows[i - 1]?.to)
    }
  })

  it('has each id and each name once', () => {
    const ids = PRICE_ROWS.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const owners = new Map<string, string>()
    for (const { model, aliases = [] } of PRICE_ROWS) {
      for (const name of [model, ...aliases]) {
        expect(owners.get(name) ?? model).toBe(model)
        owners.set(name, model)
      }
    }
  })

  it('would have caught the errors that public tables had', () => {
    const haiku = { input: '0.25', output: '1.25' }
    expect(faults({ ...haiku, cacheWrite1h: '6' })).toEqual(['1h write not 1 to 2.5 times input'])
    expect(faults({ input: '15', output: '75', cacheWrite1h: '6' })).not.toEqual([])
    expect(faults({ ...haiku, cacheRead: '0.30' })).toEqual(['cache read above input'])
    expect(faults({ input: '3', output: '1' })).not.toEqual([])
  })

  it('refuses an override that could not be used, by name', () => {
    const row: PriceRow = {
      id: 'mine/x',
      provider: 'mine',
      model: 'x',
      source: 'contract',
      fetchedAt: '2026-01-01',
      input: '1',
      output: '2',
    }
    expect(() => createPriceBook([{ ...row, input: 'one' }])).toThrow(/not a price/)
    expect(() => createPriceBook([{ ...row, from: 'soon' }])).toThrow(/mine\/x: not an instant/)
    expect(() => createPriceBook([{ ...row, input: '0.000001', serviceTiers: { batch: '0.5' } }])).toThrow(
      /not a factor/,
    )
  })

  it('is printed in docs/prices.md as it stands', () => {
    const page = readFileSync(new URL('../../docs/prices.md', import.meta.url), 'utf8')
    expect(page).toContain(renderPriceTable(PRICE_ROWS))
  })
})

function byModel(): Map<string, PriceRow[]> {
  const groups = new Map<string, PriceRow[]>()
  for (const row of PRICE_ROWS) groups.set(row.model, [...(groups.get(row.model) ?? []), row])
  return groups
}
