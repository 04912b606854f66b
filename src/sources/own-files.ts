/**
 * The files that this program wrote beside a journal, in the formats that were asked for. They say nothing that the journal does not:
 * a sync that took them for another program's would show every session twice.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readChunks } from '../archive/bytes.ts'
import { readJournal, type JournalLine } from '../journal/reader.ts'
import { realPath } from './given.ts'

/** Absolute, by the path that links lead to. */
export async function ownFiles(archive: Archive, id: string): Promise<readonly string[]> {
  const own = new Set<string>()
  for (const segment of archive.segments(id)) {
    const roots = new Map<string, string>()
    for await (const items of readJournal(readChunks(archive.files, segment), segment)) {
      for (const item of items) {
        if (!item.ok) continue
        const { record } = item
        if (record.t === 'session')
          for (const { id, root } of record.formats ?? []) roots.set(id, realPath(root))
        if (record.t !== 'files' || record.taken === true) continue
        const root = roots.get(record.format)
        if (root !== undefined) own.add(join(root, record.path))
      }
    }
  }
  return [...own]
}

/** Whether a file that was set aside is one of these sessions'. Others' files are set aside too: ours begins at a moment they know. */
export async function isWrittenBy(
  archive: Archive,
  sessions: readonly string[],
  path: string,
): Promise<boolean> {
  const begins = firstInstant(path)
  if (begins === undefined) return false
  for (const id of sessions) if (await isBegunAt(archive, id, begins)) return true
  return false
}

/** Among the first records of a session: its own, and those of its first entries. */
async function isBegunAt(archive: Archive, id: string, instant: number): Promise<boolean> {
  for (const segment of archive.segments(id)) {
    let left = MOST_RECORDS
    for await (const items of readJournal(readChunks(archive.files, segment), segment)) {
      for (const item of items) if (item.ok && instantOf(item.record) === instant) return true
      left -= items.length
      if (left <= 0) break
    }
  }
  return false
}

const MOST_RECORDS = 100
const HEAD_BYTES = 64 * 1024

function instantOf(record: JournalLine['record']): number {
  if (record.t === 'session') return Date.parse(record.session.startedAt ?? '')
  return record.t === 'entry' ? Date.parse(record.entry.at ?? '') : Number.NaN
}

function firstInstant(path: string): number | undefined {
  const head = Buffer.alloc(HEAD_BYTES)
  let fd: number | undefined
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    const length = fs.readSync(fd, head, 0, HEAD_BYTES, 0)
    const [said] =
      /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/.exec(head.toString('latin1', 0, length)) ?? []
    return said === undefined ? undefined : Date.parse(said)
  } catch {
    // What cannot be read is taken as another's: the sync says why.
    return undefined
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}
