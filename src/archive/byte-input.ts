/** Bytes asked for by number out of chunks of any size. */
import { HansardError } from '../errors.ts'

export type ByteInput = {
  /** Exactly so many bytes; undefined when there are fewer. */
  take(length: number): Promise<Buffer | undefined>
  /** At least one and at most so many bytes; undefined at the end. */
  some(most: number): Promise<Buffer | undefined>
  skip(length: number): Promise<void>
  /** To the end, so that whatever checks the stream (gzip's own sum) has seen all of it. */
  drain(most: number): Promise<void>
}

export function createByteInput(chunks: AsyncIterable<Buffer>): ByteInput {
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const some = async (most: number): Promise<Buffer | undefined> => {
    while (held.length === 0) {
      const next = await iterator.next()
      if (next.done === true) return undefined
      held = next.value
    }
    const bytes = held.subarray(0, most)
    held = held.subarray(bytes.length)
    return bytes
  }
  const take = async (length: number): Promise<Buffer | undefined> => {
    const parts: Buffer[] = []
    for (let left = length; left > 0;) {
      const bytes = await some(left)
      if (bytes === undefined) return undefined
      left -= bytes.length
      parts.push(bytes)
    }
    return Buffer.concat(parts)
  }
  const drain = async (most: number): Promise<void> => {
    let left = most
    for (let bytes = await some(left); bytes !== undefined; bytes = await some(left)) {
      left -= bytes.length
      if (left <= 0) throw new HansardError('too-large', `more than ${most} bytes after the end`)
    }
  }
  /** Holds nothing: what is skipped may be of any length, or say so. */
  const skip = async (length: number): Promise<void> => {
    for (let left = length; left > 0;) {
      const bytes = await some(left)
      if (bytes === undefined) return
      left -= bytes.length
    }
  }
  return { some, take, drain, skip }
}
