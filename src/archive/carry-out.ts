/**
 * Carries out what a format's fold asks for, below one root folder and nowhere else: no path leaves the root, no symbolic
 * link below it is followed, whole files appear complete or not at all.
 *
 * Two ways. `live`: each step is on disk when `run` returns, beside an agent that may die next and beside other processes that
 * write to the same folders. `staged`: for conversion; appended files grow in a temporary file and take their name in `finish`,
 * and nothing that this run did not write is changed, pruned or removed.
 */
import { dirname, join } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { FileOperation } from '../formats/format.ts'
import { nodeFiles, writeWhole, type Files } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'
import { isInsideRepository, keepOutOfGit } from './git-ignore.ts'
import { createOwnFiles } from './own-files.ts'
import { checkPath, isSafeFolder, makeSafeFolder, nameOf, numbered } from './safe-path.ts'
import { setAside } from './set-aside.ts'
import { updateShared } from './shared-file.ts'
import { createStage, outputExists, type Stage } from './stage.ts'

export type CarryOut = {
  run(operations: readonly FileOperation[]): void
  /** True when something is at the path (relative to the root) that this fold did not write. */
  taken(path: string): boolean
  /** Makes the path this fold's own, with an empty file there; false when another has it. */
  claim(path: string): boolean
  /** Puts staged files in place and makes everything durable. Gives the absolute paths that were written and are still there. */
  finish(): readonly string[]
  /** Throws away what is staged. */
  abandon(): void
}

export type CarryOutOptions = {
  readonly files?: Files
  readonly root: string
  /** A folder above the root: what it is was the caller's choice, and no link below it is followed. The root's own when absent. */
  readonly trusted?: string
  readonly way: 'live' | 'staged'
  /** A folder below the root that gets a `.gitignore` of `*` when it lies inside a git repository. */
  readonly ignored?: string
  /**
   * Told of each path before it is first created, and of each that was asked for and that another has: what a journal notes, so
   * that `recover` knows its own files and takes the same names again.
   */
  readonly onClaim?: (path: string, taken?: true) => void
}

/** Other executions that take the name of a file which is being created before we give up. */
const TRIES = 100

