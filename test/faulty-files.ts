/**
 * A disk in memory that can fail: the N-th call once or from then on, short writes, a machine that loses its power and with it
 * what was not synced. Models what file systems are allowed to do, not what they are kind enough to do.
 */
import { dirname } from 'node:path'
import type { FileIdentity, Files } from '../src/journal/files.ts'

export type Disk = {
  readonly files: Files
  /** A sync that failed: the pages are marked clean, and no later sync writes them. */
  failSync(fd: number): void
  /** What a new process sees after this one was killed: all that was written. */
  now(): Map<string, Buffer>
  /** What is there after the power went. */
  afterPowerCut(kind: PowerCut, random: () => number): Map<string, Buffer>
}

/**
 * `synced`: nothing but what was synced. `prefix`: a part of the rest as well. `sectors`: of the rest, any 512-byte sectors, zeros
 * for the others. `extended`: the file's new size, and zeros.
 */
export const POWER_CUTS = ['synced', 'prefix', 'sectors', 'extended'] as const
export type PowerCut = (typeof POWER_CUTS)[number]

type Inode = {
  readonly ino: number
  data: Buffer
  /** What the disk itself holds. */
  synced: Buffer
  /** Bytes before this that a failed sync left marked clean: no later sync writes them. */
  dropped: number
  links: number
  modified?: number
}

const SECTOR = 512

export function createDisk(): Disk {
  const folders = new Set(['/'])
  const names = new Map<string, Inode>()
  const syncedNames = new Map<string, Inode>()
  const open = new Map<number, Inode>()
  let nextFd = 3
  let nextIno = 1

  const inodeOf = (fd: number): Inode => open.get(fd) ?? fail('EBADF')
  const at = (path: string): Inode => names.get(path) ?? fail('ENOENT')
  const identity = ({ ino, links, data, modified }: Inode): FileIdentity => ({
    dev: 1,
    ino,
    links,
    size: data.length,
    ...(modified !== undefined && { modified }),
  })
  const openFd = (inode: Inode): number => {
    nextFd += 1
    open.set(nextFd, inode)
    return nextFd
  }
  const sync = (fd: number): void => {
    const inode = inodeOf(fd)
    const zeros = Buffer.from(inode.data)
    if (inode.dropped > inode.synced.length) zeros.fill(0, inode.synced.length, inode.dropped)
    inode.synced = zeros
  }

  const files: Files = {
    openAppend(path, create) {
      if (!folders.has(dirname(path))) fail('ENOENT')
      if (create === 'new' && (names.has(path) || folders.has(path))) fail('EEXIST')
      if (create === 'old' && !names.has(path)) fail('ENOENT')
      const empty: Inode = {
        ino: nextIno,
        data: Buffer.alloc(0),
        synced: Buffer.alloc(0),
        dropped: 0,
        links: 1,
      }
      const inode = names.get(path) ?? empty
      if (inode === empty) nextIno += 1
      names.set(path, inode)
      return openFd(inode)
    },
    openRead: (path) => openFd(at(path)),
    write(fd, bytes, from, length) {
      const inode = inodeOf(fd)
      inode.data = Buffer.concat([inode.data, bytes.subarray(from, from + length)])
      return length
    },
    read: (fd, buffer, position) => inodeOf(fd).data.copy(buffer, 0, position),
    size: (fd) => inodeOf(fd).data.length,
    truncate(fd, size) {
      const inode = inodeOf(fd)
      const grown = Buffer.alloc(Math.max(0, size - inode.data.length))
      inode.data = Buffer.concat([inode.data.subarray(0, size), grown])
    },
    datasync: sync,
    datasyncLater(fd, done) {
      setImmediate(() => {
        sync(fd)
        done(null)
      })
    },
    close: (fd) => void (open.delete(fd) || fail('EBADF')),
    makeFolder(path) {
      for (let folder = path; !folders.has(folder); folder = dirname(folder)) folders.add(folder)
    },
    syncFolder(path) {
      for (const name of [...names.keys(), ...syncedNames.keys()]) {
        if (dirname(name) !== path) continue
        const inode = names.get(name)
        if (inode === undefined) syncedNames.delete(name)
        else syncedNames.set(name, inode)
      }
    },
    rename(from, to) {
      const inode = at(from)
      const old = names.get(to)
      if (old !== undefined) old.links -= 1
      names.set(to, inode)
      names.delete(from)
    },
    link(from, to) {
      const inode = at(from)
      if (names.has(to) || folders.has(to)) fail('EEXIST')
      inode.links += 1
      names.set(to, inode)
    },
    touch: (path) => void at(path),
    setModified(fd, modified) {
      inodeOf(fd).modified = modified
    },
    clone: () => false,
    remove(path) {
      at(path).links -= 1
      names.delete(path)
    },
    list: (path) =>
      [...names.keys()].filter((name) => dirname(name) === path).map((name) => name.slice(path.length + 1)),
    kind: (path) => (folders.has(path) ? 'folder' : names.has(path) ? 'file' : undefined),
    identity: (fd) => identity(inodeOf(fd)),
    identityAt(path) {
      const inode = names.get(path)
      return inode && identity(inode)
    },
  }

  return {
    files,
    failSync(fd) {
      const inode = inodeOf(fd)
      inode.dropped = inode.data.length
    },
    now: () => new Map([...names].map(([path, { data }]) => [path, data])),
    afterPowerCut(kind, random) {
      const left = new Map<string, Buffer>()
      for (const [path, inode] of syncedNames) left.set(path, remains(inode, kind, random))
      // A name that was not synced may have made it all the same.
      if (kind !== 'synced')
        for (const [path, inode] of names)
          if (!left.has(path) && random() < 0.5) left.set(path, remains(inode, kind, random))
      return left
    },
  }
}

