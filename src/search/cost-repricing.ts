/**
 * The user's own prices: calls of the models they name are priced again from the counts in the state. The provider's own object is
 * not there, so a tier, a place or several requests in one call cannot be told again: such calls are counted, and said.
 */
import { costOf } from '../cost/cost.ts'
import { modelNames } from '../cost/models.ts'
import { createPriceBook } from '../cost/price-book.ts'
import { PRICE_ROWS, type PriceRow } from '../cost/prices.ts'
import type { BilledCallPart, BilledPart } from './cost-parts.ts'

export type Repricing = {
  /** Those of these models that the user has prices for. */
  models(all: readonly string[]): readonly string[]
  priced(call: BilledCallPart): BilledPart
  /** Calls so far whose own price says that their counts are not all there is to them. */
  inexact(): number
}

/** Throws for rows that could not be used. */
export function createRepricing(overrides: readonly PriceRow[]): Repricing {
  const book = createPriceBook(overrides)
  const listed = createPriceBook()
  const own = namesOf(overrides)
  const known = new Set([...namesOf(PRICE_ROWS), ...own])
  let inexact = 0
  return {
    models: (all) => all.filter((model) => own.has(modelNames(model).find((name) => known.has(name)) ?? '')),
    priced(call) {
      const { model, at, usage } = call
      const before = costOf({ model, at, usage }, listed)
      if (call.pico !== undefined && (!('pico' in before) || before.pico !== call.pico)) inexact += 1
      const now = costOf({ model, at, usage }, book)
      const { pico: _, unpriced: _unpriced, ...part } = call
      return 'pico' in now
        ? { ...part, pico: now.pico }
        : { ...part, unpriced: (model ?? 'unknown').slice(0, 200) }
    },
    inexact: () => inexact,
  }
}

function namesOf(rows: readonly PriceRow[]): ReadonlySet<string> {
  return new Set(
    rows.flatMap(({ model, aliases = [] }) => [model, ...aliases]).map((name) => name.toLowerCase()),
  )
}
