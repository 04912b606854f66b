/**
 * The chats of Cursor's editor, out of `state.vscdb`: a `composerData:<chat>` for each, and a `bubbleId:<chat>:<bubble>` for each
 * message, in the order that the chat lists them. Only these keys are asked for: others of the same table are tokens and secrets.
 */
import type { Damage } from '../transcript/damage.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { fromBubble, instantOf, UNNAMED, whatElse } from './cursor-bubble.ts'
import { ID, type Shared } from './cursor-transcript.ts'
import { eachRow, jsonOf, letGoOfLong, lossOf, textOf, valueToJson, weightOf } from './database-row.ts'
import type { DriftWatch } from './drift.ts'
import type { Detection, ReadItem } from './format.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import { asId, createPlacing, type Place, type Placing } from './placing.ts'
import { CURSOR_KEYS, CURSOR_TABLES } from './places.ts'

const { chat: CHAT, bubble: BUBBLE } = CURSOR_KEYS

export function lookAtChats(database: Pick<SourceDatabase, 'columns'>): Detection | undefined {
  const columns = database.columns('cursorDiskKV')
  if (!columns.includes('key') || !columns.includes('value')) return undefined
  return { confidence: 0.9, reason: "Cursor's table of chats" }
}

export async function* readChats(
  file: SourceFile,
  database: SourceDatabase,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const place = createPlaces(file)
  for (const table of CURSOR_TABLES) {
    const seen = createIdSet()
    const parents = await findParents(database, table)
    const one: Reading = { file, database, table, shared, seen, parents, place }
    for await (const row of eachRow(database, table, {
      where: { column: 'key', prefix: CHAT },
      orderBy: ['key'],
    }))
      yield* readChat(one, (textOf(row['key']) ?? '').slice(CHAT.length), row)
    for (const chat of await lostChats(one)) yield* readChat(one, chat, undefined)
  }
}

export type Reading = {
  readonly file: Pick<SourceFile, 'path'>
  readonly database: SourceDatabase
  readonly table: string
  readonly shared: Shared
  /** Keys of bubbles that were read. */
  readonly seen: IdSet
  /** By a subagent's chat: the chat that it was started in. */
  readonly parents: ReadonlyMap<string, string>
  readonly place: () => Place
}

/** Rows have no place in their file that lasts: they are numbered as they are read. */
export function createPlaces({ path }: Pick<SourceFile, 'path'>): () => Place {
  let number = 0
  return () => {
    number += 1
    return { file: path, number, byteOffset: 0, byteLength: 0 }
  }
}

/** `row`: the chat's own, where there is one. */
export async function* readChat(
  reading: Reading,
  chat: string,
  row: Row | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  const placing = createPlacing(ID)
  for (const id of yield* readChatRow(reading, chat, row, placing))
    yield* readBubble(reading, `${BUBBLE}${chat}:${id}`, placing)
  const rest = { where: { column: 'key', prefix: `${BUBBLE}${chat}:` }, columns: ['key'], orderBy: ['key'] }
  for await (const { key } of eachRow(reading.database, reading.table, rest)) {
    const name = textOf(key)
    if (name !== undefined && !reading.seen.has(name)) yield* readBubble(reading, name, placing)
  }
}

/** The chat's own row; gives which messages it lists. Nothing else of it is held while these are read. */
async function* readChatRow(
  reading: Reading,
  chat: string,
  row: Row | undefined,
  placing: Placing,
): AsyncGenerator<readonly ReadItem[], readonly string[]> {
  const { shared, place } = reading
  const data = row && asObject(jsonOf(row['value']))
  const isLong = weightOf(row?.['value']) > 0
  const session = toSession(reading, chat, data ?? {})
  yield [{ type: 'session', session }]
  if (row !== undefined) {
    const at = place()
    const raw = data === undefined ? valueToJson(row['value'] ?? null) : (whatElse(data, LISTED) ?? {})
    // A value of `null` is what a chat that was removed leaves.
    if (data === undefined && jsonOf(row['value']) !== null && row['value'] !== null)
      yield [{ type: 'damage', damage: toDamage(reading, at.number, lossOf(row, 'value', 'a chat')) }]
    if (data !== undefined) shared.drift?.record('chat', data)
    const event = { kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record: 'chat' } } as const
    yield* handOver([{ type: 'entry', entry: placing(event, at) }], isLong)
  }
  for (const bubble of asArray(data?.['conversation']) ?? []) {
    const at = place()
    const said = isObject(bubble)
      ? fromBubble(bubble)
      : [{ kind: 'event', blocks: [{ type: 'unknown', raw: bubble }] } as const]
    const items = said.map((one): ReadItem => ({ type: 'entry', entry: placing(one, at) }))
    yield* handOver(items, isLong)
  }
  if (row !== undefined) letGoOfLong(row)
  return bubbleIds(data)
}

async function* readBubble(
  reading: Reading,
  key: string,
  placing: Placing,
): AsyncGenerator<readonly ReadItem[]> {
  const { database, table, seen } = reading
  if (seen.has(key)) return
  for await (const row of eachRow(database, table, { where: { column: 'key', equals: key } })) {
    seen.add(key)
    const isLong = weightOf(row['value']) > 0
    const items = toItems(reading, key, row, placing)
    letGoOfLong(row)
    yield* handOver(items, isLong)
  }
}

