/**
 * What a zip file says it holds: its central directory, which is the truth (the headers before the entries may be stale,
 * or lie). Names are made safe here, and what cannot be read is reported rather than passed over.
 */
import { HansardError } from '../errors.ts'
import { fromMillis } from '../transcript/instant.ts'
import { readAt } from './at-once.ts'

export type ZipEntry = {
  readonly path: string
  readonly method: 'stored' | 'deflated'
  readonly compressedBytes: number
  /** Unpacked, as the directory says: nothing is made to fit it. */
  readonly sizeBytes: number
  readonly headerOffset: number
  readonly crc32: number
  readonly modifiedAt: string
}

/** Told of each entry that is not given, by its name as far as it can be shown. */
export type Missed = (name: string, reason: string) => void

const END_BYTES = 22
const MAX_COMMENT_BYTES = 0xffff
const MAX_ENTRIES = 100_000
const MAX_DIRECTORY_BYTES = 128 * 1024 * 1024
/** No system opens a file by a longer path. */
const MAX_NAME_BYTES = 4096
/** All names that are held: 160 bytes each of as many entries as there may be. */
const MAX_NAMES_BYTES = 16 * 1024 * 1024
/** The directory is read so many bytes at a time: more than the longest entry, which is three times 64 KB and a header. */
const WINDOW_BYTES = 1024 * 1024
const END = 0x06054b50
const END64 = 0x06064b50
const LOCATOR64 = 0x07064b50
const ENTRY = 0x02014b50
const FULL16 = 0xffff
const FULL32 = 0xffffffff

/** By its local header, or, when it is empty, by its end. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && (head.readUInt32LE(0) === 0x04034b50 || head.readUInt32LE(0) === END)
}

/** The files in it, sorted by path in code units; of entries with one name the last, as unpacking leaves it. */
export function readDirectory(fd: number, sizeBytes: number, missed: Missed): readonly ZipEntry[] {
  const end = findEnd(fd, sizeBytes, TAIL_BYTES) ?? findEnd(fd, sizeBytes, END_BYTES + MAX_COMMENT_BYTES)
  if (end === undefined) {
    missed('', 'the zip file is cut off: its directory is missing')
    return []
  }
  if (end.entries > MAX_ENTRIES) throw tooLarge(`more than ${MAX_ENTRIES} entries`)
  if (end.directoryBytes > MAX_DIRECTORY_BYTES)
    throw tooLarge(`a directory of more than ${MAX_DIRECTORY_BYTES} bytes`)
  const found = new Map<string, ZipEntry>()
  const entryAt = readEntries(fd, sizeBytes, end)
  let at = 0
  let packedBytes = 0
  let nameBytes = 0
  for (let left = end.entries; left > 0; left -= 1) {
    const parsed = entryAt(at)
    if (parsed === undefined) {
      missed('', `the directory of the zip file breaks off: ${left} entries are missing`)
      break
    }
    at = parsed.next
    packedBytes += parsed.entry.compressedBytes
    if (parsed.entry.nameBytes > MAX_NAME_BYTES) {
      missed(shown(parsed.entry.name), `an entry whose name has more than ${MAX_NAME_BYTES} bytes`)
      continue
    }
    nameBytes += parsed.entry.nameBytes
    if (nameBytes > MAX_NAMES_BYTES) throw tooLarge(`names of more than ${MAX_NAMES_BYTES} bytes`)
    add(found, parsed.entry, missed)
  }
  // One piece of packed bytes that many entries share makes a bomb of any size, each entry below any ratio.
  if (packedBytes > sizeBytes) {
    throw new HansardError('too-large', 'a zip file whose entries lie over each other, as in a bomb')
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function tooLarge(what: string): HansardError {
  return new HansardError('too-large', `a zip file with ${what}`, {
    hint: 'unpack it, and name a folder further down',
  })
}

type EntryAt = (at: number) => { readonly entry: Parsed; readonly next: number } | undefined

/** The entry at an offset in the directory, of which a window is held: offsets only go up. */
function readEntries(fd: number, sizeBytes: number, end: End & { readonly tail: Buffer }): EntryAt {
  const { directoryOffset, directoryBytes, tail } = end
  const inTail = directoryOffset - (sizeBytes - tail.length)
  let bytes = inTail >= 0 ? tail.subarray(inTail, inTail + directoryBytes) : Buffer.alloc(0)
  let from = 0
  return (at) => {
    const parsed = parseEntry(bytes, at - from)
    const isAllThere = from + bytes.length >= directoryBytes
    if (parsed !== undefined || isAllThere) return parsed && { ...parsed, next: from + parsed.next }
    bytes = readAt(fd, directoryOffset + at, Math.min(WINDOW_BYTES, directoryBytes - at))
    from = at
    const again = parseEntry(bytes, 0)
    return again && { ...again, next: from + again.next }
  }
}

type End = { readonly entries: number; readonly directoryBytes: number; readonly directoryOffset: number }

/** Most have no comment: their end is in the last bytes, and often the whole directory is. */
const TAIL_BYTES = 8 * 1024

function findEnd(
  fd: number,
  sizeBytes: number,
  tailBytes: number,
): (End & { readonly tail: Buffer }) | undefined {
  const length = Math.min(sizeBytes, tailBytes)
  const tail = readAt(fd, sizeBytes - length, length)
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END || at + END_BYTES + tail.readUInt16LE(at + 20) > tail.length) continue
    const end = {
      entries: tail.readUInt16LE(at + 10),
      directoryBytes: tail.readUInt32LE(at + 12),
      directoryOffset: tail.readUInt32LE(at + 16),
    }
    const full = end.entries === FULL16 || end.directoryBytes === FULL32 || end.directoryOffset === FULL32
    const chosen = full ? (findEnd64(fd, sizeBytes - length + at) ?? end) : end
    if (chosen.directoryOffset + chosen.directoryBytes <= sizeBytes) return { ...chosen, tail }
  }
  return undefined
}

