/**
 * One file that grows in a temporary place and takes its name when it is done: what stood there before stays whole until then.
 * Buffered, so that a gigabyte of small lines is not a write each.
 */
import { dirname, join } from 'node:path'
import { HansardError } from '../errors.ts'
import { writeAll, type Files } from '../journal/files.ts'

export type Stage = {
  append(text: string): void
  /** Closes it where it takes its own name. */
  finish(): void
  /** Makes it durable under its temporary name, which it gives: for those who choose the place only then. */
  close(): string
  /** Puts it in place once it is closed. */
  rename(target: string): void
  abandon(): void
}

const BUFFER_BYTES = 256 * 1024

/** `makeWay` is called when something else stands at the name, and throws when it may not be replaced. Without it, it is. */
export function createStage(files: Files, folder: string, name: string, makeWay?: () => void): Stage {
  const temporary = join(folder, `.${name}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`)
  const target = join(folder, name)
  const fd = files.openAppend(temporary, 'new')
  let pending: string[] = []
  let pendingLength = 0
  let open = true

  const drain = (): void => {
    if (pendingLength === 0) return
    writeAll(files, fd, Buffer.from(pending.join('')))
    pending = []
    pendingLength = 0
  }
  const shut = (): void => {
    if (open) files.close(fd)
    open = false
  }
  const abandon = (): void => {
    shut()
    if (files.kind(temporary) === 'file') files.remove(temporary)
  }
  const orAbandon = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      abandon()
      throw error
    }
  }
  const close = (): string => {
    orAbandon(() => {
      drain()
      files.datasync(fd)
      shut()
    })
    return temporary
  }
  const rename = (to: string): void =>
    orAbandon(() => {
      files.rename(temporary, to)
      files.syncFolder(dirname(to))
    })

  return {
    abandon,
    close,
    rename,
    append(text) {
      pending.push(text)
      pendingLength += text.length
      if (pendingLength >= BUFFER_BYTES) drain()
    },
    finish() {
      close()
      if (makeWay !== undefined && !sameContent(files, temporary, target)) orAbandon(makeWay)
      rename(target)
    },
  }
}

/** `others`: how many more files are in the way. */
export function outputExists(path: string, others = 0): HansardError {
  const more =
    others === 0 ? '' : `, and so ${others === 1 ? 'is another file' : `are ${others} other files`}`
  return new HansardError('output-exists', `${path} is already there and holds something else${more}`, {
    hint: 'choose another folder with --out, or replace it with --force',
  })
}

export function sameContent(files: Files, a: string, b: string): boolean {
  if (files.kind(b) !== 'file') return false
  const left = files.openRead(a)
  const right = files.openRead(b)
  try {
    const size = files.size(left)
    if (size !== files.size(right)) return false
    const one = Buffer.alloc(64 * 1024)
    const other = Buffer.alloc(64 * 1024)
    for (let at = 0; at < size;) {
      const length = files.read(left, one, at)
      if (length === 0 || files.read(right, other, at) !== length) return false
      if (!one.subarray(0, length).equals(other.subarray(0, length))) return false
      at += length
    }
    return true
  } finally {
    files.close(left)
    files.close(right)
  }
}