function remains({ data, synced, dropped }: Inode, kind: PowerCut, random: () => number): Buffer {
  if (kind === 'synced' || data.length <= synced.length) return synced
  const rest = Buffer.from(data.subarray(synced.length))
  if (dropped > synced.length) rest.fill(0, 0, dropped - synced.length)
  if (kind === 'extended') rest.fill(0)
  if (kind === 'prefix') return Buffer.concat([synced, rest.subarray(0, Math.floor(random() * rest.length))])
  if (kind === 'sectors') {
    for (let from = 0, to = 0; from < rest.length; from = to) {
      to = Math.min(rest.length, from + SECTOR - ((synced.length + from) % SECTOR))
      if (random() < 0.5) rest.fill(0, from, to)
    }
  }
  return Buffer.concat([synced, rest])
}

export type FaultKind = 'EIO' | 'ENOSPC' | 'EINTR' | 'EAGAIN' | 'short' | 'crash'

export type Fault = {
  /** The call that fails, from 1. For `short`, the write. */
  readonly at: number
  readonly kind: FaultKind
  /** From that call on; else that one only. A crash always is. */
  readonly sticky: boolean
}

export type FaultyFiles = {
  readonly files: Files
  /** Calls made so far. */
  calls(): number
  /** From now on nothing fails. */
  heal(): void
}

/** The disk's files, with one fault. */
export function withFault(disk: Disk, fault: Fault): FaultyFiles {
  const { files } = disk
  const code = fault.kind === 'crash' || fault.kind === 'short' ? 'EIO' : fault.kind
  let calls = 0
  let healed = false
  const isHit = (): boolean => {
    calls += 1
    if (healed) return false
    return fault.kind === 'crash' || fault.sticky ? calls >= fault.at : calls === fault.at
  }
  /** Only writes can be short: for that fault they alone are counted. */
  const isHitHere = (): boolean => fault.kind !== 'short' && isHit()
  const unlessHit = <R>(call: () => R): R => (isHitHere() ? fail(code) : call())

  return {
    calls: () => calls,
    heal() {
      healed = true
    },
    files: {
      openAppend: (path, create) => unlessHit(() => files.openAppend(path, create)),
      openRead: (path) => unlessHit(() => files.openRead(path)),
      write(fd, bytes, from, length) {
        if (!isHit()) return files.write(fd, bytes, from, length)
        if (fault.kind === 'short') return files.write(fd, bytes, from, Math.floor(length / 2))
        // A failed write may have written something.
        if (fault.kind === 'EIO') files.write(fd, bytes, from, Math.floor(length / 3))
        return fail(code)
      },
      read: (fd, buffer, position) => unlessHit(() => files.read(fd, buffer, position)),
      size: (fd) => unlessHit(() => files.size(fd)),
      truncate: (fd, size) => unlessHit(() => files.truncate(fd, size)),
      datasync(fd) {
        if (!isHitHere()) return files.datasync(fd)
        if (code === 'EIO') disk.failSync(fd)
        return fail(code)
      },
      datasyncLater(fd, done) {
        if (!isHitHere()) {
          files.datasyncLater(fd, done)
          return
        }
        if (code === 'EIO') disk.failSync(fd)
        setImmediate(() => done(systemError(code)))
      },
      close: (fd) => unlessHit(() => files.close(fd)),
      makeFolder: (path) => unlessHit(() => files.makeFolder(path)),
      syncFolder: (path) => unlessHit(() => files.syncFolder(path)),
      rename: (from, to) => unlessHit(() => files.rename(from, to)),
      link: (from, to) => unlessHit(() => files.link(from, to)),
      touch: (path) => unlessHit(() => files.touch(path)),
      setModified: (fd, modified) => unlessHit(() => files.setModified(fd, modified)),
      clone: (fd, from, to) => unlessHit(() => files.clone(fd, from, to)),
      remove: (path) => unlessHit(() => files.remove(path)),
      list: (path) => unlessHit(() => files.list(path)),
      kind: (path) => unlessHit(() => files.kind(path)),
      identity: (fd) => unlessHit(() => files.identity(fd)),
      identityAt: (path) => unlessHit(() => files.identityAt(path)),
    },
  }
}

/** Numbers from 0 to 1 that are the same every time. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function fail(code: string): never {
  throw systemError(code)
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}
