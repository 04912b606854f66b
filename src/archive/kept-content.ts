/** What a kept file holds, plain or packed, by uncompressed offsets: the one place where those are resolved. */
import { HansardError, fromSystemError } from '../errors.ts'
import type { FileIdentity, Files } from '../journal/files.ts'
import type { ChunkOptions, SourceFile } from '../transcript/source.ts'
import { readMember, readTable, type Member } from './kept-members.ts'

/** A file on disk that holds the content. */
export type Stored = { readonly at: string; readonly isPacked: boolean }

export type Content = {
  /** Uncompressed. */
  readonly size: number
  readonly identity: FileIdentity
  /** At most so many bytes from there on; fewer only at the end. `into`: memory for them, which is used where it can be. */
  read(offset: number, length: number, into?: Buffer): Buffer
  close(): void
}

/** Chunks this size keep the number of awaits low, and are still in the processor's cache when they are looked at. */
export const CHUNK_BYTES = 256 * 1024

export function openContent(files: Files, { at, isPacked }: Stored): Content {
  try {
    const fd = files.openRead(at)
    try {
      return isPacked ? openPacked(files, fd, at) : openPlain(files, fd)
    } catch (error) {
      files.close(fd)
      throw error
    }
  } catch (error) {
    throw fromSystemError(error, at)
  }
}

/** A part of it, for those who want no more: fewer bytes at the end. */
export function readPart(
  files: Files,
  stored: Stored,
  { byteOffset, byteLength }: { readonly byteOffset: number; readonly byteLength: number },
): Buffer {
  if (stored.isPacked) {
    const content = openContent(files, stored)
    try {
      return content.read(byteOffset, byteLength)
    } finally {
      content.close()
    }
  }
  const fd = files.openRead(stored.at)
  try {
    const buffer = Buffer.allocUnsafe(byteLength)
    return buffer.subarray(0, readFully(files, fd, buffer, byteOffset))
  } finally {
    files.close(fd)
  }
}

/** Reads until the buffer is full or the file ends. */
export function readFully(files: Files, fd: number, buffer: Buffer, position: number): number {
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read) {
    read = files.read(fd, buffer.subarray(length), position + length)
  }
  return length
}

function openPlain(files: Files, fd: number): Content {
  const identity = files.identity(fd)
  return {
    size: identity.size,
    identity,
    read(offset, length, into) {
      const most = Math.max(0, Math.min(length, identity.size - offset))
      const buffer = into?.subarray(0, most) ?? Buffer.allocUnsafeSlow(most)
      return buffer.subarray(0, readFully(files, fd, buffer, offset))
    },
    close: () => files.close(fd),
  }
}

function openPacked(files: Files, fd: number, path: string): Content {
  const members = readTable(files, fd, path)
  const last = members.at(-1)
  /** The member read last: places are mostly asked for one after the other. */
  let held: { readonly at: number; readonly content: Buffer } | undefined
  const contentOf = (at: number): Buffer => {
    if (held?.at !== at) held = { at, content: readMember(files, fd, members[at] as Member, path) }
    return held.content
  }
  const size = last === undefined ? 0 : last.offset + last.length
  return {
    size,
    identity: files.identity(fd),
    read(offset, length) {
      const end = Math.min(offset + length, size)
      const parts: Buffer[] = []
      for (let from = offset, at = memberAt(members, offset); from < end; at += 1) {
        const { offset: start, length: held } = members[at] as Member
        parts.push(contentOf(at).subarray(from - start, end - start))
        from = start + held
      }
      return Buffer.concat(parts)
    },
    close: () => files.close(fd),
  }
}

/** The member that a place lies in, by halves. */
function memberAt(members: readonly Member[], offset: number): number {
  let low = 0
  for (let high = members.length - 1; low < high;) {
    const middle = (low + high + 1) >>> 1
    if ((members[middle] as Member).offset <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Memory for chunks that pass, while nobody uses it. */
let spare: Buffer | undefined

/** All of it, or its beginning, in chunks. What grows meanwhile is not looked at. */
export async function* chunksOf(
  content: Content,
  { most = content.size, isPassing = false }: ChunkOptions & { readonly most?: number } = {},
): AsyncGenerator<Buffer> {
  const into = isPassing ? (spare ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)) : undefined
  if (isPassing) spare = undefined
  try {
    for (let at = 0; at < most;) {
      const chunk = content.read(at, Math.min(CHUNK_BYTES, most - at), into)
      if (chunk.length === 0) return
      at += chunk.length
      yield chunk
    }
  } finally {
    content.close()
    if (into !== undefined) spare = into
  }
}

/** The number of bytes, from the first on, that both have alike. */
export function commonLength(one: Content, other: Content): number {
  const most = Math.min(one.size, other.size)
  for (let at = 0; at < most; at += CHUNK_BYTES) {
    const a = one.read(at, Math.min(CHUNK_BYTES, most - at))
    const b = other.read(at, Math.min(CHUNK_BYTES, most - at))
    if (a.equals(b)) continue
    let same = 0
    while (same < a.length && a[same] === b[same]) same += 1
    return at + same
  }
  return most
}

/** `open` looks each time where the file is: it may be packed or unpacked between two readings. */
export function toKeptFile(path: string, identity: FileIdentity, open: () => Content): SourceFile {
  const readAll = <R>(read: (content: Content) => R): R => {
    const content = open()
    try {
      return read(content)
    } finally {
      content.close()
    }
  }
  return {
    path,
    sizeBytes: identity.size,
    modifiedAt: new Date(Math.round(identity.modified ?? 0)).toISOString(),
    chunks: (options) => chunksOf(open(), options),
    head: async (bytes) => readAll((content) => content.read(0, bytes)),
    tail: async (bytes) =>
      readAll((content) => {
        const from = Math.max(0, content.size - bytes)
        return content.read(from, content.size - from)
      }),
    bytes: async (limit) =>
      readAll((content) => {
        if (content.size <= limit) return content.read(0, content.size)
        throw new HansardError(
          'too-large',
          `${path} is over the limit of ${limit} bytes for a whole document`,
        )
      }),
  }
}
