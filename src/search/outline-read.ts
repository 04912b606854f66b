/** Entries of an outline by position: from a copy, from their own records, or else from reading the session up to them. */
import fs from 'node:fs/promises'
import type { Archive } from '../archive/archive.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { loadFormat } from '../sources/load-format.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import type { Entry } from '../transcript/entry.ts'
import { openCopies } from './outline-copies.ts'
import { copiesPath, rowsPath, type Names, type OutlineFolder } from './outline-files.ts'
import { asPlaced, checkOf, readAlone, readBytes, type RecordPlace } from './outline-record.ts'
import { readRow, ROW_BYTES, type OutlineRow } from './outline-row.ts'
import { toSource } from './resolve.ts'
import { redactorOf } from './searched-entry.ts'

export type OutlineEntry = {
  readonly position: number
  readonly row: OutlineRow
  /** Without secrets; undefined when its record is no longer there. */
  readonly entry: Entry | undefined
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
    readAll(): AsyncIterable<Entry>
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
      yield { position, row, entry: whole && redactor.entry(whole) }
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

export function toPlace({ sources, files }: Names, row: OutlineRow): RecordPlace | undefined {
  const file = files[row.file - 1]
  const source = sources[row.source]
  if (file === undefined || source === undefined || row.byteLength === 0) return undefined
  return { ...row, file, source }
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
/** Records that lie near each other are read together. */
const TOGETHER_BYTES = 2 * 1024 * 1024
const GAP_BYTES = 64 * 1024

type Stretch = { readonly first: OutlineRow; start: number; end: number; rows: number }

type Records = {
  /** The bytes of a row's record. */
  read(at: number): Promise<Buffer | undefined>
  /** Its entry as it comes out of those that lie around it: a reader for each takes longer than what it reads. */
  among(at: number): Promise<Entry | undefined>
}

function createRecords(outline: Readable, rows: readonly OutlineRow[]): Records {
  const stretches: Stretch[] = []
  const stretchOf = rows.map((row) => {
    if (row.copy !== undefined || row.byteLength === 0) return -1
    const last = stretches.at(-1)
    const end = row.byteOffset + row.byteLength
    if (last !== undefined && isNextTo(last, row, end)) {
      last.end = Math.max(last.end, end)
      last.start = Math.min(last.start, row.byteOffset)
      last.rows += 1
    } else stretches.push({ first: row, start: row.byteOffset, end, rows: 1 })
    return stretches.length - 1
  })
  let held: { readonly number: number; readonly bytes: Buffer | undefined } | undefined
  let found: { readonly number: number; readonly entries: ByOffset } | undefined
  const own: Records = {
    async among(at) {
      const number = stretchOf[at] ?? -1
      const stretch = stretches[number]
      const row = rows[at]
      if (stretch === undefined || row === undefined || stretch.rows < FEW) return undefined
      if (found?.number !== number) {
        await own.read(at)
        const unit = outline.units[row.unit]
        const file = outline.files[row.file - 1]
        const isReadable = held?.bytes !== undefined && unit !== undefined && file !== undefined
        found = { number, entries: isReadable ? await readStretch(outline, unit, file, held?.bytes) : NONE }
      }
      const place = toPlace(outline, row)
      for (const entry of found.entries.get(row.byteOffset - stretch.start) ?? []) {
        const placed = place && asPlaced(entry, place)
        if (placed !== undefined) return placed
      }
      return undefined
    },
    async read(at) {
      const number = stretchOf[at] ?? -1
      const stretch = stretches[number]
      const row = rows[at]
      if (stretch === undefined || row === undefined) return undefined
      if (held?.number !== number) {
        const place = toPlace(outline, stretch.first)
        const unit = outline.units[stretch.first.unit]
        const part = { byteOffset: stretch.start, byteLength: stretch.end - stretch.start }
        held = {
          number,
          bytes: place && unit && (await readBytes(outline.archive, unit, { ...place, ...part })),
        }
      }
      const start = row.byteOffset - stretch.start
      return held.bytes?.subarray(start, start + row.byteLength)
    },
  }
  return own
}

/** Entries of a stretch by where their record begins in it. */
type ByOffset = ReadonlyMap<number, readonly Entry[]>

const NONE: ByOffset = new Map()
/** Fewer are read one by one. */
const FEW = 4

async function readStretch(
  { isInline }: Readable,
  { format: id }: SessionUnit,
  file: string,
  bytes: Buffer = Buffer.alloc(0),
): Promise<ByOffset> {
  // Large content of a journal is put in its place entry by entry.
  if (id === JOURNAL && isInline) return NONE
  const entries = new Map<number, Entry[]>()
  try {
    const format = await loadFormat(id)
    for await (const items of format.read(toSource(file, bytes)))
      for (const item of items) {
        const at = item.type === 'entry' ? item.entry.origin?.byteOffset : undefined
        if (item.type !== 'entry' || at === undefined) continue
        const same = entries.get(at)
        if (same === undefined) entries.set(at, [item.entry])
        else same.push(item.entry)
      }
  } catch {
    // Each by itself, then.
  }
  return entries
}

function isNextTo(last: Stretch, row: OutlineRow, end: number): boolean {
  const { first } = last
  const isSameFile = first.unit === row.unit && first.file === row.file && first.version === row.version
  const isClose = row.byteOffset >= last.start && row.byteOffset - last.end <= GAP_BYTES
  return isSameFile && isClose && end - last.start <= TOGETHER_BYTES
}

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
