/**
 * A source read with a format: as a stream of items for what may be large, or whole for what is small. What the source itself
 * could not give (a gzip file cut off) is damage like any other.
 */
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { OpenSource } from './open.ts'

/** A list is good until the next is asked for. */
export async function* readItems(
  source: OpenSource,
  format: Format,
  options: ReadOptions = {},
): AsyncGenerator<readonly ReadItem[]> {
  yield* format.read(source, options)
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

export type SessionItems = { readonly id: string; readonly items: readonly ReadItem[] }

/**
 * The items of the sessions named, all of one before the first of the next. In one pass where the source has them so; where
 * sessions alternate, in one for each, for none is held.
 */
export async function* readBySession(
  read: () => AsyncIterable<readonly ReadItem[]>,
  ids: readonly string[],
  isInterleaved: boolean,
): AsyncGenerator<SessionItems> {
  if (isInterleaved) for (const id of ids) yield* onlySessions(read(), new Set([id]))
  else yield* onlySessions(read(), new Set(ids))
}

async function* onlySessions(
  items: AsyncIterable<readonly ReadItem[]>,
  wanted: ReadonlySet<string>,
): AsyncGenerator<SessionItems> {
  let current: string | undefined
  for await (const batch of items) {
    let own: ReadItem[] = []
    for (const item of batch) {
      if (item.type === 'session' && item.session.id !== current) {
        if (own.length > 0 && current !== undefined) yield { id: current, items: own }
        own = []
        current = item.session.id
      }
      if (current !== undefined && wanted.has(current)) own.push(item)
    }
    if (own.length > 0 && current !== undefined) yield { id: current, items: own }
  }
}
