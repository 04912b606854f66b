/**
 * The one door to the disk for everything that writes. Small, so that a test can stand in its place and fail the N-th call,
 * write short, or forget what was not synced. Calls throw Node's system errors; nothing follows a symbolic link.
 */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { systemCode } from '../errors.ts'

export type FileKind = 'file' | 'folder' | 'link' | 'other'

/** Which file it is, whatever it is called, and how many names it still has. */
export type FileIdentity = {
  readonly dev: number
  readonly ino: number
  readonly links: number
  readonly size: number
  /** Milliseconds. A removed file's number is given to the next one: when it was made tells them apart. */
  readonly born?: number
  /** When its content last changed, in milliseconds. */
  readonly modified?: number
  /** `own`: of this user, and no other may read it. `foreign`: of another user. Windows' files are all `own` here. */
  readonly access?: 'own' | 'shared' | 'foreign'
}

export type Files = {
  /**
   * For appending. `new`: fails with EEXIST when something is there; `old`: with ENOENT when nothing is. Mode 0600 whatever the umask,
   * but for `systemFiles`.
   */
  openAppend(path: string, create: 'new' | 'any' | 'old'): number
  openRead(path: string): number
  /** One write(2). May write less than it was given: a full disk does so first, and throws on the next call. */
  write(fd: number, bytes: Buffer, from: number, length: number): number
  /** Bytes read into the buffer from a place in the file; 0 at its end. */
  read(fd: number, buffer: Buffer, position: number): number
  size(fd: number): number
  truncate(fd: number, size: number): void
  datasync(fd: number): void
  datasyncLater(fd: number, done: (error: Error | null) => void): void
  close(fd: number): void
  /** Makes the folder and those above it, mode 0700 but for `systemFiles`. */
  makeFolder(path: string): void
  /** Makes created, renamed and removed names in the folder survive a power cut. */
  syncFolder(path: string): void
  rename(from: string, to: string): void
  /** A second name for a file. Fails with EEXIST when something has it: of many who try, one gets it. */
  link(from: string, to: string): void
  /** Makes the file as young as one that was just written. */
  touch(path: string): void
  /** Says when the content last changed, in milliseconds. */
  setModified(fd: number, at: number): void
  /**
   * A new file, mode 0600, that shares the open one's bytes until one of the two changes. False where the file system cannot:
   * then nothing was made.
   */
  clone(fd: number, from: string, to: string): boolean
  remove(path: string): void
  /** Names, unsorted; empty when the folder is not there. `most`: no more than these are needed, and there may be a million. */
  list(path: string, most?: number): string[]
  /** What is at the path itself, not behind a link; undefined when nothing is. */
  kind(path: string): FileKind | undefined
  identity(fd: number): FileIdentity
  /** Of what is at the path itself; undefined when nothing is. */
  identityAt(path: string): FileIdentity | undefined
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants

function someNames(path: string, most: number): string[] {
  const folder = fs.opendirSync(path, { bufferSize: 256 })
  try {
    const names: string[] = []
    while (names.length < most) {
      const entry = folder.readSync()
      if (entry === null) break
      names.push(entry.name)
    }
    return names
  } finally {
    folder.closeSync()
  }
}

/** For their owner only: what a transcript holds is nobody else's. */
export const nodeFiles: Files = {
  openAppend(path, create) {
    const fd = openAppend(path, create, 0o600)
    if (create === 'new') fs.fchmodSync(fd, 0o600)
    return fd
  },
  openRead(path) {
    const fd = fs.openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
    refuseOther(fd, path, Number.POSITIVE_INFINITY)
    return fd
  },
  write: (fd, bytes, from, length) => fs.writeSync(fd, bytes, from, length, null),
  read: (fd, buffer, position) => fs.readSync(fd, buffer, 0, buffer.length, position),
  size: (fd) => fs.fstatSync(fd).size,
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  datasync: (fd) => fs.fdatasyncSync(fd),
  datasyncLater: (fd, done) => fs.fdatasync(fd, done),
  close: (fd) => fs.closeSync(fd),
  makeFolder: (path) => makeFolder(path, 0o700),
  syncFolder(path) {
    if (process.platform === 'win32') return
    const fd = fs.openSync(path, O_RDONLY)
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  },
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  touch(path) {
    const now = new Date()
    fs.lutimesSync(path, now, now)
  },
  setModified: (fd, at) => fs.futimesSync(fd, at / 1000, at / 1000),
  clone,
  remove: (path) => fs.unlinkSync(path),
  list(path, most) {
    try {
      return most === undefined ? fs.readdirSync(path) : someNames(path, most)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    }
  },
  kind(path) {
    const stat = lstat(path)
    if (stat === undefined) return undefined
    if (stat.isSymbolicLink()) return 'link'
    if (stat.isFile()) return 'file'
    return stat.isDirectory() ? 'folder' : 'other'
  },
  identity: (fd) => toIdentity(fs.fstatSync(fd)),
  identityAt(path) {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false })
    return stat && toIdentity(stat)
  },
}

/** The same with the modes that the umask gives, such as 0644 and 0755: for whoever lets others read. */
export const systemFiles: Files = {
  ...nodeFiles,
  openAppend: (path, create) => openAppend(path, create, 0o666),
  makeFolder: (path) => makeFolder(path, 0o777),
}

/**
 * The folder, there and kept: made with those above it, and every new name synced into its parent. Refuses a link or a file
 * in its place.
 */
