/**
 * The chats of Cursor's editor while rows come to their database: those that rows came to are read anew, and those that were started in
 * another chat than was known. Of all others no more is held than what their own rows say of other chats.
 */
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { createPlaces, lookAtChats, noteParents, readChat, type Related, relatedIn } from './cursor-chats.ts'
import { CURSOR_VOCABULARY } from './cursor-vocabulary.ts'
import { eachRow, letGoOfLong, textOf } from './database-row.ts'
import { createDriftWatch } from './drift.ts'
import type { DatabaseFollowing, SessionTaking } from './format.ts'
import { createIdSet } from './id-set.ts'
import { asId } from './placing.ts'
import { CURSOR_KEYS, CURSOR_TABLES } from './places.ts'

const { chat: CHAT, bubble: BUBBLE } = CURSOR_KEYS

/** Of one table. Rows are never taken away, and new ones come last: so is the order in which these are held. */
type Chats = {
  /** Those with a row of their own, and what it says of others; undefined until it is read. */
  readonly own: Map<string, Related | undefined>
  /** Those that only their messages name. */
  readonly lost: Set<string>
  /** The chat that each was said to be started in, when it was read. */
  readonly read: Map<string, string | undefined>
  /** Those that rows came to. */
  readonly noted: Set<string>
}

/** Chats, and those that they name: of a database with more of them the whole is read. */
const MOST = 100_000
/** Keys that sort as SQLite sorts them, and are found by what they are read as. */
const PLAIN = /^[\x20-\x7e]+$/

export function followChats(file: Pick<SourceFile, 'path'>): DatabaseFollowing {
  const tables = new Map<string, Chats>()
  let isSure = true

  /** The chat of a row that came, or is there. */
  const note = (chats: Chats, value: Row[string] | undefined): void => {
    const key = textOf(value) ?? ''
    const isOwn = key.startsWith(CHAT)
    const [chat = '', ...rest] = key.slice(isOwn ? CHAT.length : BUBBLE.length).split(':')
    const isNamed = asId(chat) !== undefined && PLAIN.test(key) && (isOwn || key.startsWith(BUBBLE))
    // A chat with a `:` in its name would have messages that are another's, too.
    if (!isNamed || isOwn !== (rest.length === 0)) {
      isSure = false
      return
    }
    chats.noted.add(chat)
    if (isOwn) {
      chats.own.set(chat, undefined)
      chats.lost.delete(chat)
    } else if (!chats.own.has(chat)) chats.lost.add(chat)
  }
  const begin = async (database: SourceDatabase, table: string): Promise<Chats> => {
    const chats: Chats = { own: new Map(), lost: new Set(), read: new Map(), noted: new Set() }
    for (const prefix of [CHAT, BUBBLE]) {
      const keys = { where: { column: 'key', prefix }, columns: ['key'] }
      let count = 0
      for await (const { key } of eachRow(database, table, keys)) {
        note(chats, key)
        count += 1
        if (isTooMany(chats)) return chats
      }
      // Two rows of one name are read as two chats.
      if (prefix === CHAT && count !== chats.own.size) isSure = false
    }
    return chats
  }

  return {
    told: (table) => (isOfChats(table) ? ['key'] : []),
    note(table, row) {
      const chats = tables.get(table)
      // All of them are read the first time.
      if (chats !== undefined) note(chats, row['key'])
    },
    async read(database, beginOne) {
      if (lookAtChats(database) === undefined || !database.tables().every(isOfChats)) return undefined
      const ids = new Set<string>()
      for (const table of CURSOR_TABLES) {
        if (!database.tables().includes(table)) continue
        const chats = tables.get(table) ?? (await begin(database, table))
        tables.set(table, chats)
        const parents = isSure && !isTooMany(chats) ? await parentsIn(database, table, chats) : undefined
        if (parents === undefined) return undefined
        for (const chat of [...[...chats.own.keys()].sort(), ...chats.lost]) {
          // One that is in both tables is two sessions.
          if (ids.has(chat)) return undefined
          ids.add(chat)
          const parent = parents.get(chat)
          const { read, noted } = chats
          if (read.has(chat) && !noted.has(chat) && read.get(chat) === parent) continue
          await readOne(
            chat,
            { file, database, table, parents, isLost: chats.lost.has(chat) },
            beginOne(chat),
          )
          read.set(chat, parent)
        }
        chats.noted.clear()
      }
      return [...ids]
    },
  }
}

const isTooMany = ({ own, lost }: Chats): boolean => own.size + lost.size > MOST

const isOfChats = (table: string): boolean => CURSOR_TABLES.some((one) => one === table)

/** Reads what came to be said of others. Undefined where a chat has not one row, or too much is said. */
async function parentsIn(
  database: SourceDatabase,
  table: string,
  { own }: Chats,
): Promise<ReadonlyMap<string, string> | undefined> {
  const parents = new Map<string, string>()
  let named = 0
  for (const [chat, known] of own) {
    const related = known ?? (await relatedOf(database, table, chat))
    named += related?.below.length ?? 0
    if (related === undefined || own.size + named > MOST) return undefined
    own.set(chat, related)
    noteParents(chat, related, parents)
  }
  return parents
}

async function relatedOf(
  database: SourceDatabase,
  table: string,
  chat: string,
): Promise<Related | undefined> {
  const found: Related[] = []
  for await (const row of ownRows(database, table, chat)) {
    found.push(relatedIn(row))
    letGoOfLong(row)
  }
  return found.length === 1 ? found[0] : undefined
}

function ownRows(database: SourceDatabase, table: string, chat: string): AsyncGenerator<Row> {
  return eachRow(database, table, { where: { column: 'key', equals: `${CHAT}${chat}` } })
}

type One = {
  readonly file: Pick<SourceFile, 'path'>
  readonly database: SourceDatabase
  readonly table: string
  readonly parents: ReadonlyMap<string, string>
  readonly isLost: boolean
}

async function readOne(chat: string, { isLost, ...one }: One, taking: SessionTaking): Promise<void> {
  const drift = createDriftWatch(CURSOR_VOCABULARY, { drift: taking.drift })
  const shared = { taken: createIdSet(), drift }
  const reading = { ...one, shared, seen: createIdSet(), place: createPlaces(one.file) }
  if (isLost) for await (const items of readChat(reading, chat, undefined)) taking.add(items)
  else
    for await (const row of ownRows(one.database, one.table, chat))
      for await (const items of readChat(reading, chat, row)) taking.add(items)
  taking.end()
}
