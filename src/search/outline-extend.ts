/**
 * An outline of a log that has grown, without reading what was there: its last rows are read again together with what follows them, and
 * where those come out as they were known, what follows them is added. What only the whole can tell (a call that was counted long
 * before) is put right when the session is next read through. Undefined where it has to be read through now.
 */
import { statSync } from 'node:fs'
import fs from 'node:fs/promises'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import type { ReadItem } from '../formats/format.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { loadFormat } from '../sources/load-format.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import { hasOwnId, type Entry } from '../transcript/entry.ts'
import { createOutlineFold } from './outline-fold.ts'
import { rowsPath, type Note, type OutlineFolder, type OutlineNote } from './outline-files.ts'
import { asPlaced, isNear, readAlone, readBytes, readInPlace } from './outline-record.ts'
import { readRows } from './outline-read.ts'
import { toPlace } from './outline-records.ts'
import { ROW_BYTES, writeRow, type OutlineRow } from './outline-row.ts'
import { toSource } from './resolve-whole.ts'

export type Growth = {
  readonly before: OutlineNote
  readonly units: readonly SessionUnit[]
  /** Bytes of the log where it lies, when that is more than sync knows. */
  readonly grownTo?: number
  readonly fold: Omit<Parameters<typeof createOutlineFold>[0], 'names' | 'from'>
}

/** Rows that are read again; what a record needs of those before it is mostly among them. */
const AGAIN = 64
/** More that is new is read with the whole, in a process of its own. */
const MOST_BYTES = 16 * 1024 * 1024

export async function extendOutline(
  archive: Archive,
  at: OutlineFolder,
  { before, units, grownTo, fold: facts }: Growth,
): Promise<Note | undefined> {
  const unit = growing(units, before)
  if (unit === undefined || before.length === 0) return undefined
  const first = Math.max(0, before.length - AGAIN)
  const base = first === 0 ? [] : await readRows({ ...at, ...before }, first - 1, first)
  const known = await readRows({ ...at, ...before }, first, before.length)
  const last = known.at(-1)
  if (last === undefined || known.some(({ copy, version }) => copy !== undefined || version !== undefined))
    return undefined
  const start = known[0]?.byteOffset ?? 0
  const bytes = await readFrom(archive, unit, { start, end: last.byteOffset + last.byteLength, grownTo })
  if (bytes === undefined) return undefined
  const items = await readPart(unit, bytes)
  const seen = items && place(items, known, { before, start })
  if (seen === undefined) return undefined

  const fold = createOutlineFold({ ...facts, names: before, from: { note: before, first, row: base[0] } })
  const all: OutlineRow[] = []
  for (const { item, isNew } of seen) {
    const row = fold.take(item, 0, isNew)
    if (row !== undefined) all.push(row)
  }
  const rows = putRight(all, known)
  if (rows === undefined) return undefined
  const names = fold.names()
  for (const row of rows) {
    const record = bytes.subarray(row.byteOffset - start, row.byteOffset - start + row.byteLength)
    const own = toPlace(names, row)
    if (own === undefined || !(await readAlone(archive, unit, own, record, false))) return undefined
  }
  await writeRows(at, before, rows)
  const { basis, copyBytes, generation, isInline } = before
  return { ...fold.end(), basis, copyBytes, generation, isInline, isExtended: true }
}

/** One log of lines, of which there is one version. */
function growing(units: readonly SessionUnit[], { files, isInline }: OutlineNote): SessionUnit | undefined {
  const [unit] = units
  if (unit === undefined || units.length > 1 || isInline || unit.format === JOURNAL) return undefined
  return unit.place.paths.length === 1 && files.length === 1 ? unit : undefined
}

type Span = { readonly start: number; readonly end: number; readonly grownTo: number | undefined }

/** Whole lines from the first of the known rows on. Of what is not kept yet, from where it lies, if that goes on from what is kept. */
async function readFrom(
  archive: Archive,
  unit: SessionUnit,
  { start, end, grownTo }: Span,
): Promise<Buffer | undefined> {
  const { agent, root, paths, isKept } = unit.place
  const [file = ''] = paths
  if (!(await isNear(unit, file))) return undefined
  const kept = isKept ? openKept(archive).place(agent, root) : undefined
  if (kept !== undefined && kept.versions(file).length > 0) return undefined
  const size = grownTo ?? kept?.file(file)?.sizeBytes ?? unit.bytes
  if (size < end || size - start > MOST_BYTES) return undefined
  const part = { file, version: undefined, byteOffset: start, byteLength: size - start }
  const bytes = grownTo === undefined ? await readBytes(archive, unit, part) : await readInPlace(unit, part)
  if (bytes === undefined || bytes.length < end - start) return undefined
  if (grownTo !== undefined && kept !== undefined) {
    // As far as it is kept, it is the same; what was added before may not be kept yet either.
    const same = await kept.readAt(file, undefined, start, end - start).catch(() => undefined)
    if (same === undefined || same.length === 0 || !same.equals(bytes.subarray(0, same.length)))
      return undefined
  }
  // A line that is still being written is not there yet.
  return bytes.subarray(0, Math.max(end - start, bytes.lastIndexOf(0x0a) + 1))
}

