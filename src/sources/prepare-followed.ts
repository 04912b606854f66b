/**
 * Long logs are read once by the process that follows them, while it has nothing else to do: from then on it reads what comes to them.
 * Those that were written to of late come first, before a line of theirs has come.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Archive } from '../archive/archive.ts'
import { readTombstones } from '../archive/tombstones.ts'
import type { Place } from '../formats/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { lookAtNext, lookAtRows, memoryOf } from './followed-rows.ts'
import {
  followedUnits,
  LONG_BYTES,
  MOST_HELD,
  type Counted,
  type FindUnit,
  type FollowedUnit,
} from './followed-units.ts'
import { parseGlobs } from './globs.ts'
import { loadFormat } from './load-format.ts'
import { keptIn } from './open-unit.ts'
import { peekState } from './state.ts'
import { isAsRead } from './state-extend.ts'
import { openStateFiles } from './state-files.ts'
import { prepared } from './state-statements.ts'
import { toFollowed } from './sync-read-followed.ts'

/** What was written to since so long ago may be again, any moment. */
const LIVE_MS = 60 * 60 * 1000

/** Archives whose live logs were looked for. */
const looked = new Set<string>()

/** One of those that were wished for, or a look at a database that it is time for. False when there was none. */
export async function prepareFollowed(archive: Archive, signal?: AbortSignal): Promise<boolean> {
  if (!looked.has(archive.home)) await wishForLive(archive, Date.now() - LIVE_MS)
  looked.add(archive.home)
  const id = followedUnits.nextWish(archive.home)
  if (signal?.aborted === true) return false
  if (id === undefined) return lookAtNext(signal)
  const state = await peekState(archive)
  if (state === undefined) return true
  try {
    const { database } = state
    const find = findUnit(archive, database, id, signal)
    const first = await find()
    if (first !== undefined) {
      await followedUnits.prepare(first.unit, find, signal)
      await lookAtDatabase(first.unit, signal)
    }
  } finally {
    state.close()
  }
  return true
}

/** For how long one is waited for that has grown, until it is read. */
const PATIENCE_MS = 30_000
const LOOK_MS = 20

function findUnit(archive: Archive, database: Database, id: number, signal?: AbortSignal): FindUnit {
  const files = openStateFiles(database)
  return async () => {
    for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
      if (signal?.aborted === true) return undefined
      const known = files.unitAt(id)
      const unit = known && toFollowed(database, known, files, archive)
      if (known !== undefined && unit !== undefined)
        return { unit, isKnown: (counted) => isAsRead(database, known, withoutDeleted(counted, archive)) }
      await wait(LOOK_MS)
    }
    return undefined
  }
}

/** What the first row that comes to it is told apart by. */
async function lookAtDatabase(unit: FollowedUnit, signal: AbortSignal | undefined): Promise<void> {
  const format = await loadFormat(unit.agent).catch(() => undefined)
  const [file, ...others] = unit.files
  if (file === undefined || others.length > 0) return
  const isOf = ({ rows, files }: Place): boolean => rows !== undefined && parseGlobs(files).matches(file.path)
  const rows = format?.places?.find(isOf)?.rows
  if (rows === undefined) return
  const place = keptIn(unit.home).place(unit.agent, unit.root)
  const one = { place, path: file.path, rows }
  if (memoryOf(one)?.hasLeft() === false) await lookAtRows(one, signal)
}

/** What was deleted on purpose is in no pass. */
function withoutDeleted(counted: Counted, { files, home }: Archive): Counted {
  const deleted = new Set(readTombstones(files, home).map(({ session }) => session))
  return { ...counted, sessions: counted.sessions.filter(({ key }) => !deleted.has(key)) }
}

/** `since`: in milliseconds since 1970. */
async function wishForLive(archive: Archive, since: number): Promise<void> {
  const state = await peekState(archive)
  if (state === undefined) return
  try {
    const files = openStateFiles(state.database)
    const live = prepared(state.database, LONG)
      .all(LONG_BYTES)
      .map(({ id, stamp }) => ({ id: Number(id), changedAt: changedAt(String(stamp)) }))
      .filter((one) => one.changedAt >= since)
      .sort((a, b) => b.changedAt - a.changedAt)
    for (const { id } of live.slice(0, MOST_HELD)) {
      followedUnits.wish({ home: archive.home, files: files.filesOf(id) }, id)
    }
  } finally {
    state.close()
  }
}

/** A session's unit is called by its own log. */
const LONG = `SELECT units.id, files.stamp FROM units CROSS JOIN files ON files.place = units.place AND files.path = units.path
  WHERE units.reading IS NOT NULL AND units.dirty = 0 AND max(files.size, ifnull(files.bytes, 0)) >= ?`

/** The last part of a stamp. Zero for one that is none. */
function changedAt(stamp: string): number {
  return Number.parseFloat(stamp.slice(stamp.lastIndexOf(':') + 1)) || 0
}
