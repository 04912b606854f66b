/**
 * Parts of OpenCode's database whose message is nowhere: entries of the sessions that they name, behind all others of these. Each
 * stands alone, with its message's id as its call.
 */
import type { Row, SourceDatabase } from '../transcript/source.ts'
import { eachRow, textOf } from './database-row.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import { createRecords, createTally, readPart, type SessionRows } from './opencode-database-messages.ts'
import type { OpencodeReading, Piece } from './opencode-reading.ts'
import { asId } from './placing.ts'

/** How the sessions of the database were read. */
export type Before = {
  /** Ids that its sessions were given. */
  readonly given: IdSet
  readonly open: (rows: SessionRows) => OpencodeReading
  readonly readInto: (reading: OpencodeReading, rows: SessionRows) => AsyncIterable<readonly ReadItem[]>
  readonly eachSession: (database: SourceDatabase) => AsyncIterable<Row>
}

/** Sessions that go on, by OpenCode's id; undefined is what names none. */
type Readings = ReadonlyMap<string | undefined, OpencodeReading>

/** Sessions held at a time. Of more, the tables are gone through again. */
const MOST_SESSIONS = 20_000

export async function* readOrphans(
  rows: SessionRows,
  before: Before,
  mostSessions: number = MOST_SESSIONS,
): AsyncGenerator<readonly ReadItem[]> {
  const done = createIdSet()
  for (;;) {
    const ids = await findSessions(rows, done, mostSessions)
    if (ids.size === 0) return
    yield* readParts(rows, await readAgain(rows, before, ids))
    for (const id of ids) done.add(nameOf(id))
  }
}

/** No id is empty. */
function nameOf(id: string | undefined): string {
  return id ?? ''
}

async function findSessions(
  { database, messages }: SessionRows,
  done: IdSet,
  most: number,
): Promise<ReadonlySet<string | undefined>> {
  const ids = new Set<string | undefined>()
  for await (const row of eachRow(database, 'part', { columns: ['message_id', 'session_id'] })) {
    const id = sessionOf(row)
    if (isOrphan(row, messages) && !done.has(nameOf(id))) ids.add(id)
    if (ids.size >= most) break
  }
  return ids
}

/**
 * The sessions as they were when the last of their rows had been read. To hold all for the few that go on would be much: these are
 * read once more, for nobody.
 */
async function readAgain(
  rows: SessionRows,
  { given, open, readInto, eachSession }: Before,
  ids: ReadonlySet<string | undefined>,
): Promise<Readings> {
  const { taken } = rows.shared
  const { drift, speak } = hushed(rows.shared.drift)
  const apart = { records: createRecords(rows.file), messages: createIdSet(), tally: createTally() }
  const readings = new Map<string | undefined, OpencodeReading>()
  const read = async (row: Row | undefined, id: string | undefined): Promise<void> => {
    // What goes by no id of OpenCode's does not go on: it is told apart by its turn.
    const has = (own: string): boolean => (id === undefined || !given.has(own)) && taken.has(own)
    const shared = { ...rows.shared, drift, taken: { has, add: taken.add } }
    const again = { ...rows, ...apart, shared, row, id }
    const reading = open(again)
    readings.set(id, reading)
    for await (const _ of readInto(reading, again));
  }
  for await (const row of eachSession(rows.database)) {
    const id = asId(textOf(row['id']))
    if (id !== undefined && ids.has(id) && !readings.has(id)) await read(row, id)
  }
  for (const id of ids) if (!readings.has(id)) await read(undefined, id)
  speak()
  return readings
}

type Hushed = { readonly drift: DriftWatch | undefined; readonly speak: () => void }

/** What was told of before is not told again. */
function hushed(drift: DriftWatch | undefined): Hushed {
  let isQuiet = true
  return {
    drift: drift && {
      record: (...said) => (isQuiet ? undefined : drift.record(...said)),
      block: (...said) => (isQuiet ? undefined : drift.block(...said)),
    },
    speak: () => void (isQuiet = false),
  }
}

async function* readParts(rows: SessionRows, readings: Readings): AsyncGenerator<readonly ReadItem[]> {
  let current: OpencodeReading | undefined
  for await (const row of eachRow(rows.database, 'part')) {
    const reading = isOrphan(row, rows.messages) ? readings.get(sessionOf(row)) : undefined
    if (reading === undefined) continue
    const parts: Piece[] = []
    const damage = readPart(row, parts, rows.records)
    const said = reading.message({ info: undefined, parts })
    yield [
      ...(reading === current ? [] : [{ type: 'session', session: reading.session() } as const]),
      ...said,
      ...(damage === undefined ? [] : [damage]),
    ]
    current = reading
  }
}

function isOrphan({ message_id: message }: Row, messages: IdSet): boolean {
  const owner = asId(textOf(message))
  return owner === undefined || !messages.has(owner)
}

function sessionOf({ session_id: session }: Row): string | undefined {
  return asId(textOf(session))
}
