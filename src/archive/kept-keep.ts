/**
 * Brings a kept file up to what its source is now. A log that grew gives its suffix; a file that was rewritten leaves its old
 * bytes as an older version. What is on disk is the truth: whatever a crash left, the next call goes on from there, and at no
 * byte is anything lost that was kept before.
 */
import { hash } from 'node:crypto'
import { fromSystemError } from '../errors.ts'
import { writeAll, type Files } from '../journal/files.ts'
import type { KeepFrom, Kept } from './kept.ts'
import { chunksOf, commonLength, openContent, readFully, type Content } from './kept-content.ts'
import {
  copyNew,
  openFrom,
  readFrom,
  removeQuietly,
  writeNew,
  type Copied,
  type Opened,
} from './kept-copy.ts'
import type { Growing } from './kept-growing.ts'
import type { Shelf } from './kept-shelf.ts'

/** Of what is kept, so many bytes at its end are compared with the source before anything is appended. */
export const TAIL_BYTES = 4096

export type Keeping = { readonly files: Files; readonly shelf: Shelf; readonly growing: Growing }

/** `copied`: of the whole file, where it is known without looking. */
type Done = Pick<Kept, 'change' | 'bytesRead'> & { readonly copied?: Copied }

export async function keepBytes(keeping: Keeping, path: string, from: KeepFrom): Promise<Kept> {
  const { copied, ...done } =
    'file' in from ? await keepFile(keeping, path, from.file) : await keepChunks(keeping, path, from)
  if (copied?.tail !== undefined) return { ...done, bytes: copied.bytes, tail: hashOf(copied.tail) }
  const content = keeping.shelf.open(path)
  try {
    return { ...done, bytes: content.size, tail: hashOf(tailOf(content)) }
  } finally {
    content.close()
  }
}

async function keepFile(keeping: Keeping, path: string, file: string): Promise<Done> {
  const { files, shelf, growing } = keeping
  const from = openFrom(files, file)
  try {
    const stored = shelf.locate(path)
    if (stored === undefined || growing.has(path) || !shelf.settle(path)) {
      return await replace(keeping, path, (to) => copyOf(files, to, from))
    }
    const content = openContent(files, stored)
    try {
      const { size, identity } = content
      const isTouched = !isSameTime(identity.modified, from.identity.modified)
      if (size === from.identity.size && !isTouched) return { change: 'none', bytesRead: 0 }
      const looked = size <= from.identity.size ? Math.min(size, TAIL_BYTES) : 0
      const isContinued = size <= from.identity.size && isAlike(files, from, content, size - looked)
      if (isContinued && size < from.identity.size) {
        const grown = stored.isPacked
          ? await unpackAndGrow(keeping, path, content, from)
          : await grow(keeping, path, stored.at, from, size)
        return { change: grown === 0 ? 'none' : 'grown', bytesRead: looked + grown }
      }
      const done = await replace(keeping, path, (to) => copyOf(files, to, from))
      return { ...done, bytesRead: looked + done.bytesRead }
    } finally {
      content.close()
    }
  } finally {
    files.close(from.fd)
  }
}

async function keepChunks(
  keeping: Keeping,
  path: string,
  { chunks, modifiedAt }: Extract<KeepFrom, { readonly chunks: unknown }>,
): Promise<Done> {
  const modified = modifiedAt === undefined ? Number.NaN : Date.parse(modifiedAt)
  const known = Number.isNaN(modified) ? undefined : modified
  return replace(keeping, path, async (to) => ({ bytes: await writeNew(keeping.files, to, chunks(), known) }))
}

function copyOf(files: Files, to: string, from: Opened): Promise<Copied> {
  return copyNew(files, to, from, { modified: modifiedOf(from), tail: TAIL_BYTES })
}

