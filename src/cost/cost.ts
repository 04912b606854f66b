/**
 * What a call cost: tokens times the price then in force, exact to the pico-dollar, or not known. An unknown cost is never
 * shown as zero; a total with holes keeps what was priced and names the models that were not.
 */
import { isObject, type Json } from '../transcript/json.ts'
import type { Cost } from '../transcript/session.ts'
import type { BilledCall } from '../transcript/totals.ts'
import { hasCounts, promptTokens } from '../transcript/usage.ts'
import { isNotBilled } from './models.ts'
import { timesFactor, toUsd } from './money.ts'
import { createPriceBook, type BookRow, type PriceBook } from './price-book.ts'
import { KINDS, type Kind } from './prices.ts'
import { billedRequests, type BilledRequest, type PricedCall } from './requests.ts'

/** Why there is no cost, in words. */
export type Unpriced = { readonly unpriced: string }

/** `row` names the price row; several are joined by `+` where one call was billed as several requests. */
export type CallCost = { readonly pico: bigint; readonly row: string }

/** One kind of token: `pico` is `tokens` times `price`, in pico-dollars per token. */
export type Product = {
  readonly kind: Kind
  readonly tokens: number
  readonly price: bigint
  readonly pico: bigint
}

export type ExplainedRequest = {
  readonly model: string
  readonly row: string
  readonly source: string
  /** Set when the prompt was larger than this, and the whole request priced by that tier. */
  readonly abovePromptTokens?: number
  readonly tier?: string
  readonly geo?: string
  readonly products: readonly Product[]
}
export type Explanation = CallCost & { readonly requests: readonly ExplainedRequest[] }

/** The row of calls that no provider answered. */
export const NOT_BILLED = 'not-billed'

const BUILT_IN = createPriceBook()

export function costOf(call: PricedCall, book: PriceBook = BUILT_IN): CallCost | Unpriced {
  const plain = costOfPlain(call, book)
  if (plain !== undefined) return plain
  const explained = explain(call, book)
  return 'unpriced' in explained ? explained : { pico: explained.pico, row: explained.row }
}

/**
 * The cost of one request at its row's own prices, which nearly all calls are, in numbers that are exact as long as they are small;
 * undefined for every other. Logs have hundreds of thousands of calls, and whole numbers of any size take ten times as long.
 */
function costOfPlain(call: PricedCall, book: PriceBook): CallCost | undefined {
  const { model, at, usage } = call
  if (model === undefined || !saysNothingOfPrice(usage.raw) || isAsked(call) || isFree(model))
    return undefined
  const found = book.find(model, at)
  if ('unpriced' in found) return undefined
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage
  const prompt = input + cacheRead + cacheWrite5m + cacheWrite1h
  if (prompt > (found.row.upToPromptTokens ?? Number.POSITIVE_INFINITY)) return undefined
  const numbers = tierFor(found, prompt)?.numbers ?? found.numbers
  let pico = 0
  let isCounted = usage.reasoning !== undefined
  for (let n = 0; n < KINDS.length; n += 1) {
    const tokens = usage[KINDS[n] as Kind]
    if (tokens === undefined) continue
    isCounted = true
    if (tokens === 0) continue
    const price = numbers[n]
    if (price === undefined || !Number.isSafeInteger(tokens) || tokens < 0) return undefined
    pico += tokens * price
    // Up to here every step was exact.
    if (pico > Number.MAX_SAFE_INTEGER) return undefined
  }
  return isCounted ? { pico: BigInt(pico), row: found.row.id } : undefined
}

const isAsked = ({ serviceTier, speed, inferenceGeo }: PricedCall): boolean =>
  serviceTier !== undefined || speed !== undefined || inferenceGeo !== undefined

/** Of the provider's own object, what a price may hang on. */
export function priceWords(raw: Json): Json {
  if (!isObject(raw)) return raw
  const words: Record<string, Json> = {}
  for (const name of PRICE_WORDS) if (raw[name] !== undefined) words[name] = raw[name]
  return words
}

const PRICE_WORDS = ['iterations', 'service_tier', 'serviceTier', 'speed', 'inference_geo']

/** True where the provider's own object says nothing that changes a price, in the words that are seen every day. */
export function saysNothingOfPrice(raw: Json | undefined): boolean {
  if (raw === undefined) return true
  if (!isObject(raw)) return false
  const { iterations, service_tier: tier, serviceTier, speed, inference_geo: geo } = raw
  return (
    (tier === undefined || tier === null || tier === 'standard') &&
    (speed === undefined || speed === null || speed === 'standard') &&
    (geo === undefined || geo === null || geo === 'not_available') &&
    serviceTier === undefined &&
    (iterations === undefined ||
      iterations === null ||
      (Array.isArray(iterations) && iterations.length === 0))
  )
}

