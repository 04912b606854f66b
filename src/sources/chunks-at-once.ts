/**
 * The bytes of a short file, chunk by chunk and without promises: of a log of some hundred KB, handing each chunk through what may
 * have to wait takes as long as looking at it. The file is open until its last chunk was asked for.
 */
import { CHUNK_BYTES, openContent, type Content, type Stored } from '../archive/kept-content.ts'
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import type { ShortFile } from '../transcript/source.ts'
import { isGzip } from './gzip.ts'
import { isZstd } from './zstd.ts'

/** Memory for chunks, while nobody uses it. */
let spare: Buffer | undefined

/** Undefined for a file that is longer, or packed by who wrote it: see `SourceFile.atOnce`. Throws as `openContent` does. */
export function chunksAtOnce(files: Files, stored: Stored, mostBytes: number): Iterable<Buffer> | undefined {
  return openShort(files, stored, mostBytes)?.chunks
}

/** The same, for who looks at the first chunk before it asks for them. */
export function openShort(files: Files, stored: Stored, mostBytes: number): ShortFile | undefined {
  const content = openContent(files, stored)
  let isGiven = false
  try {
    if (content.size > mostBytes) return undefined
    const into = spare ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
    spare = undefined
    const first = content.read(0, CHUNK_BYTES, into)
    isGiven = !isGzip(first) && !isZstd(first)
    if (isGiven)
      return {
        first,
        chunks: passing({ content, first, into }, stored.at),
        leave() {
          content.close()
          spare = into
        },
      }
    spare = into
    return undefined
  } catch (error) {
    throw fromSystemError(error, stored.at)
  } finally {
    if (!isGiven) content.close()
  }
}

type Begun = { readonly content: Content; readonly first: Buffer; readonly into: Buffer }

function* passing({ content, first, into }: Begun, at: string): Generator<Buffer> {
  try {
    let offset = 0
    for (let chunk = first; chunk.length > 0; chunk = content.read(offset, CHUNK_BYTES, into)) {
      offset += chunk.length
      yield chunk
    }
  } catch (error) {
    throw fromSystemError(error, at)
  } finally {
    content.close()
    spare = into
  }
}
