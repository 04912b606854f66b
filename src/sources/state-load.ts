/**
 * A state that is filled for the first time: nothing is looked up that cannot be there, calls are put in many at a time, and their
 * indexes are made when all is in. What several passes mention is put in question then, instead of one by one. Where somebody waits to ask,
 * calls come packed, and are made rows of afterwards. A crash leaves what is in, and a mark for the next one to do the rest.
 */
import { createIdSet, type IdSet } from '../formats/id-set.ts'
import type { Database } from '../sqlite/driver.ts'
import { hashText } from '../transcript/text-hash.ts'
import { weightOf, type CallTable } from './call-rows.ts'
import { foreignFindings, unpackCalls, type PackedCalls } from './packed-calls.ts'
import { FULLEST, UNSETTLED } from './state-speakers.ts'
import type { KnownUnit } from './state-units.ts'
import { dropIndexes, endLoad, settleLoad } from './state-load-end.ts'
import { insertMentions, questionMentions } from './state-mentions.ts'
import type { OwnBills } from './state-own-bill.ts'
import {
  beginReading,
  billOf,
  insertDrift,
  MOST_HELD,
  unitRead,
  type Reading,
  type ReadingEnd,
} from './state-readings.ts'
import { nextReading } from './reading-numbers.ts'
import { createPacking, NONE, noteKey, putCalls, type Packing } from './state-packing.ts'
import { recordedOnce } from './state-recorded.ts'
import { insertRecording, isUnknown } from './state-recordings.ts'
import { writeOwn } from './state-sessions.ts'
import { prepared } from './state-statements.ts'
import type { SessionsPart } from './read-unit.ts'
import type { UnitFacts } from './session-facts.ts'

export type Load = {
  /** A pass over a unit. `root`: of its place. */
  begin(unit: KnownUnit, root: string): Reading
  /** Whether calls are taken packed. */
  isPacking(): boolean
  /** All passes are in, and what is in question can be settled. Calls may stay packed, for `endLoad`. */
  settle(): void
  /** The state is as any other from here on. */
  end(): void
}

/** With more calls than this in it, a state is no longer filled for the first time. */
const MOST_BEFORE = 1000

/**
 * Pages that SQLite lets its log grow to, of 4 KB each, before it waits for the disk: as it has them by itself, and while the readers
 * would wait, too.
 */
const PAGES = 1000
const PAGES_LOADING = 16_000

/** Undefined for a state that has been filled. `isPacked`: calls may be packed. */
export function beginLoad(database: Database, isPacked = false): Load | undefined {
  const known = prepared(database, `SELECT count(*) AS count FROM (SELECT 1 FROM calls LIMIT ?)`)
  if (Number(known.get(MOST_BEFORE + 1)?.['count']) > MOST_BEFORE) return undefined
  database.transaction(() => {
    dropIndexes(database)
    database.exec(`INSERT INTO facts (name, value) VALUES ('loading', '1')`)
  })
  const [lastId, lastListed, hasMentions] =
    prepared(
      database,
      `SELECT ifnull(max(id), 0), (SELECT ifnull(max(n), 0) FROM listing), EXISTS (SELECT 1 FROM mentions)
         FROM calls`,
    ).lists()[0] ?? []
  const loading: Loading = {
    database,
    recorded: createIdSet(),
    // What is listed may have lost its recordings, and is settled later.
    hadAny:
      prepared(database, 'SELECT 1 FROM recordings UNION ALL SELECT 1 FROM listing LIMIT 1').get() !==
      undefined,
    next: 1,
    last: 0,
    lastId: Number(lastId),
    lastListed: Number(lastListed),
    hasMentions: hasMentions === 1,
    packing: isPacked ? createPacking(database) : undefined,
    isOver: false,
  }
  database.exec(`PRAGMA wal_autocheckpoint = ${PAGES_LOADING}`)
  const endBy = (work: () => void): void => {
    if (loading.isOver) return
    loading.isOver = true
    work()
    database.exec(`PRAGMA wal_autocheckpoint = ${PAGES}`)
  }
  const end = (): void => endBy(() => endLoad(database))
  return {
    begin: (unit, root) => beginIn(loading, { unit, root }, end),
    isPacking: () => loading.packing !== undefined && !loading.isOver,
    settle() {
      const { packing } = loading
      if (packing === undefined) end()
      else endBy(() => settleLoad(database, packing.shared))
    },
    end,
  }
}

type Loading = {
  readonly database: Database
  /** Sessions recorded since it began. */
  readonly recorded: IdSet
  /** Whether there was any before, or any was listed. */
  readonly hadAny: boolean
  /** Numbers for passes that are taken: the next, and the last. */
  next: number
  last: number
  /** The highest id of a call, and the highest number of a listing. */
  lastId: number
  lastListed: number
  hasMentions: boolean
  /** Undefined where no call is packed. */
  packing: Packing | undefined
  isOver: boolean
}