export function ensureFolder(files: Files, folder: string): void {
  const made: string[] = []
  for (let at = folder; files.kind(at) === undefined; at = dirname(at)) {
    made.push(at)
    if (dirname(at) === at) break
  }
  if (made.length > 0) files.makeFolder(folder)
  if (files.kind(folder) !== 'folder') throw systemError('ELOOP', `not a folder, '${folder}'`)
  for (const name of made) files.syncFolder(dirname(name))
}

/** Writes a whole file so that it is there complete or not at all: temporary file, sync, rename, sync of the folder. */
export function writeWhole(files: Files, folder: string, name: string, bytes: Buffer): void {
  withTemporary(files, folder, name, bytes, (temporary) => files.rename(temporary, join(folder, name)))
  files.syncFolder(folder)
}

/** The same for what may be missing after the machine has stopped: nothing waits for the disk. */
export function replaceWhole(files: Files, folder: string, name: string, bytes: Buffer): void {
  const place = (temporary: string): void => files.rename(temporary, join(folder, name))
  withTemporary(files, folder, name, bytes, place, () => {})
}

/** The same for a file that is not there yet. False when something is: of many who create it at once, one does. */
export function createWhole(files: Files, folder: string, name: string, bytes: Buffer): boolean {
  if (!claimWhole(files, folder, name, bytes, datasync)) return false
  files.syncFolder(folder)
  return true
}

/** The same for what means nothing after the machine has stopped, such as a lock: nothing waits for the disk. */
export function claimWhole(
  files: Files,
  folder: string,
  name: string,
  bytes: Buffer,
  settle: Settle = () => {},
): boolean {
  try {
    const place = (temporary: string): void => files.link(temporary, join(folder, name))
    withTemporary(files, folder, name, bytes, place, settle)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

type Settle = (files: Files, fd: number) => void

function datasync(files: Files, fd: number): void {
  files.datasync(fd)
}

function withTemporary(
  files: Files,
  folder: string,
  name: string,
  bytes: Buffer,
  place: (temporary: string) => void,
  settle: Settle = datasync,
): void {
  const temporary = join(folder, `.${name}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`)
  const fd = files.openAppend(temporary, 'new')
  try {
    try {
      writeAll(files, fd, bytes)
      settle(files, fd)
    } finally {
      files.close(fd)
    }
    place(temporary)
  } finally {
    if (files.kind(temporary) === 'file') files.remove(temporary)
  }
}

/** All bytes, in as many writes as it takes. A full disk writes short first and throws on the next call. */
export function writeAll(files: Files, fd: number, bytes: Buffer): void {
  for (let from = 0; from < bytes.length;) from += files.write(fd, bytes, from, bytes.length - from)
}

function toIdentity(stat: fs.Stats): FileIdentity {
  const { dev, ino, nlink, size, birthtimeMs, mtimeMs } = stat
  return { dev, ino, links: nlink, size, born: birthtimeMs, modified: mtimeMs, access: accessOf(stat) }
}

function accessOf({ uid, mode }: fs.Stats): 'own' | 'shared' | 'foreign' {
  const user = process.getuid?.()
  if (user === undefined) return 'own'
  // Root may be at work in somebody's archive.
  if (uid !== user && user !== 0) return 'foreign'
  return (mode & 0o077) === 0 ? 'own' : 'shared'
}

/** Where Linux shows what is open: no name on the way can lead elsewhere meanwhile. */
const OPEN_FILES = '/proc/self/fd'

/** Devices, each with a folder on another or the same, that were found unable: asking makes a file and removes it again. */
const unable = new Set<string>()

function clone(fd: number, from: string, to: string): boolean {
  const pair = `${fs.fstatSync(fd).dev} ${dirname(to)}`
  if (unable.has(pair)) return false
  const opened = process.platform === 'linux' ? `${OPEN_FILES}/${fd}` : from
  try {
    fs.copyFileSync(opened, to, fs.constants.COPYFILE_EXCL | fs.constants.COPYFILE_FICLONE_FORCE)
  } catch (error) {
    const code = systemCode(error) ?? ''
    if (NEVER_ABLE.has(code)) unable.add(pair)
    if (NEVER_ABLE.has(code) || NOT_NOW.has(code)) return false
    throw error
  }
  fs.chmodSync(to, 0o600)
  return true
}

/** What file systems say that have no such thing. */
const NEVER_ABLE: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY', 'EXDEV'])
/** What they say of this file, and Linux where it does not show what is open. */
const NOT_NOW: ReadonlySet<string> = new Set(['EINVAL', 'EPERM', 'ENOENT'])

/** A planted FIFO or device is not ours to open, nor one that is hard-linked elsewhere to write to. */
function refuseOther(fd: number, path: string, links: number): void {
  const stat = fs.fstatSync(fd)
  if (stat.isFile() && stat.nlink <= links) return
  fs.closeSync(fd)
  throw systemError('ELOOP', `not a regular file of its own, '${path}'`)
}

function systemError(code: string, said: string): Error {
  return Object.assign(new Error(`${code}: ${said}`), { code })
}

function openAppend(path: string, create: 'new' | 'any' | 'old', mode: number): number {
  const creating = create === 'old' ? 0 : create === 'new' ? O_CREAT | O_EXCL : O_CREAT
  const flags = O_WRONLY | O_APPEND | creating | (O_NOFOLLOW ?? 0)
  // Without O_NONBLOCK a planted FIFO without a reader would hang the open itself.
  const fd = fs.openSync(path, flags | (O_NONBLOCK ?? 0), mode)
  refuseOther(fd, path, 1)
  return fd
}

/** One by one, from the top: Node 20's recursive mkdir never ends below `/proc`, and says ENOENT for a read-only disk. */
function makeFolder(path: string, mode: number): void {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    fs.mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else was faster; what else may be there is said by whoever uses it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Below a file there is nothing, either. */
function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}
