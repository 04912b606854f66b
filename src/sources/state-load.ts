/**
 * A state that is filled for the first time: nothing is looked up that cannot be there, calls are put in many at a time, and their
 * indexes are made when all is in. What several passes mention is put in question then, instead of one by one. A crash leaves what is
 * in, and a mark for the next one to make the indexes.
 */
import { createIdSet, type IdSet } from '../formats/id-set.ts'
import type { Database } from '../sqlite/driver.ts'
import type { SqlValue } from '../transcript/source.ts'
import { KEY, SESSION, valueAt, type CallTable } from './call-rows.ts'
import { FULLEST, UNSETTLED } from './state-billing.ts'
import type { KnownUnit } from './state-files.ts'
import { insertTable, unlike } from './state-load-calls.ts'
import { endLoad } from './state-load-end.ts'
import { insertMentions, questionMentions } from './state-mentions.ts'
import type { OwnBills } from './state-own-bill.ts'
import {
  beginReading,
  billOf,
  insertDrift,
  MOST_HELD,
  nextReading,
  unitRead,
  type Reading,
  type ReadingEnd,
} from './state-readings.ts'
import { insertRecording, isUnknown } from './state-recordings.ts'
import { writeOwn } from './state-sessions.ts'
import { prepared } from './state-statements.ts'
import type { SessionFacts, UnitFacts } from './unit-facts.ts'

export type Load = {
  /** A pass over a unit. `root`: of its place. */
  begin(unit: KnownUnit, root: string): Reading
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

/** Undefined for a state that has been filled. */
export function beginLoad(database: Database): Load | undefined {
  const known = prepared(database, `SELECT count(*) AS count FROM (SELECT 1 FROM calls LIMIT ?)`)
  if (Number(known.get(MOST_BEFORE + 1)?.['count']) > MOST_BEFORE) return undefined
  database.transaction(() => {
    for (const index of ['calls_once', 'calls_key', 'calls_billed']) database.exec(`DROP INDEX ${index}`)
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
    isOver: false,
  }
  database.exec(`PRAGMA wal_autocheckpoint = ${PAGES_LOADING}`)
  const end = (): void => {
    if (loading.isOver) return
    loading.isOver = true
    endLoad(database)
    database.exec(`PRAGMA wal_autocheckpoint = ${PAGES}`)
  }
  return { begin: (unit, root) => beginIn(loading, { unit, root }, end), end }
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
  isOver: boolean
}

type Placed = { readonly unit: KnownUnit; readonly root: string }

/** What was read before, or has more calls or sessions than are held, needs the indexes. */
function beginIn(loading: Loading, placed: Placed, end: () => void): Reading {
  const { database } = loading
  let held: CallTable[] = []
  let count = 0
  let usual: Reading | undefined
  const asUsual = (): Reading => {
    if (usual !== undefined) return usual
    end()
    usual = beginReading(database, placed.unit.id)
    for (const calls of held) usual.calls(calls)
    held = []
    return usual
  }
  return {
    calls(calls) {
      count += calls.count
      if (usual !== undefined || loading.isOver || count > MOST_HELD) asUsual().calls(calls)
      else held.push(calls)
    },
    sessions: (part) => asUsual().sessions(part),
    end(format, facts, bills) {
      if (usual !== undefined || loading.isOver || placed.unit.reading !== undefined)
        return asUsual().end(format, facts, bills)
      return database.transaction(() => put(loading, placed, { format, facts, bills, calls: held }))
    },
  }
}

type Pass = {
  readonly format: string
  readonly facts: UnitFacts
  readonly bills: OwnBills
  readonly calls: readonly CallTable[]
}

function put(loading: Loading, { unit, root }: Placed, { format, facts, bills, calls }: Pass): ReadingEnd {
  const { database } = loading
  const { sessions, mentions, damage, drift } = facts
  const reading = numberOf(loading)
  const billed = insertTables(loading, reading, calls)
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
    const isOwn = own?.sums['billed'] === count && hasOwnFindings(one, calls)
    const bill = isOwn ? own : undefined
    const recording = insertRecording(database, recorded, one, bill === undefined ? UNSETTLED : FULLEST)
    if (bill === undefined)
      prepared(database, 'INSERT OR IGNORE INTO stale_sessions (key) VALUES (?)').run(key)
    else
      writeOwn(database, { key, session, recording }, bill, {
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

/** Whether the calls that its findings name are its own. */
function hasOwnFindings({ key, work }: SessionFacts, tables: readonly CallTable[]): boolean {
  const named = work.findings.flatMap(({ call }) =>
    call === undefined ? [] : [call.replaceAll('\0', '\uFFFD')],
  )
  if (named.length === 0) return true
  const own = new Set<SqlValue>()
  for (const { count, columns } of tables) {
    for (let at = 0; at < count; at += 1)
      if (valueAt(columns[SESSION], at) === key) own.add(valueAt(columns[KEY], at))
  }
  return named.every((call) => own.has(call))
}

/** Of a session's calls: how many there are, and the sum of their ids. */
type Billed = { ids: number; count: number }
const NONE: Readonly<Billed> = { ids: 0, count: 0 }

/** By session. Nobody sees the pass before it is whole: its calls are on their bills at once. */
function insertTables(
  loading: Loading,
  reading: number,
  tables: readonly CallTable[],
): ReadonlyMap<string, Readonly<Billed>> {
  const all = new Map<string, Billed>()
  const add = (session: SqlValue, ids: number, count: number): void => {
    const known = all.get(String(session)) ?? { ...NONE }
    all.set(String(session), { ids: known.ids + ids, count: known.count + count })
  }
  for (const table of unlike(tables)) {
    insertTable(loading.database, reading, table)
    const [session, first] = [table.columns[SESSION], loading.lastId + 1]
    if (typeof session === 'string') add(session, (first + (table.count - 1) / 2) * table.count, table.count)
    else for (let at = 0; at < table.count; at += 1) add(valueAt(session, at), first + at, 1)
    loading.lastId += table.count
  }
  return all
}
