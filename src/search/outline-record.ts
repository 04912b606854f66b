/**
 * Entries from their own records: the bytes of a record given to its format as a file by itself. What comes out counts only when it is
 * the entry to the last character, by a checksum of the whole.
 */
import fs from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Archive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { loadFormat } from '../sources/load-format.ts'
import { readPart } from '../sources/read-part.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import { readOrigin } from '../sources/versions.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import { toSource } from './resolve-whole.ts'

export type Check = { readonly checksum: number; readonly length: number }

export function checkOf(entry: Entry): Check {
  const json = toJson(entry)
  return { checksum: crc32(json), length: json.length }
}

/** Where an entry's record lies and what the entry is called there. */
export type RecordPlace = Check & {
  readonly file: string
  readonly version: number | undefined
  readonly byteOffset: number
  readonly byteLength: number
  readonly record: number
  readonly source: string
  readonly sequence: number
}

const COMPRESSED = /\.(?:gz|gzip|zst|zstd|zip|tgz)$/i

/** Whether bytes in the middle of a file can be had without reading all before them. */
export async function isNear({ place, format }: SessionUnit, file: string): Promise<boolean> {
  if (format === JOURNAL) return true
  if (COMPRESSED.test(file) || !isPlainPath(file)) return false
  if (place.isKept) return true
  const stat = await fs.stat(join(place.root, file)).catch(() => undefined)
  return stat?.isFile() === true
}

function isPlainPath(file: string): boolean {
  return !file.startsWith('/') && !file.includes('\0') && file.split(/[\\/]/).every((part) => part !== '..')
}

/** Undefined when they are not there. Only where it `isNear`. */
export async function readBytes(
  archive: Archive,
  { place, format }: SessionUnit,
  origin: Pick<RecordPlace, 'file' | 'version' | 'byteOffset' | 'byteLength'>,
): Promise<Buffer | undefined> {
  const { agent, root, unit, isKept } = place
  const { file, version, ...part } = origin
  try {
    if (!isPlainPath(file)) return undefined
    if (format === JOURNAL) return await readPart(join(archive.sessionFolder(unit), file), part)
    if (!isKept) return await readPart(join(root, file), part)
    const kept = await readOrigin(openKept(archive).place(agent, root), {
      file,
      ...part,
      ...(version !== undefined && { version }),
    })
    const isWhole = kept !== undefined && kept.length === part.byteLength
    // What was appended a moment ago is not kept yet.
    return isWhole || version !== undefined ? kept : await readPart(join(root, file), part)
  } catch {
    return undefined
  }
}

/** The same from where the program wrote it, whatever is kept of it. */
export async function readInPlace(
  { place: { root } }: SessionUnit,
  { file, ...part }: Pick<RecordPlace, 'file' | 'byteOffset' | 'byteLength'>,
): Promise<Buffer | undefined> {
  return isPlainPath(file) ? readPart(join(root, file), part).catch(() => undefined) : undefined
}

/** `isInline`: large content is in its place before the entry is checked; else it stays where it is. */
export async function readAlone(
  archive: Archive,
  { format: id }: SessionUnit,
  place: RecordPlace,
  record: Buffer,
  isInline: boolean,
): Promise<Entry | undefined> {
  const format = await loadFormat(id)
  try {
    for await (const items of format.read(toSource(place.file, record))) {
      for (const item of items) {
        if (item.type !== 'entry') continue
        const whole = isInline && id === JOURNAL ? await resolveBlobs(item.entry, archive.blobs) : item.entry
        const entry = asPlaced(whole, place)
        if (entry !== undefined) return entry
      }
    }
  } catch {
    // It cannot be read alone.
  }
  return undefined
}

/** Under the name that it has among the others. */
export function asPlaced(entry: Entry, place: RecordPlace): Entry | undefined {
  const { source, sequence, file, version, byteOffset, byteLength, record } = place
  const origin = entry.origin && {
    ...entry.origin,
    file,
    record,
    byteOffset,
    byteLength,
    ...(version !== undefined && { version }),
  }
  const ids = new Set([entry.id, `${source}/${sequence}`])
  for (const id of ids) {
    const named: Entry = { ...entry, id, source, sequence, ...(origin && { origin }) }
    const { checksum, length } = checkOf(named)
    if (checksum === place.checksum && length === place.length) return named
  }
  return undefined
}
