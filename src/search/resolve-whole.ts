/**
 * A hit's own bytes and its entry, from where they lie: the kept file, the journal, or the agent's own file. Of most logs a record
 * can be read alone; where what comes out is not what was indexed (a record that means something only among others, a row of a
 * database), the unit is read to it.
 */
import { posix, join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import { openKept } from '../archive/kept.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Redactor } from '../redact/redactor.ts'
import { loadFormat } from '../sources/load-format.ts'
import { readPart, type Part } from '../sources/read-part.ts'
import { readOrigin } from '../sources/versions.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { identityOf } from './entry-identity.ts'
import { asIndexed, type Located } from './located.ts'
import { readListed } from './read-listed.ts'
import { toSearched } from './searched-entry.ts'

/** The record that the entry was read from, uncompressed; undefined when there is none, or it is gone. */
export async function readRecord(archive: Archive, located: Located): Promise<Buffer | undefined> {
  const { unit, file, version, byteOffset, byteLength } = located
  const { agent, root, unit: name, isKept } = unit.place
  if (file === undefined || byteLength === 0 || byteLength > LARGEST_RECORD) return undefined
  const origin = { file, byteOffset, byteLength, ...(version !== undefined && { version }) }
  try {
    if (unit.format === JOURNAL) return await readPart(join(archive.sessionFolder(name), file), origin)
    if (isKept) return await readOrigin(openKept(archive).place(agent, root), origin)
    return await readInPlace(root, file, origin)
  } catch {
    return undefined
  }
}

/** As it was indexed, with its secrets; undefined when it is no longer there. */
export async function readWhole(
  archive: Archive,
  located: Located,
  redactor: Redactor,
): Promise<Entry | undefined> {
  let entry = await readByItself(archive, located)
  if (entry === undefined) await readAmongOthers([located], redactor, (_, found) => (entry = found))
  return entry
}

/** Undefined when its record says something else than among the others, or there is none. */
export async function readByItself(archive: Archive, located: Located): Promise<Entry | undefined> {
  const record = await readRecord(archive, located)
  return record && readAlone(archive, located, record)
}

/** Records beyond this are read with their unit: they are its larger part anyway. */
const LARGEST_RECORD = 256 * 1024 * 1024

/** Also of what is compressed, or lies in a repository. */
async function readInPlace(root: string, file: string, part: Part): Promise<Buffer | undefined> {
  const { openFiles } = await import('../sources/open-files.ts')
  const found = await (await openFiles(root, [])).find(file)
  if (found === undefined) return undefined
  const { byteOffset, byteLength } = part
  const parts: Buffer[] = []
  let at = 0
  for await (const chunk of found.chunks()) {
    parts.push(chunk.subarray(Math.max(0, byteOffset - at), Math.max(0, byteOffset + byteLength - at)))
    at += chunk.length
    if (at >= byteOffset + byteLength) break
  }
  return Buffer.concat(parts)
}

async function readAlone(archive: Archive, located: Located, record: Buffer): Promise<Entry | undefined> {
  const format = await loadFormat(located.unit.format)
  try {
    for await (const items of format.read(toSource(located.file ?? '', record))) {
      for (const item of items) {
        if (item.type !== 'entry') continue
        const whole = format.id === JOURNAL ? await resolveBlobs(item.entry, archive.blobs) : item.entry
        const entry = asIndexed(whole, located)
        if (entry !== undefined) return entry
      }
    }
  } catch {
    // It cannot be read alone.
  }
  return undefined
}

/** Those of one unit, in one pass over it that ends with the last of them, or when it is late; what is no longer there is passed over. */
export async function readAmongOthers(
  wanted: readonly Located[],
  redactor: Redactor,
  take: (located: Located, entry: Entry) => void,
  isLate: () => boolean = () => false,
): Promise<void> {
  const [first] = wanted
  if (first === undefined) return
  const left = new Map<number, Located[]>()
  for (const one of wanted) left.set(one.sequence, [...(left.get(one.sequence) ?? []), one])
  // What a source is called may have a secret in it, which the index does not have.
  const isSource = (entry: Entry, source: string): boolean =>
    entry.source === source || toSearched(entry, redactor).source === source
  for await (const entries of readListed(first.unit)) {
    if (isLate()) return
    for (const { key, entry } of entries) {
      const same = left.get(entry.sequence)
      const one = same?.find((each) => each.key === key && isSource(entry, each.source))
      if (same === undefined || one === undefined) continue
      if (same.length > 1) same.splice(same.indexOf(one), 1)
      else left.delete(entry.sequence)
      if (identityOf(entry) === one.identity) take(one, entry)
      // Whoever takes it may look for a pattern in it, which takes its time.
      if (left.size === 0 || isLate()) return
    }
  }
}

/** The record as a file by itself, under its own name. */
export function toSource(path: string, record: Buffer): Source {
  const file: SourceFile = {
    path: posix.basename(path),
    sizeBytes: record.length,
    modifiedAt: new Date(0).toISOString(),
    head: async (bytes) => record.subarray(0, bytes),
    async *chunks() {
      yield record
    },
    bytes: async () => record,
  }
  return { path, kind: 'file', list: async () => [file], find: async () => undefined }
}
