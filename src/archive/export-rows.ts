/**
 * One pass over the rows of a database that are asked for: those that are new, or not as they were kept, are appended to the file of
 * kept rows, and what was seen is left for the next pass.
 */
import type { RowsKept } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import { readPart } from '../journal/read-part.ts'
import type { Row, SourceDatabase } from '../transcript/source.ts'
import { askAll, type Asked, rowsAsked } from './ask-since.ts'
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
import { type Appender, createAppender, tailOf } from './rows-appender.ts'
import type { Left, Mark, RowsMemory } from './rows-memory.ts'
import { createRowHashes, hashOf, hashOfPieces, type RowHashes, toHex } from './row-hashes.ts'

export type ExportedRows = {
  readonly bytesWritten: number
  /** Rows that were written: new ones, and those that changed. */
  readonly changed: number
  /** SHA-256 of the last 4 KB of the file, in hex. */
  readonly tail: string
}

/** Thrown while rows are looked at: something else is to be done, or one of them is not kept. */
export class Stopped extends Error {}
export class NotKept extends Error {}

const LOOKING: Appender = {
  add() {
    throw new NotKept()
  },
  addLong() {
    throw new NotKept()
  },
  end: () => 0,
  abandon() {},
}

export type Asking = {
  readonly left?: Left | undefined
  /** Absent: all rows are asked for. */
  readonly since?: Asked | undefined
  readonly memory?: RowsMemory | undefined
  /** Nothing is written. */
  readonly looking?: { readonly signal: AbortSignal | undefined }
}

/** Undefined, and nothing is written, where asking for some rows is not enough. */
export async function exportAsked(
  files: Files,
  path: string,
  database: SourceDatabase,
  rows: readonly RowsKept[],
  { left, since, memory, looking }: Asking,
): Promise<ExportedRows | undefined> {
  const appender = looking === undefined ? createAppender(files, path) : LOOKING
  const opened: RowHashes[] = []
  const openHashes = (): RowHashes => {
    const hashes = createRowHashes()
    opened.push(hashes)
    return hashes
  }
  const hashes = left?.hashes ?? createRowHashes()
  const marks = new Map<string, Mark>()
  const beganAt = Date.now()
  let changed = 0
  let isLeft = false
  try {
    const known = left?.declared ?? (await readKnown(files, path, hashes))
    const tables = new Set(database.tables())
    for (const { table, where, changedAt } of rows.filter((kept) => tables.has(kept.table))) {
      const columns = database.columns(table)
      const key = database.key(table)
      const declared = columnsLine({ table, columns, key })
      if (known.get(table) !== declared) appender.add(declared)
      known.set(table, declared)
      const number = memory && (await database.last?.(table))
      let latest = left?.marks.get(table)?.changedAt ?? 0
      const toLine = createLines({ table, columns, key }, openHashes)
      const asked = since?.get(table)
      // In a frame of its own: one that waits for more rows would hold on to the last, which may be of many MB.
      const take = (batch: readonly Row[]): boolean => {
        for (const row of batch) {
          const { name, parts, isNamed } = toLine(row)
          // Which of its equals it is, is known to who sees all of them.
          if (!isNamed && asked !== undefined) return false
          const at = changedAt === undefined ? undefined : row[changedAt]
          if (typeof at === 'number' && at > latest) latest = at
          const line = joined(parts)
          if (!hashes.note(name, line === undefined ? hashOfPieces(piecesOf(parts)) : hashOf(line))) continue
          if (line === undefined) appender.addLong(piecesOf(parts))
          else appender.add(line)
          changed += 1
          if (where?.heads !== undefined) memory?.live.note(table, where, row[where.column])
        }
        return true
      }
      for await (const batch of rowsAsked(database, table, asked?.() ?? askAll(where))) {
        if (!take(batch)) {
          appender.abandon()
          return undefined
        }
        if (looking?.signal?.aborted === true) throw new Stopped()
      }
      if (number !== undefined) marks.set(table, { number, changedAt: latest })
    }
    const bytesWritten = appender.end()
    const tail = tailOf(files, path)
    const bytes = files.identityAt(path)?.size
    if (memory !== undefined && bytes !== undefined) {
      const someSince = since === undefined ? undefined : (left?.someSince ?? beganAt)
      const wholeAt = since === undefined ? beganAt : (left?.wholeAt ?? beganAt)
      memory.leave({ hashes, declared: known, marks, bytes, tail, beganAt, wholeAt, someSince })
      isLeft = true
    }
    return { bytesWritten, changed, tail }
  } catch (error) {
    appender.abandon()
    // What was left before holds: no row was noted otherwise.
    isLeft = error instanceof Stopped && left !== undefined
    throw error
  } finally {
    for (const one of opened) one.close()
    if (!isLeft) hashes.close()
  }
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

/** `isNamed`: by its key, and not by what it holds. */
type ToLine = (row: Row) => {
  readonly name: string
  readonly parts: readonly LinePart[]
  readonly isNamed: boolean
}

function createLines({ table, columns, key }: Columns, openHashes: () => RowHashes): ToLine {
  let equals: RowHashes | undefined
  return (row) => {
    const parts = rowParts(columns, row)
    let named = keyOf(key, row)
    const isNamed = named !== undefined
    if (named === undefined) {
      equals ??= openHashes()
      const text = joined(parts)
      const hash = text === undefined ? hashOfPieces(piecesOf(parts)) : hashOf(text)
      named = contentKey(toHex(hash), equals.count(hash))
    }
    const name = rowName(table, named)
    return { name, parts: rowLine(name, parts), isNamed }
  }
}
