/**
 * What a session's journal says of the whole: from its two ends where it ended well, which costs the same for a gigabyte as for a
 * kilobyte, and by reading it through where it did not.
 */
import { parseLine } from '../journal/line.ts'
import { changeSession, type JournalRecord } from '../journal/record.ts'
import type { Files } from '../journal/files.ts'
import { isObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Archive } from './archive.ts'
import { createTotals } from './priced-totals.ts'
import { readSession } from './read-session.ts'

export type SessionFacts = {
  readonly session: Session
  /** Of its segments; blobs are not counted. */
  readonly bytes: number
  readonly damage: number
}

export async function readFacts(archive: Archive, id: string): Promise<SessionFacts> {
  const paths = archive.segments(id)
  const [only] = paths
  const bytes = paths.reduce((sum, path) => sum + sizeOf(archive.files, path), 0)
  const ends = paths.length === 1 && only !== undefined ? readEnds(archive.files, only) : undefined
  if (ends !== undefined) return { session: ends, bytes, damage: 0 }
  const { session, damage } = await readThrough(archive, id)
  return { session, bytes, damage }
}

/** The session, when the file's first line opens it and its last line ends it. */
function readEnds(files: Files, path: string): Session | undefined {
  const first = toRecord(readFirstLine(files, path))
  const last = toRecord(readLastLine(files, path))
  if (first?.t !== 'session' || last?.t !== 'end') return undefined
  if (!isObject(first.session) || !isObject(last.session)) return undefined
  return changeSession(first.session, last.session)
}

export type WholeReading = {
  /** With totals: those it states, or those counted here. */
  readonly session: Session
  readonly entries: number
  readonly damage: number
  /** When the last entry that says so was recorded. */
  readonly lastAt?: string
}

/** Every line once, nothing held. */
export async function readThrough(archive: Archive, id: string): Promise<WholeReading> {
  const fold = createTotals()
  let session: Session = { id, status: 'interrupted' }
  let damage = 0
  let lastAt: string | undefined
  for await (const items of readSession(archive, id, { blobs: 'reference' })) {
    for (const item of items) {
      if (item.type === 'entry') {
        fold.add(item.entry, session.model)
        lastAt = item.entry.at ?? lastAt
      } else if (item.type === 'damage') damage += 1
      else session = item.session
    }
  }
  const counted = fold.totals(session.stub)
  const totals = session.totals ?? counted
  return {
    session: { ...session, totals },
    entries: counted.entries,
    damage,
    ...(lastAt !== undefined && { lastAt }),
  }
}

const STEP = 64 * 1024

function readFirstLine(files: Files, path: string): Buffer | undefined {
  return withFile(files, path, (fd, size) => {
    for (let length = STEP; ; length *= 4) {
      const bytes = readAt(files, fd, 0, Math.min(length, size))
      const end = bytes.indexOf(0x0a)
      if (end !== -1) return bytes.subarray(0, end)
      if (bytes.length === size) return undefined
    }
  })
}

/** Undefined when the file does not end with a newline: its last line is not whole. */
function readLastLine(files: Files, path: string): Buffer | undefined {
  return withFile(files, path, (fd, size) => {
    for (let length = STEP; ; length *= 4) {
      const bytes = readAt(files, fd, Math.max(0, size - length), Math.min(length, size))
      if (bytes.at(-1) !== 0x0a) return undefined
      const start = bytes.lastIndexOf(0x0a, bytes.length - 2)
      if (start !== -1 || bytes.length === size) return bytes.subarray(start + 1, bytes.length - 1)
    }
  })
}

function toRecord(line: Buffer | undefined): JournalRecord | undefined {
  const parsed = line && parseLine(line)
  // The line's checksum says that one of our writers wrote it, and those write records.
  return parsed && (parsed.value as unknown as JournalRecord)
}

function sizeOf(files: Files, path: string): number {
  return withFile(files, path, (_, size) => size) ?? 0
}

function withFile<T>(files: Files, path: string, work: (fd: number, size: number) => T): T | undefined {
  if (files.kind(path) !== 'file') return undefined
  const fd = files.openRead(path)
  try {
    return work(fd, files.size(fd))
  } finally {
    files.close(fd)
  }
}

function readAt(files: Files, fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let at = 0
  for (let read = -1; read !== 0 && at < length; at += read)
    read = files.read(fd, bytes.subarray(at), position + at)
  return bytes.subarray(0, at)
}
