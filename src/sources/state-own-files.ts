/** Files that this program wrote beside its journals, as the units of journals say. */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from './state-statements.ts'

export type OwnFiles = {
  /** Files that a journal's unit says this program wrote, absolute. */
  own(unit: number, paths: readonly string[]): void
  isOwn(path: string): boolean
  /** Whether there is any such file. */
  hasOwn(): boolean
  /** The recorded sessions that wrote a file of this name, in turn. */
  writersOf(path: string): readonly string[]
}

export function openOwnFiles(database: Database): OwnFiles {
  return {
    own(unit, paths) {
      prepared(database, 'DELETE FROM own_files WHERE unit = ?').run(unit)
      const add = prepared(database, 'INSERT OR REPLACE INTO own_files (path, unit) VALUES (?, ?)')
      for (const path of paths) add.run(path, unit)
    },
    hasOwn: () => prepared(database, 'SELECT 1 FROM own_files LIMIT 1').get() !== undefined,
    isOwn: (path) => prepared(database, 'SELECT 1 FROM own_files WHERE path = ?').get(path) !== undefined,
    writersOf: (path) =>
      prepared(
        database,
        'SELECT units.path FROM own_files JOIN units ON units.id = own_files.unit WHERE own_files.path = ?',
      )
        .all(path)
        .map((row) => String(row['path'])),
  }
}
