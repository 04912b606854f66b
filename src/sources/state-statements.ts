/** Statements of the state, prepared once: a sync runs a few of them a million times, and preparing costs more than running. */
import type { Database, Statement } from '../sqlite/driver.ts'

const all = new WeakMap<Database, Map<string, Statement>>()

/** Only for SQL that is one of a few texts, and for `get`, `all` and `run`: two readers of `iterate` would share a place. */
export function prepared(database: Database, sql: string): Statement {
  const known = all.get(database) ?? new Map<string, Statement>()
  all.set(database, known)
  const statement = known.get(sql) ?? database.prepare(sql)
  known.set(sql, statement)
  return statement
}
