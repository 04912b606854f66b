/** Gzip as a stream, its members one after the other. */
import { createGunzip } from 'node:zlib'
import { CHUNK_BYTES, expand, type ExpandOptions } from './expand.ts'

export function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

export function gunzip(compressed: AsyncIterable<Buffer>, options: ExpandOptions): AsyncGenerator<Buffer> {
  return expand(compressed, createGunzip({ chunkSize: CHUNK_BYTES }), 'gzip', options)
}
