/**
 * What was added to a kept file, as a file by itself; all of it, in the chunks in which it is read whole: what is told by the first of them
 * is told by the same.
 */
import type { KeptPlace } from '../archive/kept.ts'
import { CHUNK_BYTES } from '../archive/kept-content.ts'
import { HansardError } from '../errors.ts'
import type { SourceFile } from '../transcript/source.ts'

/** Bytes of a file, by their offsets. */
export type Stretch = { readonly from: number; readonly to: number }

export function addedTo(place: KeptPlace, path: string, { from, to }: Stretch): SourceFile {
  const sizeBytes = to - from
  const read = (at: number, length: number): Promise<Buffer> => place.readAt(path, undefined, at, length)
  return {
    path,
    sizeBytes,
    modifiedAt: place.file(path)?.modifiedAt ?? '',
    head: (bytes) => read(from, Math.min(bytes, sizeBytes)),
    async *chunks() {
      for (let at = from; at < to;) {
        const chunk = await read(at, Math.min(CHUNK_BYTES, to - at))
        if (chunk.length === 0) throw new HansardError('io', `${path} is shorter than it was`)
        yield chunk
        at += chunk.length
      }
    },
    async bytes(limit) {
      if (sizeBytes > limit) throw new HansardError('too-large', `${path} has more than ${limit} bytes`)
      return read(from, sizeBytes)
    },
  }
}
