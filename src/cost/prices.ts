/**
 * The price table: what each model costs, since when, and who says so. A price that no source states is absent, and usage of
 * that kind then has no cost; none is worked out from another by a rule of thumb. `docs/prices.md` says how to read and override it.
 */
import type { Count } from '../transcript/usage.ts'
import { ANTHROPIC } from './prices-anthropic.ts'
import { GOOGLE } from './prices-google.ts'
import { OPENAI } from './prices-openai.ts'

/** What is billed apart. Reasoning is part of output. OpenAI's cache writes, which have one lifetime, are `cacheWrite5m`. */
export type Kind = Exclude<Count, 'reasoning'>
export const KINDS = [
  'input',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
] as const satisfies Kind[]

/** US dollars per million tokens, as decimal strings. */
export type Prices = {
  readonly input: string
  readonly output: string
  readonly cacheRead?: string
  readonly cacheWrite5m?: string
  readonly cacheWrite1h?: string
}

/** Prices of a request whose whole prompt (uncached, read and written) is larger than this; they hold for all of it. */
export type Tier = Prices & { readonly abovePromptTokens: number }

export type PriceRow = Prices & {
  /** Kept with a cost, so that it can be explained later: `anthropic/claude-opus-5-5`, with `@date` for later prices. */
  readonly id: string
  readonly provider: string
  /** The canonical name (`models.ts`). */
  readonly model: string
  readonly aliases?: readonly string[]
  /** In force from this instant, and until just before `to`. Absent: always. UTC dates, as the sources give. */
  readonly from?: string
  readonly to?: string
  /** Where the price is stated. */
  readonly source: string
  /** The day on which the source said so. */
  readonly fetchedAt: string
  /** Not seen on the provider's own page, only where others quote it. */
  readonly secondary?: true
  /** What the source leaves open. */
  readonly note?: string
  readonly tiers?: readonly Tier[]
  /** Set where the source prices prompts only up to this many tokens: larger requests then have no price. */
  readonly upToPromptTokens?: number
  /** Factors on every price of the row, where the provider says that they apply to every kind of token. */
  readonly serviceTiers?: { readonly [tier: string]: string }
  /** The same for where a request is processed (`inference_geo`). */
  readonly geos?: { readonly [geo: string]: string }
}

export const PRICE_ROWS: readonly PriceRow[] = [...ANTHROPIC, ...OPENAI, ...GOOGLE]
