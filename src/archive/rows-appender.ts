/** Lines appended to a file of kept rows, made to last together; of what a crash or a failing disk left behind them, nothing counts. */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { Files } from '../journal/files.ts'

const WRITE_BYTES = 1024 * 1024
const TAIL_BYTES = 4096
const NEWLINE = Buffer.from('\n')

export type Appender = {
  add(line: string): void
  /** A line of many MB, in pieces. */
  addLong(pieces: Iterable<string | Buffer>): void
  /** Writes what is held and makes it last; how many bytes were written in all. */
  end(): number
  /** Takes back what was not made to last. */
  abandon(): void
}

/** Opens the file when there is something to write: a second export of the same rows leaves it alone. */
export function createAppender(files: Files, path: string): Appender {
  let opened: { readonly fd: number; readonly size: number; readonly isNew: boolean } | undefined
  let held: Buffer[] = []
  let heldBytes = 0
  let written = 0

  const open = (): number => {
    if (opened !== undefined) return opened.fd
    files.makeFolder(dirname(path))
    const isNew = files.kind(path) === undefined
    const size = isNew ? 0 : wholeBytes(files, path)
    const fd = files.openAppend(path, isNew ? 'new' : 'old')
    opened = { fd, size, isNew }
    if (files.size(fd) > size) files.truncate(fd, size)
    return fd
  }
  const write = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) at += files.write(open(), bytes, at, bytes.length - at)
    written += bytes.length
  }
  const flush = (): void => {
    const bytes = Buffer.concat(held)
    held = []
    heldBytes = 0
    write(bytes)
  }
  return {
    add(line) {
      const bytes = Buffer.from(`${line}\n`)
      held.push(bytes)
      heldBytes += bytes.length
      if (heldBytes >= WRITE_BYTES) flush()
    },
    addLong(pieces) {
      flush()
      for (const piece of pieces) write(typeof piece === 'string' ? Buffer.from(piece) : piece)
      write(NEWLINE)
    },
    end() {
      if (heldBytes > 0) flush()
      if (opened === undefined) return 0
      files.datasync(opened.fd)
      files.close(opened.fd)
      if (opened.isNew) files.syncFolder(dirname(path))
      opened = undefined
      return written
    },
    abandon() {
      if (opened === undefined) return
      // After a failed sync the disk may hold other bytes than are read back: they are written again the next time.
      try {
        files.truncate(opened.fd, opened.size)
      } catch {
        // The next export takes back the line that is torn.
      }
      try {
        files.close(opened.fd)
      } catch {
        // The descriptor is gone either way.
      }
      opened = undefined
    },
  }
}

/** Where the last whole line ends: what a crash left behind it is no row. */
function wholeBytes(files: Files, path: string): number {
  const fd = files.openRead(path)
  try {
    const block = Buffer.alloc(64 * 1024)
    for (let end = files.size(fd); end > 0;) {
      const from = Math.max(0, end - block.length)
      const length = files.read(fd, block.subarray(0, end - from), from)
      const newline = block.subarray(0, length).lastIndexOf(0x0a)
      if (newline !== -1) return from + newline + 1
      end = from
    }
    return 0
  } finally {
    files.close(fd)
  }
}

/** SHA-256 of its last 4 KB, in hex. */
export function tailOf(files: Files, path: string): string {
  const hash = createHash('sha256')
  if (files.kind(path) === undefined) return hash.digest('hex')
  const fd = files.openRead(path)
  try {
    const size = files.size(fd)
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
    const length = files.read(fd, tail, size - tail.length)
    return hash.update(tail.subarray(0, length)).digest('hex')
  } finally {
    files.close(fd)
  }
}