/** The source whole in a new file, which takes the old one's place. What the two have alike decides what that was. */
async function replace(
  { files, shelf, growing }: Keeping,
  path: string,
  write: (temporary: string) => Promise<Copied>,
): Promise<Done> {
  const temporary = shelf.temporary()
  try {
    const copied = await write(temporary)
    const change = changeTo(files, shelf, path, temporary)
    // Also when nothing changed: the file in place may be one that a failing disk holds only in part.
    if (change === 'new') shelf.putNew(path, temporary)
    else shelf.put(path, temporary, change === 'rewritten')
    growing.unmark(path)
    return { change, bytesRead: copied.bytes, copied }
  } catch (error) {
    removeQuietly(files, temporary)
    throw fromSystemError(error, path)
  }
}

/** What it is for the file to become what is in the new one. */
export function changeTo(files: Files, shelf: Shelf, path: string, temporary: string): Kept['change'] {
  if (shelf.locate(path) === undefined) return 'new'
  const old = shelf.open(path)
  const now = openContent(files, { at: temporary, isPacked: false })
  try {
    if (commonLength(old, now) < old.size) return 'rewritten'
    return now.size === old.size ? 'none' : 'grown'
  } finally {
    old.close()
    now.close()
  }
}

/** Whether the source has, from there on, what is kept up to its end. */
function isAlike(files: Files, from: Opened, content: Content, at: number): boolean {
  const kept = content.read(at, content.size - at)
  const there = Buffer.alloc(kept.length)
  try {
    return readFully(files, from.fd, there, at) === kept.length && there.equals(kept)
  } catch (error) {
    throw fromSystemError(error, from.path)
  }
}

/** Appends what the source has more. When that fails, nothing was appended. */
async function grow(
  { files, growing }: Keeping,
  path: string,
  at: string,
  from: Opened,
  size: number,
): Promise<number> {
  let isSynced = true
  try {
    // A piece that is no longer than what is looked at anyway needs no mark.
    if (from.identity.size - size > TAIL_BYTES) growing.mark(path)
    const fd = files.openAppend(at, 'old')
    try {
      let grown = 0
      try {
        for await (const chunk of readFrom(files, from, size)) {
          writeAll(files, fd, chunk)
          grown += chunk.length
        }
        isSynced = false
        files.datasync(fd)
        isSynced = true
      } catch (error) {
        files.truncate(fd, size)
        throw error
      }
      files.setModified(fd, modifiedOf(from))
      growing.unmark(path)
      return grown
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (!isSynced) distrust(growing, path)
    throw fromSystemError(error, path)
  }
}

/** After a sync that failed, the system may take for written what is not: the next one goes into a new file. */
function distrust(growing: Growing, path: string): void {
  try {
    growing.mark(path)
  } catch {
    // This process knows all the same.
  }
}

async function unpackAndGrow(
  keeping: Keeping,
  path: string,
  content: Content,
  from: Opened,
): Promise<number> {
  const { files, shelf } = keeping
  const temporary = shelf.temporary()
  const size = content.size
  async function* both(): AsyncGenerator<Buffer> {
    yield* chunksOf(shelf.open(path))
    yield* readFrom(files, from, size)
  }
  try {
    const written = await writeNew(files, temporary, both(), modifiedOf(from))
    shelf.put(path, temporary, false)
    return written - size
  } catch (error) {
    removeQuietly(files, temporary)
    throw fromSystemError(error, path)
  }
}

/** Clocks of file systems tick every few ms: what was written in the same tick as it was read could be written again in it. */
const TICK_MS = 20

/** The source's own time, so that a kept file says by itself whether the source changed since. */
export function modifiedOf({ identity }: Opened): number {
  const { modified = 0 } = identity
  return Date.now() - modified < TICK_MS ? modified - 1 : modified
}

/** To the microsecond: what a file system takes. */
export function isSameTime(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && Math.abs(one - other) < 0.002
}

function tailOf(content: Content): Buffer {
  const length = Math.min(content.size, TAIL_BYTES)
  return content.read(content.size - length, length)
}

export function hashOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex')
}
