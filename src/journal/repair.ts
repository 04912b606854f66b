/**
 * Repairs a journal that nobody writes any more: afterwards it holds exactly the whole lines it held before, byte for byte, and
 * nothing else. The damaged bytes are kept beside it first. No record is ever made up; what is lost still shows as missing.
 */
import { basename, dirname } from 'node:path'
import { writeAll, type Files } from './files.ts'
import { readPart } from './read-part.ts'
import { createJournalParser, type JournalItem } from './reader.ts'

export type Repair = {
  readonly path: string
  readonly changed: boolean
  /** Lines that are in the file, before and after. */
  readonly lines: number
  readonly removedBytes: number
  /** Where the damaged bytes are kept: the torn tail alone, or the whole file as it was. */
  readonly keptAs?: string
}

/** Bytes of whole lines side by side, without the last newline. */
type Run = { readonly from: number; to: number }

const NEWLINE = Buffer.from('\n')

/** Throws system errors; the file is then as it was, or already repaired. Only for a segment whose writer is dead. */
export function repairJournal(files: Files, path: string): Repair {
  const fd = files.openRead(path)
  try {
    const size = files.size(fd)
    const { runs, lines } = findRuns(files, fd, path)
    const [first] = runs
    const end = first === undefined ? 0 : first.to + 1
    if (runs.length <= 1 && (first === undefined || first.from === 0)) {
      if (size === end) return { path, changed: false, lines, removedBytes: 0 }
      return { ...cutTail(files, fd, path, { size, end }), lines }
    }
    return { ...rewrite(files, fd, path, { size, runs }), lines }
  } finally {
    files.close(fd)
  }
}

function findRuns(files: Files, fd: number, path: string): { runs: readonly Run[]; lines: number } {
  const parser = createJournalParser(path)
  const runs: Run[] = []
  let lines = 0
  const take = (items: readonly JournalItem[]): void => {
    for (const item of items) {
      // A line of a later version, or somebody else's, is not ours to remove.
      const { byteOffset, byteLength } = item.ok ? item : item.damage
      if (!item.ok && (item.damage.kind !== 'not-an-entry' || byteLength === 0)) continue
      if (item.ok) lines += 1
      const last = runs.at(-1)
      if (last !== undefined && last.to + 1 === byteOffset) last.to = byteOffset + byteLength
      else runs.push({ from: byteOffset, to: byteOffset + byteLength })
    }
  }
  for (const chunk of readPart(files, fd, 0, Number.POSITIVE_INFINITY)) take(parser.push(chunk))
  take(parser.end())
  return { runs: joinRuns(runs), lines }
}

/** Items may come a line later than they stand: in order again, and side by side made one. */
function joinRuns(runs: Run[]): readonly Run[] {
  const joined: Run[] = []
  for (const run of runs.sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last !== undefined && last.to + 1 === run.from) last.to = run.to
    else joined.push(run)
  }
  return joined
}

/** All damage is behind the last whole line. */
function cutTail(
  files: Files,
  fd: number,
  path: string,
  { size, end }: { readonly size: number; readonly end: number },
): Omit<Repair, 'lines'> {
  const keptAs = size > end ? keep(files, fd, path, { from: end, to: size }) : undefined
  const append = files.openAppend(path, 'any')
  try {
    // One byte short: a last line that lacks only its newline.
    if (size < end) writeAll(files, append, NEWLINE)
    else files.truncate(append, end)
    files.datasync(append)
  } finally {
    files.close(append)
  }
  return { path, changed: true, removedBytes: Math.max(0, size - end), ...(keptAs && { keptAs }) }
}

/** Damage before or between whole lines: they are written to a new file that takes the old one's place. */
function rewrite(
  files: Files,
  fd: number,
  path: string,
  { size, runs }: { readonly size: number; readonly runs: readonly Run[] },
): Omit<Repair, 'lines'> {
  const keptAs = keep(files, fd, path, { from: 0, to: size })
  const temporary = create(files, (n) => `${path}.repair${n}`)
  let written = 0
  try {
    try {
      for (const { from, to } of runs) {
        for (const chunk of readPart(files, fd, from, to)) writeAll(files, temporary.fd, chunk)
        writeAll(files, temporary.fd, NEWLINE)
        written += to - from + 1
      }
      files.datasync(temporary.fd)
    } finally {
      files.close(temporary.fd)
    }
    files.rename(temporary.path, path)
  } catch (error) {
    if (files.kind(temporary.path) === 'file') files.remove(temporary.path)
    throw error
  }
  files.syncFolder(dirname(path))
  return { path, changed: true, removedBytes: size - written, keptAs }
}

/** A copy of these bytes beside the file, on the disk before anything is taken away. */
function keep(files: Files, fd: number, path: string, { from, to }: Run): string {
  const kept = create(files, (n) => `${path}.damaged${n}`)
  try {
    for (const chunk of readPart(files, fd, from, to)) writeAll(files, kept.fd, chunk)
    files.datasync(kept.fd)
  } finally {
    files.close(kept.fd)
  }
  files.syncFolder(dirname(path))
  return basename(kept.path)
}

/** A file that was not there: earlier repairs keep theirs. */
function create(files: Files, name: (n: string) => string): { readonly path: string; readonly fd: number } {
  for (let n = 0; ; n += 1) {
    const path = name(n === 0 ? '' : `.${n}`)
    if (files.kind(path) === undefined) return { path, fd: files.openAppend(path, 'new') }
  }
}
