/**
 * A JSON document that is one object around a list, out of its bytes: the members, the list's elements with their places, and
 * what is damaged. A document that is cut off gives every element that is whole.
 */
import { isUtf8 } from 'node:buffer'
import { isHansardError, systemCode } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { parsePart, scanMembers, skipSpace, type Extent } from './devflow/scan.ts'
import { readTurns, type RawTurn } from './devflow/turn-list.ts'

export type ListDocument = {
  readonly members: JsonObject
  /** Undefined when the document has no such list. */
  readonly elements: readonly RawTurn[] | undefined
  readonly damage: readonly Damage[]
  readonly sizeBytes: number
  /** Another object stands behind the end: the file is lines, not a document. */
  readonly isLines: boolean
}

/** Held in memory whole, and far above what a conversation comes to. */
const DOCUMENT_LIMIT = 192 * 1024 * 1024

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

export async function readListDocument(file: SourceFile, list: string): Promise<ListDocument> {
  const { bytes, damage } = await readBytes(file)
  if (damage?.kind === 'too-large')
    return { members: {}, elements: undefined, damage: [damage], sizeBytes: file.sizeBytes, isLines: false }
  const document = parseListDocument(bytes, file.path, list)
  if (damage === undefined) return document
  // What the bytes lack is the same loss, said once.
  return { ...document, damage: [damage, ...document.damage.filter(({ kind }) => kind !== 'torn')] }
}

/** The same for a document that is nothing but a list. */
export async function readBareList(file: SourceFile): Promise<ListDocument> {
  const { bytes, damage: cut } = await readBytes(file)
  const damage: Damage[] = cut === undefined ? [] : [cut]
  const list = { members: {}, elements: undefined, damage, sizeBytes: bytes.length, isLines: false }
  if (cut?.kind === 'too-large') return { ...list, sizeBytes: file.sizeBytes }
  const report = (kind: DamageKind, reason: string, byteOffset = 0): void => {
    damage.push({ kind, file: file.path, byteOffset, byteLength: bytes.length - byteOffset, reason })
  }
  const from = skipSpace(bytes, bytes[0] === 0xef ? 3 : 0)
  if (bytes[from] !== OPEN_BRACKET) {
    report('not-json', bytes.length === 0 ? 'empty' : 'not a JSON list')
    return list
  }
  if (!isUtf8(bytes)) report('not-utf8', 'bytes that are no UTF-8, read as U+FFFD')
  const { turns, damage: found } = readTurns(
    bytes,
    { from, to: bytes.length, whole: true },
    { file: file.path, trusted: true },
  )
  for (const one of found) if (cut === undefined || one.kind !== 'torn') damage.push(one)
  const isEnded = bytes[lastByte(bytes)] === CLOSE_BRACKET
  if (!isEnded && damage.length === 0) report('torn', 'the file ends before the list does', bytes.length)
  return { ...list, elements: turns }
}

/** Where the last byte stands that is no white space. */
function lastByte(bytes: Buffer): number {
  let at = bytes.length - 1
  while (at > 0 && (bytes[at] as number) <= 0x20) at -= 1
  return at
}

function parseListDocument(bytes: Buffer, file: string, list: string): ListDocument {
  const damage: Damage[] = []
  const report = (kind: DamageKind, from: number, to: number, reason: string): void => {
    damage.push({ kind, file, byteOffset: from, byteLength: to - from, reason })
  }
  const nothing = { members: {}, elements: undefined, damage, sizeBytes: bytes.length, isLines: false }
  const nul = bytes.indexOf(0)
  if (nul !== -1) report('nul', nul, skipSpace(bytes, nul), 'NUL bytes')
  if (!isUtf8(bytes)) report('not-utf8', 0, bytes.length, 'bytes that are no UTF-8, read as U+FFFD')
  const scanned = scanMembers(bytes, bytes[0] === 0xef ? 3 : 0)
  if (scanned === undefined) {
    report('not-json', 0, bytes.length, bytes.length === 0 ? 'empty' : 'not a JSON object')
    return nothing
  }
  const tail = skipSpace(bytes, scanned.to)
  const hasTail = scanned.ended && tail < bytes.length
  if (hasTail && bytes[tail] === OPEN_BRACE) return { ...nothing, isLines: true }
  const members = readMembers(bytes, scanned.members, list, report)
  const at = scanned.members.get(list)
  const found = at && readTurns(bytes, at, { file, trusted: !hasTail })
  for (const one of found?.damage ?? []) damage.push(one)
  if (!scanned.ended && !damage.some(({ kind }) => kind === 'torn'))
    report('torn', scanned.to, bytes.length, 'the file ends before the document does')
  if (hasTail) report('not-json', scanned.to, bytes.length, 'bytes after the end of the document')
  return { ...nothing, members, elements: found?.turns }
}

type Report = (kind: DamageKind, from: number, to: number, reason: string) => void

/** Everything but the list. Of an object that is cut off, the members that are whole. */
function readMembers(
  bytes: Buffer,
  extents: ReadonlyMap<string, Extent>,
  list: string | undefined,
  report: Report,
): JsonObject {
  const members = Object.create(null) as Record<string, Json>
  for (const [key, extent] of extents) {
    if (key === list) continue
    const value = extent.whole ? parsePart(bytes, extent) : undefined
    if (value !== undefined) {
      members[key] = value
      continue
    }
    report(extent.whole ? 'not-json' : 'torn', extent.from, extent.to, 'a member that cannot be read whole')
    const inner = list === undefined ? undefined : scanMembers(bytes, extent.from)
    if (inner !== undefined) members[key] = readMembers(bytes, inner.members, undefined, () => undefined)
  }
  return members
}

/** As many bytes as can be had: a broken gzip stream gives those before the break. */
async function readBytes(file: SourceFile): Promise<{ readonly bytes: Buffer; readonly damage?: Damage }> {
  const chunks: Buffer[] = []
  let length = 0
  const damaged = (kind: DamageKind, reason: string): Damage => {
    const byteLength = kind === 'too-large' ? file.sizeBytes : 0
    return { kind, file: file.path, byteOffset: kind === 'too-large' ? 0 : length, byteLength, reason }
  }
  const tooLarge = (): Damage => damaged('too-large', `over ${DOCUMENT_LIMIT} bytes, not read`)
  try {
    for await (const chunk of file.chunks()) {
      length += chunk.length
      if (length > DOCUMENT_LIMIT) return { bytes: Buffer.alloc(0), damage: tooLarge() }
      chunks.push(chunk)
    }
  } catch (error) {
    if (isHansardError(error) && error.code === 'too-large')
      return { bytes: Buffer.alloc(0), damage: tooLarge() }
    const code = systemCode(error)
    if (code?.startsWith('Z_') !== true) throw error
    const kind = code === 'Z_BUF_ERROR' ? 'torn' : 'checksum'
    return { bytes: Buffer.concat(chunks), damage: damaged(kind, 'the compressed file is damaged from here') }
  }
  return { bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }
}
