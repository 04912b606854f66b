/**
 * A JSON document that is one object around a list: the members, the list's elements with their places, and what is damaged. A damaged
 * one gives every element that is whole. A small one is held; a large one is read as it comes, a second time for its elements.
 */
import { isHansardError, systemCode } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createDocumentScan } from './list-document-scan.ts'
import { salvageLarge, streamDocument } from './list-large.ts'
import { salvageBareList, salvageDocument, type ListElement, type Salvaged } from './list-salvage.ts'

export type ListDocument = {
  /** Everything but the list; under its name what stands there instead of one. */
  readonly members: JsonObject
  readonly damage: readonly Damage[]
  readonly sizeBytes: number
  /** Another object stands behind the end: the file is lines, not a document. Who reads no lines has the first, and the rest as damage. */
  readonly isLines: boolean
  /** How many elements there are; undefined when the list is not there. */
  readonly count: number | undefined
  /** Some at a time, in order. Each call gives them all. */
  readonly elements: () => AsyncGenerator<readonly ListElement[]>
}

/** Up to here a document is held whole, and read once. */
const HELD_BYTES = 2 * 1024 * 1024

/** Elements handed over at a time, of a document that is held. */
const BATCH = 256

type Held = {
  readonly heldBytes?: number
  /** Whoever asks reads lines, too: of a large file that is lines, nothing but `isLines` is told. */
  readonly isForLines?: boolean
  /** Members of a large document that are passed over: whoever reads it reads them by themselves. */
  readonly without?: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

export async function readListDocument(
  file: SourceFile,
  list: string,
  { heldBytes = HELD_BYTES, without = NONE, isForLines = false }: Held = {},
): Promise<ListDocument> {
  const held = await readHeld(file, list, { heldBytes, without, isForLines })
  if ('elements' in held) return held
  const { bytes, damage } = held
  const document = toDocument(salvageDocument(bytes, file.path, list))
  if (damage === undefined) return document
  // What the bytes lack is the same loss, said once.
  return { ...document, damage: [damage, ...document.damage.filter(({ kind }) => kind !== 'torn')] }
}

/** A list that is in a member of the document, as it comes; undefined where anything is not right. Members of both are given together. */
export function readInnerList(
  file: SourceFile,
  within: string,
  list: string,
): Promise<ListDocument | undefined> {
  return streamDocument(file, list, NONE, { within })
}

/** The same for a document that is nothing but a list. */
export async function readBareList(
  file: SourceFile,
  { heldBytes = HELD_BYTES }: Held = {},
): Promise<ListDocument> {
  const held = await readHeld(file, undefined, { heldBytes, without: NONE, isForLines: false })
  if ('elements' in held) return held
  const { bytes, damage } = held
  return toDocument(salvageBareList(bytes, file.path, damage))
}

function toDocument(known: Salvaged): ListDocument {
  const { members = {}, damage, sizeBytes, isLines = false, elements = [] } = known
  return {
    count: known.elements?.length,
    members,
    damage,
    sizeBytes,
    isLines,
    async *elements() {
      for (let from = 0; from < elements.length; from += BATCH) yield elements.slice(from, from + BATCH)
    },
  }
}

/** A large document, or a small one in which everything is right; the bytes of any other. */
async function readHeld(
  file: SourceFile,
  list: string | undefined,
  { heldBytes, without, isForLines }: Required<Held>,
): Promise<ListDocument | Bytes> {
  // Compressed, it may be far larger than it says.
  const small = file.sizeBytes > heldBytes ? undefined : await readBytes(file, heldBytes)
  if (small !== undefined && small.damage?.kind !== 'too-large') {
    const elements: ListElement[] = []
    const scan = createDocumentScan(file.path, list, NONE, (element) => void elements.push(element))
    scan.push(small.bytes)
    const right = small.damage === undefined ? scan.end() : undefined
    return right === undefined ? small : { ...toDocument({ ...right, elements }), count: right.count }
  }
  return (await streamDocument(file, list, without, { isForLines })) ?? salvageLarge(file, list, without)
}

type Bytes = { readonly bytes: Buffer; readonly damage?: Damage }

/** As many bytes as can be had: a broken gzip stream gives those before the break. */
async function readBytes(file: SourceFile, limit: number): Promise<Bytes> {
  const chunks: Buffer[] = []
  let length = 0
  const damaged = (kind: DamageKind, reason: string): Damage => {
    const byteLength = kind === 'too-large' ? file.sizeBytes : 0
    return { kind, file: file.path, byteOffset: kind === 'too-large' ? 0 : length, byteLength, reason }
  }
  const tooLarge = (): Damage => damaged('too-large', `over ${limit} bytes, not read`)
  try {
    for await (const chunk of file.chunks()) {
      length += chunk.length
      if (length > limit) return { bytes: Buffer.alloc(0), damage: tooLarge() }
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
