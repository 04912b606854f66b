/**
 * Many entries put into a table of words at once: their words are sorted here and written as one more list of FTS5's, rather than
 * given to it one by one. What FTS5 has read of the table on this connection before is not what it is then.
 */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import type { SqlValue } from '../transcript/source.ts'
import { hasKnownLeaves } from './word-layout.ts'
import type { Postings } from './word-postings.ts'
import { createSegmentWriter, type Entries } from './word-segment.ts'
import { listsOf, nextOf, readStructure, withSegment, withTotals, type Structure } from './word-structure.ts'
import { MOST_VARINT, putSigned, putVarint } from './word-varints.ts'

const TOTALS = 1
const STRUCTURE = 10

/**
 * Lists from which on one more is FTS5's: only what it is given words of it puts together, a word is looked up in each list, and a
 * table of more than two thousand it takes for damaged.
 */
const MOST_LISTS = 16

/** False for a table that is not as it is known to be, that has lists enough, or that this SQLite lets nobody write but itself. */
export function canWriteLists(database: Database, table: string): boolean {
  const sql = (text: string) => prepared(database, text)
  const structure = structureOf(database, table)
  if (!hasKnownLeaves(sql, table) || structure === undefined || listsOf(structure) >= MOST_LISTS) return false
  try {
    sql(`UPDATE ${table}_data SET block = block WHERE id = ${STRUCTURE}`).run()
    return true
  } catch {
    return false
  }
}

function structureOf(database: Database, table: string): Structure | undefined {
  const block = blockOf(database, table, STRUCTURE)
  return block && readStructure(block)
}

function blockOf(database: Database, table: string, id: number): Uint8Array | undefined {
  const block = prepared(database, `SELECT block FROM ${table}_data WHERE id = ?`).get(id)?.['block']
  return block instanceof Uint8Array ? block : undefined
}

/** All that is held, as one list. */
export function writeList(database: Database, table: string, postings: Postings): void {
  const structure = structureOf(database, table)
  const totals = blockOf(database, table, TOTALS)
  if (structure === undefined || totals === undefined) throw new Error(`${table} is not as it was made`)
  const sql = (text: string) => prepared(database, text)
  const { segment, origin } = nextOf(structure)
  const putLeaf = sql(`INSERT INTO ${table}_data (id, block) VALUES (?, ?)`)
  const putFirst = sql(`INSERT INTO ${table}_idx (segid, term, pgno) VALUES (?, ?, ?)`)
  const writer = createSegmentWriter(segment, {
    leaf: (id, block) => void putLeaf.run(id, block),
    leafOf: (term, leaf) => void putFirst.run(segment, term, leaf),
  })
  const entries = createEntries(postings)
  postings.each((bytes, start, end, places, from, to) => {
    writer.word(bytes, start, end)
    writer.entries(entries.of(places, from, to))
  })
  const leaves = writer.end()
  const words = writeSizes(database, table, postings, origin)
  const put = sql(`UPDATE ${table}_data SET block = ? WHERE id = ?`)
  put.run(withSegment(structure, { segment, origin, leaves, entries: postings.docs }), STRUCTURE)
  const total = withTotals(totals, [postings.docs, ...words])
  if (total === undefined) throw new Error(`${table} is not as it was made`)
  put.run(total, TOTALS)
}

/** Rows of one statement. */
const AT_ONCE = 32

/** How many words each entry has. Says how many there are of each column. */
function writeSizes(
  database: Database,
  table: string,
  postings: Postings,
  origin: number,
): readonly [number, number] {
  const insert = (rows: number) =>
    prepared(
      database,
      `INSERT INTO ${table}_docsize (id, sz, origin) VALUES ${Array(rows).fill('(?, ?, ?)').join(', ')}`,
    )
  let values: SqlValue[] = []
  let [all, facets] = [0, 0]
  for (let nth = 0; nth < postings.docs; nth += 1) {
    const [inText, inFacets] = postings.sizes(nth)
    all += inText
    facets += inFacets
    const bytes = Buffer.allocUnsafe(2 * MOST_VARINT)
    const end = putVarint(bytes, putVarint(bytes, 0, inText), inFacets)
    values.push(postings.number(nth), bytes.subarray(0, end), origin)
    if (values.length < AT_ONCE * 3) continue
    insert(AT_ONCE).run(...values)
    values = []
  }
  if (values.length > 0) insert(values.length / 3).run(...values)
  return [all, facets]
}

/** The entries of one word after the other, in memory that is used again. */
function createEntries(postings: Postings): {
  of(places: Int32Array, from: number, to: number): Entries
} {
  const numbers = Float64Array.from({ length: postings.docs }, (_, nth) => postings.number(nth))
  /** Of each entry, its number as it is written by itself, and how many bytes that has. */
  const alone = new Uint8Array(postings.docs * MOST_VARINT)
  const sizes = new Uint8Array(postings.docs)
  for (const [nth, number] of numbers.entries())
    sizes[nth] = putSigned(alone, nth * MOST_VARINT, number) - nth * MOST_VARINT
  let docs = new Int32Array(1 << 10)
  const putNumber = (nth: number, into: Uint8Array, at: number): number => {
    const doc = docs[nth] as number
    const start = doc * MOST_VARINT
    const size = sizes[doc] as number
    for (let byte = 0; byte < size; byte += 1) into[at + byte] = alone[start + byte] as number
    return at + size
  }
  const said = {
    bytes: new Uint8Array(1 << 16),
    end: 0,
    putNumber,
    number: (nth: number): number => numbers[docs[nth] as number] as number,
  }
  const { bits } = postings
  const inFacets = 1 << (bits - 1)
  return {
    of(places, from, to) {
      const count = to - from
      // Of each place where it is, and of each entry its number, how many bytes, and a column.
      const most = count * 5 + Math.min(count, postings.docs) * 16 + 64
      if (said.bytes.length < most) said.bytes = new Uint8Array(most)
      if (docs.length < count) docs = new Int32Array(count)
      const out = said.bytes
      let at = 0
      let entries = 0
      let before = 0
      for (let place = from; place < to;) {
        const doc = (places[place] as number) >>> bits
        const own = doc << bits
        docs[entries] = doc
        const number = numbers[doc] as number
        at = entries === 0 ? putNumber(0, out, 0) : putVarint(out, at, number - before)
        before = number
        entries += 1
        // Most entries have few places: one byte says how many bytes they have.
        const start = at + 1
        at = start
        let last = 0
        let where = 0
        for (; place < to; place += 1) {
          where = (places[place] as number) ^ own
          // Of another entry, or in facets. Below 0 for an entry far behind.
          if (where >= inFacets || where < 0) break
          at = putVarint(out, at, where - last + 2)
          last = where
        }
        if (place < to && where >>> (bits - 1) === 1) {
          out[at++] = 1
          out[at++] = 1
          for (last = inFacets; place < to; place += 1) {
            where = (places[place] as number) ^ own
            if (where >>> (bits - 1) !== 1) break
            at = putVarint(out, at, where - last + 2)
            last = where
          }
        }
        const twice = (at - start) * 2
        if (twice < 0x80) out[start - 1] = twice
        else {
          const size = putVarint(SIZE, 0, twice)
          out.copyWithin(start + size - 1, start, at)
          for (let nth = 0; nth < size; nth += 1) out[start - 1 + nth] = SIZE[nth] as number
          at += size - 1
        }
      }
      said.end = at
      return said
    },
  }
}

const SIZE = new Uint8Array(MOST_VARINT)
