/**
 * A `SourceFile` made of bytes that something else gives, packed or not: gzip and zstd are unpacked here, once, whatever
 * holds the file (a folder, a zip file, a repository).
 */
import { HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import {
  type ChunkOptions,
  type ShortFile,
  type SourceDatabase,
  type SourceFile,
  SQLITE_MAGIC,
} from '../transcript/source.ts'
import { gunzip, isGzip } from './gzip.ts'
import { gunzipHead } from './packed-head.ts'
import { isZstd, unzstd } from './zstd.ts'

export type RawFile = {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: string
  /** All bytes as they are held; from the start each time it is called. */
  readonly raw: (options?: ChunkOptions) => AsyncIterable<Buffer>
  /** As `SourceFile.atOnce`, where there is a way to them that nobody has to wait for. */
  readonly atOnce?: SourceFile['atOnce']
  /** The first of them, at most so many, where there is a shorter way to them. */
  readonly begin?: (bytes: number) => Promise<Buffer>
  /** The last of them, where they can be had alone. */
  readonly end?: (bytes: number) => Promise<Buffer>
  readonly damaged: (damage: Damage) => void
  /** The file that holds a database's log, where it is not beside it on disk. */
  readonly log?: () => Promise<SourceFile | undefined>
  /** For a file on disk: the database where it lies, or what else is done: its bytes unpacked to a private folder. */
  readonly database?: (unpacked: () => Promise<SourceDatabase>) => Promise<SourceDatabase>
}

export function toSourceFile({
  path,
  sizeBytes,
  modifiedAt,
  raw,
  atOnce,
  begin,
  end,
  damaged,
  log,
  database,
}: RawFile): SourceFile {
  const stopped = (byteOffset: number, reason: string): void =>
    damaged({ kind: 'torn', file: path, byteOffset, byteLength: 0, reason })
  const chunks = (options?: ChunkOptions): AsyncGenerator<Buffer> =>
    unpack(raw(options), { name: path, sizeBytes, stopped, ...options })
  const unpacked = async (): Promise<SourceDatabase> => {
    // SQLite is loaded only for a database.
    const { openUnpackedDatabase } = await import('./database.ts')
    return openUnpackedDatabase(chunks(), (await log?.())?.chunks(), (kind, reason) =>
      damaged({ kind, file: path, byteOffset: 0, byteLength: 0, reason }),
    )
  }
  const firstBytes = (bytes: number): Promise<Buffer> =>
    begin === undefined ? firstOf(raw(), bytes) : begin(bytes)
  const headOf = (packed: Buffer, bytes: number): Promise<Buffer> =>
    firstOf(unpack(once(packed), { name: path, sizeBytes, stopped: () => {} }), bytes)
  let isPlain: boolean | undefined
  return {
    path,
    sizeBytes,
    modifiedAt,
    chunks,
    ...(atOnce !== undefined && { atOnce }),
    database: () => (database === undefined ? unpacked() : database(unpacked)),
    async head(bytes) {
      // Of what is packed, no more is read than is asked for unpacked: less makes as much, and what stops there is no damage.
      const most = Math.max(bytes, LEAST_BYTES)
      const first = await firstBytes(most)
      isPlain = isUnpacked(first)
      if (isPlain) return first.subarray(0, bytes)
      const quick = isGzip(first) ? gunzipHead(first, bytes) : undefined
      if (quick !== undefined) return quick
      const unpacked = await headOf(first, bytes)
      // A block of zstd is given whole or not at all: one that is longer than what was read gives nothing of what it holds.
      const isShort = unpacked.length === 0 && first.length === most && most < BLOCK_BYTES
      return isShort ? headOf(await firstBytes(BLOCK_BYTES), bytes) : unpacked
    },
    ...(end !== undefined && {
      async tail(bytes: number) {
        isPlain ??= isUnpacked(await firstBytes(LEAST_BYTES))
        return isPlain ? end(bytes) : Buffer.alloc(0)
      },
    }),
    async bytes(limit) {
      // A session may lie in thousands of short files: to wait for each takes longer than to read it.
      const short = sizeBytes <= SHORT_BYTES ? atOnce?.(Math.min(limit, SHORT_BYTES)) : undefined
      if (short !== undefined) return wholeOf(short)
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

function wholeOf({ first, next, leave }: ShortFile): Buffer {
  try {
    const parts: Buffer[] = []
    for (let chunk = first; chunk.length > 0; chunk = next()) parts.push(Buffer.from(chunk))
    return Buffer.concat(parts)
  } finally {
    leave()
  }
}

function isUnpacked(first: Buffer): boolean {
  return !isGzip(first) && !isZstd(first)
}

/** Read without promises, where that can be. */
const SHORT_BYTES = 64 * 1024

/** Read where less is asked for: the header of anything packed, and something behind it. */
const LEAST_BYTES = 4096

/** The longest block of zstd, with the headers before it. */
const BLOCK_BYTES = 129 * 1024

/** At most so many bytes, and nothing read beyond the chunk that they end in. */
export async function firstOf(chunks: AsyncIterable<Buffer>, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let held = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    held += chunk.length
    if (held >= bytes) break
  }
  const [first = Buffer.alloc(0), ...others] = parts
  return (others.length === 0 ? first : Buffer.concat(parts)).subarray(0, bytes)
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** True when the bytes are a database as they are, not a packed one. */
export async function isPlainDatabase(raw: AsyncIterable<Buffer>): Promise<boolean> {
  for await (const piece of raw)
    return piece.subarray(0, SQLITE_MAGIC.length).equals(Buffer.from(SQLITE_MAGIC))
  return false
}

type UnpackOptions = Parameters<typeof gunzip>[1] & ChunkOptions

/** Told by the first bytes, never by the name. */
async function* unpack(raw: AsyncIterable<Buffer>, options: UnpackOptions): AsyncGenerator<Buffer> {
  const pieces = raw[Symbol.asyncIterator]()
  try {
    const first = await pieces.next()
    if (first.done === true) return
    const all = rejoin(first.value, pieces)
    // What is unpacked may hold one piece while it asks for the next.
    const held = options.isPassing === true ? copied(all) : all
    if (isGzip(first.value)) yield* gunzip(held, options)
    else if (isZstd(first.value)) yield* unzstd(held, options)
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

async function* copied(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece)
}
