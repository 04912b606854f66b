/**
 * What is kept of a database: its rows, never its file. An export appends the rows that are new or changed since the last one to a
 * file of JSON lines; what was deleted in the source stays, and older versions of a row stay in the file. Only the tables and rows
 * that are asked for are ever read: others may hold keys. A crash at any byte costs nothing that the next export does not write.
 */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { RowsKept } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import type { Row, RowOptions, SourceDatabase } from '../transcript/source.ts'
import { readChunks } from './bytes.ts'
import { wholeByteLines } from './byte-lines.ts'
import {
  columnsLine,
  contentKey,
  keyOf,
  isColumnsLine,
  nameInBytes,
  parseColumns,
  rowLine,
  rowName,
  rowParts,
} from './kept-row-lines.ts'
import { createRowHashes, hashOf, hashOfParts, isLong, type RowHashes, toHex } from './row-hashes.ts'

/** The file of a database's rows is called by the database's path and this. */
export const ROWS_SUFFIX = '.rows.jsonl'

export type ExportedRows = {
  readonly bytesWritten: number
  /** Rows that were written: new ones, and those that changed. */
  readonly changed: number
  /** SHA-256 of the last 4 KB of the file, in hex. */
  readonly tail: string
}

const WRITE_BYTES = 1024 * 1024
const TAIL_BYTES = 4096
const NEWLINE = Buffer.from('\n')

/** Brings the file at `path` (the rows' own, with its suffix) up to what the database holds now. Throws what the disk says. */
export async function exportRows(
  files: Files,
  path: string,
  database: SourceDatabase,
  rows: readonly RowsKept[],
): Promise<ExportedRows> {
  const appender = createAppender(files, path)
  let changed = 0
  try {
    const { hashes, columns: known } = await readKnown(files, path)
    const tables = new Set(database.tables())
    for (const { table, where } of rows.filter((kept) => tables.has(kept.table))) {
      const columns = database.columns(table)
      const key = database.key(table)
      const declared = columnsLine({ table, columns, key })
      if (known.get(table) !== declared) appender.add([declared])
      known.set(table, declared)
      const toLine = createLines(table, columns, key)
      for await (const batch of rowsOf(database, table, where)) {
        for (const row of batch) {
          const { name, line } = toLine(row)
          if (!hashes.note(name, hashOfParts(line))) continue
          appender.add(line)
          changed += 1
        }
      }
    }
    return { bytesWritten: appender.end(), changed, tail: tailOf(files, path) }
  } catch (error) {
    appender.abandon()
    throw fromSystemError(error, path)
  }
}

/** The rows that an export holds, as the database they came from: the last version of each. */
export async function openRows(
  files: Files,
  path: string,
  damaged: (reason: string) => void = () => {},
): Promise<SourceDatabase> {
  // SQLite is loaded only for a database.
  const { loadRows } = await import('./load-rows.ts')
  return loadRows(files, path, damaged)
}

type Known = { readonly hashes: RowHashes; readonly columns: Map<string, string> }

async function readKnown(files: Files, path: string): Promise<Known> {
  const hashes = createRowHashes()
  const columns = new Map<string, string>()
  if (files.kind(path) === undefined) return { hashes, columns }
  for await (const lines of wholeByteLines(readChunks(files, path))) {
    for (const line of lines) {
      const name = nameInBytes(line)
      if (name !== undefined) hashes.note(name, hashOf(line))
      else if (isColumnsLine(line)) {
        const text = line.toString()
        const declared = parseColumns(text)
        if (declared !== undefined) columns.set(declared.table, text)
      }
    }
  }
  return { hashes, columns }
}

async function* rowsOf(
  database: SourceDatabase,
  table: string,
  where: RowsKept['where'],
): AsyncGenerator<readonly Row[]> {
  const parts: readonly RowOptions[] =
    where === undefined ? [{}] : where.prefixes.map((prefix) => ({ where: { column: where.column, prefix } }))
  for (const options of parts) yield* database.rows(table, options)
}

type ToLine = (row: Row) => { readonly name: string; readonly line: readonly string[] }

function createLines(table: string, columns: readonly string[], key: readonly string[]): ToLine {
  let equals: RowHashes | undefined
  return (row) => {
    const parts = rowParts(columns, row)
    let named = keyOf(key, row)
    if (named === undefined) {
      equals ??= createRowHashes()
      const hash = hashOfParts(parts)
      named = contentKey(toHex(hash), equals.count(hash))
    }
    const name = rowName(table, named)
    return { name, line: rowLine(name, parts) }
  }
}

type Appender = {
  /** A line, in parts. */
  add(line: readonly string[]): void
  /** Writes what is held and makes it last; how many bytes were written in all. */
  end(): number
  /** Takes back what was not made to last. */
  abandon(): void
}

/** Opens the file when there is something to write: a second export of the same rows leaves it alone. */
function createAppender(files: Files, path: string): Appender {
  let opened: { readonly fd: number; readonly size: number; readonly isNew: boolean } | undefined
  let held: Buffer[] = []
  let heldBytes = 0
  let written = 0

  const open = (): number => {
    if (opened !== undefined) return opened.fd
    files.makeFolder(dirname(path))
    const isNew = files.kind(path) === undefined
    const size = isNew ? 0 : wholeBytes(files, path)
    const fd = files.openAppend(path, isNew ? 'new' : 'old')
    opened = { fd, size, isNew }
    if (files.size(fd) > size) files.truncate(fd, size)
    return fd
  }
  const write = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) at += files.write(open(), bytes, at, bytes.length - at)
    written += bytes.length
  }
  const flush = (): void => {
    const bytes = Buffer.concat(held)
    held = []
    heldBytes = 0
    write(bytes)
  }
  return {
    add(line) {
      if (isLong(line)) {
        flush()
        for (const part of line) write(Buffer.from(part))
        write(NEWLINE)
        return
      }
      const bytes = Buffer.from(`${line.join('')}\n`)
      held.push(bytes)
      heldBytes += bytes.length
      if (heldBytes >= WRITE_BYTES) flush()
    },
    end() {
      if (heldBytes > 0) flush()
      if (opened === undefined) return 0
      files.datasync(opened.fd)
      files.close(opened.fd)
      if (opened.isNew) files.syncFolder(dirname(path))
      opened = undefined
      return written
    },
    abandon() {
      if (opened === undefined) return
      // After a failed sync the disk may hold other bytes than are read back: they are written again the next time.
      try {
        files.truncate(opened.fd, opened.size)
      } catch {
        // The next export takes back the line that is torn.
      }
      try {
        files.close(opened.fd)
      } catch {
        // The descriptor is gone either way.
      }
      opened = undefined
    },
  }
}

/** Where the last whole line ends: what a crash left behind it is no row. */
function wholeBytes(files: Files, path: string): number {
  const fd = files.openRead(path)
  try {
    const block = Buffer.alloc(64 * 1024)
    for (let end = files.size(fd); end > 0;) {
      const from = Math.max(0, end - block.length)
      const length = files.read(fd, block.subarray(0, end - from), from)
      const newline = block.subarray(0, length).lastIndexOf(0x0a)
      if (newline !== -1) return from + newline + 1
      end = from
    }
    return 0
  } finally {
    files.close(fd)
  }
}

function tailOf(files: Files, path: string): string {
  const hash = createHash('sha256')
  if (files.kind(path) === undefined) return hash.digest('hex')
  const fd = files.openRead(path)
  try {
    const size = files.size(fd)
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
    const length = files.read(fd, tail, size - tail.length)
    return hash.update(tail.subarray(0, length)).digest('hex')
  } finally {
    files.close(fd)
  }
}
