/**
 * Kept files with their secrets taken out, for `keep: 'redacted'`: the source's own bytes never reach the archive. Since sizes
 * differ, `from/<path>.json` says how far the source was read and what its last 4 KB were, so that a log that grew still gives
 * only its suffix.
 */
import { dirname, basename, join } from 'node:path'
import { HansardError, fromSystemError } from '../errors.ts'
import { writeAll, writeWhole, type Files } from '../journal/files.ts'
import type { Redactor } from '../redact/redactor.ts'
import { asCount, asNumber, asObject, asString, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'
import type { KeepFrom, Kept } from './kept.ts'
import { chunksOf, readFully } from './kept-content.ts'
import { openFrom, readFrom, removeQuietly, writeNew, type Opened } from './kept-copy.ts'
import { TAIL_BYTES, changeTo, hashOf, isSameTime, modifiedOf, type Keeping } from './kept-keep.ts'
import { createRedaction, type Reached, type Redaction } from './kept-redaction.ts'
import { openTree } from './kept-tree.ts'

/** How far the source is kept, in `from/<path>.json`. */
type From = {
  /** Whole lines of the source, and what they came to here. */
  readonly bytes: number
  readonly kept: number
  /** SHA-256 of the source's last 4 KB before `bytes`. */
  readonly tail: string
  /** All of the source, and the SHA-256 of what follows `bytes`: a last line that may not be whole. */
  readonly size: number
  readonly rest: string
  /** The source's time, in milliseconds. */
  readonly modified?: number
}

export type Redacted = {
  keep(path: string, from: KeepFrom): Promise<Kept>
  /** Whether what is kept of it is the redacted source. */
  has(path: string): boolean
  /** Forgets how far the source was read: what is kept is the source itself again, or nothing. */
  forget(path: string): void
}

const SUFFIX = '.json'
const START: Reached = { bytes: 0, kept: 0, tail: Buffer.alloc(0) }
/** An unfinished line longer than this is not compared: the file counts as rewritten. */
const REST_BYTES = 1024 * 1024

export function openRedacted(keeping: Keeping, place: string, redactor?: Redactor): Redacted {
  const { files, shelf, growing } = keeping
  const tree = openTree(files, place, join(place, 'from'))

  const readSide = (path: string): From | undefined => {
    const at = tree.find(path, SUFFIX)
    return at === undefined ? undefined : toFrom(readWholeFile(files, at)?.toString('utf8') ?? '')
  }
  /** The last step: until then, what is kept goes on from the side that was. */
  const end = (path: string, redaction: Redaction, modified: number | undefined): From => {
    const { tail, ...reached } = redaction.reached()
    const side = { ...reached, tail: hashOf(tail), ...(modified !== undefined && { modified }) }
    const at = tree.make(path, SUFFIX)
    writeWhole(files, dirname(at), basename(at), Buffer.from(`${JSON.stringify(side)}\n`))
    growing.unmark(path)
    return side
  }

  /** A new file: what is kept of whole lines, and all that follows. `isContinued`: what was there is its beginning. */
  const replace = async (
    path: string,
    chunks: AsyncIterable<Buffer>,
    {
      start = START,
      isContinued = false,
      modified,
    }: { start?: Reached; isContinued?: boolean; modified?: number },
  ): Promise<Kept> => {
    const temporary = shelf.temporary()
    const redaction = createRedaction(redactor as Redactor, start)
    async function* all(): AsyncGenerator<Buffer> {
      if (start.kept > 0) yield* chunksOf(shelf.open(path), { most: start.kept })
      yield* redaction.apply(chunks)
    }
    try {
      await writeNew(files, temporary, all(), modified)
      const change = isContinued ? 'grown' : changeTo(files, shelf, path, temporary)
      shelf.put(path, temporary, change === 'rewritten')
      const { size, tail } = end(path, redaction, modified)
      return { change, bytesRead: size - start.bytes, bytes: size, tail }
    } catch (error) {
      removeQuietly(files, temporary)
      throw fromSystemError(error, path)
    }
  }

  const grow = async (path: string, at: string, from: Opened, start: Reached): Promise<Kept> => {
    const redaction = createRedaction(redactor as Redactor, start)
    try {
      growing.mark(path)
      const fd = files.openAppend(at, 'old')
      try {
        for await (const chunk of redaction.apply(readFrom(files, from, start.bytes)))
          writeAll(files, fd, chunk)
        files.datasync(fd)
        files.setModified(fd, modifiedOf(from))
      } catch (error) {
        files.truncate(fd, start.kept)
        throw error
      } finally {
        files.close(fd)
      }
      const { size, tail } = end(path, redaction, modifiedOf(from))
      return { change: 'grown', bytesRead: size - start.bytes, bytes: size, tail }
    } catch (error) {
      throw fromSystemError(error, path)
    }
  }

  /** What was kept with its secrets in it, before this was asked for. */
  const convert = async (path: string): Promise<void> => {
    for (const version of shelf.versions(path)) {
      const temporary = shelf.temporary()
      const { modified } = files.identityAt(shelf.locate(path, version)?.at ?? '') ?? {}
      const redaction = createRedaction(redactor as Redactor, START)
      await writeNew(files, temporary, redaction.apply(chunksOf(shelf.open(path, version))), modified)
      shelf.putOlder(path, version, temporary)
    }
    const { modified } = files.identityAt(shelf.locate(path)?.at ?? '') ?? {}
    const chunks = chunksOf(shelf.open(path))
    await replace(path, chunks, { isContinued: true, ...(modified !== undefined && { modified }) })
  }

  const keepFile = async (path: string, from: Opened): Promise<Kept> => {
    const { size, modified } = from.identity
    const whole = { modified: modifiedOf(from) }
    if (shelf.locate(path) === undefined) return replace(path, readFrom(files, from, 0), whole)
    if (readSide(path) === undefined) await convert(path)
    const side = readSide(path) as From
    const stored = shelf.locate(path)
    if (size === side.size && isSameTime(side.modified, modified) && !growing.has(path)) {
      return { change: 'none', bytesRead: 0, bytes: side.size, tail: side.tail }
    }
    const { tail, read, isContinued } = compare(files, from, side)
    const start = { bytes: side.bytes, kept: side.kept, tail }
    if (!isContinued || stored === undefined) {
      const done = await replace(path, readFrom(files, from, 0), whole)
      return { ...done, bytesRead: done.bytesRead + read }
    }
    // A last line that was not whole, or what a crash left, is written anew, in a new file: until then it is all there is.
    const isPlain = !stored.isPacked && files.identityAt(stored.at)?.size === side.kept && !growing.has(path)
    const done =
      isPlain && shelf.settle(path)
        ? await grow(path, stored.at, from, start)
        : await replace(path, readFrom(files, from, side.bytes), { ...whole, start, isContinued: true })
    return { ...done, bytesRead: done.bytesRead + read }
  }

  return {
    async keep(path, given) {
      if ('file' in given) {
        const from = openFrom(files, given.file)
        try {
          refuseBinary(files, from)
          return await keepFile(path, from)
        } finally {
          files.close(from.fd)
        }
      }
      if (shelf.locate(path) !== undefined && readSide(path) === undefined) await convert(path)
      const modified = Date.parse(given.modifiedAt ?? '')
      return replace(path, given.chunks(), Number.isNaN(modified) ? {} : { modified })
    },
    has: (path) => tree.find(path, SUFFIX) !== undefined,
    forget(path) {
      const at = tree.find(path, SUFFIX)
      if (at !== undefined) files.remove(at)
    },
  }
}

/** Whether the source still begins with what was read of it, by the last 4 KB of whole lines and all of what followed. */
function compare(
  files: Files,
  from: Opened,
  side: From,
): { readonly tail: Buffer; readonly read: number; readonly isContinued: boolean } {
  const { size } = from.identity
  const rest = side.size - side.bytes
  if (size <= side.size || rest > REST_BYTES) return { tail: Buffer.alloc(0), read: 0, isContinued: false }
  const before = Math.min(side.bytes, TAIL_BYTES)
  const bytes = Buffer.alloc(before + rest)
  const read = readFully(files, from.fd, bytes, side.bytes - before)
  const tail = bytes.subarray(0, before)
  const isContinued = hashOf(tail) === side.tail && hashOf(bytes.subarray(before)) === side.rest
  return { tail, read, isContinued: isContinued && read === bytes.length }
}

/** What is compressed, or is no text, would pass with its secrets unseen: whoever keeps it gives it unpacked, as chunks. */
function refuseBinary(files: Files, { fd, path }: Opened): void {
  const head = Buffer.alloc(512)
  const length = files.read(fd, head, 0)
  if (!head.subarray(0, length).includes(0) && !(head[0] === 0x1f && head[1] === 0x8b)) return
  throw new HansardError('not-permitted', `${path} is no text, and only text can be kept redacted`, {
    hint: 'keep it as it is, or not at all: see `keep` in the configuration',
  })
}

function toFrom(text: string): From | undefined {
  const said = asObject(parseJson(text))
  const [bytes, kept, size] = [asCount(said?.['bytes']), asCount(said?.['kept']), asCount(said?.['size'])]
  const [tail, rest, modified] = [
    asString(said?.['tail']),
    asString(said?.['rest']),
    asNumber(said?.['modified']),
  ]
  if (bytes === undefined || kept === undefined || size === undefined || size < bytes) return undefined
  if (tail === undefined || rest === undefined) return undefined
  return { bytes, kept, size, tail, rest, ...(modified !== undefined && { modified }) }
}
