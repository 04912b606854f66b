/**
 * The files that one fold has created and appends to, known by what they are and not by what they are called: another execution
 * may set them aside meanwhile, and then what follows still lands in them.
 */
import { dirname, join } from 'node:path'
import { HansardError, systemCode } from '../errors.ts'
import { writeAll, type FileIdentity, type Files } from '../journal/files.ts'
import { numberIn } from './safe-path.ts'

/** Paths are absolute. */
export type OwnFiles = {
  has(path: string): boolean
  /** Creates the file, empty. False when something is there: of two processes one gets true. */
  create(path: string): boolean
  append(path: string, text: string): void
  /** The number it was given when it was set aside; undefined while it has its name. Throws when it is gone. */
  numberOf(path: string): number | undefined
}

export function createOwnFiles(files: Files): OwnFiles {
  const own = new Map<string, FileIdentity>()

  /** Where the file is now, by its name or by the numbered names that `set-aside` gives. */
  const find = (path: string): string => {
    const identity = own.get(path)
    const folder = dirname(path)
    const isIt = (at: string): boolean => isSame(identity, files.identityAt(at))
    if (isIt(path)) return path
    const name = files
      .list(folder)
      .find((one) => numberIn(path, one) !== undefined && isIt(join(folder, one)))
    if (name !== undefined) return join(folder, name)
    throw new HansardError('io', `${path} was removed or replaced while it was being written`)
  }

  /** Renamed between looking and opening, it is looked for again. */
  const open = (path: string): number => {
    for (let tries = 0; ; tries += 1) {
      try {
        const fd = files.openAppend(find(path), 'old')
        if (isSame(own.get(path), files.identity(fd))) return fd
        files.close(fd)
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') throw error
      }
      if (tries === TRIES) throw new HansardError('io', `${path} is being renamed again and again`)
    }
  }

  return {
    has: (path) => own.has(path),
    create(path) {
      try {
        const fd = files.openAppend(path, 'new')
        try {
          own.set(path, files.identity(fd))
        } finally {
          files.close(fd)
        }
      } catch (error) {
        if (systemCode(error) === 'EEXIST') return false
        throw error
      }
      files.syncFolder(dirname(path))
      return true
    },
    append(path, text) {
      const fd = open(path)
      try {
        appendWhole(files, fd, text)
      } finally {
        files.close(fd)
      }
    },
    numberOf: (path) => numberIn(path, find(path).slice(dirname(path).length + 1)),
  }
}

const TRIES = 5

function isSame(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino && a.born === b.born
}

/** Half a line must not stay: the next append would be fused with it. */
function appendWhole(files: Files, fd: number, text: string): void {
  const before = files.size(fd)
  try {
    writeAll(files, fd, Buffer.from(text))
  } catch (error) {
    files.truncate(fd, before)
    throw error
  }
}
