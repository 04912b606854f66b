/**
 * What is kept of a database: its rows, never its file. An export appends the rows that are new or changed since the last one to a
 * file of JSON lines; what was deleted in the source stays, and older versions of a row stay in the file. Only the tables and rows
 * that are asked for are ever read: others may hold keys. A crash at any byte costs nothing that the next export does not write.
 */
import { fromSystemError } from '../errors.ts'
import type { RowsKept } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import type { SourceDatabase } from '../transcript/source.ts'
import { askSince } from './ask-since.ts'
import { exportAsked, type ExportedRows, NotKept, Stopped } from './export-rows.ts'
import type { RowsDamage } from './fill-rows.ts'
import type { RowsMemory } from './rows-memory.ts'

/** The file of a database's rows is called by the database's path and this. */
export const ROWS_SUFFIX = '.rows.jsonl'

/**
 * Brings the file at `path` (the rows' own, with its suffix) up to what the database holds now. Throws what the disk says. `memory`: of a
 * database that is followed, so that the next export asks only for what was written since.
 */
export async function exportRows(
  files: Files,
  path: string,
  database: SourceDatabase,
  rows: readonly RowsKept[],
  memory?: RowsMemory,
): Promise<ExportedRows> {
  const left = memory?.take(files, path)
  try {
    const mayAsk = left !== undefined && memory?.isDue(left) === false
    const since = mayAsk ? await askSince(database, rows, left, memory.live) : undefined
    const exported = await exportAsked(files, path, database, rows, { left, since, memory })
    if (exported !== undefined) return exported
  } catch (error) {
    left?.hashes.close()
    throw fromSystemError(error, path)
  }
  // What was noted of rows that were not written is not true.
  left?.hashes.close()
  const all = await exportAsked(files, path, database, rows, { memory }).catch((error: unknown) => {
    throw fromSystemError(error, path)
  })
  return all as ExportedRows
}

/**
 * Looks at all rows of a database that is followed, and writes nothing: true when each is kept as it is, and `memory` has what an export
 * would have left. When it is told to stop, what was left before stays.
 */
export async function lookThrough(
  files: Files,
  path: string,
  database: SourceDatabase,
  rows: readonly RowsKept[],
  memory: RowsMemory,
  signal?: AbortSignal,
): Promise<boolean> {
  const left = memory.take(files, path)
  try {
    return (
      (await exportAsked(files, path, database, rows, { left, memory, looking: { signal } })) !== undefined
    )
  } catch (error) {
    if (error instanceof NotKept) return false
    if (!(error instanceof Stopped)) throw fromSystemError(error, path)
    if (left !== undefined) memory.leave(left)
    return false
  }
}

/** The rows that an export holds, as the database they came from: the last version of each. */
export async function openRows(
  files: Files,
  path: string,
  damaged: (damage: RowsDamage) => void = () => {},
): Promise<SourceDatabase> {
  // SQLite is loaded only for a database.
  const { loadRows } = await import('./load-rows.ts')
  return loadRows(files, path, damaged)
}
