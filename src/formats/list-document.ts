/**
 * A JSON document that is one object around a list: the members, the list's elements with their places, and what is damaged. A damaged
 * one gives every element that is whole. A small one is held; a large one is read as it comes, a second time for its elements.
 */
import { isUtf8 } from 'node:buffer'
import { isHansardError, systemCode } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import { parseLong } from '../transcript/long-json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { salvageBareList, salvageDocument, type ListElement, type Salvaged } from './list-salvage.ts'
import { createListScan } from './list-scan.ts'
import { MEMBERS_LIMIT, streamPieces } from './list-stream.ts'
import type { ListPiece } from './list-walk.ts'

export type ListDocument = {
  /** Everything but the list; under its name what stands there instead of one. */
  readonly members: JsonObject
  readonly damage: readonly Damage[]
  readonly sizeBytes: number
  /** Another object stands behind the end: the file is lines, not a document. */
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
  /** Members of a large document that are passed over: whoever reads it reads them by themselves. */
  readonly without?: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

export async function readListDocument(
  file: SourceFile,
  list: string,
  { heldBytes = HELD_BYTES, without = NONE }: Held = {},
): Promise<ListDocument> {
  const held = await readHeld(file, list, heldBytes, without)
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
  return streamDocument(file, list, NONE, within)
}

/** The same for a document that is nothing but a list. */
export async function readBareList(
  file: SourceFile,
  { heldBytes = HELD_BYTES }: Held = {},
): Promise<ListDocument> {
  const held = await readHeld(file, undefined, heldBytes, NONE)
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
  heldBytes: number,
  without: ReadonlySet<string>,
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
  return (await streamDocument(file, list, without)) ?? salvageLarge(file, list, without)
}

/** Read twice as well: once for everything but the elements. */
async function salvageLarge(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string>,
): Promise<ListDocument> {
  const members = Object.create(null) as Record<string, Json>
  const damage: Damage[] = []
  let memberBytes = 0
  let sizeBytes = 0
  let isLines = false
  let lists = 0
  let count: number | undefined
  // Not in this frame: it would hold on to the last of them while the next are read.
  const take = (piece: ListPiece): void => {
    if (piece.type === 'lines') isLines = true
    else if (piece.type === 'element') count = (count ?? 0) + 1
    else if (piece.type === 'list') {
      lists += 1
      count = 0
    } else if (piece.type === 'damage') damage.push(piece.damage)
    else if (piece.type === 'end') ({ sizeBytes } = piece)
    else if (piece.type === 'member') {
      memberBytes += piece.bytes
      if (memberBytes <= MEMBERS_LIMIT) members[piece.key] = piece.value
    }
  }
  for await (const pieces of streamPieces(file, list, without)) {
    pieces.forEach(take)
    pieces.length = 0
  }
  if (memberBytes > MEMBERS_LIMIT) {
    const reason = `members of ${memberBytes} bytes around the list, over the limit`
    damage.push({ kind: 'too-large', file: file.path, byteOffset: 0, byteLength: memberBytes, reason })
  }
  if (isLines) return toDocument({ damage: [], sizeBytes, isLines })
  const elements = (): AsyncGenerator<readonly ListElement[]> => salvageElements(file, list, lists, without)
  return { ...toDocument({ members, damage, sizeBytes }), count, elements }
}

/** Those of the last list: the how manieth it is. */
async function* salvageElements(
  file: SourceFile,
  list: string | undefined,
  last: number,
  without: ReadonlySet<string>,
): AsyncGenerator<readonly ListElement[]> {
  let lists = 0
  for await (const pieces of streamPieces(file, list, without)) {
    const elements = pieces.flatMap((piece) => {
      if (piece.type === 'list') lists += 1
      return piece.type === 'element' && lists === last ? [piece.element] : []
    })
    pieces.length = 0
    if (elements.length === 0) continue
    yield elements
    elements.length = 0
  }
}

async function streamDocument(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string>,
  within?: string,
): Promise<ListDocument | undefined> {
  const scan = createDocumentScan(file.path, list, without, () => undefined, within)
  try {
    for await (const chunk of file.chunks()) if (!scan.push(chunk)) return undefined
  } catch (error) {
    if (systemCode(error)?.startsWith('Z_') !== true && !isHansardError(error)) throw error
    return undefined
  }
  const right = scan.end()
  return (
    right && {
      ...toDocument(right),
      count: right.count,
      elements: () => streamElements(file, list, without, within),
    }
  )
}

type DocumentScan = {
  /** False from the first byte on that is not right. */
  push(chunk: Buffer): boolean
  /** Undefined for a document in which anything is not right. */
  end(): Pick<ListDocument, 'members' | 'damage' | 'sizeBytes' | 'count'> | undefined
}

function createDocumentScan(
  file: string,
  list: string | undefined,
  without: ReadonlySet<string>,
  give: (element: ListElement) => void,
  within?: string,
): DocumentScan {
  const members = Object.create(null) as Record<string, Json>
  const damage: Damage[] = []
  let isRight = true
  let sizeBytes = 0
  let memberBytes = 0
  let count = 0
  const parse = (bytes: Buffer, isOwn = false): Json | undefined => {
    const value = isUtf8(bytes) ? parseElement(bytes, isOwn) : undefined
    isRight &&= value !== undefined
    return value
  }
  const scan = createListScan({
    list,
    without,
    ...(within !== undefined && { within }),
    member(key, bytes) {
      memberBytes += bytes.length
      isRight &&= memberBytes <= MEMBERS_LIMIT
      const value = isRight ? parse(bytes) : undefined
      if (value !== undefined) members[key] = value
    },
    element(bytes, { byteOffset, byteLength, isOwn }) {
      count += 1
      give({ value: bytes && parse(bytes, isOwn), byteOffset, byteLength })
      if (bytes !== undefined) return
      const reason = `an element of ${byteLength} bytes, over the limit`
      damage.push({ kind: 'too-large', file, byteOffset, byteLength, reason })
    },
  })
  return {
    push(chunk) {
      scan.push(chunk)
      sizeBytes += chunk.length
      return isRight && !scan.isBroken
    },
    end: () =>
      isRight && scan.isWhole
        ? { members, damage, sizeBytes, count: scan.hasList ? count : undefined }
        : undefined,
  }
}

async function* streamElements(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string>,
  within?: string,
): AsyncGenerator<readonly ListElement[]> {
  let elements: ListElement[] = []
  const scan = createListScan({
    list,
    without,
    ...(within !== undefined && { within }),
    member: () => undefined,
    element(bytes, { byteOffset, byteLength, isOwn }) {
      const value = bytes && parseElement(bytes, isOwn)
      elements.push({ value, byteOffset, byteLength })
    },
  })
  for await (const chunk of file.chunks()) {
    scan.push(chunk)
    if (elements.length === 0) continue
    yield elements
    // Whoever asks for more is done with these: a frame that waits would hold on to them while the next are read.
    elements.length = 0
    elements = []
  }
}

/** `isOwn`: the bytes of a long one, which may be written over. */
function parseElement(bytes: Buffer, isOwn: boolean): Json | undefined {
  const long = isOwn ? parseLong(bytes) : undefined
  return long === undefined ? parseJson(bytes.toString('utf8')) : long.value
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