async function readPart(unit: SessionUnit, bytes: Buffer): Promise<readonly ReadItem[] | undefined> {
  const format = await loadFormat(unit.format)
  const items: ReadItem[] = []
  let sessions = 0
  let name: string | undefined
  for await (const some of format.read(toSource(unit.place.paths[0] ?? '', bytes)))
    for (const item of some) {
      items.push(item)
      if (item.type !== 'session' || item.session.id === name) continue
      name = item.session.id
      sessions += 1
    }
  return sessions > 1 ? undefined : items
}

type Placed = { readonly item: ReadItem; readonly isNew: boolean }

/** Under the names that they have among all others; undefined when what was known does not come out of it. */
function place(
  items: readonly ReadItem[],
  known: readonly OutlineRow[],
  { before, start }: { readonly before: OutlineNote; readonly start: number },
): readonly Placed[] | undefined {
  const last = known.at(-1) as OutlineRow
  const entries = items.flatMap((item) => (item.type === 'entry' ? [item.entry] : []))
  const end = entries.findLastIndex(
    ({ origin }) => origin !== undefined && origin.byteOffset + start === last.byteOffset,
  )
  const lead = end - known.length + 1
  const shift = last.record - (entries[end]?.origin?.record ?? 0)
  if (end < 0 || lead < 0) return undefined
  const next = new Map(before.sources.map((source, number) => [source, before.perSource[number] ?? 0]))
  const seen: Placed[] = []
  let number = -1
  for (const item of items) {
    if (item.type === 'damage') {
      const byteOffset = item.damage.byteOffset + start
      seen.push({ item: { type: 'damage', damage: { ...item.damage, byteOffset } }, isNew: true })
    } else if (item.type === 'session') seen.push({ item, isNew: false })
    else {
      number += 1
      if (number < lead) continue
      const row = known[number - lead]
      const entry =
        row === undefined
          ? moved(item.entry, next, { start, shift, file: before.files[0] ?? '' })
          : asKnown(item.entry, row, before)
      if (entry === undefined) return undefined
      seen.push({ item: { type: 'entry', entry }, isNew: row === undefined })
    }
  }
  return seen
}

function asKnown(entry: Entry, row: OutlineRow, names: OutlineNote): Entry | undefined {
  const own = toPlace(names, row)
  return own && asPlaced(entry, own)
}

/** One that is new: counted on. What is named by its place in the file has another name there. */
function moved(
  entry: Entry,
  next: Map<string, number>,
  { start, shift, file }: { readonly start: number; readonly shift: number; readonly file: string },
): Entry | undefined {
  const { origin, source } = entry
  if (origin === undefined || !hasOwnId(entry)) return undefined
  const sequence = next.get(source) ?? 0
  next.set(source, sequence + 1)
  const { record, byteOffset } = origin
  return {
    ...entry,
    sequence,
    origin: { ...origin, file, record: record + shift, byteOffset: byteOffset + start },
  }
}

/**
 * What is new, summed on. A call of which a part lies before what was read again counts double in all that was read: by the same amount
 * in each row, which is taken off.
 */
function putRight(
  all: readonly OutlineRow[],
  known: readonly OutlineRow[],
): readonly OutlineRow[] | undefined {
  const off = (at: number): Off | undefined => {
    const [now, was] = [all[at], known[at]]
    if (now === undefined || was === undefined) return undefined
    return {
      pico: now.pico - was.pico,
      calls: now.calls.map((calls, of) => calls - (was.calls[of] ?? 0)),
      counts: now.counts.map((count, of) => moreThan(was.counts[of], count)),
    }
  }
  const last = off(known.length - 1)
  if (last === undefined || last.counts.some(Number.isNaN)) return undefined
  for (let at = known.length >> 1; at < known.length; at += 1) {
    const own = off(at)
    if (own === undefined || !isSameOff(own, last)) return undefined
  }
  return all.slice(known.length).map((row) => ({
    ...row,
    pico: row.pico - last.pico,
    calls: row.calls.map((calls, of) => calls - (last.calls[of] ?? 0)),
    counts: row.counts.map((count, of) => (count === undefined ? count : count - (last.counts[of] ?? 0))),
  }))
}

type Off = { readonly pico: bigint; readonly calls: readonly number[]; readonly counts: readonly number[] }

/** No number where only one of them is known. */
function moreThan(was: number | undefined, now: number | undefined): number {
  if (was === undefined && now === undefined) return 0
  return (now ?? Number.NaN) - (was ?? Number.NaN)
}

const isSameOff = (a: Off, b: Off): boolean =>
  a.pico === b.pico &&
  a.calls.every((calls, of) => calls === b.calls[of]) &&
  a.counts.every((count, of) => count === b.counts[of])

/** After those that count: who reads the outline as it was does not see them. */
async function writeRows(at: OutlineFolder, before: OutlineNote, rows: readonly OutlineRow[]): Promise<void> {
  if (rows.length === 0) return
  const bytes = Buffer.alloc(rows.length * ROW_BYTES)
  rows.forEach((row, number) => writeRow(bytes, number * ROW_BYTES, row))
  const handle = await fs.open(rowsPath(at, before.generation), 'r+')
  try {
    await handle.write(bytes, 0, bytes.length, before.length * ROW_BYTES)
  } finally {
    await handle.close()
  }
}

/** Bytes of the log as it lies now; undefined where it is not one that can be added to. */
export function sizeInPlace({ place: { root, paths }, format }: SessionUnit): number | undefined {
  const [path] = paths
  if (format === JOURNAL || path === undefined || paths.length > 1) return undefined
  const stat = statSync(join(root, path), { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : undefined
}
