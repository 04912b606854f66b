/** The end of filling a state for the first time, by whoever filled it, or by the next after one who died of it. */
import type { Database } from '../sqlite/driver.ts'
import { hasPacked, unpackAll, unpackQuestioned } from './state-packed-calls.ts'
import { CALLS_INDEXES } from './state-schema.ts'
import { prepared } from './state-statements.ts'

/** Looks calls up from here on, and puts in question what several passes, or several sessions of one, mention. */
export function endLoad(database: Database): void {
  const how = howLoading(database)
  if (how === undefined) return
  if (hasPacked(database)) {
    // Made of all at once, indexes take a fraction of the time.
    database.transaction(() => dropIndexes(database))
    unpackAll(database)
  }
  database.transaction(() => {
    dropIndexes(database)
    database.exec(CALLS_INDEXES)
    if (how !== PACKED) questionShared(database)
    database.exec(`DELETE FROM facts WHERE name = 'loading'`)
  })
}

/**
 * The same, but for calls that stay packed: all but those that bills in question hang on, which can be settled from here on. `shared`: passes
 * with calls that are met elsewhere, too.
 */
export function settleLoad(database: Database, shared: ReadonlySet<number>): void {
  database.transaction(() => {
    unpackQuestioned(database, shared)
    database.exec(CALLS_INDEXES)
    questionShared(database)
    database.exec(
      hasPacked(database)
        ? `UPDATE facts SET value = '${PACKED}' WHERE name = 'loading'`
        : `DELETE FROM facts WHERE name = 'loading'`,
    )
  })
}

/** Of a state that is filled, and has calls that are not rows yet. */
const PACKED = 'packed'

export function dropIndexes(database: Database): void {
  for (const index of ['calls_once', 'calls_key', 'calls_billed'])
    database.exec(`DROP INDEX IF EXISTS ${index}`)
}

function questionShared(database: Database): void {
  database.exec(
    'INSERT OR IGNORE INTO stale_calls SELECT key FROM calls WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1',
  )
}

/** Also while calls are packed. */
export function isLoading(database: Database): boolean {
  return howLoading(database) !== undefined
}

function howLoading(database: Database): unknown {
  return prepared(database, `SELECT value FROM facts WHERE name = 'loading'`).get()?.['value']
}
