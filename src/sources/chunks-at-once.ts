/**
 * The bytes of a short file, chunk by chunk and without promises: of a log of some hundred KB, handing each chunk through what may
 * have to wait takes as long as looking at it.
 */
import { CHUNK_BYTES, openContent, type Stored } from '../archive/kept-content.ts'
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import type { ShortFile } from '../transcript/source.ts'
import { isGzip } from './gzip.ts'
import { isZstd } from './zstd.ts'

/** Memory for chunks, while nobody uses it. */
let spare: Buffer | undefined

/** Undefined for a file that is longer, or packed by who wrote it: see `SourceFile.atOnce`. Throws as `openContent` does. */
export function openShort(files: Files, stored: Stored, mostBytes: number): ShortFile | undefined {
  const content = openContent(files, stored)
  const into = spare ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  spare = undefined
  let isGiven = false
  let offset = 0
  const leave = (): void => {
    content.close()
    spare = into
  }
  const next = (): Buffer => {
    try {
      const chunk = content.read(offset, CHUNK_BYTES, into)
      offset += chunk.length
      return chunk
    } catch (error) {
      throw fromSystemError(error, stored.at)
    }
  }
  try {
    const first = content.size > mostBytes ? undefined : next()
    isGiven = first !== undefined && !isGzip(first) && !isZstd(first)
    return first !== undefined && isGiven ? { first, next, leave } : undefined
  } finally {
    if (!isGiven) leave()
  }
}
