/**
 * OpenCode's database since 1.2: a row for each session, message and part, read a message at a time, the oldest session first, so
 * that a subagent's comes after the call that started it. Every row of the tables named here is an entry or damage; tables that
 * may hold keys are not read.
 */
import type { Damage } from '../transcript/damage.ts'
import { asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { eachRow, isDamage, jsonOf, openOrDamage, rowToJson, textOf } from './database-row.ts'
import type { Detection, ReadItem, RowsKept } from './format.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import type { Shared } from './opencode-export.ts'
import { createOpencodeReading, type OpencodeReading, type Piece } from './opencode-reading.ts'
import { fromSessionMessage } from './opencode-session-message.ts'
import { asId, type Place } from './placing.ts'

/** What else belongs to a session, and by which column: events of its own, as they are. */
const BESIDE: ReadonlyMap<string, string> = new Map([
  ['session_input', 'session_id'],
  ['todo', 'session_id'],
  ['event', 'aggregate_id'],
])
/** Every table whose rows name a session, and by which column. */
const OWNED: ReadonlyMap<string, string> = new Map([
  ['message', 'session_id'],
  ['session_message', 'session_id'],
  ...BESIDE,
])
const READ: readonly string[] = ['session', 'part', ...OWNED.keys()]

export const OPENCODE_ROWS: readonly RowsKept[] = READ.map((table) => ({ table }))

/** Tables with a session's id that are known and left alone: what is shared has a secret, the others are settings. */
const LEFT: ReadonlySet<string> = new Set(['session_share', 'session_context_epoch', 'permission'])

export function lookAtTables(database: SourceDatabase): Detection | undefined {
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

type Records = {
  readonly place: () => Place
  readonly damage: (at: Place, reason: string) => Damage
}

/** Rows have no offset in the file: a record's number is its turn. */
function createRecords(file: SourceFile): Records {
  let number = 0
  return {
    place() {
      number += 1
      return { file: file.path, number, byteOffset: 0, byteLength: 0 }
    },
    damage: ({ number: line }, reason) => ({
      kind: 'not-json',
      file: file.path,
      line,
      byteOffset: 0,
      byteLength: 0,
      reason,
    }),
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
  const one = { file, database, shared, records, messages }
  tellTables(database, shared)
  for await (const row of eachRow(database, 'session', { orderBy: ['time_created', 'id'] })) {
    const id = asId(textOf(row['id']))
    if (id !== undefined) sessions.add(id)
    yield* readSession({ ...one, row, id })
  }
  const lost = await findLost(database, sessions)
  for (const id of lost.sessions) yield* readSession({ ...one, row: undefined, id })
  const nobodys = { ...one, row: undefined, id: undefined }
  if (lost.hasNameless) yield* readNameless(nobodys)
  yield* readOrphans(nobodys)
}

type SessionRows = {
  readonly file: SourceFile
  readonly database: SourceDatabase
  readonly shared: Shared
  readonly records: Records
  /** Messages that were read, with their parts. */
  readonly messages: IdSet
  readonly row: Row | undefined
  readonly id: string | undefined
}

async function* readSession(rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const { database, records, row, id } = rows
  const info = row === undefined ? {} : toInfo(row)
  const reading = open(rows, info)
  yield [{ type: 'session', session: reading.session() }]
  if (row !== undefined) yield [reading.event({ value: rowToJson(row), place: records.place() }, 'session')]
  if (id === undefined) return
  let hasMessages = false
  const own = { where: { column: 'session_id', equals: id } }
  for await (const message of eachRow(database, 'message', { ...own, orderBy: ['time_created', 'id'] })) {
    hasMessages = true
    yield await readMessage(message, reading, rows)
  }
  for await (const message of eachRow(database, 'session_message', { ...own, orderBy: ['seq', 'id'] }))
    yield readSessionMessage(message, reading, rows, hasMessages)
  for (const [table, column] of BESIDE) {
    const beside = { where: { column, equals: id }, orderBy: ['seq', 'position', 'time_created', 'id'] }
    for await (const one of eachRow(database, table, beside))
      yield [reading.event({ value: parsedRow(one), place: records.place() }, table)]
  }
  yield [{ type: 'session', session: reading.session() }]
}

function open({ file, shared, id }: SessionRows, info: JsonObject): OpencodeReading {
  const { taken, spawned, drift } = shared
  const citation = id === undefined ? undefined : spawned.get(id)
  const path = `${file.path}#${id ?? ''}`
  const known = { info, sessionId: id, path, taken, ...(citation !== undefined && { citation }) }
  const reading = createOpencodeReading(known, spawned, drift)
  taken.add(reading.session().id)
  return reading
}

async function readMessage(
  row: Row,
  reading: OpencodeReading,
  { database, records, messages }: SessionRows,
): Promise<readonly ReadItem[]> {
  const place = records.place()
  const id = asId(textOf(row['id']))
  const value = asObject(jsonOf(row['data']))
  const parts: Piece[] = []
  const items: ReadItem[] = []
  if (id !== undefined) {
    messages.add(id)
    const own = { where: { column: 'message_id', equals: id }, orderBy: ['id'] }
    for await (const part of eachRow(database, 'part', own)) items.push(...readPart(part, parts, records))
  }
  if (value === undefined)
    items.unshift({ type: 'damage', damage: records.damage(place, 'a message that is not JSON') })
  const info = value && { value: toMessageInfo(row, value), place }
  const lost = value === undefined ? [reading.event({ value: rowToJson(row), place }, 'unknown')] : []
  return [...lost, ...reading.message({ info, parts }), ...items]
}

/** A part that is no JSON is damage, and a part all the same: it keeps its row. */
function readPart(row: Row, parts: Piece[], records: Records): readonly ReadItem[] {
  const place = records.place()
  const value = asObject(jsonOf(row['data']))
  const names = { id: row['id'], messageID: row['message_id'], sessionID: row['session_id'] }
  parts.push({ value: value === undefined ? rowToJson(row) : { ...textsOf(names), ...value }, place })
  return value === undefined
    ? [{ type: 'damage', damage: records.damage(place, 'a part that is not JSON') }]
    : []
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
  return [{ type: 'damage', damage: records.damage(place, 'a message that is not JSON') }, event]
}

type Lost = {
  /** Named by rows and described by none: a recording of each, from its rows. */
  readonly sessions: ReadonlySet<string>
  /** Rows that name no session at all. */
  readonly hasNameless: boolean
}

async function findLost(database: SourceDatabase, known: IdSet): Promise<Lost> {
  const sessions = new Set<string>()
  let hasNameless = false
  for (const [table, column] of OWNED) {
    for await (const row of eachRow(database, table, { columns: [column] })) {
      const id = asId(textOf(row[column]))
      if (id === undefined) hasNameless = true
      else if (!known.has(id)) sessions.add(id)
    }
  }
  return { sessions, hasNameless }
}

async function* readNameless(rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const reading = open(rows, {})
  yield [{ type: 'session', session: reading.session() }]
  for (const [table, column] of OWNED) {
    for await (const row of eachRow(rows.database, table)) {
      if (asId(textOf(row[column])) !== undefined) continue
      if (table === 'message') yield await readMessage(row, reading, rows)
      else yield [reading.event({ value: parsedRow(row), place: rows.records.place() }, table)]
    }
  }
}

/** Parts whose message is nowhere: recordings of the sessions that they name. */
async function* readOrphans(rows: SessionRows): AsyncGenerator<readonly ReadItem[]> {
  const isOrphan = ({ message_id: message }: Row): boolean => {
    const owner = asId(textOf(message))
    return owner === undefined || !rows.messages.has(owner)
  }
  let hasOrphans = false
  for await (const row of eachRow(rows.database, 'part', { columns: ['message_id'] }))
    hasOrphans ||= isOrphan(row)
  if (!hasOrphans) return
  const readings = new Map<string | undefined, OpencodeReading>()
  for await (const row of eachRow(rows.database, 'part')) {
    if (!isOrphan(row)) continue
    const session = asId(textOf(row['session_id']))
    const reading = readings.get(session) ?? open({ ...rows, id: session }, {})
    readings.set(session, reading)
    const parts: Piece[] = []
    const damage = readPart(row, parts, rows.records)
    const said = reading.message({ info: undefined, parts })
    yield [{ type: 'session', session: reading.session() }, ...said, ...damage]
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

/** What stands in columns of its own is not in the JSON. */
function toMessageInfo(row: Row, data: JsonObject): JsonObject {
  const time = asObject(data['time'])
  const created = row['time_created']
  const at = time === undefined && typeof created === 'number' ? { time: { created } } : {}
  return { ...textsOf({ id: row['id'], sessionID: row['session_id'] }), ...at, ...data }
}

/** The row, and what is JSON in it as what it says. */
function parsedRow(row: Row): JsonObject {
  const json = Object.create(null) as Record<string, Json>
  for (const [column, value] of Object.entries(rowToJson(row))) {
    const parsed = typeof value === 'string' && /^[[{]/.test(value) ? jsonOf(value) : undefined
    json[column] = isObject(parsed) || Array.isArray(parsed) ? parsed : value
  }
  return json
}

function textsOf(values: Readonly<Record<string, Row[string] | undefined>>): JsonObject {
  const texts = Object.entries(values).map(([key, value]) => [key, textOf(value)])
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined)) as JsonObject
}

/** A table with a session's id that was not there before: told of, not read, for nobody knows what it holds. */
function tellTables(database: SourceDatabase, { drift }: Shared): void {
  if (drift === undefined) return
  for (const table of database.tables()) {
    const isOfSessions = database.columns(table).includes('session_id')
    if (isOfSessions && !READ.includes(table) && !LEFT.has(table)) drift.record(`table ${table}`, {})
  }
}
