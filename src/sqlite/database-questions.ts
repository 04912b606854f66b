/**
 * Which rows are asked for, as SQL over a table called `t`. A column that is asked by again and again and has no index gets one of our
 * own, in the connection's temporary database: the time to answer must not grow with the table.
 */
import type { RowOptions, Since, SqlValue } from '../transcript/source.ts'
import { keysOf } from './database-keys.ts'
import { quote, type Table } from './database-tables.ts'
import type { Database } from './driver.ts'

export type Question = {
  /** What stands from FROM on. */
  readonly from: string
  readonly values: readonly SqlValue[]
  /** What the answer is sorted by before the columns asked for: the place of a value in its list, as SQL. */
  readonly place?: string
  /** What the answer is sorted by, before its own key. */
  readonly order: readonly string[]
}

/** Values of a list that one statement is asked for. */
const LISTED = 64
/** Questions by a column that are answered without an index. */
const FEW = 3

export type Asker = (table: Table, name: string, options: RowOptions) => Generator<Question>

export function createAsker(database: Database, maxRows: number): Asker {
  const indexes = createIndexes(database, maxRows)
  return function* (table, name, { where, since, orderBy = [] }) {
    const order = orderBy
      .filter((column) => table.columns.includes(column))
      .map((column) => `t.${quote(column)}`)
    if (since !== undefined) {
      yield { ...writtenSince(table, name, since), order }
      return
    }
    if (where === undefined) {
      // What an index says may be sound where the table is not.
      yield { from: `FROM ${quote(name)} AS t NOT INDEXED`, values: [], order }
      return
    }
    if (!table.columns.includes(where.column)) return
    const index = indexes(name, table, where.column)
    const column = `t.${quote(where.column)}`
    const asked = index === undefined ? column : 'x.value'
    const tables = `${index === undefined ? '' : `temp.${index} AS x CROSS JOIN `}${quote(name)} AS t`
    // A row may have changed, or another have its number, since the index was made.
    const still = index === undefined ? '' : ` AND t.${table.key[0]} = x.number AND ${column} IS x.value`
    if ('equals' in where) {
      yield { from: `FROM ${tables} WHERE ${asked} IS ?${still}`, values: [where.equals], order }
      return
    }
    if ('prefix' in where) {
      const values = boundsOf(where.prefix)
      const isNumbered = keysOf(table).isNumber
      if (where.newest !== undefined && isNumbered && index === undefined)
        yield newestOf(table, name, { ...where, newest: where.newest })
      else yield { from: `FROM ${tables} WHERE ${beginsIn(asked)}${still}`, values, order }
      return
    }
    const wanted = [...new Set(where.in)]
    // A column may compare by rules of its own, by which two values of the list are one: a row is of the one that it has.
    const exact = ` AND CAST(${column} AS BLOB) = CAST(w.column2 AS BLOB)`
    const from = `FROM (${LIST}) AS w CROSS JOIN ${tables} WHERE ${asked} = w.column2${exact}${still}`
    for (let at = 0; at < wanted.length; at += LISTED) {
      const some = wanted.slice(at, at + LISTED)
      // NULL equals nothing.
      const values = [...some, ...Array.from({ length: LISTED - some.length }, () => null)]
      yield { from, values, place: 'w.column1', order }
    }
  }
}

/** The table is gone through once: another program has no index of when its rows were written. */
function writtenSince(
  table: Table,
  name: string,
  { number, changed, begins }: Since,
): Pick<Question, 'from' | 'values'> {
  const added = `t.${table.key[0] ?? ''} >= ?`
  // Not by an index: rows that begin so are many, and those with higher numbers few.
  const also = begins === undefined ? '' : ` AND ${beginsIn(`+t.${quote(begins.column)}`)}`
  const bounds = begins === undefined ? [] : boundsOf(begins.prefix)
  if (changed === undefined)
    return { from: `FROM ${quote(name)} AS t WHERE ${added}${also}`, values: [number, ...bounds] }
  const column = `t.${quote(changed.column)}`
  return {
    from: `FROM ${quote(name)} AS t NOT INDEXED
      WHERE (${added} OR ${column} >= ? OR typeof(${column}) <> 'integer')${also}`,
    values: [number, changed.least, ...bounds],
  }
}

type Newest = { readonly column: string; readonly prefix: string; readonly newest: number }

/** An index knows the numbers: no row is read that is not given. */
function newestOf(table: Table, name: string, { column, prefix, newest }: Newest): Question {
  const [rowid = ''] = table.key
  const begin = beginsIn(`n.${quote(column)}`)
  // `+`: going through the table from its end may take all of it.
  const some = `SELECT n.${rowid} AS number FROM ${quote(name)} AS n WHERE ${begin} ORDER BY +n.${rowid} DESC LIMIT ?`
  return {
    from: `FROM (${some}) AS w CROSS JOIN ${quote(name)} AS t WHERE t.${rowid} = w.number`,
    values: [...boundsOf(prefix), newest],
    order: [`t.${rowid} DESC`],
  }
}

const beginsIn = (column: string): string => `typeof(${column}) = 'text' AND ${column} >= ? AND ${column} < ?`

/** The last code point follows everything that begins so, in the order of bytes that an index has. */
const boundsOf = (prefix: string): readonly SqlValue[] => [prefix, `${prefix}\u{10ffff}`]

const LIST = `VALUES ${Array.from({ length: LISTED }, (_, at) => `(${at}, ?)`).join(', ')}`

function createIndexes(
  database: Database,
  maxRows: number,
): (name: string, table: Table, column: string) => string | undefined {
  /** Questions so far, or the index; undefined where the table has one of its own, or none can be made. */
  const asked = new Map<string, number | string | undefined>()
  return (name, table, column) => {
    const id = JSON.stringify([name, column])
    if (!asked.has(id)) asked.set(id, isIndexed(database, name, column) ? undefined : 0)
    const known = asked.get(id)
    if (typeof known !== 'number') return known
    const [rowid = ''] = table.key
    const isLate = known >= FEW && table.key.length === 1 && !table.columns.includes(rowid)
    const now = isLate ? makeIndex(database, { name, column, rowid, maxRows, number: asked.size }) : known + 1
    asked.set(id, now)
    return typeof now === 'string' ? now : undefined
  }
}

function isIndexed(database: Database, name: string, column: string): boolean {
  const found = database.prepare(
    `SELECT count(*) AS n FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
     WHERE list.partial = 0 AND info.seqno = 0 AND info.name = ?`,
  )
  return Number(found.get(name, column)?.['n']) > 0
}

type Made = {
  readonly name: string
  readonly column: string
  readonly rowid: string
  readonly maxRows: number
  readonly number: number
}

/** Undefined where it cannot be made: then every question reads the table. */
function makeIndex(database: Database, { name, column, rowid, maxRows, number }: Made): string | undefined {
  const index = quote(`hansard ${number}`)
  try {
    database.exec('PRAGMA query_only = OFF')
    database.exec(`CREATE TABLE temp.${index} (value, number INTEGER)`)
    database.exec(
      `INSERT INTO temp.${index} SELECT t.${quote(column)}, t.${rowid} FROM ${quote(name)} AS t LIMIT ${maxRows}`,
    )
    database.exec(`CREATE INDEX temp.${quote(`hansard ${number} by value`)} ON ${index} (value)`)
    return index
  } catch {
    return undefined
  } finally {
    database.exec('PRAGMA query_only = ON')
  }
}
