/** A part of an open file in chunks, whatever its size. */
import type { Files } from './files.ts'

const CHUNK_BYTES = 512 * 1024

/** Fewer bytes where the file ends before. Each chunk is its own memory, which nothing else shares. */
export function* readPart(files: Files, fd: number, from: number, to: number): Generator<Buffer> {
  for (let at = from; at < to;) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, to - at))
    const length = files.read(fd, chunk, at)
    if (length === 0) return
    at += length
    yield chunk.subarray(0, length)
  }
}
