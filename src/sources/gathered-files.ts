/**
 * The door to the disk for many new files at once: nothing is synced file by file, all of it together when asked. A first sync of
 * tiny files would else be two waits for the disk for each. Only for files that nothing was kept of before: until they are settled
 * they have a time of their own, by which whoever comes after a crash knows not to trust what is in them.
 */
import fs from 'node:fs'
import { dirname } from 'node:path'
import type { Files } from '../journal/files.ts'
import { createAbsentNames } from './absent-names.ts'

export type GatheredFiles = {
  readonly files: Files
  /** All that was written and renamed since is on disk when it ends, and has its time. */
  settle(): Promise<void>
}

/** As many as Node.js has threads for, twice: the next is ready when one is done. */
const AT_A_TIME = 8

export function gatherSyncs(files: Files): GatheredFiles {
  /** Paths by what they are open as, and the times that they are to have, by path. */
  const open = new Map<number, string>()
  const written = new Map<string, number | undefined>()
  const folders = new Set<string>()
  const absent = createAbsentNames(files)
  const gathered: Files = {
    ...files,
    kind(path) {
      if (absent.isAbsent(path)) return undefined
      const kind = files.kind(path)
      if (kind === undefined) absent.missed(path)
      return kind
    },
    makeFolder(path) {
      const isNew = absent.isAbsent(path)
      files.makeFolder(path)
      for (let at = path; at !== dirname(at); at = dirname(at)) absent.came(at)
      if (isNew) absent.made(path)
    },
    link(from, to) {
      files.link(from, to)
      absent.came(to)
    },
    clone(fd, from, to) {
      absent.came(to)
      return files.clone(fd, from, to)
    },
    openAppend(path, create) {
      absent.came(path)
      const fd = files.openAppend(path, create)
      open.set(fd, path)
      return fd
    },
    close(fd) {
      open.delete(fd)
      files.close(fd)
    },
    datasync(fd) {
      const path = open.get(fd)
      if (path === undefined) files.datasync(fd)
      else written.set(path, written.get(path))
    },
    setModified(fd, at) {
      const path = open.get(fd)
      if (path === undefined || !written.has(path)) files.setModified(fd, at)
      else written.set(path, at)
    },
    syncFolder: (path) => void folders.add(path),
    rename(from, to) {
      files.rename(from, to)
      absent.came(to)
      if (!written.has(from)) return
      written.set(to, written.get(from))
      written.delete(from)
      folders.add(dirname(to))
    },
    remove(path) {
      written.delete(path)
      files.remove(path)
    },
  }
  return {
    files: gathered,
    async settle() {
      const [paths, names] = [[...written], [...folders]]
      written.clear()
      folders.clear()
      await each(paths, ([path, at]) => settleFile(path, at))
      if (process.platform !== 'win32') await each(names, settleFolder)
    },
  }
}

async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const worker = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await work(one)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}

/** The time comes after the bytes: it says that they are there. */
function settleFile(path: string, at: number | undefined): Promise<void> {
  return withOpen(path, 'r+', (fd, done) =>
    fs.fdatasync(fd, (error) => {
      if (error !== null || at === undefined) done(error)
      else {
        try {
          // No wait for the disk.
          fs.futimesSync(fd, at / 1000, at / 1000)
          done(null)
        } catch (failed) {
          done(failed as Error)
        }
      }
    }),
  )
}

function settleFolder(path: string): Promise<void> {
  return withOpen(path, 'r', (fd, done) => fs.fsync(fd, done))
}

type Done = (error: Error | null) => void

/** What takes no time is done here: a turn of another thread costs more than opening a file. */
function withOpen(path: string, flags: 'r' | 'r+', work: (fd: number, done: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fd = fs.openSync(path, flags)
    work(fd, (error) => {
      try {
        fs.closeSync(fd)
      } catch (failed) {
        reject(failed)
        return
      }
      if (error === null) resolve()
      else reject(error)
    })
  })
}
