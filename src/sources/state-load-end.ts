/** The end of filling a state for the first time, by whoever filled it, or by the next after one who died of it. */
import type { Database } from '../sqlite/driver.ts'
import { CALLS_INDEXES } from './state-schema.ts'
import { prepared } from './state-statements.ts'

/** Looks calls up from here on, and puts in question what several passes, or several sessions of one, mention. */
export function endLoad(database: Database): void {
  if (!isLoading(database)) return
  database.transaction(() => {
    database.exec(CALLS_INDEXES)
    database.exec(
      'INSERT OR IGNORE INTO stale_calls SELECT key FROM calls WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1',
    )
    database.exec(`DELETE FROM facts WHERE name = 'loading'`)
  })
}

export function isLoading(database: Database): boolean {
  return prepared(database, `SELECT 1 FROM facts WHERE name = 'loading'`).get() !== undefined
}