/** Parts that are held: an index of ten thousand threads is no reason to look up what cannot be there. */
const MOST_PARTS = 8

type Placed = { readonly unit: KnownUnit; readonly root: string }

/** What was read before, or has more calls or sessions than are held, needs the indexes. */
function beginIn(loading: Loading, placed: Placed, end: () => void): Reading {
  const { database } = loading
  let held: CallTable[] = []
  let packed: PackedCalls | undefined
  let weight = 0
  /** Parts that name sessions which lie elsewhere, and no others: nothing of them is looked up. */
  let named: SessionsPart[] = []
  let usual: Reading | undefined
  const asUsual = (): Reading => {
    if (usual !== undefined) return usual
    end()
    usual = beginReading(database, placed.unit.id)
    if (packed !== undefined) usual.packed(packed)
    for (const calls of held) usual.calls(calls)
    for (const part of named) usual.sessions(part)
    packed = undefined
    held = []
    named = []
    return usual
  }
  const take = (calls: CallTable): void => {
    weight += weightOf(calls)
    if (usual !== undefined || loading.isOver || weight > MOST_HELD) asUsual().calls(calls)
    else held.push(calls)
  }
  return {
    calls: take,
    packed(calls) {
      const mayStay = loading.packing !== undefined && weight === 0 && calls.count <= MOST_HELD
      if (!mayStay) return take(unpackCalls(calls))
      packed = calls
      weight += calls.count
    },
    sessions(part) {
      if (usual === undefined && part.sessions.length === 0 && named.length < MOST_PARTS) named.push(part)
      else asUsual().sessions(part)
    },
    end(format, last, bills) {
      if (usual !== undefined || loading.isOver || placed.unit.reading !== undefined)
        return asUsual().end(format, last, bills)
      const facts = { ...last, mentions: [...named, last].flatMap(({ mentions }) => mentions) }
      return database.transaction(() => put(loading, placed, { format, facts, bills, packed, calls: held }))
    },
  }
}

type Pass = {
  readonly format: string
  readonly facts: UnitFacts
  readonly bills: OwnBills
  /** All of its calls, where they are packed. */
  readonly packed: PackedCalls | undefined
  readonly calls: readonly CallTable[]
}

function put(loading: Loading, { unit, root }: Placed, pass: Pass): ReadingEnd {
  const { database } = loading
  const { format, facts, bills } = pass
  const { sessions, mentions, damage, drift } = facts
  const reading = numberOf(loading)
  const { billed, calls } = putCalls(loading, reading, pass)
  insertDrift(database, reading, drift)
  insertMentions(database, reading, mentions)
  if (mentions.length > 0) {
    loading.hasMentions = true
    questionMentions(database, undefined, reading)
  }
  const recorded = { reading, format, file: unit.path, root }
  let entries = 0
  for (const one of sessions) {
    const { key, session } = one
    entries += one.entries
    const { ids, count } = billed.get(key) ?? NONE
    const own = isNew(loading, key) ? billOf(bills, key) : undefined
    // What it did in vain is told of the one that pays for it, which others' calls would have to be asked for.
    const foreign = calls === undefined ? [] : foreignFindings(one, calls)
    for (const call of foreign) if (loading.packing) noteKey(loading.packing, hashText(call), reading)
    const bill = own?.sums['billed'] === count && foreign.length === 0 ? own : undefined
    const recording = insertRecording(database, recorded, one, bill === undefined ? UNSETTLED : FULLEST)
    if (bill === undefined)
      prepared(database, 'INSERT OR IGNORE INTO stale_sessions (key) VALUES (?)').run(key)
    else
      writeOwn(database, { key, session, recorded: recordedOnce(recording, one.work) }, bill, {
        ids,
        isNew: true,
        n: (loading.lastListed += 1),
        mayBeMentioned: loading.hasMentions,
      })
  }
  unitRead(database, { unit: unit.id, format, reading, damage })
  return { sessions: sessions.length, entries }
}

/** Numbers for passes taken at a time: those that are not used are missed by nobody. */
const NUMBERS = 64

function numberOf(loading: Loading): number {
  if (loading.next > loading.last) {
    loading.next = nextReading(loading.database, NUMBERS) - NUMBERS + 1
    loading.last = loading.next + NUMBERS - 1
  }
  loading.next += 1
  return loading.next - 1
}

/** True the first time that anything records the session, and nothing is listed of it. */
function isNew({ database, recorded, hadAny }: Loading, session: string): boolean {
  if (!recorded.take(session)) return false
  return !hadAny || (isUnknown(database, session) && !isListed(database, session))
}

function isListed(database: Database, session: string): boolean {
  return prepared(database, 'SELECT 1 FROM listing WHERE key = ?').get(session) !== undefined
}
