/**
 * A `SourceFile` made of bytes that something else gives, packed or not: gzip and zstd are unpacked here, once, whatever
 * holds the file (a folder, a zip file, a repository).
 */
import { HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { gunzip, isGzip } from './gzip.ts'
import { isZstd, unzstd } from './zstd.ts'

export type RawFile = {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: string
  /** All bytes as they are held; from the start each time it is called. */
  readonly raw: () => AsyncIterable<Buffer>
  readonly damaged: (damage: Damage) => void
  readonly database?: NonNullable<SourceFile['database']>
}

export function toSourceFile({ path, sizeBytes, modifiedAt, raw, damaged, database }: RawFile): SourceFile {
  const stopped = (byteOffset: number, reason: string): void =>
    damaged({ kind: 'torn', file: path, byteOffset, byteLength: 0, reason })
  const chunks = (): AsyncGenerator<Buffer> => unpack(raw(), { name: path, sizeBytes, stopped })
  return {
    path,
    sizeBytes,
    modifiedAt,
    chunks,
    ...(database !== undefined && { database }),
    async head(bytes) {
      const parts: Buffer[] = []
      let held = 0
      for await (const chunk of chunks()) {
        parts.push(chunk)
        held += chunk.length
        if (held >= bytes) break
      }
      return Buffer.concat(parts).subarray(0, bytes)
    },
    async bytes(limit) {
      const parts: Buffer[] = []
      let held = 0
      for await (const chunk of chunks()) {
        held += chunk.length
        if (held > limit) {
          throw new HansardError(
            'too-large',
            `${path} is over the limit of ${limit} bytes for a whole document`,
          )
        }
        parts.push(chunk)
      }
      return Buffer.concat(parts)
    },
  }
}

type UnpackOptions = Parameters<typeof gunzip>[1]

/** Told by the first bytes, never by the name. */
async function* unpack(raw: AsyncIterable<Buffer>, options: UnpackOptions): AsyncGenerator<Buffer> {
  const pieces = raw[Symbol.asyncIterator]()
  try {
    const first = await pieces.next()
    if (first.done === true) return
    const all = rejoin(first.value, pieces)
    if (isGzip(first.value)) yield* gunzip(all, options)
    else if (isZstd(first.value)) yield* unzstd(all, options)
    else yield* all
  } finally {
    // Also when nobody reads to the end: what was opened below is closed.
    await pieces.return?.()
  }
}

async function* rejoin(first: Buffer, others: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  for (let next = await others.next(); next.done !== true; next = await others.next()) yield next.value
}