export function createCarryOut(options: CarryOutOptions): CarryOut {
  const { files = nodeFiles, root, trusted = dirname(root), way, ignored, onClaim } = options
  const own = createOwnFiles(files)
  const written = new Set<string>()
  const stages = new Map<string, Stage>()
  const asides = new Map<string, readonly string[]>()
  const folders = new Set<string>()
  let begun = false

  const absolute = (path: string): string => join(root, checkPath(path))
  const taken = (path: string): boolean => files.kind(absolute(path)) !== undefined && !written.has(path)
  const note = (path: string): void => {
    if (!written.has(path)) onClaim?.(path)
    written.add(path)
  }
  const makeFolder = (folder: string): string => {
    if (!folders.has(folder)) makeSafeFolder(files, trusted, folder)
    folders.add(folder)
    return folder
  }
  const begin = (): void => {
    if (!begun && ignored !== undefined && isInsideRepository(files, root))
      keepOutOfGit(files, makeFolder(ignored === '.' ? root : absolute(ignored)))
    begun = true
  }

  const claim = (path: string): boolean => {
    if (written.has(path)) return true
    const isFree = !taken(path)
    if (isFree && way === 'staged') return true
    if (isFree) {
      begin()
      makeFolder(dirname(absolute(path)))
      note(path)
      if (own.create(absolute(path))) return true
      written.delete(path)
    }
    onClaim?.(path, true)
    return false
  }

  /** An empty file of our own. What others put in its place at the same moment is set aside, where the format said so. */
  const create = (path: string): void => {
    makeFolder(dirname(absolute(path)))
    for (let tries = 0; tries < TRIES; tries += 1) {
      note(path)
      if (own.create(absolute(path))) return
      written.delete(path)
      const others = asides.get(path)
      if (others === undefined) break
      aside(path, others)
    }
    throw outputExists(absolute(path))
  }

  const append = (path: string, text: string): void => {
    if (way === 'staged') return stage(path).append(text)
    if (!own.has(absolute(path))) create(path)
    own.append(absolute(path), text)
  }

  const stage = (path: string): Stage => {
    const known = stages.get(path)
    if (known !== undefined) return known
    const folder = makeFolder(dirname(absolute(path)))
    const makeWay = taken(path) ? () => clear(path) : undefined
    const made = createStage(files, folder, nameOf(path), makeWay)
    stages.set(path, made)
    note(path)
    return made
  }

  const put = (given: string, content: Buffer, beside?: string): void => {
    const path = way === 'live' && beside !== undefined ? placeBeside(given, beside) : given
    const folder = makeFolder(dirname(absolute(path)))
    if (way === 'staged' && taken(path) && !isSame(files, absolute(path), content)) clear(path)
    note(path)
    writeWhole(files, folder, nameOf(path), content)
  }

  const placeBeside = (path: string, beside: string): string => {
    const number = own.has(absolute(beside)) ? own.numberOf(absolute(beside)) : undefined
    if (number === undefined) {
      if (taken(path)) aside(path, [])
      return path
    }
    let n = number
    while (taken(numbered(path, n))) n += 1
    return numbered(path, n)
  }

  /** Something else stands where a staged file goes: it is set aside where the format said so, and else it stays and we stop. */
  const clear = (path: string): void => {
    if (!asides.has(path)) throw outputExists(absolute(path))
    aside(path, [])
  }

  const aside = (path: string, others: readonly string[]): void =>
    setAside(files, [path, ...others].filter(taken).map(absolute))

  const remove = (path: string): void => {
    if (way === 'staged' && !written.has(path)) return
    if (!isSafeFolder(files, trusted, dirname(absolute(path)))) return
    if (files.kind(absolute(path)) === 'file') files.remove(absolute(path))
    written.delete(path)
  }

  const one = (operation: FileOperation): void => {
    switch (operation.op) {
      case 'append':
        return append(operation.path, operation.text)
      case 'write':
        return put(operation.path, Buffer.from(operation.content), operation.beside)
      case 'create':
        if (own.has(absolute(operation.path))) return
        if (files.kind(absolute(operation.path)) !== undefined && !asides.has(operation.path)) return
        if (way === 'live' && operation.content === '') return create(operation.path)
        return put(operation.path, Buffer.from(operation.content))
      case 'update': {
        const folder = makeFolder(dirname(absolute(operation.path)))
        written.add(operation.path)
        return updateShared(files, folder, nameOf(operation.path), operation.change)
      }
      case 'remove':
        return remove(operation.path)
      case 'prune': {
        const { folder, suffix, keep, order } = operation
        if (!isSafeFolder(files, trusted, absolute(folder))) return
        for (const name of toPrune(files.list(absolute(folder)), suffix, keep, order))
          remove(`${folder}/${name}`)
        return
      }
      case 'set-aside': {
        const others = operation.with ?? []
        asides.set(operation.path, others)
        for (const path of others) asides.set(path, [])
        // Staged, it stays until it is known that the new file is not the same.
        if (way === 'live') aside(operation.path, others)
      }
    }
  }

  return {
    taken,
    claim(path) {
      try {
        return claim(path)
      } catch (error) {
        throw fromSystemError(error, join(root, path))
      }
    },
    run(operations) {
      for (const operation of operations) {
        try {
          begin()
          one(operation)
        } catch (error) {
          const what = 'path' in operation ? operation.path : operation.folder
          throw fromSystemError(error, join(root, what))
        }
      }
    },
    finish() {
      for (const [path, stage] of stages) {
        try {
          stage.finish()
        } catch (error) {
          throw fromSystemError(error, absolute(path))
        }
      }
      stages.clear()
      return [...written].map(absolute).filter((path) => files.kind(path) === 'file')
    },
    abandon() {
      for (const stage of stages.values()) stage.abandon()
      stages.clear()
    },
  }
}

/** Names that go when only the last so many of those ending so are kept. Hidden ones are on their way into place. */
export function toPrune(
  names: readonly string[],
  suffix: string,
  keep: number,
  order?: (a: string, b: string) => number,
): readonly string[] {
  const all = names.filter((name) => name.endsWith(suffix) && !name.startsWith('.')).sort(order)
  return all.slice(0, Math.max(0, all.length - keep))
}

function isSame(files: Files, path: string, content: Buffer): boolean {
  return readWholeFile(files, path)?.equals(content) === true
}
