/**
 * The one SQLite driver: `node:sqlite` where Node has it, `libsql` where it does not (Node 20), and no difference to be
 * seen. Rows are objects without a prototype; an integer is a number where a number can hold it, else a bigint.
 */
import { resolve } from 'node:path'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { Connect, Connection, OpenMode } from './engine.ts'
import { fromSqliteError } from './errors.ts'

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  /** All of the work or none of it, with the write lock from the start; one inside another is a part of it. */
  transaction<T>(work: () => T): T
  /**
   * From here on transactions are parts of one, until the function it gives is called: for many small ones, each of which would wait
   * for the file. When one fails, all of them are taken back, none is begun until then, and that function throws what went wrong:
   * to take back one by itself, SQLite would write down every page that it touches.
   */
  gather(): () => void
  close(): void
}

export interface Statement {
  all(...values: SqlValue[]): Row[]
  get(...values: SqlValue[]): Row | undefined
  /** Rows as they come. Read it to its end, or the database stays locked. */
  iterate(...values: SqlValue[]): IterableIterator<Row>
  /** Rows as their values in order, for many of them: `all` and `iterate` without an object for each. */
  lists(...values: SqlValue[]): SqlValue[][]
  eachList(...values: SqlValue[]): IterableIterator<SqlValue[]>
  run(...values: SqlValue[]): { readonly changes: number }
}

export type OpenDatabaseOptions = {
  /**
   * `read-only`: with the locks that keep other programs and us apart. `immutable`: without them, and without leaving a
   * file beside the database; right only while nobody writes.
   */
  readonly mode?: OpenMode
  /** How long to wait for another program's lock. Nothing else of this process runs meanwhile. */
  readonly busyMs?: number
}

/** Throws `locked`, `not-found`, `not-permitted`, `disk-full`, `read-only`, or `io` for what is no database. */
export async function openDatabase(
  path: string,
  { mode = 'read-write', busyMs = 5000 }: OpenDatabaseOptions = {},
): Promise<Database> {
  const connect = await pickEngine()
  const wrap = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw fromSqliteError(error, path)
    }
  }
  return toDatabase(
    // In memory, it is called so and lies nowhere.
    wrap(() => connect(path === IN_MEMORY ? path : resolve(path), { mode, busyMs })),
    wrap,
  )
}

/** The path of a database that is gone when it is closed. */
export const IN_MEMORY = ':memory:'

let engine: Promise<Connect> | undefined

function pickEngine(): Promise<Connect> {
  engine ??= (async () => {
    const { nodeEngine } = await import('./node-engine.ts')
    const node = nodeEngine()
    if (node !== undefined) return node
    const { libsqlEngine } = await import('./libsql-engine.ts')
    return libsqlEngine()
  })()
  return engine
}

function toDatabase(connection: Connection, wrap: <T>(work: () => T) => T): Database {
  /** `part`: one within those that are gathered. */
  let open: 'nothing' | 'gathered' | 'whole' | 'part' = 'nothing'
  /** Why those that are gathered were taken back. */
  let failed: { readonly error: unknown } | undefined
  const exec = (sql: string): void => wrap(() => connection.exec(sql))
  // A full disk ends a transaction by itself; what went wrong first is what is told.
  const takeBack = (sql: string): void => {
    try {
      connection.exec(sql)
    } catch {}
  }
  const settle = (sql: string): void => {
    try {
      exec(sql)
    } catch (error) {
      takeBack('ROLLBACK')
      throw error
    }
  }
  return {
    exec,
    prepare(sql) {
      const statement = wrap(() => connection.prepare(sql))
      return {
        all: (...values) => wrap(() => [...statement.rows(values)]),
        get: (...values) => wrap(() => statement.first(values)),
        iterate: (...values) => wrapEach(statement.rows(values), wrap),
        lists: (...values) => wrap(() => [...statement.lists(values)]),
        eachList: (...values) => wrapEach(statement.lists(values), wrap),
        run: (...values) => ({ changes: wrap(() => statement.run(values)) }),
      }
    },
    transaction(work) {
      if (open === 'whole' || open === 'part') return work()
      const before = open
      const isPart = before === 'gathered'
      if (isPart && failed !== undefined) throw failed.error
      if (!isPart) exec('BEGIN IMMEDIATE')
      open = isPart ? 'part' : 'whole'
      try {
        const result = work()
        if (!isPart) settle('COMMIT')
        return result
      } catch (error) {
        takeBack('ROLLBACK')
        if (isPart) failed = { error }
        throw error
      } finally {
        open = before
      }
    },
    gather() {
      exec('BEGIN IMMEDIATE')
      open = 'gathered'
      return () => {
        const why = failed
        open = 'nothing'
        failed = undefined
        if (why !== undefined) throw why.error
        settle('COMMIT')
      }
    },
    close: () => wrap(() => connection.close()),
  }
}

function* wrapEach<R>(rows: Iterable<R>, wrap: <T>(work: () => T) => T): Generator<R, undefined> {
  const iterator = wrap(() => rows[Symbol.iterator]())
  for (;;) {
    const next = wrap(() => iterator.next())
    if (next.done === true) return undefined
    yield next.value
  }
}
