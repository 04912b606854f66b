/**
 * Carries out a fold again over files that it may have written before, for `recover`. Names are those of the first time, as the
 * journal notes them. A file is replaced only by one that holds all it holds: what only the file still has, the journal having
 * lost it, stays.
 */
import { dirname, join } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { FileOperation } from '../formats/format.ts'
import { writeWhole, type Files } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'
import { toPrune, type CarryOut } from './carry-out.ts'
import { contentSize, findContinued, otherSpelling } from './covers.ts'
import { isInsideRepository, keepOutOfGit } from './git-ignore.ts'
import { removeLeftovers } from './leftovers.ts'
import { createOwnFiles } from './own-files.ts'
import { checkPath, isSafeFolder, makeSafeFolder, nameOf, numberIn, numbered } from './safe-path.ts'
import { setAside } from './set-aside.ts'
import { updateShared } from './shared-file.ts'
import { createStage, outputExists, type Stage } from './stage.ts'

/** `path` is absolute. */
export type Kept = { readonly path: string; readonly reason: string }

export type Rebuild = CarryOut & {
  /** The fold's first step. What is there already is from that step or a later one, and stays for the later ones to judge. */
  start(operations: readonly FileOperation[]): void
  /** Files that stayed as they are. */
  kept(): readonly Kept[]
}

export type RebuildOptions = {
  readonly files: Files
  readonly root: string
  /** As for `createCarryOut`. */
  readonly trusted: string
  readonly ignored: string
  /** Files of the first time. */
  readonly ours: Iterable<string>
  /** Names that others had when the fold first asked. */
  readonly refused: ReadonlySet<string>
  /** Told of each path that is new before it is created. */
  readonly onClaim: (path: string, taken?: true) => void
}

const MORE = 'it holds what the journal does not'
const TOGETHER = 'it belongs to a file that holds what the journal does not'

