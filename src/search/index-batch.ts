/**
 * Some units put into a shard in one transaction: all of them or none, whenever the process dies. Entries of a unit have numbers in
 * a row, units of a batch ascend by time, and batches go down from the newest: a search that goes by numbers meets new ones first.
 */
import { messageOf } from '../errors.ts'
import type { Database, Statement } from '../sqlite/driver.ts'
import type { Entry } from '../transcript/entry.ts'
import { createPage, PAGE_DOCS, writeDoc, type Doc } from './doc-pages.ts'
import { facetsOf, identityOf, markOf } from './doc-facts.ts'
import { textsOf } from './match-texts.ts'
import { createTermList } from './words.ts'
import { readListed } from './read-listed.ts'
import type { Shard } from './shard.ts'
import type { ListedUnit } from './unit-list.ts'

export type Batch = {
  readonly units: readonly ListedUnit[]
  /** Names of units that are no more. */
  readonly gone: readonly string[]
}
export type BatchResult = {
  readonly units: number
  readonly docs: number
  readonly bytes: number
  /** Not indexed, and searched where they lie. */
  readonly failed: readonly { readonly name: string; readonly message: string }[]
}

/** Throws what is wrong with the shard or the disk; what is wrong with a unit is told. */
export async function indexBatch({ database }: Shard, { units, gone }: Batch): Promise<BatchResult> {
  const failed: { name: string; message: string }[] = []
  let left = units.toSorted((a, b) => a.endedAt - b.endedAt || (a.name < b.name ? -1 : 1))
  let direction: Direction = 'any'
  for (;;) {
    database.exec('BEGIN IMMEDIATE')
    try {
      const docs = await writeUnits(database, left, [...gone, ...failed.map(({ name }) => name)], direction)
      database.exec('COMMIT')
      return { units: left.length, docs, bytes: left.reduce((sum, { bytes }) => sum + bytes, 0), failed }
    } catch (error) {
      rollBack(database)
      if (error instanceof NoRoom) direction = 'up'
      else if (error instanceof UnitFailed) {
        failed.push({ name: error.unit.name, message: messageOf(error.cause) })
        left = left.filter(({ name }) => name !== error.unit.name)
      } else throw error
    }
  }
}

type Direction = 'any' | 'up'

/** More entries than the bytes let expect: they get numbers where there is no end. */
class NoRoom extends Error {}

class UnitFailed extends Error {
  readonly unit: ListedUnit
  constructor(unit: ListedUnit, cause: unknown) {
    super(unit.name, { cause })
    this.unit = unit
  }
}

/** A full disk ends the transaction by itself. */
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

async function writeUnits(
  database: Database,
  units: readonly ListedUnit[],
  gone: readonly string[],
  direction: Direction,
): Promise<number> {
  for (const name of [...gone, ...units.map((unit) => unit.name)]) removeUnit(database, name)
  const writer = createWriter(database, roomFor(database, units, direction))
  let docs = 0
  for (const unit of units) docs += await writeUnit(writer, unit)
  return docs
}

function removeUnit(database: Database, name: string): void {
  const known = database.prepare('SELECT id, low, high FROM units WHERE name = ?').get(name)
  if (known === undefined) return
  const [id, low, high] = [Number(known['id']), Number(known['low']), Number(known['high'])]
  const remove = database.prepare('DELETE FROM words WHERE rowid = ?')
  for (let doc = low; doc < high; doc += 1) remove.run(doc)
  database
    .prepare('DELETE FROM pages WHERE id >= ? AND id < ?')
    .run(low / PAGE_DOCS, Math.ceil(high / PAGE_DOCS))
  database.prepare('DELETE FROM sessions WHERE unit = ?').run(id)
  database.prepare('DELETE FROM units WHERE id = ?').run(id)
}

type Room = { readonly first: number; readonly limit: number }

/** Numbers begin in the middle; those below it are written in a byte more or less, those above without end. */
const MIDDLE = 2 ** 31
/** No format writes an entry in fewer bytes, but what is compressed holds more than it weighs. */
const BYTES_A_DOC = 64

function roomFor(database: Database, units: readonly ListedUnit[], direction: Direction): Room {
  const row = database
    .prepare('SELECT min(low) AS low, max(high) AS high, max(max_at) AS newest FROM units')
    .get()
  const { low, high, newest } = row ?? {}
  const oldest = units[0]?.endedAt ?? 0
  const isNewer = typeof newest === 'number' && oldest >= newest
  if (direction === 'up' || isNewer)
    return { first: aligned(Number(high ?? MIDDLE)), limit: Number.MAX_SAFE_INTEGER }
  const room = units.reduce((sum, { bytes }) => sum + aligned(Math.ceil(bytes / BYTES_A_DOC) + 1), 0)
  const end = Number(low ?? MIDDLE)
  return { first: end - room, limit: end }
}

function aligned(doc: number): number {
  return Math.ceil(doc / PAGE_DOCS) * PAGE_DOCS
}

