/**
 * OpenCode's database since 1.2: a row for each session, message and part, read a message at a time, the oldest session first, so
 * that a subagent's comes after the call that started it. Every row of the tables named here is an entry or damage; tables that
 * may hold keys are not read.
 */
import { asObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Row, RowOptions, SourceDatabase, SourceFile } from '../transcript/source.ts'
import {
  decodeLong,
  eachRow,
  isDamage,
  jsonOf,
  letGoOfLong,
  lossOf,
  openOrDamage,
  rowToJson,
  textOf,
  tooLargeIn,
} from './database-row.ts'
import type { Detection, ReadItem } from './format.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import type { Shared } from './opencode-export.ts'
import {
  createRecords,
  createTally,
  parsedRow,
  readMessages,
  type SessionRows,
  type Tally,
  toMessageInfo,
} from './opencode-database-messages.ts'
import { readOrphans } from './opencode-database-orphans.ts'
import { createOpencodeReading, type OpencodeReading } from './opencode-reading.ts'
import { fromSessionMessage } from './opencode-session-message.ts'
import { asId } from './placing.ts'
import { OPENCODE_TABLES } from './places.ts'

/** What else belongs to a session, and by which column: events of its own, as they are. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ['session_input', 'session_id'],
  ['todo', 'session_id'],
  ['event', 'aggregate_id'],
  ['kilo_board', 'root_session_id'],
  ['kilo_board_message', 'board_root_session_id'],
])
/** Every table whose rows name a session, and by which column. */
export const OWNED: ReadonlyMap<string, string> = new Map([
  ['message', 'session_id'],
  ['session_message', 'session_id'],
  ...BESIDE,
])

/** Tables with a session's id that are known and left alone: what is shared has a secret, the others are settings. */
const LEFT: ReadonlySet<string> = new Set(['session_share', 'session_context_epoch', 'permission'])

export function lookAtTables(database: Pick<SourceDatabase, 'columns'>): Detection | undefined {
  const has = (table: string, ...columns: readonly string[]): boolean => {
    const found = new Set(database.columns(table))
    return columns.every((column) => found.has(column))
  }
  if (!has('session', 'id', 'directory', 'time_created')) return undefined
  if (has('message', 'id', 'session_id', 'data') && has('part', 'id', 'message_id', 'data'))
    return { confidence: 0.95, reason: 'tables of sessions, messages and parts' }
  if (!has('session_message', 'id', 'session_id', 'type', 'data')) return undefined
  return { confidence: 0.95, reason: 'tables of sessions and their messages' }
}

export async function* readDatabase(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const opened = await openOrDamage(file)
  if (isDamage(opened)) {
    yield [{ type: 'damage', damage: opened }]
    return
  }
  try {
    yield* readTables(file, opened, shared)
  } finally {
    await opened.close()
  }
}

async function* readTables(
  file: SourceFile,
  database: SourceDatabase,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const records = createRecords(file)
  const sessions = createIdSet()
  const messages = createIdSet()
  const tally = createTally()
  const given = createIdSet()
  const own = { ...shared, taken: withGiven(shared.taken, given) }
  const one = { file, database, shared: own, records, messages, tally }
  tellTables(database, shared)
  for await (const row of eachSession(database)) {
    decodeLong(row)
    const id = asId(textOf(row['id']))
    if (id !== undefined) sessions.add(id)
    yield* readSession({ ...one, row, id })
  }
  const lost = await findLost(database, sessions, tally)
  for (const id of lost.sessions) yield* readSession({ ...one, row: undefined, id })
  const nobodys = { ...one, row: undefined, id: undefined }
  if (lost.hasNameless) yield* readNameless(nobodys)
  if (await isAllRead(database, 'part', tally)) return
  yield* readOrphans(nobodys, { given, open, readInto, eachSession })
}

/** Notes the ids that are given out. */
function withGiven(taken: Shared['taken'], given: IdSet): Shared['taken'] {
  return {
    has: (id) => taken.has(id),
    add(id) {
      given.add(id)
      taken.add(id)
    },
  }
}

export function eachSession(
  database: SourceDatabase,
  options: Pick<RowOptions, 'columns'> = {},
): AsyncGenerator<Row> {
  return eachRow(database, 'session', { ...options, orderBy: ['time_created', 'id'] })
}

export async function* readSession(rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const reading = open(rows)
  yield* readInto(reading, rows)
}

