/**
 * Content too large for a line, kept once under the hash of its bytes: `blobs/ab/<sha256>`. A blob is whole and in place before
 * the line that names it is written, so a name that leads nowhere means damage, and a blob nobody names is only waste.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import { nodeFiles, writeWhole, type Files } from '../journal/files.ts'
import type { BlobRef, Block, Content } from '../transcript/block.ts'
import { KEPT_APART, asBlock, hasBlob, isBlobRef } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import type { BlobReader } from '../transcript/source.ts'

/** Payloads over this many bytes leave the line. */
export const INLINE_LIMIT = 64 * 1024

const NAME = /^sha256:([0-9a-f]{64})$/

export type Blobs = BlobReader & { write(bytes: Buffer, mediaType: string): BlobRef }

export function openBlobs(folder: string, files: Files = nodeFiles): Blobs {
  return {
    write(bytes, mediaType) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      const shelf = join(folder, hash.slice(0, 2))
      if (files.kind(join(shelf, hash)) !== 'file') {
        files.makeFolder(shelf)
        files.syncFolder(folder)
        writeWhole(files, shelf, hash, bytes)
      }
      return { blob: `sha256:${hash}`, bytes: bytes.length, mediaType }
    },
    async read(blob) {
      const hash = NAME.exec(blob)?.[1]
      if (hash === undefined) return undefined
      try {
        const bytes = await readFile(join(folder, hash.slice(0, 2), hash))
        return createHash('sha256').update(bytes).digest('hex') === hash ? bytes : undefined
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return undefined
        throw error
      }
    },
  }
}

/** The entry with every large payload moved to a blob. The same entry when there is none, which is the common case. */
export function moveToBlobs(entry: Entry, blobs: Pick<Blobs, 'write'>, limit: number = INLINE_LIMIT): Entry {
  const blocks = entry.blocks.map((block) => shrink(asBlock(block), blobs, limit))
  return blocks.every((block, index) => block === entry.blocks[index]) ? entry : { ...entry, blocks }
}

/** The entry with every payload back in place. A blob that is gone or changed stays a reference: the reader shows what is missing. */
export async function resolveBlobs(entry: Entry, blobs: BlobReader): Promise<Entry> {
  if (!entry.blocks.some(hasBlob)) return entry
  return { ...entry, blocks: await Promise.all(entry.blocks.map((block) => restore(block, blobs))) }
}

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

async function restore(block: Block, blobs: BlobReader): Promise<Block> {
  const fetch = async (content: Content): Promise<Content> => {
    if (!isBlobRef(content)) return content
    return (await blobs.read(content.blob))?.toString('utf8') ?? content
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
      return { ...block, output: await Promise.all(block.output.map((part) => restore(part, blobs))) }
    }
    case 'tool-call': {
      if (block.inputBlob === undefined) return block
      const input = parseJson((await blobs.read(block.inputBlob.blob))?.toString('utf8') ?? '')
      if (input === undefined) return block
      const { inputBlob: _, ...call } = block
      return { ...call, input }
    }
    case 'unknown': {
      if (block.reason !== KEPT_APART || !isBlobRef(block.raw)) return block
      const raw = parseJson((await blobs.read(block.raw.blob))?.toString('utf8') ?? '')
      return raw === undefined ? block : { type: 'unknown', raw }
    }
    case 'error':
      return block
  }
}
