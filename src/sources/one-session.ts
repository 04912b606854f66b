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
import type { ListedSession } from './state-sessions.ts'

/** A recording. `unit`: see `keyOf`. */
export type Stream = {
  readonly items: AsyncIterable<readonly ReadItem[]>
  readonly unit: string | undefined
  /** What a recording of ours calls the session: its client may not have said which conversation it is. */
  readonly own?: string
}

/**
 * Under its one id and with the totals that are billed to it. What a later recording adds is numbered on. One whose source is gone
 * is passed over; throws `not-found` when all are.
 */
export async function* oneSession(
  streams: readonly Stream[],
  { key, id }: { readonly key: string; readonly id: string },
  known: ListedSession,
): AsyncGenerator<readonly ReadItem[]> {
  const join = streams.length > 1 ? createJoin() : undefined
  let left = streams.length
  for (const { items: stream, unit, own: recorded } of streams) {
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
            if (keyOf(session, unit) === key || session.id === id || session.id === recorded)
              own ??= session.id
            isOurs = session.id === own
            if (isOurs) {
              const shared = withShared(session, known, join !== undefined)
              ours.push({ type: 'session', session: { ...shared, id } })
            }
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

/**
 * What no recording says alone: it is known from all of them, and from sessions that mention this one. Of several recordings the list
 * says which facts are the session's; what it does not hold is as the recording has it.
 */
function withShared(said: Session, known: ListedSession, isJoined: boolean): Session {
  const { prompt: _, ...facts } = known
  const { title, parent, recordings, totals } = facts
  const shared = isJoined ? facts : { title, parent, recordings, totals }
  const { metadata, input, apart } = said
  const own = isJoined ? { metadata, input, apart } : said
  // One that is longer than is listed is known by its beginning.
  const isBeginning = (name: string, value: unknown): boolean => {
    const whole = said[name as keyof Session]
    return typeof whole === 'string' && typeof value === 'string' && whole.startsWith(value)
  }
  const all = Object.entries(shared).map(([name, value]) => [
    name,
    isBeginning(name, value) ? said[name as keyof Session] : value,
  ])
  return Object.fromEntries(
    [...Object.entries(own), ...all].filter(([, value]) => value !== undefined),
  ) as Session
}
