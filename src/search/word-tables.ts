/**
 * The words of a shard, in several tables of FTS5, each for the entries of a range of numbers. FTS5 counts who has a word over a whole
 * table before it ranks the first, and puts together the lists of one table: a table that does not grow without end bounds both.
 */
import type { Database, Statement } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import { openListWriter, toldOf } from './word-lists.ts'

export type WordTable = {
  readonly name: string
  /** Its entries have numbers from here on, below the next table's. */
  readonly low: number
}

/** Entries after which another table begins: for what follows upwards, and for an older batch that comes below. */
export type TableSizes = { readonly up: number; readonly down: number }

/** Smaller tables would be more to look a word up in, larger ones take longer to rank. A batch of usual logs has some 35,000. */
const SIZES: TableSizes = { up: 40_000, down: 20_000 }

/** Bytes of words held before they are sorted into the file: larger is faster, and twice this is what a writer takes. */
const HASH_BYTES = 64 * 1024 * 1024

/**
 * Lists of words that are put together into one, little by little, once there are so many: what is put together is written twice, and
 * a word is looked up in each. And how many there may be while that goes on.
 */
const MERGED_LISTS = 16
const MOST_LISTS = 64

/** What is written into a table: terms with a space between them. SQLite adds no language of its own. */
const TOKENIZER = `ascii tokenchars ''!"#$%&()*+,-./:;<=>?@[\\]^_\`{|}~''`

/** No number is lower. */
const BOTTOM = Number.MIN_SAFE_INTEGER

/** From the highest numbers down. */
export function readWordTables(ask: (sql: string) => Pick<Statement, 'all'>): readonly WordTable[] {
  return ask('SELECT id, low FROM word_tables ORDER BY low DESC')
    .all()
    .map(({ id, low }) => ({ name: nameOf(Number(id)), low: Number(low) }))
}

export type WordWriter = {
  /** All that was added is in the database. Before a transaction ends. */
  flush(): void
  /** Numbers from one on, below another, have no entry yet and may get one: where a table is full, another begins. */
  open(from: number, below: number): void
  add(number: number, text: Uint8Array, facets: string): void
  remove(number: number): void
}

type Range = {
  readonly id: number
  readonly name: string
  low: number
  high: number
  /** Of its entries, asked for where it matters. */
  held?: { docs: number; low: number; high: number }
}

export type WordOptions = {
  readonly sizes?: TableSizes
  /** So much is to come that words are better sorted here than given to FTS5 one by one. */
  readonly isMuch?: boolean
  /** Places of words, from which on they are a list of their own. */
  readonly fewest?: number
}

/** For one transaction: what it knows is not known after it was rolled back. */
export function openWordWriter(
  database: Database,
  { sizes = SIZES, isMuch = false, fewest }: WordOptions = {},
): WordWriter {
  const sql = (text: string) => prepared(database, text)
  const toRange = (id: number, low: number, high: number): Range => ({ id, name: nameOf(id), low, high })
  const give = (name: string, number: number, text: Uint8Array, facets: string): void => {
    toldOf(database).add(name)
    sql(`INSERT INTO ${name} (rowid, text, facets) VALUES (?, ?, ?)`).run(number, text, facets)
  }
  const lists = isMuch ? openListWriter(database, give, fewest) : undefined
  const begin = (low: number, high: number): Range => {
    sql('INSERT INTO word_tables (low) VALUES (?)').run(low)
    const id = Number(sql('SELECT last_insert_rowid() AS id').get()?.['id'])
    createTable(database, nameOf(id))
    return { ...toRange(id, low, high), held: { docs: 0, low: high, high: low } }
  }
  const move = (range: Range, low: number): void => {
    range.low = low
    sql('UPDATE word_tables SET low = ? WHERE id = ?').run(low, range.id)
  }
  let above = Number.POSITIVE_INFINITY
  const ranges = sql('SELECT id, low FROM word_tables ORDER BY low DESC')
    .all()
    .map(({ id, low }) => {
      const range = toRange(Number(id), Number(low), above)
      above = range.low
      return range
    })
  if (ranges.length === 0) ranges.push(begin(BOTTOM, Number.POSITIVE_INFINITY))
  let last = ranges[0] as Range
  const of = (number: number): Range => {
    if (number < last.low || number >= last.high)
      last = ranges.find(({ low }) => low <= number) ?? (ranges.at(-1) as Range)
    return last
  }
  const held = (range: Range): NonNullable<Range['held']> => {
    if (range.held !== undefined) return range.held
    // A piece may have begun in the table below.
    const [from, below] = [range.low, Math.min(range.high, Number.MAX_SAFE_INTEGER)]
    const row = sql(
      `SELECT sum(min(high, ?2) - max(low, ?1)) AS docs, min(max(low, ?1)) AS low, max(min(high, ?2)) AS high FROM pieces
       WHERE low >= (SELECT coalesce(max(low), ?1) FROM pieces WHERE low <= ?1) AND low < ?2 AND high > ?1`,
    ).get(from, below)
    return (range.held = {
      docs: Number(row?.['docs'] ?? 0),
      low: Number(row?.['low'] ?? range.high),
      high: Number(row?.['high'] ?? range.low),
    })
  }
  return {
    open(from, below) {
      const range = of(from)
      const { docs, low, high } = held(range)
      let added: Range | undefined
      if (high <= from && docs >= sizes.up) {
        added = begin(from, range.high)
        range.high = from
      } else if (low >= below && docs >= sizes.down) {
        const bottom = range.low
        move(range, below)
        added = begin(bottom, below)
      }
      // Else there are entries on both sides, and the table goes on.
      if (added === undefined) return
      ranges.push(added)
      ranges.sort((a, b) => b.low - a.low)
      last = added
    },
    flush: () => lists?.flush(),
    add(number, text, facets) {
      const range = of(number)
      if (lists?.add(range.name, number, text, facets) !== true) give(range.name, number, text, facets)
      if (range.held === undefined) return
      range.held.docs += 1
      range.held.low = Math.min(range.held.low, number)
      range.held.high = Math.max(range.held.high, number + 1)
    },
    remove(number) {
      const { name } = of(number)
      lists?.flush()
      toldOf(database).add(name)
      sql(`DELETE FROM ${name} WHERE rowid = ?`).run(number)
    },
  }
}

function nameOf(id: number): string {
  return `words_${id}`
}

/** Its settings are written where FTS5 reads them with the table: told of them, it would have read the table already. */
export function createTable(database: Database, name: string): void {
  database.exec(
    `CREATE VIRTUAL TABLE ${name} USING fts5 (text, facets, content = '', contentless_delete = 1, tokenize = '${TOKENIZER}')`,
  )
  const settings = { hashsize: HASH_BYTES, automerge: MERGED_LISTS, crisismerge: MOST_LISTS }
  try {
    const put = database.prepare(`INSERT INTO ${name}_config (k, v) VALUES (?, ?)`)
    for (const [key, value] of Object.entries(settings)) put.run(key, value)
  } catch {
    // An SQLite that lets nobody but itself write there.
    for (const [key, value] of Object.entries(settings))
      database.exec(`INSERT INTO ${name} (${name}, rank) VALUES ('${key}', ${value})`)
  }
}
