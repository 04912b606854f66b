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
import { readPart } from '../journal/read-part.ts'
import { readChunks } from './bytes.ts'
import { byteLines } from './byte-lines.ts'
import {
  columnsLine,
  contentKey,
  joined,
  keyOf,
  isColumnsLine,
  type LinePart,
  nameInBytes,
  nameInParts,
  parseColumns,
  piecesOf,
  rowLine,
  rowName,
  rowParts,
  type Columns,
} from './kept-row-lines.ts'
import type { RowsDamage } from './load-rows.ts'
import { createRowHashes, hashOf, hashOfPieces, type RowHashes, toHex } from './row-hashes.ts'

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
  const opened: RowHashes[] = []
  const openHashes = (): RowHashes => {
    const hashes = createRowHashes()
    opened.push(hashes)
    return hashes
  }
  let changed = 0
  try {
    const hashes = openHashes()
    const known = await readKnown(files, path, hashes)
    const tables = new Set(database.tables())
    for (const { table, where } of rows.filter((kept) => tables.has(kept.table))) {
      const columns = database.columns(table)
      const key = database.key(table)
      const declared = columnsLine({ table, columns, key })
      if (known.get(table) !== declared) appender.add(declared)
      known.set(table, declared)
      const toLine = createLines({ table, columns, key }, openHashes)
      // In a frame of its own: one that waits for more rows would hold on to the last, which may be of many MB.
      const take = (batch: readonly Row[]): void => {
        for (const row of batch) {
          const { name, parts } = toLine(row)
          const line = joined(parts)
          if (!hashes.note(name, line === undefined ? hashOfPieces(piecesOf(parts)) : hashOf(line))) continue
          if (line === undefined) appender.addLong(piecesOf(parts))
          else appender.add(line)
          changed += 1
        }
      }
      for await (const batch of rowsOf(database, table, where)) take(batch)
    }
    return { bytesWritten: appender.end(), changed, tail: tailOf(files, path) }
  } catch (error) {
    appender.abandon()
    throw fromSystemError(error, path)
  } finally {
    for (const hashes of opened) hashes.close()
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

/** Notes the rows of an export in the hashes. The lines that declare columns, by their tables. */
async function readKnown(files: Files, path: string, hashes: RowHashes): Promise<Map<string, string>> {
  const columns = new Map<string, string>()
  if (files.kind(path) === undefined) return columns
  const fd = files.openRead(path)
  try {
    for await (const lines of byteLines(readChunks(files, path), isColumnsLine)) {
      for (const { bytes, offset, length, isWhole } of lines) {
        if (!isWhole) continue
        const parts = (end: number): Generator<Buffer> => readPart(files, fd, offset, offset + end)
        const name = bytes === undefined ? nameInParts(parts(length))?.toString() : nameInBytes(bytes)
        if (name !== undefined)
          hashes.note(name, bytes === undefined ? hashOfPieces(parts(length)) : hashOf(bytes))
        else if (bytes !== undefined && isColumnsLine(bytes)) {
          const text = bytes.toString()
          const declared = parseColumns(text)
          if (declared !== undefined) columns.set(declared.table, text)
        }
      }
    }
  } finally {
    files.close(fd)
  }
  return columns
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

type ToLine = (row: Row) => { readonly name: string; readonly parts: readonly LinePart[] }

function createLines({ table, columns, key }: Columns, openHashes: () => RowHashes): ToLine {
  let equals: RowHashes | undefined
  return (row) => {
    const parts = rowParts(columns, row)
    let named = keyOf(key, row)
    if (named === undefined) {
      equals ??= openHashes()
      const text = joined(parts)
      const hash = text === undefined ? hashOfPieces(piecesOf(parts)) : hashOf(text)
      named = contentKey(toHex(hash), equals.count(hash))
    }
    const name = rowName(table, named)
    return { name, parts: rowLine(name, parts) }
  }
}

type Appender = {
  add(line: string): void
  /** A line of many MB, in pieces. */
  addLong(pieces: Iterable<string | Buffer>): void
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
      const bytes = Buffer.from(`${line}\n`)
      held.push(bytes)
      heldBytes += bytes.length
      if (heldBytes >= WRITE_BYTES) flush()
    },
    addLong(pieces) {
      flush()
      for (const piece of pieces) write(typeof piece === 'string' ? Buffer.from(piece) : piece)
      write(NEWLINE)
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
