/** The price table made ready: prices in pico-dollars per token, found by model and instant. */
import { HansardError } from '../errors.ts'
import { toMillis } from '../transcript/instant.ts'
import { perToken, timesFactor } from './money.ts'
import { modelNames } from './models.ts'
import { KINDS, PRICE_ROWS, type Kind, type PriceRow, type Prices } from './prices.ts'

/** Pico-dollars per token. A kind without a price is absent. */
export type TokenPrices = ReadonlyMap<Kind, bigint>

export type BookRow = {
  readonly row: PriceRow
  readonly prices: TokenPrices
  readonly numbers: PriceNumbers
  /** The highest threshold first. */
  readonly tiers: readonly BookTier[]
}

export type BookTier = {
  readonly abovePromptTokens: number
  readonly prices: TokenPrices
  readonly numbers: PriceNumbers
}

/** The same prices as numbers, in the order of `KINDS`. */
export type PriceNumbers = readonly (number | undefined)[]

export type PriceBook = {
  /** The row in force, or why there is none. Without an instant, only a model whose price never changed has one. */
  find(model: string, at: string | undefined): BookRow | { readonly unpriced: string }
}

/** A hostile file may name any number of models. */
const MOST_SEEN = 1000

/**
 * Overrides win: a model they name has their rows and no others. Throws for one that could not be used; our own rows are checked by
 * a test, and made ready when a model is first asked for.
 */
export function createPriceBook(overrides: readonly PriceRow[] = []): PriceBook {
  for (const row of overrides) checkRow(row)
  const book = byName(PRICE_ROWS)
  for (const [name, rows] of byName(overrides)) book.set(name, rows)
  // A session names the same model thousands of times; undoing its spelling once is enough.
  const seen = new Map<string, readonly BookRow[] | undefined>()
  const rowsOf = (model: string): readonly BookRow[] | undefined => {
    if (seen.has(model)) return seen.get(model)
    if (seen.size >= MOST_SEEN) seen.clear()
    const name = modelNames(model).find((one) => book.has(one))
    const rows = name === undefined ? undefined : book.get(name)?.map(toReady)
    seen.set(model, rows)
    return rows
  }
  return {
    find(model, at) {
      const rows = rowsOf(model)
      if (rows === undefined) return { unpriced: 'no price is known for this model' }
      if (at === undefined) {
        const [only, other] = rows
        if (only !== undefined && other === undefined) return only
        return { unpriced: 'the price of this model changed, and the call does not say when it was made' }
      }
      return (
        rows.find(({ row }) => isInForce(row, at)) ?? {
          unpriced: 'no price is known for this model at that time',
        }
      )
    },
  }
}

/** Instants differ in their digits of fraction, so they are compared as numbers and not as text. */
function isInForce({ from, to }: PriceRow, at: string): boolean {
  if (from === undefined && to === undefined) return true
  const then = toMillis(at)
  return (from === undefined || toMillis(from) <= then) && (to === undefined || then < toMillis(to))
}

function byName(rows: readonly PriceRow[]): Map<string, PriceRow[]> {
  const book = new Map<string, PriceRow[]>()
  for (const row of rows) {
    for (const name of [row.model, ...(row.aliases ?? [])]) {
      const key = name.toLowerCase()
      const listed = book.get(key)
      if (listed === undefined) book.set(key, [row])
      else listed.push(row)
    }
  }
  return book
}

function toReady(row: PriceRow): BookRow {
  return {
    row,
    ...toBoth(row),
    tiers: [...(row.tiers ?? [])]
      .sort((a, b) => b.abovePromptTokens - a.abovePromptTokens)
      .map((tier) => ({ abovePromptTokens: tier.abovePromptTokens, ...toBoth(tier) })),
  }
}

function toBoth(stated: Prices): { readonly prices: TokenPrices; readonly numbers: PriceNumbers } {
  const prices = toTokenPrices(stated)
  const numbers = KINDS.map((kind) => {
    const price = prices.get(kind)
    return price !== undefined && price <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(price) : undefined
  })
  return { prices, numbers }
}

/** Every factor on every price, so that one that cannot be exact is refused here and not in the middle of a session. */
function checkRow(row: PriceRow): void {
  for (const instant of [row.from, row.to]) {
    if (instant === undefined || !Number.isNaN(toMillis(instant))) continue
    throw new HansardError('invalid-argument', `price ${row.id}: not an instant: ${JSON.stringify(instant)}`)
  }
  const { prices, tiers } = toReady(row)
  const listed = [prices, ...tiers.map((tier) => tier.prices)].flatMap((known) => [...known.values()])
  for (const price of listed) {
    for (const geo of ['1', ...Object.values(row.geos ?? {})]) {
      for (const tier of ['1', ...Object.values(row.serviceTiers ?? {})])
        timesFactor(timesFactor(price, tier), geo)
    }
  }
}

function toTokenPrices(prices: Prices): TokenPrices {
  const known = new Map<Kind, bigint>()
  for (const kind of KINDS) {
    const price = prices[kind]
    if (price !== undefined) known.set(kind, perToken(price))
  }
  return known
}
