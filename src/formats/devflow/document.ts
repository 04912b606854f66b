/**
 * One devflow document (`transcript.json` or `metadata.json`): its members, its turns with their places, and what is damaged. A
 * document that is cut off gives every turn that is whole; a large one is never held.
 */
import { isUtf8 } from 'node:buffer'
import { isHansardError, systemCode } from '../../errors.ts'
import type { Damage, DamageKind } from '../../transcript/damage.ts'
import { isObject, rest, type Json, type JsonObject } from '../../transcript/json.ts'
import type { SourceFile } from '../../transcript/source.ts'
import { readListDocument } from '../list-document.ts'
import type { ListElement } from '../list-salvage.ts'
import { parsePart, scanMembers, skipSpace, type Extent } from './scan.ts'
import { readTurns, type RawTurn } from './turn-list.ts'

export type Document = {
  readonly file: string
  /** `runId`, `metadata` and whatever else stands beside the turns. For `metadata.json`: all of it. */
  readonly members: JsonObject
  /** Undefined when the document has no list of turns. */
  readonly turnCount: number | undefined
  /** Some at a time, in order. Each call gives them all. */
  readonly turns: () => AsyncIterable<Turns>
  readonly damage: readonly Damage[]
}

/** With what shows only while they are read: elements of a large document's list that are no turns. */
export type Turns = { readonly turns: readonly RawTurn[]; readonly damage: readonly Damage[] }

/** Up to here a document is held whole, and read once. */
const HELD_BYTES = 2 * 1024 * 1024

/** Turns handed over at a time, of a document that is held. */
const BATCH = 256

export async function readDocument(
  file: SourceFile,
  { heldBytes = HELD_BYTES }: { readonly heldBytes?: number } = {},
): Promise<Document> {
  const held = file.sizeBytes > heldBytes ? undefined : await readBytes(file, file.path, heldBytes)
  // Compressed, it may be far larger than it says.
  if (held === undefined || held.damage?.kind === 'too-large') return readLarge(file)
  const { bytes, damage } = held
  const parsed = parseDocument(bytes, file.path)
  if (damage === undefined) return parsed
  // What the bytes lack is the same loss, said once.
  return { ...parsed, damage: [damage, ...parsed.damage.filter(({ kind }) => kind !== 'torn')] }
}

async function readLarge(file: SourceFile): Promise<Document> {
  const { members, count, damage, elements } = await readListDocument(file, 'turns', { heldBytes: 0 })
  return {
    file: file.path,
    members,
    turnCount: count,
    damage,
    async *turns() {
      for await (const some of elements()) {
        const found = toTurns(some, file.path)
        yield found
        // Whoever asks for more is done with these: frames that wait would hold on to them while the next are read.
        found.turns.length = 0
      }
    },
  }
}

function toTurns(elements: readonly ListElement[], file: string) {
  const turns: RawTurn[] = []
  const damage: Damage[] = []
  for (const { value, byteOffset, byteLength } of elements) {
    if (value === undefined || isObject(value)) turns.push({ value, byteOffset, byteLength })
    else
      damage.push({ kind: 'not-an-entry', file, byteOffset, byteLength, reason: 'a turn that is no object' })
  }
  return { turns, damage }
}

function parseDocument(bytes: Buffer, file: string): Document {
  const damage: Damage[] = []
  const report = (kind: DamageKind, from: number, to: number, reason: string): void => {
    damage.push({ kind, file, byteOffset: from, byteLength: to - from, reason })
  }
  const nul = bytes.indexOf(0)
  if (nul !== -1) report('nul', nul, endOfNuls(bytes, nul), 'NUL bytes')
  if (!isUtf8(bytes)) report('not-utf8', 0, bytes.length, 'bytes that are no UTF-8, read as U+FFFD')
  const scanned = scanMembers(bytes, hasMark(bytes) ? 3 : 0)
  if (scanned === undefined) {
    if (nul !== 0) report('not-json', 0, bytes.length, bytes.length === 0 ? 'empty' : 'not a JSON object')
    return { file, members: {}, turnCount: undefined, turns: batches([]), damage }
  }
  const members = readMembers(bytes, scanned.members, report)
  const turnsAt = scanned.members.get('turns')
  const hasTail = scanned.ended && skipSpace(bytes, scanned.to) < bytes.length
  const found = turnsAt && readTurns(bytes, turnsAt, { file, trusted: !hasTail })
  for (const one of found?.damage ?? []) damage.push(one)
  if (!scanned.ended && !damage.some(({ kind }) => kind === 'torn'))
    report('torn', scanned.to, bytes.length, 'the file ends before the document does')
  if (hasTail) report('not-json', scanned.to, bytes.length, 'bytes after the end of the document')
  const turns = found?.turns
  return { file, members, turnCount: turns?.length, turns: batches(turns ?? []), damage }
}

function batches(all: readonly RawTurn[]): Document['turns'] {
  return async function* () {
    for (let from = 0; from < all.length; from += BATCH)
      yield { turns: all.slice(from, from + BATCH), damage: [] }
  }
}

type Report = (kind: DamageKind, from: number, to: number, reason: string) => void

/** Everything but the turns. Of a damaged `metadata` object, the fields that can be read. */
function readMembers(bytes: Buffer, extents: ReadonlyMap<string, Extent>, report: Report): JsonObject {
  const members = Object.create(null) as Record<string, Json>
  for (const [key, extent] of extents) {
    if (key === 'turns') continue
    const value = parsePart(bytes, extent)
    if (value !== undefined && (extent.whole || isObject(value))) members[key] = value
    else {
      report(extent.whole ? 'not-json' : 'torn', extent.from, extent.to, `${name(key)} cannot be read whole`)
      const inner = key === 'metadata' ? scanMembers(bytes, extent.from) : undefined
      if (inner !== undefined) members[key] = readMembers(bytes, inner.members, () => undefined)
    }
  }
  return members
}

/** Foreign keys are content: only the names we know are said in a report. */
function name(key: string): string {
  return key === 'metadata' || key === 'runId' ? key : 'a field'
}

/** As many bytes as can be had: a broken gzip stream gives those before the break. */
async function readBytes(
  file: SourceFile,
  name: string,
  limit: number,
): Promise<{ readonly bytes: Buffer; readonly damage?: Damage }> {
  const chunks: Buffer[] = []
  let length = 0
  const damaged = (kind: DamageKind, reason: string): Damage => ({
    kind,
    file: name,
    byteOffset: length,
    byteLength: 0,
    reason,
  })
  try {
    for await (const chunk of file.chunks()) {
      length += chunk.length
      if (length > limit)
        return { bytes: Buffer.alloc(0), damage: damaged('too-large', `over ${limit} bytes, not read`) }
      chunks.push(chunk)
    }
  } catch (error) {
    const kind = streamDamage(error)
    if (kind === undefined) throw error
    return { bytes: Buffer.concat(chunks), damage: damaged(kind, 'the compressed file is damaged from here') }
  }
  return { bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }
}

/** Undefined for what is no fault of the bytes: a disk that cannot be read. */
function streamDamage(error: unknown): DamageKind | undefined {
  if (isHansardError(error)) return error.code === 'too-large' ? 'too-large' : undefined
  const code = systemCode(error)
  if (code === 'Z_BUF_ERROR') return 'torn'
  return code?.startsWith('Z_') ? 'checksum' : undefined
}

function endOfNuls(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0) at += 1
  return at
}

function hasMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** A document's members without those that its reader knows. */
export function unknownMembers(document: Document): JsonObject | undefined {
  return rest(document.members, new Set(['runId', 'metadata']))
}