/** Whoever asks for more is done with these: frames that wait would hold on to them while the next are read. */
function* handOver(items: ReadItem[], isLong: boolean): Generator<readonly ReadItem[]> {
  yield items
  if (isLong) items.length = 0
}

function toItems(reading: Reading, key: string, row: Row, placing: Placing): ReadItem[] {
  const { shared, place } = reading
  const at = place()
  const json = jsonOf(row['value'])
  const bubble = asObject(json)
  if (bubble !== undefined) {
    if (shared.drift !== undefined) watchBubble(shared.drift, bubble)
    return fromBubble(bubble).map((said) => ({ type: 'entry', entry: placing(said, at) }))
  }
  const items: ReadItem[] = []
  if (json !== null && row['value'] !== null)
    items.push({ type: 'damage', damage: toDamage(reading, at.number, lossOf(row, 'value', 'a message')) })
  const raw = { [key]: valueToJson(row['value'] ?? null) }
  items.push({ type: 'entry', entry: placing({ kind: 'event', blocks: [{ type: 'unknown', raw }] }, at) })
  return items
}

function toSession({ file, table, shared, parents }: Reading, chat: string, data: JsonObject): Session {
  const sessionId = asId(chat)
  const own = uuidFrom(ID, sessionId ?? `${file.path}#${chat}`)
  const id = shared.taken.has(own) ? uuidFrom(ID, chat, `${file.path}#${table}`) : own
  shared.taken.add(id)
  const title = asString(data['name'])
  const model = asString(asObject(data['modelConfig'])?.['modelName'])
  const cwd = asString(asObject(asObject(data['workspaceIdentifier'])?.['uri'])?.['fsPath'])
  const branch = asString(data['createdOnBranch'])
  const startedAt = instantOf(data['createdAt'])
  const endedAt = instantOf(data['lastUpdatedAt'])
  const parent = parents.get(chat)
  return {
    id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...(title && { title }),
    ...(model !== undefined && !UNNAMED.has(model) && { model }),
    ...(cwd && { cwd }),
    ...(branch && { git: { branch } }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    status: data['status'] === 'error' ? 'failed' : data['status'] === 'aborted' ? 'canceled' : 'completed',
    ...(parent !== undefined && { parent: { session: uuidFrom(ID, parent), relation: 'subagent' } }),
  }
}

/** Either side may name the other. */
async function findParents(database: SourceDatabase, table: string): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>()
  for await (const row of eachRow(database, table, { where: { column: 'key', prefix: CHAT } })) {
    const chat = asId((textOf(row['key']) ?? '').slice(CHAT.length))
    if (chat !== undefined) noteParents(chat, relatedIn(row), parents)
    letGoOfLong(row)
  }
  return parents
}

/** The chats that a chat's own row names: the one it was started in, and those that were started in it. */
export type Related = { readonly above: string | undefined; readonly below: readonly string[] }

export function relatedIn(row: Row): Related {
  const data = asObject(jsonOf(row['value'])) ?? {}
  const above = asId(asObject(data['subagentInfo'])?.['parentComposerId'])
  const lists = [data['subagentComposerIds'], data['subComposerIds']]
  // Each once: a list may name one of them a million times, and is held.
  const below = new Set(lists.flatMap((list) => (asArray(list) ?? []).flatMap((id) => asId(id) ?? [])))
  return { above, below: [...below] }
}

/** What a chat says of itself goes before what others say of it; of these, the first. */
export function noteParents(chat: string, { above, below }: Related, parents: Map<string, string>): void {
  if (above !== undefined) parents.set(chat, above)
  for (const child of below) if (!parents.has(child)) parents.set(child, chat)
}

/** Chats that only their messages name. */
async function lostChats({ database, table, seen }: Reading): Promise<ReadonlySet<string>> {
  const lost = new Set<string>()
  const keys = { where: { column: 'key', prefix: BUBBLE }, columns: ['key'] }
  for await (const { key } of eachRow(database, table, keys)) {
    const name = textOf(key) ?? ''
    if (!seen.has(name)) lost.add(name.slice(BUBBLE.length).split(':', 1)[0] ?? '')
  }
  return lost
}

/** The chat's own order, each message once. */
function bubbleIds(data: JsonObject | undefined): readonly string[] {
  const headers = asArray(data?.['fullConversationHeadersOnly']) ?? []
  return headers.flatMap((header) => asId(asObject(header)?.['bubbleId']) ?? [])
}

const LISTED: ReadonlySet<string> = new Set(['conversation', 'fullConversationHeadersOnly', 'richText'])

function toDamage({ file }: Reading, line: number, loss: Pick<Damage, 'kind' | 'reason'>): Damage {
  return { ...loss, file: file.path, line, byteOffset: 0, byteLength: 0 }
}

/** A bubble's own words, and those of the call, the thought and the counts in it. */
function watchBubble(drift: DriftWatch, bubble: JsonObject): void {
  drift.record('bubble', bubble)
  const { toolFormerData: tool, tokenCount, thinking } = bubble
  if (isObject(tool)) drift.record('tool', tool)
  if (isObject(tokenCount)) drift.record('tokenCount', tokenCount)
  if (isObject(thinking)) drift.record('thinking', thinking)
}
