/**
 * A document that is too large to be held: read twice, once for everything but the elements, and again for those, as they come. One in
 * which everything is right, or what is whole of one in which something is not.
 */
import { isHansardError, systemCode } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ListDocument } from './list-document.ts'
import { createDocumentScan, parseElement } from './list-document-scan.ts'
import type { ListElement } from './list-salvage.ts'
import { createListScan } from './list-scan.ts'
import { MEMBERS_LIMIT, streamPieces } from './list-stream.ts'
import type { ListPiece } from './list-walk.ts'

type Streaming = {
  /** The member that the list is in, where it is in one. */
  readonly within?: string
  /** Of lines, that they are is all that is asked for. */
  readonly isForLines?: boolean
}

/** Undefined where anything is not right. */
export async function streamDocument(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string>,
  { within, isForLines = false }: Streaming = {},
): Promise<ListDocument | undefined> {
  const scan = createDocumentScan(file.path, list, without, () => undefined, within)
  try {
    for await (const chunk of file.chunks())
      if (!scan.push(chunk)) return isForLines && scan.isLines ? LINES : undefined
  } catch (error) {
    if (systemCode(error)?.startsWith('Z_') !== true && !isHansardError(error)) throw error
    return undefined
  }
  const right = scan.end()
  return right && { ...right, isLines: false, elements: () => streamElements(file, list, without, within) }
}

/** Nothing more is read of them here: the first may be long, and reading it again would leave it in memory twice. */
const LINES: ListDocument = {
  members: {},
  damage: [],
  sizeBytes: 0,
  isLines: true,
  count: undefined,
  async *elements() {},
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

/** What is whole of a document in which something is not. */
export async function salvageLarge(
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
  const elements = (): AsyncGenerator<readonly ListElement[]> => salvageElements(file, list, lists, without)
  return { members, damage, sizeBytes, isLines, count, elements }
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
