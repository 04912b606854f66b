/**
 * A session out of all of its recordings: what each says, every entry once. An id of an entry's own tells it from others; where the
 * id is only its place, which the next recording gives to another, what it says does.
 */
import { isHansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { hasOwnId, type Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { createEntryKeys, createKeySet } from './entry-keys.ts'
import { createPlace } from './merge-versions.ts'
import { keyOf } from './session-facts.ts'

/** A recording. `unit`: see `keyOf`. */
export type Stream = { readonly items: AsyncIterable<readonly ReadItem[]>; readonly unit: string | undefined }

/**
 * Under its one id and with the totals that are billed to it. What a later recording adds is numbered on. One whose source is gone
 * is passed over; throws `not-found` when all are.
 */
export async function* oneSession(
  streams: readonly Stream[],
  { key, id }: { readonly key: string; readonly id: string },
  known: Session,
): AsyncGenerator<readonly ReadItem[]> {
  const join = streams.length > 1 ? createJoin() : undefined
  let left = streams.length
  for (const { items: stream, unit } of streams) {
    const add = join?.()
    let isOurs = false
    /** What the unit calls it: the first that has its key, for a unit may hold the conversation twice. */
    let own: string | undefined
    try {
      for await (const items of stream) {
        const ours: ReadItem[] = []
        for (const item of items) {
          if (item.type === 'session') {
            const { session } = item
            if (keyOf(session, unit) === key || session.id === id) own ??= session.id
            isOurs = session.id === own
            if (isOurs) ours.push({ type: 'session', session: { ...session, id, ...facts(known, session) } })
          } else if (isOurs && item.type === 'entry' && add !== undefined) {
            const entry = add(item.entry)
            if (entry !== undefined) ours.push({ type: 'entry', entry })
          } else if (isOurs) ours.push(item)
        }
        if (ours.length > 0) yield ours
      }
    } catch (error) {
      left -= 1
      if (left === 0 || !isHansardError(error) || error.code !== 'not-found') throw error
    }
  }
}

/** For each recording in turn: the entry in its place, or undefined for one that was given before. */
function createJoin(): () => (entry: Entry) => Entry | undefined {
  const seen = createKeySet()
  /** Where entries without an id of their own were put, for those that follow them. */
  const placed = new Map<string, string>()
  const place = createPlace()
  let recording = 0
  return () => {
    const version = recording++
    const keyOf = createEntryKeys()
    const again = new Map<string, string>()
    return (entry) => {
      const key = keyOf('', entry)
      if (seen.has(key)) {
        const id = placed.get(key)
        if (id !== undefined && id !== entry.id) again.set(entry.id, id)
        return undefined
      }
      seen.add(key)
      const put = place('', version, entry)
      if (!hasOwnId(entry)) placed.set(key, put.id)
      const parent = entry.parent && again.get(entry.parent)
      return parent === undefined ? put : { ...put, parent }
    }
  }
}

/** What no recording says alone: it is known from all of them, and from sessions that mention this one. */
function facts({ title, parent, recordings, totals }: Session, said: Session): Partial<Session> {
  // One that is longer than is listed is known by its beginning.
  const isBeginning = title !== undefined && said.title?.startsWith(title) === true
  return {
    ...(title !== undefined && !isBeginning && { title }),
    ...(parent && { parent }),
    ...(recordings && { recordings }),
    ...(totals && { totals }),
  }
}
