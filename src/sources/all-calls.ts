/** Where single calls are asked for, while some of them may still be packed. */
import type { Database } from '../sqlite/driver.ts'
import { copyPacked, hasPacked } from './state-packed-calls.ts'

/** The name of what has all of them: the table with its indexes, as soon as it has. */
export function allCalls(database: Database): 'calls' | 'all_calls' {
  if (!hasPacked(database)) return 'calls'
  copyPacked(database)
  return 'all_calls'
}
