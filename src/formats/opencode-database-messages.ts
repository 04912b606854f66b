/** The messages of OpenCode's database with their parts: each row an entry or damage, many messages to a question. */
import type { Damage } from '../transcript/damage.ts'
import { asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import {
  jsonOf,
  letGoOfLong,
  lossOf,
  MOST_TEXT,
  rowToJson,
  textOf,
  weightOf,
  withoutLong,
} from './database-row.ts'
import type { ReadItem } from './format.ts'
import type { IdSet } from './id-set.ts'
import type { Shared } from './opencode-export.ts'
import type { OpencodeReading, Piece } from './opencode-reading.ts'
import { asId, type Place } from './placing.ts'

export type Records = {
  readonly place: () => Place
  readonly damage: (at: Place, loss: Pick<Damage, 'kind' | 'reason'>) => Damage
}

/** Rows have no offset in the file: a record's number is its turn. */
export function createRecords(file: Pick<SourceFile, 'path'>): Records {
  let number = 0
  return {
    place() {
      number += 1
      return { file: file.path, number, byteOffset: 0, byteLength: 0 }
    },
    damage: ({ number: line }, loss) => ({ ...loss, file: file.path, line, byteOffset: 0, byteLength: 0 }),
  }
}

export type SessionRows = {
  readonly file: Pick<SourceFile, 'path'>
  readonly database: SourceDatabase
  readonly shared: Shared
  readonly records: Records
  /** Messages that were read, with their parts. */
  readonly messages: IdSet
  /** How many rows of each table were read so far. */
  readonly tally: Tally
  readonly row: Row | undefined
  readonly id: string | undefined
}

export type Tally = { add(table: string, rows: number): void; of(table: string): number }

export function createTally(): Tally {
  const counts = new Map<string, number>()
  return {
    add: (table, rows) => void counts.set(table, (counts.get(table) ?? 0) + rows),
    of: (table) => counts.get(table) ?? 0,
  }
}

/** Messages whose parts are asked for together: a question for each would cost more than its answer. */
const TOGETHER = 64
/** Items handed over at a time, and those of one message more. */
const ITEMS = 128
/** The same of what they say, in characters: 128 of them may be gigabytes. */
const ITEMS_LENGTH = 1024 * 1024

export async function* readMessages(
  batch: readonly Row[],
  reading: OpencodeReading,
  rows: SessionRows,
): AsyncGenerator<readonly ReadItem[]> {
  for (let at = 0; at < batch.length; at += TOGETHER) {
    const some = batch.slice(at, at + TOGETHER)
    const partsOf = askParts(some, rows.database)
    let items: ReadItem[] = []
    let length = 0
    for (const message of some) {
      length += await readMessage(message, partsOf, reading, rows, items)
      if (items.length < ITEMS && length < ITEMS_LENGTH) continue
      yield items
      // Whoever asks for more is done with these: frames that wait would hold on to them while the next are read.
      if (length >= ITEMS_LENGTH) items.length = 0
      items = []
      length = 0
    }
    if (items.length > 0) yield items
  }
}

function lengthOf({ data }: Row): number {
  return typeof data === 'string' || data instanceof Uint8Array ? data.length : 0
}

type PartsOf = (message: Row, take: (part: Row) => void) => Promise<void>

/** The parts of each message, asked for in the messages' order: no more than a batch of rows is held, and what is made of one message's parts. */
function askParts(messages: readonly Row[], database: SourceDatabase): PartsOf {
  const ids = new Set(messages.flatMap(({ id }) => asId(textOf(id)) ?? []))
  const where = { column: 'message_id', in: [...ids] }
  const batches = database.rows('part', { where, orderBy: ['id'] })[Symbol.asyncIterator]()
  let batch: readonly Row[] | undefined = []
  let at = 0
  return async (message, take) => {
    const id = asId(textOf(message['id']))
    if (id === undefined) return
    while (batch !== undefined) {
      const part = batch[at]
      if (part === undefined) {
        batch = (await batches.next()).value as readonly Row[] | undefined
        at = 0
        continue
      }
      const owner = textOf(part['message_id'])
      if (owner === id) take(part)
      // One that is of no message here, whatever the database takes for equal, is an orphan.
      else if (owner !== undefined && ids.has(owner)) break
      at += 1
    }
  }
}

/** Adds what a message says to the items; gives how long it is, in characters or bytes. */
async function readMessage(
  row: Row,
  partsOf: PartsOf,
  reading: OpencodeReading,
  { records, messages, tally }: SessionRows,
  items: ReadItem[],
): Promise<number> {
  const place = records.place()
  const id = asId(textOf(row['id']))
  const value = asObject(jsonOf(row['data']))
  const parts: Piece[] = []
  const damage: ReadItem[] = []
  let [count, length, weight] = [0, lengthOf(row), 0]
  if (id !== undefined) messages.add(id)
  if (value === undefined)
    damage.push({ type: 'damage', damage: records.damage(place, lossOf(row, 'data', 'a message')) })
  await partsOf(row, (part) => {
    count += 1
    length += lengthOf(part)
    const own = weightOf(part['data'])
    // A message is held whole: of parts that are too much together, the first are.
    const isLeft = weight + own > MOST_TEXT
    if (!isLeft) weight += own
    const lost = readPart(isLeft ? withoutLong(part) : part, parts, records)
    if (lost !== undefined) damage.push(lost)
    if (own > 0) letGoOfLong(part)
  })
  tally.add('part', count)
  const said = reading.message({ info: value && { value: toMessageInfo(row, value), place }, parts })
  if (value === undefined) items.push(reading.event({ value: rowToJson(row), place }, 'unknown'))
  for (const item of said) items.push(item)
  for (const item of damage) items.push(item)
  letGoOfLong(row)
  return length
}

/** A part that is no JSON is damage, and a part all the same: it keeps its row. */
export function readPart(row: Row, parts: Piece[], records: Records): ReadItem | undefined {
  const place = records.place()
  const value = asObject(jsonOf(row['data']))
  if (value === undefined) {
    parts.push({ value: rowToJson(row), place })
    return { type: 'damage', damage: records.damage(place, lossOf(row, 'data', 'a part')) }
  }
  parts.push({ value: named(value, row, PART_NAMES), place })
  return undefined
}

/** What stands in columns of its own is not in the JSON. */
export function toMessageInfo(row: Row, data: JsonObject): JsonObject {
  const time = asObject(data['time'])
  const created = row['time_created']
  const info = named(data, row, MESSAGE_NAMES)
  return time === undefined && typeof created === 'number' ? { time: { created }, ...info } : info
}

type Names = readonly (readonly [column: string, name: string])[]
const MESSAGE_NAMES: Names = [
  ['id', 'id'],
  ['session_id', 'sessionID'],
]
const PART_NAMES: Names = [...MESSAGE_NAMES, ['message_id', 'messageID']]

/** What the columns call it, unless the JSON says otherwise. The value is fresh from its parser: a copy for each would double the time. */
function named(value: JsonObject, row: Row, names: Names): JsonObject {
  const own = value as Record<string, Json>
  for (const [column, name] of names) {
    const text = textOf(row[column])
    if (text !== undefined && !Object.hasOwn(own, name)) own[name] = text
  }
  return own
}

/** The row, and what is JSON in it as what it says. */
export function parsedRow(row: Row): JsonObject {
  const json = Object.create(null) as Record<string, Json>
  for (const [column, value] of Object.entries(rowToJson(row))) {
    const parsed = typeof value === 'string' && /^[[{]/.test(value) ? jsonOf(value) : undefined
    json[column] = isObject(parsed) || Array.isArray(parsed) ? parsed : value
  }
  return json
}
