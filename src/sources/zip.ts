/**
 * A zip file as a folder: its entries are files that are unpacked as they are read. An entry that is cut off, changed or
 * larger than anything honest gives what can be read and is reported; nothing is written to disk.
 */
import fs, { type FileHandle } from 'node:fs/promises'
import { posix } from 'node:path'
import { crc32 as nodeCrc32, createInflateRaw } from 'node:zlib'
import { fromSystemError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { readAt, readOnly, useAtOnce } from './at-once.ts'
import { CHUNK_BYTES, expand } from './expand.ts'
import { inflateHead } from './packed-head.ts'
import { firstOf, toSourceFile } from './source-file.ts'
import { readDirectory, type ZipEntry } from './zip-directory.ts'

/** The zip file at a path that is known to be a regular file. */
export function openZip(path: string, damaged: (damage: Damage) => void): Source {
  let listed: Promise<readonly SourceFile[]> | undefined
  const list = async (): Promise<readonly SourceFile[]> => {
    const entries = useAtOnce(path, { follow: true }, (fd, sizeBytes) =>
      readDirectory(fd, sizeBytes, (name, reason) =>
        damaged({
          kind: 'missing',
          file: name || posix.basename(path),
          byteOffset: 0,
          byteLength: 0,
          reason,
        }),
      ),
    )
    return entries.map((entry) => toEntryFile(path, entry, damaged, () => find(`${entry.path}-wal`)))
  }
  const once = (): Promise<readonly SourceFile[]> => (listed ??= list())
  let byPath: Promise<ReadonlyMap<string, SourceFile>> | undefined
  const find = async (wanted: string): Promise<SourceFile | undefined> => {
    byPath ??= once().then((files) => new Map(files.map((file) => [file.path, file])))
    return (await byPath).get(posix.normalize(wanted))
  }
  return { path, kind: 'folder', isPacked: true, list: once, find }
}

function toEntryFile(
  path: string,
  entry: ZipEntry,
  damaged: (damage: Damage) => void,
  log: () => Promise<SourceFile | undefined>,
): SourceFile {
  const torn = (byteOffset: number, reason: string): void =>
    damaged({ kind: 'torn', file: entry.path, byteOffset, byteLength: 0, reason })
  return toSourceFile({
    path: entry.path,
    sizeBytes: entry.compressedBytes,
    modifiedAt: entry.modifiedAt,
    damaged,
    log,
    begin: async (bytes) => beginning(path, entry, bytes) ?? firstOf(unpacked(path, entry, torn), bytes),
    async *raw() {
      const sum = createSum()
      let given = 0
      let stopped = false
      const stop = (at: number, reason: string): void => {
        stopped = true
        torn(at, reason)
      }
      for await (const chunk of unpacked(path, entry, stop)) {
        sum.update(chunk)
        given += chunk.length
        yield chunk
      }
      if (stopped || sum.value() === entry.crc32) return
      damaged({
        kind: 'checksum',
        file: entry.path,
        byteOffset: 0,
        byteLength: given,
        reason: 'the bytes in the zip file are not those that were packed',
      })
    },
  })
}

/** How far an entry's bytes may lie behind its header: its name and what else is said of it. */
const BEFORE_BYTES = 512

/** The entry's first bytes by one read of as many, and of what stands before them; undefined where that does not do. */
function beginning(path: string, entry: ZipEntry, bytes: number): Buffer | undefined {
  const { headerOffset, compressedBytes, sizeBytes, method } = entry
  const length = 30 + BEFORE_BYTES + Math.min(bytes, compressedBytes)
  const found = useAtOnce(path, { follow: true }, (fd) => readAt(fd, headerOffset, length))
  if (found.length < 30 || found.readUInt32LE(0) !== 0x04034b50) return undefined
  const at = 30 + found.readUInt16LE(26) + found.readUInt16LE(28)
  if (at > 30 + BEFORE_BYTES) return undefined
  const packed = found.subarray(at, at + compressedBytes)
  return method === 'stored'
    ? packed.subarray(0, bytes)
    : inflateHead(packed, bytes, compressedBytes / Math.max(1, sizeBytes))
}

async function* unpacked(
  path: string,
  entry: ZipEntry,
  stopped: (byteOffset: number, reason: string) => void,
): AsyncGenerator<Buffer> {
  const packed = packedBytes(path, entry, stopped)
  if (entry.method === 'stored') {
    yield* packed
    return
  }
  yield* expand(packed, createInflateRaw({ chunkSize: CHUNK_BYTES }), 'zip', {
    name: entry.path,
    sizeBytes: entry.compressedBytes,
    stopped,
  })
}

/** The entry's packed bytes. Only lengths are taken from its local header: the rest of it need not be true. */
async function* packedBytes(
  path: string,
  { headerOffset, compressedBytes }: ZipEntry,
  stopped: (byteOffset: number, reason: string) => void,
): AsyncGenerator<Buffer> {
  const handle = await openFile(path)
  try {
    const header = Buffer.alloc(30)
    const { bytesRead } = await handle.read(header, 0, 30, headerOffset)
    if (bytesRead < 30 || header.readUInt32LE(0) !== 0x04034b50) {
      stopped(0, 'the entry is not where the directory of the zip file says')
      return
    }
    let at = headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    let left = compressedBytes
    while (left > 0) {
      const size = Math.min(left, CHUNK_BYTES)
      const read = await handle.read(Buffer.allocUnsafeSlow(size), 0, size, at)
      if (read.bytesRead === 0) {
        stopped(compressedBytes - left, 'the zip file is cut off')
        return
      }
      at += read.bytesRead
      left -= read.bytesRead
      yield read.buffer.subarray(0, read.bytesRead)
    }
  } catch (error) {
    throw fromSystemError(error, path)
  } finally {
    await handle.close()
  }
}

function createSum(): { update(bytes: Buffer): void; value(): number } {
  let sum = 0
  return { update: (bytes) => void (sum = nodeCrc32(bytes, sum)), value: () => sum }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await fs.open(path, readOnly(true))
  } catch (error) {
    throw fromSystemError(error, path)
  }
}
