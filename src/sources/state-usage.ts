/** Token counts in the state's columns, and back. NULL is what nobody said. */
import type { Row } from '../transcript/source.ts'
import { COUNTS, QUALITIES, qualityRank, type Count, type Quality, type Usage } from '../transcript/usage.ts'

const COLUMNS: Readonly<Record<Count, string>> = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite5m: 'cache_write_5m',
  cacheWrite1h: 'cache_write_1h',
  output: 'output',
  reasoning: 'reasoning',
}

/** The usage in a row, or in the sums over rows: undefined when it states no count. `quality` holds the rank of the worst. */
export function toUsage(row: Row): Usage | undefined {
  const usage: { -readonly [K in Count]?: number } & { quality: Quality } = {
    quality: QUALITIES[Number(row['quality'] ?? 0)] ?? 'estimated',
  }
  let isKnown = false
  for (const count of COUNTS) {
    const value = row[COLUMNS[count]]
    if (value === null || value === undefined) continue
    usage[count] = Number(value)
    isKnown = true
  }
  return isKnown ? usage : undefined
}

/** True for a row with a count. */
export const IS_COUNTED = `coalesce(${Object.values(COLUMNS).join(', ')}) IS NOT NULL`

/** The counts over rows; with a call that nobody counted they are `partial` at best, as `addUsage` has it. */
export const USAGE_SUMS = `${COUNTS.map((count) => `sum(${COLUMNS[count]}) AS ${COLUMNS[count]}`).join(', ')},
  count(CASE WHEN ${IS_COUNTED} THEN 1 END) AS calls, count(CASE WHEN NOT (${IS_COUNTED}) THEN 1 END) AS uncounted,
  max(CASE WHEN ${IS_COUNTED} THEN quality ELSE ${qualityRank('partial')} END) AS quality`
