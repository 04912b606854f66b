/**
 * `libsql` as a connection, for a Node without SQLite of its own. Two things it does not do: text ends at its first NUL,
 * and text that is not UTF-8 ends the process. Whoever reads another program's database asks for bytes
 * (`CAST(x AS BLOB)`), names included.
 */
import { createRequire } from 'node:module'
import { messageOf } from '../errors.ts'
import type { SqlValue } from '../transcript/source.ts'
import { type Connect, type OpenMode, toRow, toValue } from './engine.ts'
import { toSqliteUri } from './uri.ts'

/** The part that is used; the package's own types are those of another one. */
type LibsqlStatement = {
  raw(on: boolean): LibsqlStatement
  safeIntegers(on: boolean): LibsqlStatement
  columns(): readonly { readonly name: string }[]
  iterate(values: readonly SqlValue[]): Iterable<readonly unknown[]>
  get(values: readonly SqlValue[]): readonly unknown[] | undefined
  run(values: readonly SqlValue[]): { readonly changes: number | bigint }
}
type LibsqlDatabase = { exec(sql: string): void; prepare(sql: string): LibsqlStatement; close(): void }
type Libsql = new (path: string, options: { readonly timeout: number }) => LibsqlDatabase

export function libsqlEngine(): Connect {
  const Libsql = load()
  return (path, { mode, busyMs }) => {
    const database = open(() => new Libsql(placeOf(path, mode), { timeout: busyMs }))
    return {
      exec: (sql) => database.exec(sql),
      close() {
        // Its statements hold the file open until they are collected; what was written must not wait for that.
        if (mode === 'read-write') checkpoint(database)
        database.close()
      },
      prepare(sql) {
        const statement = database.prepare(sql).safeIntegers(true)
        let isRaw = false
        const raw = (): LibsqlStatement => {
          if (!isRaw) statement.raw(true)
          isRaw = true
          return statement
        }
        let known: readonly string[] | undefined
        const names = (): readonly string[] =>
          (known ??= raw()
            .columns()
            .map(({ name }) => name))
        return {
          *lists(values) {
            for (const row of raw().iterate(values)) yield row.map(toValue)
          },
          *rows(values) {
            const own = names()
            for (const row of statement.iterate(values)) yield toRow(own, row)
          },
          first(values) {
            const own = names()
            const row = statement.get(values)
            return row && toRow(own, row)
          },
          run: (values) => Number(statement.run(values).changes),
        }
      },
    }
  }
}

/**
 * The package asks twice which C library this is: first by a report on the whole process, which takes as long as opening a database,
 * then, wherever that names none, by the system's own files. The first question goes unanswered.
 */
function load(): Libsql {
  const { report } = process
  const getReport = report.getReport.bind(report)
  report.getReport = () => {
    report.getReport = getReport
    return {}
  }
  try {
    return createRequire(import.meta.url)('libsql') as Libsql
  } finally {
    report.getReport = getReport
  }
}

function placeOf(path: string, mode: OpenMode): string {
  if (mode === 'read-write') return path
  return toSqliteUri(path, mode === 'immutable' ? 'mode=ro&immutable=1' : 'mode=ro')
}

/** Opening fails with SQLite's result code at the end of a sentence, and nowhere else. */
function open<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = /: (\d+)"\)$/.exec(messageOf(error))?.[1]
    throw Object.assign(new Error(messageOf(error), { cause: error }), code && { rawCode: Number(code) })
  }
}

function checkpoint(database: LibsqlDatabase): void {
  try {
    // Waiting for a reader would hold up everything in this process, for seconds.
    database.exec('PRAGMA busy_timeout = 0')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Somebody else is reading: they will do it.
  }
}