function findEnd64(fd: number, endOffset: number): End | undefined {
  const locator = readAt(fd, endOffset - 20, 20)
  if (locator.length < 20 || locator.readUInt32LE(0) !== LOCATOR64) return undefined
  const end = readAt(fd, Number(locator.readBigUInt64LE(8)), 56)
  if (end.length < 56 || end.readUInt32LE(0) !== END64) return undefined
  return {
    entries: Number(end.readBigUInt64LE(32)),
    directoryBytes: Number(end.readBigUInt64LE(40)),
    directoryOffset: Number(end.readBigUInt64LE(48)),
  }
}

type Parsed = Omit<ZipEntry, 'method' | 'path'> & {
  /** Of one that is too long to be a name, its beginning. */
  readonly name: string
  readonly nameBytes: number
  readonly method: number
  readonly flags: number
  readonly isLink: boolean
}

function parseEntry(
  bytes: Buffer,
  at: number,
): { readonly entry: Parsed; readonly next: number } | undefined {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY) return undefined
  const nameEnd = at + 46 + bytes.readUInt16LE(at + 28)
  const extraEnd = nameEnd + bytes.readUInt16LE(at + 30)
  const next = extraEnd + bytes.readUInt16LE(at + 32)
  if (next > bytes.length) return undefined
  const sizes = [bytes.readUInt32LE(at + 24), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)]
  const large = sizes.includes(FULL32) ? readExtra64(bytes.subarray(nameEnd, extraEnd), sizes) : sizes
  const entry: Parsed = {
    name: bytes.toString('utf8', at + 46, Math.min(nameEnd, at + 46 + MAX_NAME_BYTES)),
    nameBytes: nameEnd - at - 46,
    method: bytes.readUInt16LE(at + 10),
    flags: bytes.readUInt16LE(at + 8),
    sizeBytes: large[0] as number,
    compressedBytes: large[1] as number,
    headerOffset: large[2] as number,
    crc32: bytes.readUInt32LE(at + 16),
    modifiedAt: toInstant(bytes.readUInt16LE(at + 14), bytes.readUInt16LE(at + 12)),
    // Made on Unix: the upper half of the attributes is the mode.
    isLink: bytes[at + 5] === 3 && bytes.readUInt16LE(at + 40) >> 12 === 0o12,
  }
  return { entry, next }
}

/** Of size, packed size and offset those that do not fit in 32 bits, in this order, in a field of their own. */
function readExtra64(extra: Buffer, values: readonly number[]): readonly number[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === 1 && end <= extra.length) {
      let from = at + 4
      return values.map((value) => {
        if (value !== FULL32 || from + 8 > end) return value
        from += 8
        return Number(extra.readBigUInt64LE(from - 8))
      })
    }
    at = end
  }
  return values
}

function add(found: Map<string, ZipEntry>, parsed: Parsed, missed: Missed): void {
  const { name, method, flags, isLink, sizeBytes, compressedBytes, headerOffset, crc32, modifiedAt } = parsed
  if (name.endsWith('/')) return
  const path = safePath(name)
  if (path === undefined) return missed(shown(name), 'an entry whose name leads out of the zip file')
  if (isLink) return
  if ((flags & 1) !== 0) return missed(path, 'an encrypted entry')
  if (method !== 0 && method !== 8) return missed(path, `an entry packed in a way not known (${method})`)
  if (found.has(path)) missed(path, 'two entries with this name; the last is read')
  found.set(path, {
    path,
    method: method === 0 ? 'stored' : 'deflated',
    compressedBytes,
    sizeBytes,
    headerOffset,
    crc32,
    modifiedAt,
  })
}

/** Nothing, or a step that stays or goes up. */
const ODD_PART = /(?:^|\/)\.{0,2}(?:\/|$)/

/** Relative, with `/`, and without a step up; undefined for any other. */
function safePath(name: string): string | undefined {
  const path = name.replaceAll('\\', '/')
  if (path === '' || path.includes('\0') || path.startsWith('/') || /^[a-z]:/i.test(path)) return undefined
  if (!ODD_PART.test(path)) return path
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/')
}

function shown(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
}

/** A zip file knows local time without a zone, to two seconds; read as UTC, so that it is the same everywhere. */
function toInstant(date: number, time: number): string {
  const month = Math.max(0, ((date >> 5) & 15) - 1)
  const day = Math.max(1, date & 31)
  const at = Date.UTC(1980 + (date >> 9), month, day, time >> 11, (time >> 5) & 63, (time & 31) * 2)
  // From 1980 to 2108: always one.
  return fromMillis(at) as string
}
