/**
 * A source read with a format: as a stream of items for what may be large, or whole for what is small. What the source itself
 * could not give (a gzip file cut off) is damage like any other.
 */
import type { Format, ReadItem } from '../formats/format.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { OpenSource } from './open.ts'

export async function* readItems(source: OpenSource, format: Format): AsyncGenerator<readonly ReadItem[]> {
  yield* format.read(source)
  const damage = source.damage()
  if (damage.length > 0) yield damage.map((damage): ReadItem => ({ type: 'damage', damage }))
}

export type ReadAll = {
  readonly transcripts: readonly Transcript[]
  /** Damage met before any session was opened. */
  readonly damage: readonly Damage[]
}

/** Every session of the source in memory. For what fits: views and conversion stream. */
export async function readTranscripts(items: AsyncIterable<readonly ReadItem[]>): Promise<ReadAll> {
  type Open = { session: Session; entries: Entry[]; damage: Damage[] }
  const sessions = new Map<string, Open>()
  const early: Damage[] = []
  let current: Open | undefined
  for await (const batch of items) {
    for (const item of batch) {
      if (item.type === 'session') {
        current = sessions.get(item.session.id) ?? { session: item.session, entries: [], damage: [] }
        current.session = item.session
        sessions.set(item.session.id, current)
      } else if (item.type === 'damage') (current?.damage ?? early).push(item.damage)
      else current?.entries.push(item.entry)
    }
  }
  return { transcripts: [...sessions.values()], damage: early }
}

/** The items of one session only, its damage included. */
export async function* onlySession(
  items: AsyncIterable<readonly ReadItem[]>,
  id: string,
): AsyncGenerator<readonly ReadItem[]> {
  let current: string | undefined
  for await (const batch of items) {
    const own = batch.filter((item) => {
      if (item.type === 'session') current = item.session.id
      return current === id
    })
    if (own.length > 0) yield own
  }
}