export function createRebuild(options: RebuildOptions): Rebuild {
  const { files, root, trusted, ignored, refused, onClaim } = options
  const own = createOwnFiles(files)
  const ours = new Set(options.ours)
  const created = new Set<string>()
  const written = new Set<string>()
  const kept: Kept[] = []
  const stages = new Map<string, Stage>()
  const asides = new Set<string>()
  /** Where an appended file of ours was found, when it had been set aside. */
  const numbers = new Map<string, number | undefined>()
  let begun = false
  let isStarting = false

  const absolute = (path: string): string => join(root, checkPath(path))
  const exists = (path: string): boolean => files.kind(absolute(path)) !== undefined
  const taken = (path: string): boolean => exists(path) && !ours.has(path)
  /** The line that claims a file may be among those that were lost: a file beside one of ours is ours. */
  const isOurFolder = (path: string): boolean => [...ours].some((one) => dirname(one) === dirname(path))
  const keep = (path: string, reason: string): void => void kept.push({ path: absolute(path), reason })
  const note = (path: string): void => {
    if (!ours.has(path)) onClaim(path)
    ours.add(path)
  }
  const makeFolderOf = (path: string): string => {
    const folder = dirname(absolute(path))
    makeSafeFolder(files, trusted, folder)
    return folder
  }

  const begin = (): void => {
    if (begun) return
    for (const folder of new Set([...ours].map((path) => dirname(absolute(path))))) {
      // Shared files are one folder up from those of a run.
      for (const at of [folder, dirname(folder)])
        if (at.startsWith(root) && isSafeFolder(files, trusted, at)) removeLeftovers(files, at)
    }
    if (isInsideRepository(files, root)) {
      const folder = ignored === '.' ? root : absolute(ignored)
      makeSafeFolder(files, trusted, folder)
      keepOutOfGit(files, folder)
    }
    begun = true
  }

  const claim = (path: string): boolean => {
    if (ours.has(path)) return true
    if (!refused.has(path) && !exists(path)) {
      makeFolderOf(path)
      note(path)
      if (own.create(absolute(path))) {
        created.add(path)
        return true
      }
      ours.delete(path)
    }
    if (!refused.has(path)) onClaim(path, true)
    return false
  }

  const stage = (path: string): Stage => {
    const known = stages.get(path)
    if (known !== undefined) return known
    const made = createStage(files, makeFolderOf(path), nameOf(path))
    stages.set(path, made)
    return made
  }

  /** Puts an appended file in the place of the one it continues, wherever that is by now. */
  const place = (path: string): void => {
    const staged = stages.get(path)
    if (staged === undefined) return
    stages.delete(path)
    const temporary = staged.close()
    const found = ours.has(path) ? findOwn(path, temporary) : undefined
    const target = found === undefined ? path : atNumber(path, found.number)
    if (found === undefined && taken(path)) {
      if (!asides.has(path)) {
        staged.abandon()
        throw outputExists(absolute(path))
      }
      setAside(files, [absolute(path)])
    } else if (found === undefined && exists(path)) {
      staged.abandon()
      return keep(path, MORE)
    }
    note(target)
    numbers.set(path, found?.number)
    staged.rename(absolute(target))
    written.add(target)
  }

  const findOwn = (path: string, temporary: string): { readonly number: number | undefined } | undefined => {
    const siblings = asides.has(path) ? files.list(dirname(absolute(path))) : []
    const others = siblings.map((name) => numberIn(path, name)).filter((number) => number !== undefined)
    const all = [undefined, ...others.sort((a, b) => a - b)]
    const at = findContinued(
      files,
      all.map((number) => absolute(atNumber(path, number))),
      temporary,
    )
    return at === undefined ? undefined : { number: all[at] }
  }

  const put = (given: string, content: Buffer, beside?: string): void => {
    if (beside !== undefined) place(beside)
    const path = beside === undefined ? given : atNumber(given, numbers.get(beside))
    const folder = makeFolderOf(path)
    const before = readWholeFile(files, absolute(path))
    if (before?.equals(content) === true) return void written.add(path)
    if (isStarting && before !== undefined && before.length > 0 && !taken(path)) return
    if (beside !== undefined && exists(path) && kept.some((one) => one.path === absolute(beside)))
      return keep(path, TOGETHER)
    if (taken(path) && asides.has(given)) setAside(files, [absolute(path)])
    else if (taken(path) && !isOurFolder(path)) throw outputExists(absolute(path))
    else {
      const other = readWholeFile(files, absolute(otherSpelling(path)))
      const there = Math.max(contentSize(path, before), contentSize(otherSpelling(path), other))
      const isLess = there > contentSize(path, content)
      if (isLess || (kept.length > 0 && (before?.length ?? 0) > 0))
        return keep(path, isLess ? MORE : TOGETHER)
    }
    note(path)
    writeWhole(files, folder, nameOf(path), content)
    written.add(path)
  }

  const remove = (path: string): void => {
    if (!ours.has(path) || files.kind(absolute(path)) !== 'file') return
    if (!isSafeFolder(files, trusted, dirname(absolute(path)))) return
    files.remove(absolute(path))
    written.delete(path)
  }

  const one = (operation: FileOperation): void => {
    switch (operation.op) {
      case 'append':
        return stage(operation.path).append(operation.text)
      case 'write':
        return put(operation.path, Buffer.from(operation.content), operation.beside)
      case 'create':
        if (operation.content === '') stage(operation.path)
        else if (!taken(operation.path)) put(operation.path, Buffer.from(operation.content))
        return
      case 'update':
        // A listing says what the listed file says.
        if (kept.length > 0) return
        updateShared(files, makeFolderOf(operation.path), nameOf(operation.path), operation.change)
        written.add(operation.path)
        return
      case 'remove':
        if (kept.length === 0) remove(operation.path)
        return
      case 'prune': {
        const { folder, suffix, keep: count, order } = operation
        for (const name of toPrune(files.list(absolute(folder)), suffix, count, order))
          remove(`${folder}/${name}`)
        return
      }
      case 'set-aside':
        for (const path of [operation.path, ...(operation.with ?? [])]) asides.add(path)
    }
  }

  const guarded = <T>(path: string, work: () => T): T => {
    try {
      begin()
      return work()
    } catch (error) {
      throw fromSystemError(error, join(root, path))
    }
  }

  const run = (operations: readonly FileOperation[]): void => {
    for (const operation of operations) {
      guarded('path' in operation ? operation.path : operation.folder, () => one(operation))
    }
  }

  return {
    taken: (path) => taken(path) && !isOurFolder(path),
    claim: (path) => guarded(path, () => claim(path)),
    start(operations) {
      isStarting = true
      run(operations)
      isStarting = false
    },
    run,
    finish() {
      for (const path of stages.keys()) guarded(path, () => place(path))
      return [...written].map(absolute).filter((path) => files.kind(path) === 'file')
    },
    abandon() {
      for (const staged of stages.values()) staged.abandon()
      stages.clear()
      for (const path of created)
        if (files.identityAt(absolute(path))?.size === 0) files.remove(absolute(path))
    },
    kept: () => kept,
  }
}

function atNumber(path: string, number: number | undefined): string {
  return number === undefined ? path : numbered(path, number)
}
