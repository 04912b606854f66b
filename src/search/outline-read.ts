/** Entries of an outline by position: from a copy, from their own records, or else from reading the session up to them. */
import fs from 'node:fs/promises'
import type { Archive } from '../archive/archive.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import type { Entry } from '../transcript/entry.ts'
import { openCopies } from './outline-copies.ts'
import { createRecords, toPlace } from './outline-records.ts'
import { copiesPath, rowsPath, type Names, type OutlineFolder } from './outline-files.ts'
import { checkOf, readAlone, readBytes } from './outline-record.ts'
import { readRow, ROW_BYTES, type OutlineRow } from './outline-row.ts'
import { toShown, type ReadEntriesOptions } from './outline-trim.ts'
import { redactorOf } from './searched-entry.ts'

export type OutlineEntry = {
  readonly position: number
  readonly row: OutlineRow
  /** Without secrets; undefined when its record is no longer there. */
  readonly entry: Entry | undefined
  /** Bytes of texts that were cut, by their paths. */
  readonly lengths?: ReadonlyMap<string, number>
}

/** What is there to read from, at one moment. */
export type Readable = Names &
  OutlineFolder & {
    readonly archive: Archive
    readonly generation: string
    readonly length: number
    readonly isInline: boolean
    readonly units: readonly SessionUnit[]
    /** All entries in order, with secrets, for those that cannot be had otherwise. */
    readonly readAll: () => AsyncIterable<Entry>
  }

export async function readRows(
  outline: OutlineFolder & { readonly generation: string },
  from: number,
  to: number,
): Promise<readonly OutlineRow[]> {
  if (to <= from) return []
  const bytes = await readRowBytes(outline, from, to)
  return Array.from({ length: Math.floor(bytes.length / ROW_BYTES) }, (_, at) =>
    readRow(bytes, at * ROW_BYTES),
  )
}

export async function readRowBytes(
  outline: OutlineFolder & { readonly generation: string },
  from: number,
  to: number,
): Promise<Buffer> {
  const handle = await fs.open(rowsPath(outline, outline.generation), 'r')
  try {
    const size = (to - from) * ROW_BYTES
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, from * ROW_BYTES)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** In order; one at a time, for each may be large. */
export async function* readEntries(
  outline: Readable,
  from: number,
  to: number,
  { longest = Number.POSITIVE_INFINITY }: ReadEntriesOptions = {},
): AsyncGenerator<OutlineEntry> {
  const rows = await readRows(outline, from, Math.min(to, outline.length))
  const { archive } = outline
  const redactor = redactorOf(archive)
  const copies = openCopies(copiesPath(outline, outline.generation))
  const records = createRecords(outline, rows)
  let among: ReadonlyMap<number, Entry> | undefined
  try {
    for (const [at, row] of rows.entries()) {
      const position = from + at
      let found =
        row.copy === undefined
          ? ((await records.among(at)) ?? (await readOwn(outline, row, () => records.read(at))))
          : await copies.read(row.copy).catch(() => undefined)
      if (found === undefined) {
        among ??= await readAmong(outline, position, from + rows.length, rows.slice(at))
        found = among.get(position)
      }
      const whole = found && !outline.isInline ? await resolveBlobs(found, archive.blobs) : found
      yield { position, row, ...toShown(whole, longest, redactor) }
    }
  } finally {
    await copies.close()
  }
}

/** The record of one entry as it lies, with secrets; undefined for what has none, and for what is gone. */
export async function readRecordBytes(outline: Readable, row: OutlineRow): Promise<Buffer | undefined> {
  const place = toPlace(outline, row)
  const unit = outline.units[row.unit]
  if (place === undefined || unit === undefined) return undefined
  return readBytes(outline.archive, unit, place)
}

async function readOwn(
  outline: Readable,
  row: OutlineRow,
  read: () => Promise<Buffer | undefined>,
): Promise<Entry | undefined> {
  const place = toPlace(outline, row)
  const unit = outline.units[row.unit]
  if (place === undefined || unit === undefined || row.byteLength > LARGEST_RECORD) return undefined
  const record = await read()
  return record && readAlone(outline.archive, unit, place, record, outline.isInline)
}

/** Records beyond this are read with their session: they are its larger part anyway. */
const LARGEST_RECORD = 256 * 1024 * 1024
/** Entries that mean something only among others, by position. Those that turn out to be others are not here. */
async function readAmong(
  outline: Readable,
  from: number,
  to: number,
  rows: readonly OutlineRow[],
): Promise<ReadonlyMap<number, Entry>> {
  const found = new Map<number, Entry>()
  let position = 0
  try {
    for await (const entry of outline.readAll()) {
      const row = rows[position - from]
      if (row !== undefined && checkOf(entry).checksum === row.checksum) found.set(position, entry)
      position += 1
      if (position >= to) break
    }
  } catch {
    // Gone meanwhile: what was found is all there is.
  }
  return found
}