async function* readInto(reading: OpencodeReading, rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const { database, row, id, tally } = rows
  yield [{ type: 'session', session: reading.session() }]
  if (row !== undefined) {
    yield toEvent(row, rowToJson(row), 'session', reading, rows)
    letGoOfLong(row)
  }
  if (id === undefined) return
  let hasMessages = false
  const own = { where: { column: 'session_id', equals: id } }
  for await (const batch of database.rows('message', { ...own, orderBy: ['time_created', 'id'] })) {
    hasMessages = true
    tally.add('message', batch.length)
    yield* readMessages(batch, reading, rows)
  }
  for await (const batch of database.rows('session_message', { ...own, orderBy: ['seq', 'id'] })) {
    tally.add('session_message', batch.length)
    for (const message of batch) yield readSessionMessage(message, reading, rows, hasMessages)
  }
  for (const [table, column] of BESIDE) {
    const beside = { where: { column, equals: id }, orderBy: ['seq', 'position', 'time_created', 'id'] }
    for await (const batch of database.rows(table, beside)) {
      tally.add(table, batch.length)
      yield batch.flatMap((one) => toEvent(one, parsedRow(one), table, reading, rows))
    }
  }
  yield [{ type: 'session', session: reading.session() }]
}

/** A row as it is, and what of it is too large to be read. */
function toEvent(
  row: Row,
  value: JsonObject,
  table: string,
  reading: OpencodeReading,
  { records }: SessionRows,
): readonly ReadItem[] {
  const place = records.place()
  const large = tooLargeIn(row, `a row of the table ${table}`, place)
  return [
    reading.event({ value, place }, table),
    ...large.map((damage) => ({ type: 'damage', damage }) as const),
  ]
}

function open({ file, shared, row, id }: SessionRows): OpencodeReading {
  const { agent, taken, spawned, drift } = shared
  const info = row === undefined ? {} : toInfo(row)
  const citation = id === undefined ? undefined : spawned.get(id)
  const path = `${file.path}#${id ?? ''}`
  const known = { agent, info, sessionId: id, path, taken, ...(citation !== undefined && { citation }) }
  const reading = createOpencodeReading(known, spawned, drift)
  taken.add(reading.session().id)
  return reading
}

function readSessionMessage(
  row: Row,
  reading: OpencodeReading,
  { records }: SessionRows,
  hasMessages: boolean,
): readonly ReadItem[] {
  const place = records.place()
  const data = asObject(jsonOf(row['data']))
  const type = textOf(row['type'])
  // Where both are written they say the same: one side is counted.
  const said =
    hasMessages || data === undefined ? undefined : fromSessionMessage(toMessageInfo(row, data), type)
  if (said !== undefined) {
    return reading.message({
      info: { value: said.info, place },
      parts: said.parts.map((value) => ({ value, place })),
    })
  }
  const event = reading.event({ value: parsedRow(row), place }, type ?? 'session_message')
  if (data !== undefined) return [event]
  return [{ type: 'damage', damage: records.damage(place, lossOf(row, 'data', 'a message')) }, event]
}

type Lost = {
  /** Named by rows and described by none: a recording of each, from its rows. */
  readonly sessions: ReadonlySet<string>
  /** Rows that name no session at all. */
  readonly hasNameless: boolean
}

async function findLost(database: SourceDatabase, known: IdSet, tally: Tally): Promise<Lost> {
  const sessions = new Set<string>()
  let hasNameless = false
  for (const [table, column] of OWNED) {
    if (await isAllRead(database, table, tally)) continue
    for await (const row of eachRow(database, table, { columns: [column] })) {
      const id = asId(textOf(row[column]))
      if (id === undefined) hasNameless = true
      else if (!known.has(id)) sessions.add(id)
    }
  }
  return { sessions, hasNameless }
}

/** Where as many rows were read as there are, none can be left: counting is much cheaper than looking at each. */
async function isAllRead(database: SourceDatabase, table: string, tally: Tally): Promise<boolean> {
  return (await database.count?.(table)) === tally.of(table)
}

async function* readNameless(rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const reading = open(rows)
  yield [{ type: 'session', session: reading.session() }]
  for (const [table, column] of OWNED) {
    for await (const row of eachRow(rows.database, table)) {
      if (asId(textOf(row[column])) !== undefined) continue
      if (table === 'message') yield* readMessages([row], reading, rows)
      else yield toEvent(row, parsedRow(row), table, reading, rows)
    }
  }
}

/** A column's name as an export calls it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['project_id', 'projectID'],
  ['parent_id', 'parentID'],
  ['workspace_id', 'workspaceID'],
])

/** The session's row as an export would say it: `{ id, parentID, time: { created, updated } }`. */
function toInfo(row: Row): JsonObject {
  const info = Object.create(null) as Record<string, Json>
  const time = Object.create(null) as Record<string, Json>
  for (const [column, value] of Object.entries(parsedRow(row))) {
    if (value === null) continue
    if (column.startsWith('time_')) time[column.slice('time_'.length)] = value
    else info[NAMES.get(column) ?? column] = value
  }
  return { ...info, time }
}

/** A table with a session's id that was not there before: told of, not read, for nobody knows what it holds. */
function tellTables(database: SourceDatabase, { drift }: Shared): void {
  if (drift === undefined) return
  for (const table of database.tables()) {
    const isOfSessions = database.columns(table).includes('session_id')
    if (isOfSessions && !OPENCODE_TABLES.includes(table) && !LEFT.has(table))
      drift.record(`table ${table}`, {})
  }
}
