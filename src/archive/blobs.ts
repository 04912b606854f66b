/**
 * What is too large for a line leaves it for a blob, and comes back when the entry is read. A blob is in place before the line
 * that names it is written, so a name that leads nowhere is damage.
 */
import type { BlobRef, Block, Content } from '../transcript/block.ts'
import { KEPT_APART, asBlock, hasBlob, isBlobRef } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import type { BlobReader } from '../transcript/source.ts'
import { blobPath, type Blobs } from './blob-store.ts'

/** Payloads over this many bytes leave the line. */
export const INLINE_LIMIT = 64 * 1024

/** The entry with every large payload moved to a blob. The same entry when there is none, which is the common case. */
export function moveToBlobs(entry: Entry, blobs: Pick<Blobs, 'write'>, limit: number = INLINE_LIMIT): Entry {
  const blocks = entry.blocks.map((block) => shrink(asBlock(block), blobs, limit))
  return blocks.every((block, index) => block === entry.blocks[index]) ? entry : { ...entry, blocks }
}

/** The entry with every payload back in place. A blob that is gone or changed stays a reference, and is said to be missing. */
export async function resolveBlobs(
  entry: Entry,
  blobs: BlobReader,
  onDamage: (damage: Damage) => void = () => {},
): Promise<Entry> {
  if (!entry.blocks.some(hasBlob)) return entry
  const read = async (ref: BlobRef): Promise<Buffer | undefined> => {
    const bytes = await blobs.read(ref.blob)
    if (bytes === undefined) onDamage(missing(ref, entry))
    return bytes
  }
  return { ...entry, blocks: await Promise.all(entry.blocks.map((block) => restore(block, read))) }
}

function missing({ blob, bytes }: BlobRef, { source, sequence }: Entry): Damage {
  return {
    kind: 'missing',
    file: blobPath(blob) ?? 'blobs',
    byteOffset: 0,
    byteLength: bytes,
    reason: `content of ${source}/${sequence} is not there, or not as it was written`,
  }
}

type Read = (ref: BlobRef) => Promise<Buffer | undefined>

function shrink(block: Block, blobs: Pick<Blobs, 'write'>, limit: number): Block {
  const move = (content: Content, mediaType = 'text/plain'): Content => {
    // A character is at most 3 bytes of UTF-8 per UTF-16 unit, so most text is settled without measuring it.
    if (isBlobRef(content) || content.length * 3 <= limit || Buffer.byteLength(content) <= limit)
      return content
    return blobs.write(Buffer.from(content), mediaType)
  }
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
      if (block.input === undefined || !mayBeLarge(block.input, limit)) return block
      const bytes = Buffer.from(toJson(block.input))
      if (bytes.length <= limit) return block
      const { input: _, ...call } = block
      return { ...call, inputBlob: blobs.write(bytes, 'application/json') }
    }
    case 'unknown': {
      if (!mayBeLarge(block.raw, limit)) return block
      const bytes = Buffer.from(toJson(block.raw))
      if (bytes.length <= limit) return block
      const { blob } = blobs.write(bytes, 'application/json')
      return {
        ...block,
        raw: { blob, bytes: bytes.length, mediaType: 'application/json' },
        reason: KEPT_APART,
      }
    }
    case 'error':
      return block
  }
}

/** Whether a value could be over the limit as JSON: a walk that stops as soon as it could, and takes no depth for granted. */
function mayBeLarge(value: unknown, limit: number): boolean {
  let size = 0
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const next = stack.pop()
    if (typeof next === 'string') size += next.length * 3 + 2
    else if (typeof next !== 'object' || next === null) size += 8
    else {
      for (const [key, child] of Object.entries(next)) {
        size += key.length * 3 + 4
        stack.push(child)
      }
    }
    if (size > limit) return true
  }
  return false
}

async function restore(block: Block, read: Read): Promise<Block> {
  const fetch = async (content: Content): Promise<Content> => {
    if (!isBlobRef(content)) return content
    return (await read(content))?.toString('utf8') ?? content
  }
  switch (block.type) {
    case 'text':
    case 'thinking':
      return isBlobRef(block.text) ? { ...block, text: await fetch(block.text) } : block
    case 'image':
      return block.data === undefined ? block : { ...block, data: await fetch(block.data) }
    case 'tool-result': {
      if (block.output === undefined) return block
      if (typeof block.output === 'string' || isBlobRef(block.output))
        return { ...block, output: await fetch(block.output) }
      return { ...block, output: await Promise.all(block.output.map((part) => restore(part, read))) }
    }
    case 'tool-call': {
      if (block.inputBlob === undefined) return block
      const input = parseJson((await read(block.inputBlob))?.toString('utf8') ?? '')
      if (input === undefined) return block
      const { inputBlob: _, ...call } = block
      return { ...call, input }
    }
    case 'unknown': {
      if (block.reason !== KEPT_APART || !isBlobRef(block.raw)) return block
      const raw = parseJson((await read(block.raw))?.toString('utf8') ?? '')
      return raw === undefined ? block : { type: 'unknown', raw }
    }
    case 'error':
      return block
  }
}
