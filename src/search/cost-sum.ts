/** Costs added up: whole pico-dollars, so that no sum depends on its order, and what is unknown stays so. */
import { toUsd } from '../cost/money.ts'
import type { Cost } from '../transcript/session.ts'
import { addUsage, hasCounts, type Count, COUNTS, type Usage } from '../transcript/usage.ts'

/** Some calls, each of which is billed to somebody. `pico`: US dollars × 10⁻¹². */
export type CostPart = {
  /** Whose counts are known. */
  readonly calls: number
  /** Answers that nobody counted. */
  readonly uncounted: number
  readonly usage: Usage
  readonly pico?: bigint
  /** The model that has no price. */
  readonly unpriced?: string
}

/** `usage` is absent when nobody counted, `pico` when nothing could be priced. */
export type CostSum = {
  readonly calls: number
  readonly uncounted?: number
  readonly usage?: Usage
  readonly cost: Cost
  readonly pico?: bigint
}

export type CostFold = {
  add(part: CostPart): void
  sum(): CostSum
}

/** Unpriced models named at most: a hostile file may name any number. */
const MOST_NAMED = 100

export function createCostSum(): CostFold {
  const unpriced = new Set<string>()
  let [calls, uncounted] = [0, 0]
  let usage: Usage | undefined
  let pico: bigint | undefined
  return {
    add(part) {
      calls += part.calls
      uncounted += part.uncounted
      usage = usage === undefined ? part.usage : addUsage(usage, part.usage)
      if (part.pico !== undefined) pico = (pico ?? 0n) + part.pico
      if (part.unpriced !== undefined) unpriced.add(unpriced.size < MOST_NAMED ? part.unpriced : '…')
    },
    sum: () => ({
      calls,
      ...(uncounted > 0 && { uncounted }),
      ...(usage && hasCounts(usage) && { usage }),
      cost: { usd: pico === undefined ? null : toUsd(pico), unpriced: [...unpriced].sort() },
      ...(pico !== undefined && { pico }),
    }),
  }
}

/** As many parts, as equal as whole numbers can be, that add up to the one; each is of all its calls. */
export function sharePart(part: CostPart, among: number): readonly CostPart[] {
  const { usage, pico } = part
  return Array.from({ length: among }, (_, n) => {
    const own: { -readonly [K in Count]?: number } = {}
    for (const count of COUNTS) {
      const tokens = usage[count]
      if (tokens !== undefined) own[count] = Math.floor(tokens / among) + (n < tokens % among ? 1 : 0)
    }
    const size = BigInt(among)
    return {
      ...part,
      usage: { ...own, quality: usage.quality },
      ...(pico !== undefined && { pico: pico / size + (BigInt(n) < pico % size ? 1n : 0n) }),
    }
  })
}
