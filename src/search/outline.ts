/**
 * Sessions' entries by position, whatever their size: the order in which `hansard show` prints them, any range in the time that the range
 * takes. An outline is made in the background when a session is first opened, and is useful from its first rows on; when the session has
 * grown, what is new is added.
 */
import type { Archive } from '../archive/archive.ts'
import type { PriceRow } from '../cost/prices.ts'
import { HansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import type { FoundSession } from '../sources/state-sessions.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import { extendOutline } from './outline-extend.ts'
import { billedElsewhere, openReadings, type OutlineProgress } from './outline-build.ts'
import {
  isWhole,
  outlineFolder,
  outlineName,
  pruneOutlines,
  readNote,
  removeOutline,
  takeOutline,
  writeNote,
  writtenAt,
  type OutlineFolder,
  type OutlineNote,
} from './outline-files.ts'
import { toOutline, type Building, type FoldFacts, type Outline } from './outline-now.ts'
import { basisOf, grownBeyond, sizesOf, stampOf } from './outline-stamp.ts'
import { makeOutline } from './outline-process.ts'

export type Outlines = {
  /** The session as it is now. `database`: what sync knows of it. */
  open(session: FoundSession, database: Database | undefined): Outline
  /** Sessions that were asked for lately, whose logs have grown since. */
  grown(): readonly FoundSession[]
  /** Entries of a session whose log is known further than it was synced. */
  followedTo(id: string): number | undefined
  /** Removes what is left of sessions that are gone. */
  prune(database: Database): void
  close(): void
}

export type OutlinesOptions = {
  readonly prices?: readonly PriceRow[]
  /** Where outlines are written; for an archive that cannot be written to, somewhere else. */
  readonly folder?: string
  /** What was appended to a log is there before a sync has seen it. */
  readonly follow?: boolean
}

type Own = OutlineFolder & {
  note: OutlineNote | undefined
  building: Building | undefined
  /** What was asked for last: made next where it is not what is being made. */
  wanted: Wanted | undefined
  usedAt: number
  /** What sync knew when the end of the log could not be read by itself. */
  stuckAt: string | undefined
  /** Ends what puts right what was added, which can wait. */
  settling: AbortController | undefined
}

type Wanted = {
  readonly session: FoundSession
  readonly stamp: string
  readonly basis: string
  readonly bytes: number
  readonly units: readonly SessionUnit[]
  /** The log's size, where that is more than sync knows. */
  readonly grownTo: number | undefined
  /** All of it, though its end is known. */
  readonly isWhole: boolean
}

/** Sessions whose notes are held. */
const MOST_KNOWN = 50
/** Milliseconds after which nobody looks at it any more: pages are left open. */
const LOOKED_AT_MS = 3_600_000
/** After so long without growing, what was added is put right by reading all; after more where a megabyte is more to read. */
const SETTLED_MS = { least: 60_000, perMegabyte: 600 }

export function openOutlines(
  archive: Archive,
  { prices, folder, follow = false }: OutlinesOptions = {},
): Outlines {
  const known = new Map<string, Own>()
  const ending = new AbortController()
  const where = folder ?? outlineFolder(archive.home)

  const know = (key: string): Own => {
    const found = known.get(key)
    if (found !== undefined) {
      known.delete(key)
      known.set(key, found)
      return found
    }
    const at = { folder: where, name: outlineName(key) }
    const made: Own = {
      ...at,
      note: readNote(at),
      building: undefined,
      wanted: undefined,
      usedAt: 0,
      stuckAt: undefined,
      settling: undefined,
    }
    known.set(key, made)
    for (const [old, { building }] of known) {
      if (known.size <= MOST_KNOWN) break
      if (building === undefined) known.delete(old)
    }
    return made
  }

  const start = (own: Own, wanted: Wanted): void => {
    const { stamp } = wanted
    own.settling = wanted.isWhole ? new AbortController() : undefined
    const waiting = new Set<() => void>()
    const wake = (): void => {
      for (const one of waiting) one()
    }
    const work = make(own, wanted, (progress) => {
      building.progress = progress
      wake()
    })
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
          own.settling = undefined
          const next = own.wanted
          const isMore = next !== undefined && next.stamp !== stamp && building.error === undefined
          if (isMore && !ending.signal.aborted) start(own, next)
          wake()
        }),
    }
    own.building = building
  }

  const make = async (
    own: Own,
    { session, stamp, basis, bytes, units, grownTo, isWhole: isAll }: Wanted,
    onProgress: (progress: OutlineProgress) => void,
  ): Promise<OutlineNote> => {
    const before = own.note
    const isGrown = before !== undefined && before.basis === basis && !isAll
    const more = isGrown ? await extended(own, stamp, { before, units, grownTo }) : undefined
    if (more !== undefined) return more
    if (grownTo !== undefined && before !== undefined) {
      // Until sync has read it, it is as it was.
      own.stuckAt = sizesOf(units)
      return before
    }
    const { folder: at, name } = own
    const job = { folder: at, name, home: archive.home, ...session, stamp, basis }
    const given = { ...(prices && { prices }), ...(before && { before }) }
    const signals = [ending.signal, ...(own.settling ? [own.settling.signal] : [])]
    return makeOutline({ ...job, ...given }, bytes, onProgress, AbortSignal.any(signals))
  }

  const extended = async (
    own: Own,
    stamp: string,
    { before, units, grownTo }: Pick<Wanted, 'units' | 'grownTo'> & { readonly before: OutlineNote },
  ): Promise<OutlineNote | undefined> => {
    const letGo = takeOutline(own)
    if (letGo === undefined) return undefined
    try {
      const growth = { before, units, ...(grownTo !== undefined && { grownTo }) }
      const fold = { elsewhere: new Set<string>(), ...(prices && { prices }) }
      const note = await extendOutline(archive, own, { ...growth, fold })
      return note && writeNote(own, { ...note, stamp })
    } catch {
      // Whatever it is, reading all of it tells.
      return undefined
    } finally {
      letGo()
    }
  }

  return {
    open(session, database) {
      if (ending.signal.aborted) throw new HansardError('io', 'the server is ending')
      const own = know(session.key)
      own.usedAt = Date.now()
      if (own.note !== undefined && !isWhole(own, own.note)) own.note = undefined
      const readings = openReadings(archive, database, session)
      const { units } = readings
      const bytes = units.reduce((sum, unit) => sum + unit.bytes, 0)
      const grownTo = follow && own.stuckAt !== sizesOf(units) ? grownBeyond(units, bytes) : undefined
      const known = stampOf(archive, session, units, database, prices)
      const stamp = grownTo === undefined ? known : JSON.stringify([known, grownTo])
      const { note } = own
      const isReady = note?.stamp === stamp
      const isToSettle = isReady && note.isExtended === true && isSettled(own, bytes)
      const basis = basisOf(session, units, prices)
      own.wanted = { session, stamp, basis, bytes, units, grownTo, isWhole: isToSettle }
      if ((!isReady || isToSettle) && own.building === undefined) start(own, own.wanted)
      const facts: FoldFacts = () => ({
        elsewhere: database === undefined ? new Set() : billedElsewhere(database, session.key),
        ...(prices && { prices }),
      })
      return toOutline(own, stamp, { archive, readings, facts })
    },
    grown() {
      if (!follow) return []
      const since = Date.now() - LOOKED_AT_MS
      return [...known.values()].flatMap(({ usedAt, wanted, building, stuckAt, settling }) => {
        const isBusy = building !== undefined && settling === undefined
        if (usedAt < since || wanted === undefined || isBusy) return []
        const { units, bytes, grownTo = bytes, session } = wanted
        const isGrown = stuckAt !== sizesOf(units) && grownBeyond(units, grownTo) !== undefined
        // Whoever looks at it waits for what is new, and not for what is put right.
        if (isGrown && building !== undefined) return (settling?.abort(), [])
        return isGrown ? [session] : []
      })
    },
    followedTo(id) {
      const own = [...known.values()].find(({ wanted }) => wanted?.session.id === id)
      return own?.note?.isExtended === true ? own.note.length : undefined
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

function isSettled(at: OutlineFolder, bytes: number): boolean {
  return Date.now() - writtenAt(at) > Math.max(SETTLED_MS.least, (bytes / 1e6) * SETTLED_MS.perMegabyte)
}
