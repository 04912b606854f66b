/**
 * What is too large for a line leaves it for a blob, and comes back when the entry is read. A blob is in place before the line
 * that names it is written, so a name that leads nowhere is damage.
 */
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { asBlock, hasBlob, isBlobRef, type BlobRef, type Block, type Content } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { BlobReader } from '../transcript/source.ts'
import { largeJson, mayBeLarge, putBack, setApart, type ReadBlob, type WriteBlob } from './apart.ts'
import { blobPath } from './blob-store.ts'

/** Payloads over this many bytes leave the line. */
export const INLINE_LIMIT = 64 * 1024
/** Many payloads that are not large may be so together: well below the limit of a line. */
const ENTRY_LIMIT = RECORD_LIMIT / 2

/** Where an entry belongs stays in the line. */
const ENTRY_STAYS = new Set(['source', 'sequence', 'kind', 'role', 'blocks', 'origin'])
const SESSION_STAYS = new Set(['id', 'status'])
/** Content has its own way into a blob. */
const BLOCK_STAYS = new Set(['type', 'text', 'data', 'output', 'input', 'inputBlob'])

/** The entry with every large payload moved to a blob. The same entry when there is none, which is the common case. */
export function moveToBlobs(entry: Entry, blobs: WriteBlob, limit: number = INLINE_LIMIT): Entry {
  // What is not large as a whole has no part that is.
  const isSmall = !mayBeLarge(entry, limit)
  const blocks = entry.blocks.map((block) =>
    isSmall ? asBlock(block) : shrink(asBlock(block), blobs, limit),
  )
  const isSame = blocks.every((block, index) => block === entry.blocks[index])
  const known = isSame ? entry : { ...entry, blocks }
  if (isSmall) return known
  const moved = setApart(known, blobs, { limit, except: ENTRY_STAYS })
  const all = largeJson(moved.blocks, ENTRY_LIMIT)
  if (all === undefined) return moved
  const ref = blobs.write(all, 'application/json')
  return { ...moved, blocks: [], apart: { ...moved.apart, blocks: ref } }
}

/** Facts of a session with the large ones apart: a title, an input, an error may be of any size, and the first line may not. */
export function sessionToBlobs<T extends { readonly [K in keyof Session]?: Session[K] | null }>(
  facts: T,
  blobs: WriteBlob,
  limit: number = INLINE_LIMIT,
): T {
  return setApart(facts, blobs, { limit, except: SESSION_STAYS })
}

/** The entry with every payload back in place. A blob that is gone or changed stays a reference, and is said to be missing. */
export async function resolveBlobs(
  entry: Entry,
  blobs: BlobReader,
  onDamage: (damage: Damage) => void = () => {},
): Promise<Entry> {
  if (!isApart(entry)) return entry
  const read = reporting(blobs, `${entry.source}/${entry.sequence}`, onDamage)
  const whole = await putBack(entry, read)
  return {
    ...whole,
    blocks: await Promise.all(whole.blocks.map((block) => restore(asBlock(block), read))),
  }
}

/** The same for the facts of a session. */
export async function resolveSession(
  session: Session,
  blobs: BlobReader,
  onDamage: (damage: Damage) => void = () => {},
): Promise<Session> {
  if (session.apart === undefined) return session
  return putBack(session, reporting(blobs, 'the session', onDamage))
}

/** True when part of the entry is kept elsewhere. */
export function isApart(entry: Entry): boolean {
  return entry.apart !== undefined || entry.blocks.some(hasBlob)
}

function reporting(blobs: BlobReader, whose: string, onDamage: (damage: Damage) => void): ReadBlob {
  return async (ref) => {
    const bytes = await blobs.read(ref.blob)
    if (bytes === undefined) onDamage(missing(ref, whose))
    return bytes
  }
}

function missing({ blob, bytes }: BlobRef, whose: string): Damage {
  return {
    kind: 'missing',
    file: blobPath(blob) ?? 'blobs',
    byteOffset: 0,
    byteLength: bytes,
    reason: `content of ${whose} is not there, or not as it was written`,
  }
}

function shrink(block: Block, blobs: WriteBlob, limit: number): Block {
  return setApart(shrinkContent(block, blobs, limit), blobs, { limit, except: BLOCK_STAYS })
}

function shrinkContent(block: Block, blobs: WriteBlob, limit: number): Block {
  const move = (content: Content, mediaType?: string): Content => moveText(content, blobs, limit, mediaType)
  switch (block.type) {
    case 'text':
    case 'thinking': {
      const text = move(block.text)
      return text === block.text ? block : { ...block, text }
    }
    case 'image': {
      if (block.data === undefined) return block
      const data = move(block.data, 'text/plain; note=base64')
      return data === block.data ? block : { ...block, data }
    }
    case 'tool-result': {
      if (block.output === undefined) return block
      if (typeof block.output === 'string' || isBlobRef(block.output)) {
        const output = move(block.output)
        return output === block.output ? block : { ...block, output }
      }
      const before = block.output
      const output = before.map((part) => shrink(part, blobs, limit))
      return output.every((part, index) => part === before[index]) ? block : { ...block, output }
    }
    case 'tool-call': {
      const bytes = block.input === undefined ? undefined : largeJson(block.input, limit)
      if (bytes === undefined) return block
      const { input: _, ...call } = block
      return { ...call, inputBlob: blobs.write(bytes, 'application/json') }
    }
    case 'unknown':
    case 'error':
      return block
  }
}

const TEXT = 'text/plain'
/** For text that UTF-8 cannot say: half of a surrogate pair, which JSON can escape. */
const TEXT_AS_JSON = 'application/json'
const HALF_PAIR = /\p{Surrogate}/u

function moveText(content: Content, blobs: WriteBlob, limit: number, mediaType: string = TEXT): Content {
  // A character is at most 3 bytes of UTF-8 per UTF-16 unit, so most text is settled without measuring it.
  if (isBlobRef(content) || content.length * 3 <= limit || Buffer.byteLength(content) <= limit) return content
  return HALF_PAIR.test(content)
    ? blobs.write(Buffer.from(toJson(content)), TEXT_AS_JSON)
    : blobs.write(Buffer.from(content), mediaType)
}

async function readText(content: Content, read: ReadBlob): Promise<Content> {
  if (!isBlobRef(content)) return content
  const text = (await read(content))?.toString('utf8')
  if (text === undefined) return content
  const said = content.mediaType === TEXT_AS_JSON ? parseJson(text) : text
  return typeof said === 'string' ? said : text
}

async function restore(given: Block, read: ReadBlob): Promise<Block> {
  const block = given.apart === undefined ? given : asBlock(await putBack(given, read))
  switch (block.type) {
    case 'text':
    case 'thinking':
      return isBlobRef(block.text) ? { ...block, text: await readText(block.text, read) } : block
    case 'image':
      return block.data === undefined ? block : { ...block, data: await readText(block.data, read) }
    case 'tool-result': {
      if (block.output === undefined) return block
      if (typeof block.output === 'string' || isBlobRef(block.output))
        return { ...block, output: await readText(block.output, read) }
      return { ...block, output: await Promise.all(block.output.map((part) => restore(part, read))) }
    }
    case 'tool-call': {
      if (block.inputBlob === undefined) return block
      const input = parseJson((await read(block.inputBlob))?.toString('utf8') ?? '')
      if (input === undefined) return block
      const { inputBlob: _, ...call } = block
      return { ...call, input }
    }
    case 'unknown':
    case 'error':
      return block
  }
}
