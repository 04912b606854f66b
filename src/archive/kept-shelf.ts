/**
 * How the files of a place take each other's places (`kept-find.ts`: where they lie). A file is put in place whole or not at all, and the bytes it replaces have their name
 * among the older ones before they lose their own.
 */
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { HansardError, systemCode } from '../errors.ts'
import { ensureFolder, type Files } from '../journal/files.ts'
import { commonLength, openContent, type Content, type Stored } from './kept-content.ts'
import { openFinder, PACKED } from './kept-find.ts'
import { openVersions } from './kept-versions.ts'
import { removeLeftovers } from './leftovers.ts'

export type Shelf = {
  /** The newest, or an older version. */
  locate(path: string, version?: number): Stored | undefined
  /** Throws `not-found` when it is not there. */
  open(path: string, version?: number): Content
  /** Older versions, oldest first. */
  versions(path: string): readonly number[]
  /** A name of its own for a file that is being written. */
  temporary(): string
  /**
   * Puts the file in place. With `keepOld`, what was there becomes an older version, unless one that is alike is held already.
   * Of older ones, those that the new file equals are forgotten.
   */
  put(path: string, temporary: string, keepOld: boolean): void
  /** The same where nothing is. */
  putNew(path: string, temporary: string): void
  /** Puts other content in an older version's place. */
  putOlder(path: string, version: number, temporary: string): void
  /** The same for a packed file, which holds what the plain one does. */
  putPacked(path: string, version: number | undefined, temporary: string): void
  /** Undoes what a crash left half done, so that the newest may be written to. False when it may not: it has another name. */
  settle(path: string): boolean
  drop(path: string, version: number): void
  remove(path: string): void
  walk(): Generator<string>
}

/** Of names for files that are being written: of this process, and how many it has made. */
const own = randomBytes(2).toString('hex')
let made = 0

export function openShelf(files: Files, folder: string): Shelf {
  const finder = openFinder(files, folder)
  const { plain, packed, older } = finder
  const found = openVersions(files, older)
  let isClean = false

  const locate = (path: string, version?: number): Stored | undefined => finder.locate(path, version)
  const newest = (path: string): Stored | undefined => locate(path)
  const open = (path: string, version?: number): Content => {
    const stored = locate(path, version)
    if (stored !== undefined) return openContent(files, stored)
    throw new HansardError(
      'not-found',
      `${path} is not kept${version === undefined ? '' : ` in version ${version}`}`,
    )
  }
  /** A second name for the newest is what a crash left before the new one took its place. */
  const isNewest = (path: string, stored: Stored): boolean => {
    const now = newest(path)
    if (now === undefined || now.isPacked !== stored.isPacked) return false
    const [a, b] = [files.identityAt(now.at), files.identityAt(stored.at)]
    return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
  }
  const versions = (path: string): readonly number[] =>
    found.of(path).filter((version) => {
      const stored = locate(path, version)
      return stored !== undefined && !isNewest(path, stored)
    })
  const removeFile = (at: string | undefined): void => {
    if (at === undefined) return
    files.remove(at)
    files.syncFolder(dirname(at))
  }
  const removeOlder = (at: string | undefined): void => {
    if (at !== undefined) found.change(at, () => removeFile(at))
  }
  const drop = (path: string, version: number): void => {
    removeOlder(older.find(path, `.${version}`))
    removeOlder(older.find(path, `.${version}${PACKED}`))
  }
  const settle = (path: string): boolean => {
    const now = newest(path)
    if (now === undefined || (files.identityAt(now.at)?.links ?? 1) === 1) return true
    for (const version of found.of(path)) {
      const stored = locate(path, version)
      if (stored !== undefined && isNewest(path, stored)) drop(path, version)
    }
    return files.identityAt(now.at)?.links === 1
  }
  const isHeld = (path: string, content: Content): number | undefined =>
    versions(path).find((version) => isSame(open(path, version), content))
  const setAside = (path: string, stored: Stored): void => {
    const suffix = stored.isPacked ? PACKED : ''
    let version = (found.of(path).at(-1) ?? 0) + 1
    // A version that another process made within the tick of the last look would not be known: nothing takes its place.
    while (locate(path, version) !== undefined) version += 1
    const at = older.make(path, `.${version}${suffix}`)
    found.change(at, () => {
      try {
        files.link(stored.at, at)
      } catch (error) {
        if (!LINKLESS.has(systemCode(error) ?? '')) throw error
        files.rename(stored.at, at)
      }
      files.syncFolder(dirname(at))
    })
  }

  return {
    locate,
    open,
    versions,
    settle,
    drop,
    temporary() {
      const aside = join(folder, 'tmp')
      ensureFolder(files, aside)
      if (!isClean) removeLeftovers(files, aside)
      isClean = true
      made = (made + 1) % 0x1_0000
      return join(aside, `.kept.${process.pid}.${own}${made.toString(16).padStart(4, '0')}.tmp`)
    },
    put(path, temporary, keepOld) {
      settle(path)
      const old = newest(path)
      if (old !== undefined && keepOld) {
        const content = openContent(files, old)
        try {
          if (isHeld(path, content) === undefined) setAside(path, old)
        } finally {
          content.close()
        }
      }
      const at = plain.make(path)
      files.rename(temporary, at)
      files.syncFolder(dirname(at))
      removeFile(packed.find(path, PACKED))
      if (!keepOld) return
      const content = openContent(files, { at, isPacked: false })
      try {
        const same = isHeld(path, content)
        if (same !== undefined) drop(path, same)
      } finally {
        content.close()
      }
    },
    putNew(path, temporary) {
      const at = plain.make(path)
      files.rename(temporary, at)
      files.syncFolder(dirname(at))
    },
    putOlder(path, version, temporary) {
      const at = older.make(path, `.${version}`)
      found.change(at, () => {
        files.rename(temporary, at)
        files.syncFolder(dirname(at))
      })
      removeOlder(older.find(path, `.${version}${PACKED}`))
    },
    putPacked(path, version, temporary) {
      const isOlder = version !== undefined
      const suffix = isOlder ? `.${version}` : ''
      const at = (isOlder ? older : packed).make(path, `${suffix}${PACKED}`)
      const place = (): void => {
        files.rename(temporary, at)
        files.syncFolder(dirname(at))
      }
      if (isOlder) found.change(at, place)
      else place()
      if (isOlder) removeOlder(older.find(path, suffix))
      else removeFile(plain.find(path))
    },
    remove(path) {
      for (const version of found.of(path)) drop(path, version)
      removeFile(packed.find(path, PACKED))
      removeFile(plain.find(path))
    },
    walk: () => mergePaths(plain.walk(), packed.walk(PACKED)),
  }
}

/** File systems without second names. */
const LINKLESS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Closes the first. */
function isSame(one: Content, other: Content): boolean {
  try {
    return one.size === other.size && commonLength(one, other) === one.size
  } finally {
    one.close()
  }
}

/** Two sorted runs as one, each path once. */
export function* mergePaths(one: Iterator<string>, other: Iterator<string>): Generator<string> {
  try {
    let a = one.next()
    let b = other.next()
    while (a.done !== true || b.done !== true) {
      const isFirst = b.done === true || (a.done !== true && a.value <= b.value)
      const path: string = isFirst ? (a.value as string) : (b.value as string)
      yield path
      if (a.done !== true && a.value === path) a = one.next()
      if (b.done !== true && b.value === path) b = other.next()
    }
  } finally {
    // Names of either may wait on disk.
    one.return?.()
    other.return?.()
  }
}