/** Told once for each model: a log names the same few again and again. */
const free = new Map<string, boolean>()
const MOST_MODELS = 1000

function isFree(model: string): boolean {
  const known = free.get(model)
  if (known !== undefined) return known
  if (free.size >= MOST_MODELS) free.clear()
  free.set(model, isNotBilled(model))
  return isNotBilled(model)
}

/** The same, with every product that went into it. */
export function explain(call: PricedCall, book: PriceBook = BUILT_IN): Explanation | Unpriced {
  if (call.model !== undefined && isNotBilled(call.model)) return { pico: 0n, row: NOT_BILLED, requests: [] }
  const requests: ExplainedRequest[] = []
  for (const request of billedRequests(call)) {
    const explained = explainRequest(request, call.at, book)
    // Half a call's cost would read as the whole of it.
    if ('unpriced' in explained) return explained
    requests.push(explained)
  }
  const pico = requests.flatMap(({ products }) => products).reduce((sum, product) => sum + product.pico, 0n)
  return { pico, row: [...new Set(requests.map(({ row }) => row))].join('+'), requests }
}

function explainRequest(
  { model, usage, tier, geo }: BilledRequest,
  at: string | undefined,
  book: PriceBook,
): ExplainedRequest | Unpriced {
  if (model === undefined) return { unpriced: 'the call does not name its model' }
  if (!hasCounts(usage)) return { unpriced: 'the provider did not say how many tokens' }
  const found = book.find(model, at)
  if ('unpriced' in found) return found

  const factors: string[] = []
  if (tier !== undefined) {
    const factor = ownValue(found.row.serviceTiers, tier)
    if (factor === undefined) return { unpriced: `no price is known for the service tier ${tier}` }
    factors.push(factor)
  }
  if (geo !== undefined) {
    const factor = ownValue(found.row.geos, geo)
    if (factor === undefined) return { unpriced: `no price is known for inference in ${geo}` }
    factors.push(factor)
  }

  const prompt = promptTokens(usage) ?? 0
  if (prompt > (found.row.upToPromptTokens ?? Number.POSITIVE_INFINITY)) {
    return { unpriced: `no price is known for prompts of more than ${found.row.upToPromptTokens} tokens` }
  }
  const long = tierFor(found, prompt)
  const products: Product[] = []
  for (const kind of KINDS) {
    const tokens = usage[kind]
    if (tokens === undefined || tokens === 0) continue
    if (!Number.isSafeInteger(tokens) || tokens < 0) return { unpriced: `not a count of tokens: ${tokens}` }
    const listed = (long?.prices ?? found.prices).get(kind)
    if (listed === undefined) return { unpriced: `no price is known for ${kind} tokens` }
    const price = factors.reduce(timesFactor, listed)
    products.push({ kind, tokens, price, pico: BigInt(tokens) * price })
  }
  return {
    model,
    row: found.row.id,
    source: found.row.source,
    ...(long && { abovePromptTokens: long.abovePromptTokens }),
    ...(tier !== undefined && { tier }),
    ...(geo !== undefined && { geo }),
    products,
  }
}

/** Strictly above: a prompt of exactly the threshold is a short one. */
function tierFor({ tiers }: BookRow, prompt: number): BookRow['tiers'][number] | undefined {
  return tiers.find(({ abovePromptTokens }) => prompt > abovePromptTokens)
}

function ownValue(
  factors: { readonly [name: string]: string } | undefined,
  name: string,
): string | undefined {
  return factors !== undefined && Object.hasOwn(factors, name) ? factors[name] : undefined
}

export type CostFold = {
  add(call: BilledCall | PricedCall): void
  cost(): Cost
}

/** Models that could not be priced are listed up to here: a hostile file may name any number of them. */
const MOST_NAMED = 100

/** Adds up calls, each given once. `usd` stays null until something could be priced. */
export function createCostFold(book: PriceBook = BUILT_IN): CostFold {
  const unpriced = new Set<string>()
  let total: bigint | undefined
  return {
    add(call) {
      const cost = costOf(call, book)
      if ('unpriced' in cost) {
        unpriced.add(unpriced.size < MOST_NAMED ? (call.model ?? 'unknown').slice(0, 200) : '…')
      } else if (cost.row !== NOT_BILLED) total = (total ?? 0n) + cost.pico
    },
    cost: () => ({ usd: total === undefined ? null : toUsd(total), unpriced: [...unpriced].sort() }),
  }
}
