/** What a search could have found: how much there is to search, and which words there are. */
import type { State } from '../sources/state.ts'
import type { About } from './search.ts'
import type { ShardReader } from './shard-reader.ts'
import { rangesNear } from './spelling-ranges.ts'
import { LONGEST, nearestSpelling } from './spelling.ts'

export function describeArchive(state: State | undefined): About {
  if (state === undefined) return { units: 0, sessions: 0, entries: 0 }
  const row = state.database
    .prepare(
      `SELECT (SELECT count(*) FROM units WHERE reading IS NOT NULL) AS units,
         (SELECT count(*) FROM sessions) AS sessions,
         sum(entries) AS entries, min(started_at) AS since, max(coalesce(ended_at, started_at)) AS until
       FROM recordings WHERE chosen <> 0`,
    )
    .get()
  const { since, until } = row ?? {}
  return {
    units: Number(row?.['units'] ?? 0),
    sessions: Number(row?.['sessions'] ?? 0),
    entries: Number(row?.['entries'] ?? 0),
    ...(typeof since === 'string' && { since }),
    ...(typeof until === 'string' && { until }),
  }
}

/** Letters that may be added or left out: see `nearestSpelling`. */
const MOST_WRONG = 2
/** Facts of entries are words as well, with a sign in them that no word of a text has. */
const FACT = /[:=]/u

/** Of the words that may be meant by it: see `rangesNear`. */
export function findSpelling(word: string, readers: readonly ShardReader[]): string | undefined {
  const letters = Array.from(word)
  if (letters.length < 2 || letters.length > LONGEST) return undefined
  if (readers.some((reader) => reader.count(`"${word.replaceAll('"', '""')}"`) > 0)) return undefined
  const counts = new Map<string, number>()
  const lengths = [Math.max(1, letters.length - MOST_WRONG), letters.length + MOST_WRONG] as const
  const ranges = rangesNear(word)
  for (const reader of readers) {
    for (const [term, count] of reader.words(ranges, lengths))
      if (!FACT.test(term)) counts.set(term, (counts.get(term) ?? 0) + count)
  }
  const common = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return nearestSpelling(
    word,
    common.map(([term]) => term),
  )
}
