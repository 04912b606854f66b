/**
 * Sessions' entries by position, whatever their size: the order in which `hansard show` prints them, any range in the time that the range
 * takes. An outline is made in the background when a session is first opened, and is useful from its first rows on; when the session has
 * grown, what is new is added.
 */
import type { Archive } from '../archive/archive.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import type { PriceRow } from '../cost/prices.ts'
import { HansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { getSession, type FoundSession } from '../sources/state-sessions.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import { createOutlet } from '../sources/outlet.ts'
import type { Entry } from '../transcript/entry.ts'
import { VERSION } from '../version.ts'
import {
  billedElsewhere,
  createOutlineFold,
  openReadings,
  type OutlineProgress,
  type Reading,
  type Readings,
} from './outline-build.ts'
import {
  isWhole,
  outlineFolder,
  outlineName,
  pruneOutlines,
  readNote,
  removeOutline,
  type OutlineFolder,
  type OutlineNote,
  type PlacedDamage,
} from './outline-files.ts'
import { readEntries, type OutlineEntry, type Readable } from './outline-read.ts'
import { segmentSizes } from './outline-stamp.ts'
import { makeOutline } from './outline-process.ts'
import { redactorOf } from './searched-entry.ts'

export type Outlines = {
  /** The session as it is now. `database`: what sync knows of it. */
  open(session: FoundSession, database: Database | undefined): Outline
  /** Removes what is left of sessions that are gone. */
  prune(database: Database): void
  close(): void
}

export type Outline = {
  /** `building`: there is more than can be had yet. */
  readonly state: 'ready' | 'building'
  /** Entries that can be had. */
  readonly length: number
  readonly sources: readonly string[]
  /** Absent while it is not complete. */
  readonly note: OutlineNote | undefined
  /** Damage that stands right before these positions; the length for what comes last. */
  damage(from: number, to: number): readonly PlacedDamage[]
  readonly readable: Readable | undefined
  /** The same, when it has so many entries or all there are; after so many milliseconds, as it then is. */
  reach(length: number, waitMs: number): Promise<Outline>
  /** In order, from one position up to another. What is not outlined yet is read from the beginning. */
  entries(from: number, to: number): AsyncGenerator<OutlineEntry>
  /** All of it, as it is read, without secrets. */
  items(): AsyncIterable<readonly ReadItem[]>
}

export type OutlinesOptions = {
  readonly prices?: readonly PriceRow[]
  /** Where outlines are written; for an archive that cannot be written to, somewhere else. */
  readonly folder?: string
}

type Known = OutlineFolder & {
  note: OutlineNote | undefined
  building: Building | undefined
  /** What was asked for last: made next where it is not what is being made. */
  wanted: Wanted | undefined
}

type Wanted = { readonly session: FoundSession; readonly stamp: string; readonly bytes: number }

type Building = {
  readonly stamp: string
  progress: OutlineProgress | undefined
  readonly done: Promise<void>
  readonly waiting: Set<() => void>
  error: unknown
}

/** Sessions whose notes are held. */
const MOST_KNOWN = 50

export function openOutlines(archive: Archive, { prices, folder }: OutlinesOptions = {}): Outlines {
  const known = new Map<string, Known>()
  const ending = new AbortController()
  const where = folder ?? outlineFolder(archive.home)

  const know = (key: string): Known => {
    const found = known.get(key)
    if (found !== undefined) {
      known.delete(key)
      known.set(key, found)
      return found
    }
    const at = { folder: where, name: outlineName(key) }
    const made: Known = { ...at, note: readNote(at), building: undefined, wanted: undefined }
    known.set(key, made)
    for (const [old, { building }] of known) {
      if (known.size <= MOST_KNOWN) break
      if (building === undefined) known.delete(old)
    }
    return made
  }

  const start = (own: Known, { session, stamp, bytes }: Wanted): void => {
    const waiting = new Set<() => void>()
    const wake = (): void => {
      for (const one of waiting) one()
    }
    const job = {
      folder: own.folder,
      name: own.name,
      home: archive.home,
      ...session,
      stamp,
      ...(prices && { prices }),
      ...(own.note && { before: own.note }),
    }
    const work = makeOutline(
      job,
      bytes,
      (progress) => {
        building.progress = progress
        wake()
      },
      ending.signal,
    )
    const building: Building = {
      stamp,
      progress: undefined,
      waiting,
      error: undefined,
      done: work
        .then(
          (note) => void (own.note = note),
          (error: unknown) => void (building.error = error),
        )
        .finally(() => {
          own.building = undefined
          const { wanted } = own
          const isMore = wanted !== undefined && wanted.stamp !== stamp && building.error === undefined
          if (isMore && !ending.signal.aborted) start(own, wanted)
          wake()
        }),
    }
    own.building = building
  }

  return {
    open(session, database) {
      if (ending.signal.aborted) throw new HansardError('io', 'the server is ending')
      const own = know(session.key)
      if (own.note !== undefined && !isWhole(own, own.note)) own.note = undefined
      const readings = openReadings(archive, database, session)
      const { units } = readings
      const stamp = stampOf(archive, session, units, database, prices)
      const isReady = own.note?.stamp === stamp
      const bytes = units.reduce((sum, unit) => sum + unit.bytes, 0)
      own.wanted = { session, stamp, bytes }
      if (!isReady && own.building === undefined) start(own, own.wanted)
      const facts: FoldFacts = () => ({
        elsewhere: database === undefined ? new Set() : billedElsewhere(database, session.key),
        ...(prices && { prices }),
      })
      return toOutline(own, stamp, { archive, readings, facts })
    },
    prune(database) {
      const names = new Set(
        database
          .prepare('SELECT key FROM sessions')
          .lists()
          .map(([key]) => outlineName(String(key))),
      )
      for (const [key, { name, folder: at }] of known) {
        if (names.has(name)) continue
        known.delete(key)
        removeOutline({ name, folder: at })
      }
      pruneOutlines(where, (name) => names.has(name))
    },
    close: () => ending.abort(),
  }
}

/** All that an outline depends on. */
function stampOf(
  archive: Archive,
  { key, id }: FoundSession,
  units: readonly SessionUnit[],
  database: Database | undefined,
  prices: readonly PriceRow[] = [],
): string {
  const totals = database && getSession(database, key)?.totals
  const made = units.map(({ place, format, reading, isDirty, bytes }) => [
    place.agent,
    place.root,
    place.unit,
    place.paths,
    place.isKept,
    format,
    reading,
    isDirty,
    bytes,
    format === 'journal' && reading === 0 ? segmentSizes(archive, place.unit) : [],
  ])
  return JSON.stringify([VERSION, id, made, totals?.usage, totals?.cost, prices])
}

type FoldFacts = () => Parameters<typeof createOutlineFold>[0]

type ReadAgain = { readonly archive: Archive; readonly readings: Readings; readonly facts: FoldFacts }

/** As it is at this moment. */
function toOutline(own: Known, stamp: string, again: ReadAgain): Outline {
  const { note, building } = own
  const { archive, readings } = again
  const isReady = note?.stamp === stamp
  const progress = building?.progress
  // Of what is made anew as much as there is, once it is more than what was there before.
  const isAhead = !isReady && progress !== undefined && progress.length >= (note?.length ?? 0)
  const current = isAhead ? progress : note
  const readable: Readable | undefined = current && {
    folder: own.folder,
    name: own.name,
    archive,
    units: readings.units,
    generation: current.generation,
    length: current.length,
    sources: current.sources,
    files: current.files,
    isInline: readings.isInline,
    readAll: () => entriesOf(readings.open()),
  }
  const outline: Outline = {
    state: isReady || building === undefined ? 'ready' : 'building',
    length: current?.length ?? 0,
    sources: current?.sources ?? [],
    note: isAhead ? undefined : note,
    readable,
    damage: (from, to) => (note?.damage ?? []).filter(({ position }) => position >= from && position < to),
    async reach(length, waitMs) {
      const deadline = Date.now() + waitMs
      let now = outline
      while (now.state === 'building' && now.length < length && Date.now() < deadline) {
        await nextWord(own.building, deadline)
        now = toOutline(own, stamp, again)
        if (own.building?.error !== undefined) break
      }
      return now
    },
    items: () => redacted(again),
    async *entries(from, to) {
      if (readable !== undefined && (to <= readable.length || outline.state === 'ready'))
        yield* readEntries(readable, from, to)
      else yield* readBeginning(again, from, to)
    },
  }
  return outline
}

async function* redacted({ archive, readings }: ReadAgain): AsyncGenerator<readonly ReadItem[]> {
  yield* createOutlet(archive, false).items(readings.open({ whole: true }).items)
}

function nextWord(building: Building | undefined, deadline: number): Promise<void> {
  if (building === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      building.waiting.delete(done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(1, deadline - Date.now()))
    building.waiting.add(done)
  })
}

async function* entriesOf({ items }: Reading): AsyncGenerator<Entry> {
  for await (const some of items) for (const item of some) if (item.type === 'entry') yield item.entry
}

/** Without an outline: what comes first, read from the beginning. */
async function* readBeginning(
  { archive, readings, facts }: ReadAgain,
  from: number,
  to: number,
): AsyncGenerator<OutlineEntry> {
  const redactor = redactorOf(archive)
  const reading = readings.open()
  const fold = createOutlineFold(facts())
  for await (const items of reading.items) {
    for (const item of items) {
      const position = fold.length()
      if (position >= to) return
      const row = fold.take(item, reading.unit())
      if (row === undefined || item.type !== 'entry' || position < from) continue
      const whole = readings.isInline ? item.entry : await resolveBlobs(item.entry, archive.blobs)
      yield { position, row, entry: redactor.entry(whole) }
    }
  }
}
