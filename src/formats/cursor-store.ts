/**
 * The store of one of Cursor's agents, `store.db`: `meta` says what the session is called, `blobs` holds its messages by their hash,
 * some as JSON and some in a form of Cursor's own. Those that are JSON are messages, in the order of the newest root.
 */
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, asString, parseJson, rest, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { instantOf, UNNAMED } from './cursor-bubble.ts'
import { fromMessage } from './cursor-content.ts'
import { ID, type Shared } from './cursor-transcript.ts'
import { eachRow, jsonOf, rowToJson, textOf, tooLargeIn, valueToJson } from './database-row.ts'
import type { Detection, ReadItem } from './format.ts'
import type { HeadTables } from './head-tables.ts'
import { createIdSet } from './id-set.ts'
import { asId, createPlacing, type Said } from './placing.ts'

/** Undefined where the head does not hold what its agent is called by. */
export function lookAtStoreHead(tables: HeadTables): Detection | undefined {
  return isStore(tables) && MARKS.some((mark) => tables.head.includes(mark)) ? STORE : undefined
}

const STORE: Detection = { confidence: 0.95, reason: "the store of one of Cursor's agents" }
/** A key of its `meta`: JSON, or the same in hexadecimal digits. */
const MARKS = ['agentId', 'latestRootBlobId'].flatMap((key) => {
  const text = Buffer.from(JSON.stringify(key))
  return [text, Buffer.from(text.toString('hex')), Buffer.from(text.toString('hex').toUpperCase())]
})

export function isStore(tables: Pick<SourceDatabase, 'columns'>): boolean {
  return tables.columns('blobs').includes('data') && tables.columns('meta').includes('value')
}

export async function lookAtStore(database: SourceDatabase): Promise<Detection | undefined> {
  if (!isStore(database)) return undefined
  const { agentId, latestRootBlobId } = await readMeta(database)
  if (agentId === undefined && latestRootBlobId === undefined) return undefined
  return STORE
}

export async function* readStore(
  file: SourceFile,
  database: SourceDatabase,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const meta = await readMeta(database)
  const placing = createPlacing(ID)
  let number = 0
  const give = (said: Said, row: Row, what: string): readonly ReadItem[] => {
    number += 1
    const place = { file: file.path, number, byteOffset: 0, byteLength: 0 }
    const large = tooLargeIn(row, what, place).map((damage) => ({ type: 'damage', damage }) as const)
    return [{ type: 'entry', entry: placing(said, place) }, ...large]
  }
  yield [{ type: 'session', session: toSession(file, meta, shared) }]
  for await (const row of eachRow(database, 'meta')) {
    const value = metaOf(row)
    const raw = value === undefined ? rowToJson(row) : value
    const said = { kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record: 'meta' } } as const
    yield give(said, row, 'what is said of a session')
  }
  const seen = createIdSet()
  for (const id of await rootOrder(database, meta)) {
    for await (const row of eachRow(database, 'blobs', { where: { column: 'id', equals: id } })) {
      if (seen.has(id)) continue
      seen.add(id)
      yield give(fromBlob(row, id), row, 'a blob')
    }
  }
  for await (const row of eachRow(database, 'blobs')) {
    const id = textOf(row['id'])
    if (id === undefined || !seen.has(id)) yield give(fromBlob(row, id), row, 'a blob')
  }
}

async function readMeta(database: SourceDatabase): Promise<JsonObject> {
  let meta: JsonObject = {}
  for await (const row of eachRow(database, 'meta')) meta = { ...meta, ...metaOf(row) }
  return meta
}

/** JSON, or the same in hexadecimal digits. */
function metaOf({ value }: Row): JsonObject | undefined {
  const text = textOf(value)
  const isHex = text !== undefined && /^(?:[0-9a-f]{2})+$/i.test(text.slice(0, 1000)) && text.length % 2 === 0
  return asObject(isHex ? parseJson(Buffer.from(text, 'hex').toString('utf8')) : jsonOf(value))
}

function toSession(file: SourceFile, meta: JsonObject, { taken }: Shared): Session {
  const sessionId = asId(meta['agentId'])
  const own = uuidFrom(ID, sessionId ?? file.path)
  const id = taken.has(own) ? uuidFrom(ID, sessionId ?? '', file.path) : own
  taken.add(id)
  const title = asString(meta['name'])
  const model = asString(meta['lastUsedModel'])
  const mode = asString(meta['mode'])
  const startedAt = instantOf(meta['createdAt'])
  return {
    id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...(title && { title }),
    ...(model !== undefined && !UNNAMED.has(model) && { model }),
    ...(mode && { mode }),
    ...(startedAt !== undefined && { startedAt }),
    status: 'completed',
  }
}

const MESSAGE: ReadonlySet<string> = new Set(['role', 'content'])
/** Longer blobs of Cursor's own form are named, and stay in the row. */
const RAW_BYTES = 16 * 1024

function fromBlob(row: Row, id: string | undefined): Said {
  const value = asObject(jsonOf(row['data']))
  const role = asString(value?.['role'])
  if (value !== undefined && role !== undefined && value['content'] !== undefined)
    return {
      ...(id !== undefined && { id }),
      ...fromMessage(role, value['content'], rest(value, MESSAGE) ?? {}),
    }
  const { data } = row
  const bytes = data instanceof Uint8Array ? data.length : (textOf(data)?.length ?? 0)
  const raw = {
    id: id ?? null,
    bytes,
    ...(bytes <= RAW_BYTES && { data: value ?? valueToJson(data ?? null) }),
  }
  return { kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record: 'blob' } }
}

/** The hashes that the newest root lists: fields 1 of 32 bytes in the wire form of protocol buffers. */
async function rootOrder(
  database: SourceDatabase,
  { latestRootBlobId }: JsonObject,
): Promise<readonly string[]> {
  const root = asId(latestRootBlobId)
  if (root === undefined) return []
  for await (const { data } of eachRow(database, 'blobs', { where: { column: 'id', equals: root } }))
    return data instanceof Uint8Array ? hashesIn(data) : []
  return []
}

const HASH_BYTES = 32

function hashesIn(bytes: Uint8Array): readonly string[] {
  const hashes: string[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] as number
    const length = bytes[at + 1] as number
    // Anything but a short field of bytes ends the list.
    if ((tag & 7) !== 2 || tag >= 0x80 || length === undefined || length >= 0x80) return hashes
    const end = at + 2 + length
    if (tag >> 3 === 1 && length === HASH_BYTES && end <= bytes.length)
      hashes.push(Buffer.from(bytes.subarray(at + 2, end)).toString('hex'))
    at = end
  }
  return hashes
}
