import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCallFold } from '../transcript/totals.ts'
import type { Usage } from '../transcript/usage.ts'
import { costOf, createCostFold, explain } from './cost.ts'
import { createPriceBook } from './price-book.ts'
import { PRICE_ROWS, type PriceRow, type Prices } from './prices.ts'

const AT = '2026-11-01T00:00:00Z'
const usage = (counts: Omit<Usage, 'quality'>): Usage => ({ ...counts, quality: 'reported' })
const pico = (call: Parameters<typeof costOf>[0]): bigint | string => {
  const cost = costOf(call)
  return 'unpriced' in cost ? cost.unpriced : cost.pico
}

/**
 * The oracle: schoolbook decimal arithmetic on digit strings, sharing nothing with the code under test. Answers in millionths of
 * pico-dollars as a string of digits, since a price has at most six digits and a factor at most one.
 */
function multiply(a: string, b: string): string {
  const digits = Array.from({ length: a.length + b.length }, () => 0)
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = (digits[i + j + 1] ?? 0) + Number(a[i]) * Number(b[j])
      digits[i + j + 1] = at % 10
      digits[i + j] = (digits[i + j] ?? 0) + Math.floor(at / 10)
    }
  }
  return digits.join('').replace(/^0+(?=\d)/, '')
}
function add(a: string, b: string): string {
  const width = Math.max(a.length, b.length)
  let carry = 0
  let sum = ''
  for (let i = 1; i <= width; i += 1) {
    const digit = Number(a.at(-i) ?? 0) + Number(b.at(-i) ?? 0) + carry
    sum = `${digit % 10}${sum}`
    carry = digit >= 10 ? 1 : 0
  }
  return carry ? `1${sum}` : sum
}
/** "2.50" with six digits after the point, without the point: "2500000". */
function scaled(price: string, digits: number): string {
  const [whole = '', fraction = ''] = price.split('.')
  return (whole + fraction.padEnd(digits, '0')).replace(/^0+(?=\d)/, '')
}
function oracle(counts: Partial<Record<keyof Prices, number>>, prices: Prices, factor: string): string {
  let total = '0'
  for (const kind of ['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const) {
    const product = multiply(scaled(prices[kind] ?? '0', 6), String(counts[kind] ?? 0))
    total = add(total, multiply(product, scaled(factor, 1)))
  }
  return total
}

describe('cost', () => {
  it('agrees with a decimal oracle on 10,000 random usages', () => {
    const tokens = fc.option(fc.nat({ max: 600_000 }), { nil: undefined })
    const counts = fc.record({
      input: tokens,
      cacheRead: tokens,
      cacheWrite5m: tokens,
      cacheWrite1h: tokens,
      output: tokens,
    })
    fc.assert(
      fc.property(fc.constantFrom(...PRICE_ROWS), counts, fc.nat({ max: 9 }), (row, drawn, choice) => {
        const known = Object.fromEntries(
          Object.entries(drawn).filter(
            ([kind, n]) => n !== undefined && row[kind as keyof Prices] !== undefined,
          ),
        )
        if (Object.keys(known).length === 0) return
        const tiers = Object.entries(row.serviceTiers ?? {})
        const [tier, factor = '1'] = tiers[choice] ?? []
        const prompt =
          (known['input'] ?? 0) +
          (known['cacheRead'] ?? 0) +
          (known['cacheWrite5m'] ?? 0) +
          (known['cacheWrite1h'] ?? 0)
        const prices = row.tiers?.filter((t) => prompt > t.abovePromptTokens).at(-1) ?? row
        const at = row.from ?? (row.to ? '2026-01-01T00:00:00Z' : AT)
        const cost = costOf({ model: row.model, usage: usage(known), at, serviceTier: tier })
        if (prompt > (row.upToPromptTokens ?? Infinity)) {
          expect(cost).toHaveProperty('unpriced')
          return
        }
        expect(cost).toEqual({ pico: expect.any(BigInt), row: row.id })
        // The oracle counts in tenths: one digit of factor.
        expect('pico' in cost && String(cost.pico * 10n)).toBe(oracle(known, prices, factor))
      }),
      { numRuns: 10_000 },
    )
  })

  it('is what its products add up to, whatever the provider says beside the counts', () => {
    const tokens = fc.option(fc.oneof(fc.nat({ max: 600_000 }), fc.maxSafeNat()), { nil: undefined })
    const raw = fc.option(
      fc.record(
        {
          service_tier: fc.constantFrom('standard', 'batch', 'priority', null, 7),
          speed: fc.constantFrom('standard', 'fast', null),
          inference_geo: fc.constantFrom('us', 'not_available', 'global', null),
          iterations: fc.constantFrom(
            [],
            null,
            [{ type: 'message', input_tokens: 3 }],
            [{ type: 'compaction' }],
          ),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    )
    const model = fc.constantFrom(...PRICE_ROWS.map((row) => row.model), 'nobody-prices-this', '<synthetic>')
    const counts = fc.record({ input: tokens, cacheRead: tokens, cacheWrite1h: tokens, output: tokens })
    fc.assert(
      fc.property(model, counts, raw, (name, drawn, object) => {
        const known = Object.fromEntries(Object.entries(drawn).filter(([, n]) => n !== undefined))
        const said = { ...usage(known), ...(object && { raw: object }) }
        const call = { model: name, usage: said, at: AT }
        const explained = explain(call)
        const { row } = 'pico' in explained ? explained : { row: '' }
        expect(costOf(call)).toEqual('pico' in explained ? { pico: explained.pico, row } : explained)
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['claude-haiku-5-5', 100_000, 100_000n, 500_000n],
    ['claude-sonnet-4-5', 200_000, 3_000_000n, 6_000_000n],
    ['gemini-2.5-pro', 200_000, 1_250_000n, 2_500_000n],
    ['gpt-5.5', 272_000, 5_000_000n, 10_000_000n],
    ['gpt-6-luna', 272_000, 100_000n, 200_000n],
  ])('%s changes its price strictly above %d prompt tokens', (model, size, short, long) => {
    for (const [input, price] of [
      [size - 1, short],
      [size, short],
      [size + 1, long],
    ] as const) {
      expect(pico({ model, usage: usage({ input }), at: AT })).toBe(BigInt(input) * price)
    }
  })

  it('prices every tier of every row at its boundary and one token to each side, by the oracle', () => {
    let boundaries = 0
    for (const row of PRICE_ROWS) {
      const at = row.from ?? (row.to ? '2026-01-01T00:00:00Z' : AT)
      const steps: readonly (Prices & { readonly abovePromptTokens: number })[] = [
        { ...row, abovePromptTokens: -1 },
        ...(row.tiers ?? []),
      ]
      for (const { abovePromptTokens } of row.tiers ?? []) {
        for (const prompt of [abovePromptTokens - 1, abovePromptTokens, abovePromptTokens + 1]) {
          const prices = steps.findLast((step) => prompt > step.abovePromptTokens) ?? row
          const counts = { input: prompt, output: 7 }
          const cost = pico({ model: row.model, usage: usage(counts), at })
          expect([row.id, prompt, `${cost}0`]).toEqual([row.id, prompt, oracle(counts, prices, '1')])
        }
        boundaries += 1
      }
    }
    expect(boundaries).toBeGreaterThan(5)
  })

  it('counts cache reads and writes in the prompt, and reprices the whole request', () => {
    const long = explain({
      model: 'claude-sonnet-4-5',
      usage: usage({ input: 1, cacheRead: 150_000, cacheWrite5m: 30_000, cacheWrite1h: 20_000, output: 10 }),
      at: AT,
    })
    expect(long).toMatchObject({
      requests: [
        {
          abovePromptTokens: 200_000,
          products: [
            { kind: 'input', tokens: 1, price: 6_000_000n },
            { kind: 'cacheRead', tokens: 150_000, price: 600_000n },
            { kind: 'cacheWrite5m', tokens: 30_000, price: 7_500_000n },
            { kind: 'cacheWrite1h', tokens: 20_000, price: 12_000_000n },
            { kind: 'output', tokens: 10, price: 22_500_000n, pico: 225_000_000n },
          ],
        },
      ],
    })
  })

  it('uses the price that was in force, to the millisecond', () => {
    const at = (instant: string) =>
      pico({ model: 'gpt-5.6-luna', usage: usage({ input: 1_000_000 - 750_000 }), at: instant })
    expect(at('2026-07-29T23:59:59.999999Z')).toBe(250_000n * 1_000_000n)
    expect(at('2026-07-30T00:00:00.000Z')).toBe(250_000n * 200_000n)
    expect(
      costOf({ model: 'gpt-5.6-terra', usage: usage({ output: 1 }), at: '2026-07-01T00:00:00Z' }),
    ).toEqual({ pico: 15_000_000n, row: 'openai/gpt-5.6-terra' })
    expect(costOf({ model: 'gpt-5.6-terra', usage: usage({ output: 1 }), at: AT })).toEqual({
      pico: 12_000_000n,
      row: 'openai/gpt-5.6-terra@2026-07-30',
    })
  })

  it('needs no time for a price that never changed, and has none for one that did', () => {
    expect(pico({ model: 'claude-opus-5', usage: usage({ input: 1 }) })).toBe(5_000_000n)
    expect(pico({ model: 'gpt-5.6-luna', usage: usage({ input: 1 }) })).toMatch(/does not say when/)
  })

  it('does not know what it was not told, and never says zero for it', () => {
    expect(pico({ model: 'glm-4.7', usage: usage({ input: 1 }), at: AT })).toMatch(/no price/)
    expect(pico({ usage: usage({ input: 1 }), at: AT })).toMatch(/does not name its model/)
    expect(pico({ model: 'claude-opus-5', usage: { quality: 'unavailable' }, at: AT })).toMatch(/did not say/)
    expect(pico({ model: 'gpt-5.5-pro', usage: usage({ input: 1, cacheRead: 1 }), at: AT })).toMatch(
      /cacheRead/,
    )
    expect(pico({ model: 'gpt-5.5', usage: usage({ input: 1 }), at: AT, serviceTier: 'priority' })).toMatch(
      /priority/,
    )
    expect(
      pico({ model: 'claude-opus-5', usage: usage({ input: 1 }), at: AT, inferenceGeo: 'mars' }),
    ).toMatch(/mars/)
    expect(pico({ model: 'claude-opus-5', usage: usage({ input: 1 }), serviceTier: '__proto__' })).toMatch(
      /service tier/,
    )
    for (const input of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(pico({ model: 'claude-opus-5', usage: usage({ input }), at: AT })).toMatch(/not a count/)
    }
    // A kind without a price is no matter when none of it was used.
    expect(pico({ model: 'gpt-5.5-pro', usage: usage({ input: 1, cacheRead: 0 }), at: AT })).toBe(30_000_000n)
  })

  it("takes tier, speed and place from the provider's own usage object", () => {
    const raw = (facts: Record<string, string>) =>
      pico({ model: 'claude-opus-5', usage: { ...usage({ output: 1 }), raw: facts }, at: AT })
    expect(raw({ service_tier: 'standard', speed: 'standard', inference_geo: 'not_available' })).toBe(
      25_000_000n,
    )
    expect(raw({ service_tier: 'batch' })).toBe(12_500_000n)
    expect(raw({ speed: 'fast' })).toBe(50_000_000n)
    expect(raw({ inference_geo: 'us' })).toBe(27_500_000n)
    expect(
      pico({
        model: 'gemini-2.5-pro',
        usage: { ...usage({ input: 1 }), raw: { serviceTier: 'FLEX' } },
        at: AT,
      }),
    ).toBe(625_000n)
    expect(raw({ service_tier: 'batch', inference_geo: 'us' })).toBe(13_750_000n)
    expect(raw({ service_tier: 'priority' })).toMatch(/priority/)
    expect(raw({ service_tier: 'batch', speed: 'fast' })).toMatch(/batch\+fast/)
  })

  it('bills the sum of the iterations, each at its own model, when the provider lists several', () => {
    const raw = {
      input_tokens: 5,
      output_tokens: 7,
      iterations: [
        { type: 'message', model: 'claude-opus-5', input_tokens: 100, output_tokens: 1 },
        {
          type: 'fallback',
          model: 'claude-sonnet-5',
          input_tokens: 5,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_1h_input_tokens: 10 },
          output_tokens: 7,
        },
      ],
    }
    const cost = costOf({
      model: 'claude-sonnet-5',
      usage: { ...usage({ input: 5, output: 7 }), raw },
      at: AT,
    })
    const opus = 100n * 5_000_000n + 25_000_000n
    const sonnet = 5n * 2_000_000n + 20n * 2_500_000n + 10n * 4_000_000n + 7n * 10_000_000n
    expect(cost).toEqual({ pico: opus + sonnet, row: 'anthropic/claude-opus-5+anthropic/claude-sonnet-5' })
    const odd = { ...raw, iterations: ['?', '?'] }
    expect(
      pico({ model: 'claude-sonnet-5', usage: { ...usage({ input: 5, output: 7 }), raw: odd }, at: AT }),
    ).toBe(80_000_000n)
  })

  it('is one tiered request per iteration, not one of all of them', () => {
    const half = { input_tokens: 60_000, output_tokens: 0 }
    const raw = { iterations: [half, half] }
    expect(pico({ model: 'claude-haiku-5-5', usage: { ...usage({ input: 120_000 }), raw }, at: AT })).toBe(
      120_000n * 100_000n,
    )
  })

  it('lets an override win for the models it names, and only for those', () => {
    const mine: PriceRow = {
      id: 'contract/claude-opus-5',
      provider: 'contract',
      model: 'claude-opus-5',
      source: 'our contract',
      fetchedAt: '2026-01-01',
      input: '1',
      output: '2',
    }
    const book = createPriceBook([mine])
    const call = { usage: usage({ input: 1 }), at: AT }
    expect(costOf({ ...call, model: 'anthropic/claude-opus-5' }, book)).toEqual({
      pico: 1_000_000n,
      row: 'contract/claude-opus-5',
    })
    expect(costOf({ ...call, model: 'claude-opus-4-8' }, book)).toMatchObject({ pico: 5_000_000n })
  })
})

describe('the cost of many calls', () => {
  const call = (model: string | undefined, input: number) => ({
    model,
    usage: usage({ input }),
    at: AT,
    provider: undefined,
  })

  it('keeps what was priced and names what was not', () => {
    const fold = createCostFold()
    expect(fold.cost()).toEqual({ usd: null, unpriced: [] })
    fold.add(call('glm-4.7', 10))
    expect(fold.cost()).toEqual({ usd: null, unpriced: ['glm-4.7'] })
    fold.add(call('claude-opus-5', 3_622))
    fold.add(call(undefined, 1))
    fold.add(call('glm-4.7', 10))
    expect(fold.cost()).toEqual({ usd: '0.018110', unpriced: ['glm-4.7', 'unknown'] })
  })

  it('leaves out what no provider answered', () => {
    const fold = createCostFold()
    fold.add(call('<synthetic>', 0))
    fold.add(call('claude-stub', 10))
    expect(fold.cost()).toEqual({ usd: null, unpriced: [] })
  })

  it('sums before it rounds', () => {
    const fold = createCostFold()
    // 0.1 micro-dollars each: rounded one by one they would be nothing.
    for (let i = 0; i < 10_000; i += 1) fold.add(call('gpt-6-luna', 1))
    expect(fold.cost().usd).toBe('0.001000')
  })

  it('does not grow with the number of models a file makes up', () => {
    const fold = createCostFold()
    for (let i = 0; i < 5_000; i += 1) fold.add(call(`made-up-${i}`, 1))
    expect(fold.cost().unpriced.length).toBeLessThanOrEqual(101)
    expect(fold.cost().unpriced).toContain('…')
  })

  it('bills a call once, with the fold that settles calls', () => {
    const cost = createCostFold()
    const calls = createCallFold({ settle: (call) => cost.add(call) })
    for (const output of [1, 8]) {
      calls.add({
        id: String(output),
        source: 'primary',
        sequence: output,
        kind: 'message',
        blocks: [],
        model: 'claude-opus-5',
        at: AT,
        usage: usage({ output }),
        call: { messageId: 'm1' },
      })
    }
    calls.totals()
    expect(cost.cost()).toEqual({ usd: '0.000200', unpriced: [] })
  })
})
