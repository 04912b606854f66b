/** What is found by reading: units that the index does not have as they are now, or all of them. */
import { createSequence, type Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { facetsOf, markOfTexts } from './doc-facts.ts'
import { createJoin, identityOf } from './entry-identity.ts'
import { isLight } from './held-entries.ts'
import { best, type Stream } from './lookup.ts'
import { isTooSlow } from './match-regex.ts'
import { textsOf } from './match-texts.ts'
import { readListed } from './read-listed.ts'
import type { Located } from './resolve.ts'
import { redactorOf, toSearched } from './searched-entry.ts'
import type { Hit, Searching } from './searching.ts'
import type { LeftUnit, UnitsLeft } from './known-units.ts'
import { unitsOfSession, type ListedUnit } from './unit-list.ts'

/** Units that are read, one after the other: some of their sessions may be read elsewhere. */
export function unitsStream(units: UnitsLeft, searching: Searching): Stream<Hit> {
  const { view } = searching
  // One that does not say when it ended may be the newest of all, and those come last.
  let silent = units.count
  while (silent > 0 && units.endedAt(silent - 1) === 0) silent -= 1
  const place = (nth: number): number =>
    nth < units.count - silent ? silent + nth : nth - (units.count - silent)
  let nth = 0
  let first = 0
  let some: readonly LeftUnit[] = []
  const take = (at: number): ListedUnit | undefined => {
    if (at < first || at >= first + some.length) {
      first = at
      some = units.part(at, at + READ_AT_ONCE)
    }
    return some[at - first]?.unit
  }
  return {
    newest() {
      if (nth >= units.count) return Number.NEGATIVE_INFINITY
      return units.endedAt(place(nth)) || Number.POSITIVE_INFINITY
    },
    async next() {
      if (nth >= units.count) return undefined
      const unit = take(place(nth))
      nth += 1
      if (unit === undefined) return []
      return readHits([unit], (key) => !view.apart.has(key) && !view.isHidden(unit.name, key), searching)
    },
  }
}

/** Units that are known in full at a time while they are read. */
const READ_AT_ONCE = 500

/** A session that several units speak for, one of which the index lacks: each entry once, numbered over all of them. */
export function sessionStream(key: string, searching: Searching): Stream<Hit> {
  const units = unitsOfSession(searching.state, searching.archive.home, key)
  const newest = Math.max(...units.map(({ endedAt }) => endedAt))
  return readStream(newest, () => readHits(units, (own) => own === key, searching))
}

function readStream(endedAt: number, read: () => Promise<readonly Hit[]>): Stream<Hit> {
  let isDone = false
  return {
    // One that does not say when it ended may be the newest of all.
    newest: () => (isDone ? Number.NEGATIVE_INFINITY : endedAt || Number.POSITIVE_INFINITY),
    async next() {
      if (isDone) return undefined
      isDone = true
      return read()
    },
  }
}

async function readHits(
  units: readonly ListedUnit[],
  isOurs: (key: string) => boolean,
  searching: Searching,
): Promise<readonly Hit[]> {
  const { plan, scanned, limit, order, isLate } = searching
  const redactor = redactorOf(searching.archive)
  const join = units.length > 1 ? createJoin() : undefined
  const next = createSequence()
  let hits: Hit[] = []
  for (const unit of units) {
    if (isLate()) break
    const wanted = new Map<string, Session>()
    for (const key of unit.sessions.values()) {
      const session = isOurs(key) ? searching.session(key) : undefined
      if (session !== undefined && plan.session(session)) wanted.set(key, session)
    }
    if (wanted.size === 0) continue
    scanned.units += 1
    scanned.bytes += unit.bytes
    let at = 0
    const isNew = join?.()
    try {
      for await (const entries of readListed(unit)) {
        if (isLate()) break
        const asked: Read[] = []
        for (const { key, entry: read, session: own } of entries) {
          const said = Date.parse(read.at ?? '')
          at = Number.isFinite(said) ? said : at || toTime(unit.starts.get(key) ?? own.startedAt)
          const session = wanted.get(key)
          if (session === undefined) continue
          // What it says is gone through for that, which most that is read is not worth.
          if (isNew?.(identityOf(read)) === false) continue
          const sequence = join === undefined ? read.sequence : next(read.source)
          const entry = { ...toSearched(read, redactor), sequence }
          asked.push({ key, read, session, entry, at, hasAt: Number.isFinite(said) })
        }
        scanned.entries += asked.length
        const found = plan.entries(asked, isLate)
        for (const [nth, one] of asked.entries())
          if (found[nth] === true) hits.push(toHit(one, unit, searching))
        if (hits.length > limit * 2) hits = best(hits, order, limit)
      }
    } catch (error) {
      if (isTooSlow(error)) throw error
      searching.onUnreadable(unit, error)
    }
  }
  return hits
}

type Read = {
  readonly key: string
  readonly read: Entry
  readonly session: Session
  /** As it is searched. */
  readonly entry: Entry
  readonly at: number
  readonly hasAt: boolean
}

function toHit({ key, read, session, entry, at, hasAt }: Read, unit: ListedUnit, given: Searching): Hit {
  const { plan, order, archive } = given
  const { source, sequence } = entry
  const mark = markOfTexts(textsOf(read, unit.titles.get(key)), facetsOf(read))
  const whole = isLight(read) ? redactorOf(archive).entry({ ...read, sequence }) : undefined
  return {
    at,
    score: order === 'ranked' ? plan.score(entry, session) : 0,
    tie: `${key} ${source} ${String(sequence).padStart(12, '0')}`,
    session,
    source,
    sequence,
    role: read.role,
    hasAt,
    located: locate({ ...read, source }, { unit, key, identity: identityOf(read), mark }),
    ...(whole && { entry: whole }),
  }
}

function locate(
  { source, sequence, origin }: Entry,
  about: Pick<Located, 'unit' | 'key' | 'identity' | 'mark'>,
): Located {
  return {
    ...about,
    source,
    sequence,
    file: origin?.file,
    version: origin?.version,
    byteOffset: origin?.byteOffset ?? 0,
    byteLength: origin?.byteLength ?? 0,
  }
}

function toTime(value: string | undefined): number {
  const time = Date.parse(value ?? '')
  return Number.isFinite(time) ? time : 0
}
