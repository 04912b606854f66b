/** What is kept of databases: the rows that count, below `rows/`, each file under its database's path. */
import { join } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { RowsKept } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import type { Damage } from '../transcript/damage.ts'
import { SQLITE_MAGIC, type SourceDatabase, type SourceFile } from '../transcript/source.ts'
import type { HeldRows } from './held-rows.ts'
import type { Kept } from './kept.ts'
import { ROWS_SUFFIX, exportRows, lookThrough, openRows } from './kept-rows.ts'
import type { RowsMemory } from './rows-memory.ts'
import { openTree } from './kept-tree.ts'

/** A database that is followed. */
export type LookedAt = {
  readonly database: SourceDatabase
  readonly rows: readonly RowsKept[]
  readonly memory: RowsMemory
}

export type RowsShelf = {
  keep(path: string, database: SourceDatabase, rows: readonly RowsKept[], memory?: RowsMemory): Promise<Kept>
  /** Whether all rows are kept as they are: see `lookThrough`. */
  isKept(path: string, looked: LookedAt, signal?: AbortSignal): Promise<boolean>
  /** Looks like a database, and is one by `database()` only: the file itself is not kept. `damaged`: told when its rows are loaded. */
  file(path: string, damaged?: (damage: Damage) => void): SourceFile | undefined
  /** Its rows, to be held while more come: see `HeldRows`. */
  hold(path: string): Promise<HeldRows | undefined>
  remove(path: string): void
  walk(): Generator<string>
}

export function openRowsShelf(files: Files, folder: string): RowsShelf {
  const tree = openTree(files, folder, join(folder, 'rows'))
  return {
    async keep(path, database, rows, memory) {
      const isNew = tree.find(path, ROWS_SUFFIX) === undefined
      try {
        const at = tree.make(path, ROWS_SUFFIX)
        const { bytesWritten, tail } = await exportRows(files, at, database, rows, memory)
        const change = bytesWritten === 0 ? 'none' : isNew ? 'new' : 'grown'
        return { change, bytesRead: bytesWritten, bytes: files.identityAt(at)?.size ?? 0, tail }
      } catch (error) {
        throw fromSystemError(error, path)
      }
    },
    async isKept(path, { database, rows, memory }, signal) {
      const at = tree.find(path, ROWS_SUFFIX)
      return at !== undefined && lookThrough(files, at, database, rows, memory, signal)
    },
    file(path, damaged) {
      const at = tree.find(path, ROWS_SUFFIX)
      const identity = at === undefined ? undefined : files.identityAt(at)
      if (at === undefined || identity === undefined) return undefined
      const magic = Buffer.from(SQLITE_MAGIC)
      return {
        path,
        sizeBytes: identity.size,
        modifiedAt: new Date(Math.round(identity.modified ?? 0)).toISOString(),
        head: async (bytes) => magic.subarray(0, bytes),
        async *chunks() {
          yield magic
        },
        bytes: async () => magic,
        database: () => openRows(files, at, (damage) => damaged?.({ file: path, ...damage })),
      }
    },
    async hold(path) {
      const at = tree.find(path, ROWS_SUFFIX)
      if (at === undefined) return undefined
      const { holdRows } = await import('./held-rows.ts')
      return holdRows(files, at)
    },
    remove(path) {
      const at = tree.find(path, ROWS_SUFFIX)
      if (at !== undefined) files.remove(at)
    },
    walk: () => tree.walk(ROWS_SUFFIX),
  }
}
