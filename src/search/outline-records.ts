/** The records of rows that lie near each other in a file: their bytes, and the entries that are read out of them, had together. */
import { JOURNAL } from '../journal/format-id.ts'
import { loadFormat } from '../sources/load-format.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Names } from './outline-files.ts'
import type { Readable } from './outline-read.ts'
import { asPlaced, readBytes, type RecordPlace } from './outline-record.ts'
import type { OutlineRow } from './outline-row.ts'
import { toSource } from './resolve-whole.ts'

/** Records that lie near each other are read together. */
const TOGETHER_BYTES = 2 * 1024 * 1024
const GAP_BYTES = 64 * 1024

type Stretch = { readonly first: OutlineRow; start: number; end: number; rows: number }

export type Records = {
  /** The bytes of a row's record. */
  read(at: number): Promise<Buffer | undefined>
  /** Its entry as it comes out of those that lie around it: a reader for each takes longer than what it reads. */
  among(at: number): Promise<Entry | undefined>
}

export function createRecords(outline: Readable, rows: readonly OutlineRow[]): Records {
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

export function toPlace({ sources, files }: Names, row: OutlineRow): RecordPlace | undefined {
  const file = files[row.file - 1]
  const source = sources[row.source]
  if (file === undefined || source === undefined || row.byteLength === 0) return undefined
  return { ...row, file, source }
}
