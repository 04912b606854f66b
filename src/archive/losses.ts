/**
 * What a conversion could not keep and what it had to make up, entry by entry. Kept by what happened and where, as numbers, so
 * that a session of millions of entries can lose something in each and still be told of every one.
 */
import { citation, type Entry } from '../transcript/entry.ts'

/** One thing that happened to a number of entries. `entry` of each is a citation, or the session's id for the whole of it. */
export type LossGroup = {
  readonly what: string
  readonly count: number
  readonly entries: () => Iterable<string>
}

export type LossLog = {
  add(session: string, entry: Entry | undefined, what: string): void
  /** In the order in which each first happened. */
  groups(): readonly LossGroup[]
}

type Place = { readonly session: string; readonly source: string | undefined; readonly sequences: number[] }

export function createLossLog(): LossLog {
  const byWhat = new Map<string, Map<string, Place>>()
  return {
    add(session, entry, what) {
      const places = byWhat.get(what) ?? new Map<string, Place>()
      byWhat.set(what, places)
      const key = entry === undefined ? session : `${session}\n${entry.source}`
      const place = places.get(key) ?? { session, source: entry?.source, sequences: [] }
      places.set(key, place)
      place.sequences.push(entry?.sequence ?? 0)
    },
    groups: () =>
      [...byWhat].map(([what, places]) => ({
        what,
        count: [...places.values()].reduce((sum, { sequences }) => sum + sequences.length, 0),
        entries: () => cite(places.values()),
      })),
  }
}

function* cite(places: Iterable<Place>): Generator<string> {
  for (const { session, source, sequences } of places) {
    for (const sequence of sequences) {
      yield source === undefined ? session : citation(session, { source, sequence })
    }
  }
}
