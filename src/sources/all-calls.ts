/** Where single calls are asked for, while some of them may still be packed. */
import type { Database } from '../sqlite/driver.ts'

/** The name of what has all of them: the table with its indexes, as soon as it has. */
export function allCalls(database: Database): 'calls' | 'all_calls' {
  const row = database.prepare('SELECT EXISTS (SELECT 1 FROM packed_calls) AS packed').get()
  return row?.['packed'] === 1 ? 'all_calls' : 'calls'
}