type Writer = {
  /** The first number that is free. */
  next: number
  readonly limit: number
  readonly words: Statement
  readonly pages: Statement
  readonly database: Database
  nameId(name: string): number
  addFacet(facet: string): void
}

function createWriter(database: Database, { first, limit }: Room): Writer {
  const names = new Map<string, number>()
  const find = database.prepare('SELECT id FROM names WHERE name = ?')
  const add = database.prepare('INSERT OR IGNORE INTO names (name) VALUES (?)')
  const facets = new Set<string>()
  const addFacet = database.prepare('INSERT OR IGNORE INTO facets (name) VALUES (?)')
  return {
    next: first,
    limit,
    database,
    words: database.prepare('INSERT INTO words (rowid, text, facets) VALUES (?, ?, ?)'),
    pages: database.prepare('INSERT INTO pages (id, newest, docs) VALUES (?, ?, ?)'),
    nameId(name) {
      const known = names.get(name)
      if (known !== undefined) return known
      add.run(name)
      const id = Number(find.get(name)?.['id'])
      // A hostile file may name any number of sources.
      if (names.size > 10_000) names.clear()
      names.set(name, id)
      return id
    },
    addFacet(facet) {
      if (facets.has(facet)) return
      addFacet.run(facet)
      if (facets.size > 10_000) facets.clear()
      facets.add(facet)
    },
  }
}

async function writeUnit(writer: Writer, unit: ListedUnit): Promise<number> {
  const { database } = writer
  const low = writer.next
  database
    .prepare('INSERT INTO units (name, version, low, high, bytes) VALUES (?, ?, ?, ?, ?)')
    .run(unit.name, unit.version, low, low, unit.bytes)
  const id = Number(database.prepare('SELECT id FROM units WHERE name = ?').get(unit.name)?.['id'])
  const sessions = new Map<string, number>()
  const sessionId = (key: string): number => {
    const known = sessions.get(key)
    if (known !== undefined) return known
    database.prepare('INSERT INTO sessions (unit, key) VALUES (?, ?)').run(id, key)
    const added = Number(database.prepare('SELECT last_insert_rowid() AS id').get()?.['id'])
    sessions.set(key, added)
    return added
  }
  let page = createPage()
  let at = 0
  let [oldest, newest] = [Number.POSITIVE_INFINITY, 0]
  for await (const entries of entriesOf(unit)) {
    for (const { key, session, entry } of entries) {
      const number = writer.next
      if (number >= writer.limit) throw new NoRoom()
      const said = Date.parse(entry.at ?? '')
      at = Number.isFinite(said) ? said : at || toTime(session.startedAt)
      // Where an entry says nothing, a search by time goes by when the session began.
      const began = Number.isFinite(said) ? at : toTime(session.startedAt)
      oldest = Math.min(oldest, at, began)
      newest = Math.max(newest, at, began)
      const texts = textsOf(entry, unit.titles.get(key))
      const facets = facetsOf(entry)
      const about = { session: sessionId(key), at, hasAt: Number.isFinite(said), mark: markOf(texts, facets) }
      const doc = toDoc(entry, about, writer)
      writeDoc(page, number % PAGE_DOCS, doc)
      writer.words.run(number, terms(texts), facets.join(' '))
      for (const facet of facets) writer.addFacet(facet)
      writer.next += 1
      if (writer.next % PAGE_DOCS !== 0) continue
      writer.pages.run(Math.floor(number / PAGE_DOCS), newest, page)
      page = createPage()
    }
  }
  const high = writer.next
  if (high % PAGE_DOCS !== 0) writer.pages.run(Math.floor(high / PAGE_DOCS), newest, page)
  writer.next = aligned(high)
  database
    .prepare('UPDATE units SET high = ?, min_at = ?, max_at = ? WHERE id = ?')
    .run(high, high === low ? null : oldest, high === low ? null : newest, id)
  return high - low
}

async function* entriesOf(unit: ListedUnit): ReturnType<typeof readListed> {
  try {
    yield* readListed(unit)
  } catch (error) {
    throw new UnitFailed(unit, error)
  }
}

type About = {
  readonly session: number
  readonly at: number
  readonly hasAt: boolean
  readonly mark: number
}

const list = createTermList()

function terms(texts: readonly string[]): string {
  for (const text of texts) list.add(text)
  return list.take()
}

function toDoc(entry: Entry, { session, at, hasAt, mark }: About, writer: Writer): Doc {
  const { origin, source, sequence } = entry
  return {
    session,
    source: writer.nameId(source),
    sequence,
    file: origin === undefined ? 0 : writer.nameId(origin.file),
    version: origin?.version,
    byteOffset: origin?.byteOffset ?? 0,
    byteLength: origin?.byteLength ?? 0,
    at,
    hasAt,
    role: entry.role,
    identity: identityOf(entry),
    mark,
  }
}

function toTime(value: string | undefined): number {
  const time = Date.parse(value ?? '')
  return Number.isFinite(time) ? time : 0
}
