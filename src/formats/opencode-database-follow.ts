/**
 * OpenCode's database while it grows: the sessions that rows came to are read anew, and those that another session is now said to have
 * started otherwise. Of all others no more is held than what a whole reading would hand on from one session to the next.
 */
import type { Row, SourceDatabase } from '../transcript/source.ts'
import { decodeLong, eachRow, textOf } from './database-row.ts'
import { createDriftWatch } from './drift.ts'
import type { DatabaseFollowing, SessionTaking } from './format.ts'
import { createIdSet } from './id-set.ts'
import { eachSession, OWNED, readSession } from './opencode-database.ts'
import { createRecords, createTally, type SessionRows, type Tally } from './opencode-database-messages.ts'
import type { Spawned } from './opencode-reading.ts'
import { OPENCODE_VOCABULARY } from './opencode-vocabulary.ts'
import { asId } from './placing.ts'
import { OPENCODE_TABLES } from './places.ts'

type Read = {
  /** The call that was said to have started it, when it was read. */
  readonly citation: string | undefined
  /** The calls of its own that started others, by their ids. */
  readonly started: ReadonlyMap<string, string>
  readonly tally: Tally
}

/** Sessions, and calls that started one: of a database with more of them the whole is read. */
const MOST = 100_000
/** Messages whose session is asked for together. */
const TOGETHER = 500

export function followDatabase(agent: string, file: SessionRows['file']): DatabaseFollowing {
  const known = new Map<string, Read>()
  let noted = new Set<string>()
  /** Whose parts came. */
  let messages = new Set<string>()
  let isSure = true

  const note = (ids: Set<string>, value: Row[string] | undefined): void => {
    const id = asId(textOf(value))
    if (id === undefined) isSure = false
    else ids.add(id)
  }
  const noteOwners = async (database: SourceDatabase): Promise<void> => {
    const ids = [...messages]
    for (let at = 0; at < ids.length; at += TOGETHER) {
      const where = { column: 'id', in: ids.slice(at, at + TOGETHER) }
      for await (const row of eachRow(database, 'message', { columns: ['id', 'session_id'], where })) {
        messages.delete(asId(textOf(row['id'])) ?? '')
        note(noted, row['session_id'])
      }
    }
    // Parts of a message that is nowhere are entries behind all others.
    if (messages.size > 0) isSure = false
  }
  const readOne = async (id: string, one: One): Promise<Read | undefined> => {
    const { database, spawned, taking } = one
    const started = new Map<string, string>()
    const tally = createTally()
    const noting: Spawned = {
      get: (session) => spawned.get(session),
      set(session, citation) {
        started.set(session, citation)
        spawned.set(session, citation)
      },
    }
    const citation = spawned.get(id)
    const drift = createDriftWatch(OPENCODE_VOCABULARY, { drift: taking.drift })
    const shared = { agent, taken: createIdSet(), spawned: noting, drift }
    const rows = { file, database, shared, records: createRecords(file), messages: createIdSet(), tally, id }
    let count = 0
    for await (const row of eachRow(database, 'session', { where: { column: 'id', equals: id } })) {
      count += 1
      if (count > 1) return undefined
      decodeLong(row)
      for await (const items of readSession({ ...rows, row })) taking.add(items)
    }
    taking.end()
    return count === 0 ? undefined : { citation, started, tally }
  }
  /** Every row of the tables is one that a session was read with. */
  const isAllRead = async (database: SourceDatabase): Promise<boolean> => {
    for (const table of [...OWNED.keys(), 'part']) {
      if (!database.tables().includes(table)) continue
      let rows = 0
      for (const { tally } of known.values()) rows += tally.of(table)
      if ((await database.count?.(table)) !== rows) return false
    }
    return true
  }

  return {
    told: (table) => {
      if (table === 'part') return ['message_id']
      const column = table === 'session' ? 'id' : OWNED.get(table)
      return column === undefined ? [] : [column]
    },
    note(table, row) {
      if (table === 'part') note(messages, row['message_id'])
      else if (table === 'session') note(noted, row['id'])
      else if (OWNED.has(table)) note(noted, row[OWNED.get(table) ?? ''])
    },
    async read(database, begin) {
      if (!database.tables().every((table) => OPENCODE_TABLES.includes(table))) return undefined
      await noteOwners(database)
      const spawned = new Map<string, string>()
      const ids = new Set<string>()
      for await (const row of eachSession(database, { columns: ['id'] })) {
        const id = asId(textOf(row['id']))
        if (!isSure || id === undefined || ids.has(id) || ids.size + spawned.size > MOST) return undefined
        ids.add(id)
        const before = known.get(id)
        if (before !== undefined && !noted.has(id) && before.citation === spawned.get(id)) {
          for (const [session, citation] of before.started) spawned.set(session, citation)
          continue
        }
        const read = await readOne(id, { database, spawned, taking: begin(id) })
        if (read === undefined) return undefined
        known.set(id, read)
      }
      // A session that rows name and none describes is read from them, behind all others.
      for (const id of noted) if (!ids.has(id)) isSure = false
      noted = new Set()
      messages = new Set()
      return isSure && known.size === ids.size && (await isAllRead(database)) ? [...ids] : undefined
    },
  }
}

type One = {
  readonly database: SourceDatabase
  /** What was said by those before it. */
  readonly spawned: Spawned
  readonly taking: SessionTaking
}
