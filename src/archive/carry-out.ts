/**
 * Carries out what a format's fold asks for, below one root folder and nowhere else: no path leaves the root, no symbolic
 * link below it is followed, whole files appear complete or not at all.
 *
 * Two ways. `live`: each step is on disk when `run` returns, beside an agent that may die next. `staged`: for conversion and
 * recovery; appended files grow in a temporary file and take their name in `finish`, so what stood there stays whole until
 * then, and nothing that this run did not write is changed, pruned or removed.
 */
import { dirname, join, sep } from 'node:path'
import { HansardError, fromSystemError, systemCode } from '../errors.ts'
import type { FileOperation } from '../formats/format.ts'
import { nodeFiles, writeAll, writeWhole, type Files } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'
import { createStage, outputExists, type Stage } from './stage.ts'

export type CarryOut = {
  run(operations: readonly FileOperation[]): void
  /** True when something is at the path (relative to the root) that this fold did not write. */
  taken(path: string): boolean
  /** Puts staged files in place and makes everything durable. Gives the absolute paths that were written and are still there. */
  finish(): readonly string[]
  /** Throws away what is staged. */
  abandon(): void
}

export type CarryOutOptions = {
  readonly files?: Files
  readonly root: string
  readonly way: 'live' | 'staged'
  /** A folder below the root that gets a `.gitignore` of `*` when it lies inside a git repository. */
  readonly ignored?: string
  /** Files of an earlier run of the same fold: not taken, and free to be replaced. */
  readonly ours?: Iterable<string>
  /** Staged only: replace files that differ from what this run writes, instead of refusing. */
  readonly force?: boolean
  /** Told of each path before it is first created: what a journal notes so that `recover` knows its own files. */
  readonly onClaim?: (path: string) => void
}

export function createCarryOut(options: CarryOutOptions): CarryOut {
  const { files = nodeFiles, root, way, ignored, force = false, onClaim } = options
  const ours = new Set(options.ours)
  const written = new Set<string>()
  const stages = new Map<string, Stage>()
  const asides = new Set<string>()
  const folders = new Set<string>()
  let begun = false

  const absolute = (path: string): string => join(root, checkPath(path))
  /** A folder is ours when a file of ours is in it. */
  const isOurs = (path: string): boolean =>
    ours.has(path) || [...ours].some((own) => own.startsWith(`${path}/`))
  const taken = (path: string): boolean => files.kind(absolute(path)) !== undefined && !isOurs(path)
  const claim = (path: string): void => {
    if (!written.has(path)) onClaim?.(path)
    written.add(path)
    ours.add(path)
  }
  const makeFolderOf = (path: string): string => {
    const folder = dirname(absolute(path))
    if (!folders.has(folder)) makeSafeFolder(files, root, folder)
    folders.add(folder)
    return folder
  }

  const put = (path: string, content: Buffer): void => {
    const folder = makeFolderOf(path)
    if (way === 'staged' && !force && taken(path) && !isSame(files, absolute(path), content)) makeWay(path)
    claim(path)
    writeWhole(files, folder, nameOf(path), content)
  }

  /** Something else stands where a staged file goes: it is set aside where the format said so, and else it stays and we stop. */
  const makeWay = (path: string): void => {
    if (!asides.has(path)) throw outputExists(absolute(path))
    rename(path)
  }

  const append = (path: string, text: string): void => {
    const folder = makeFolderOf(path)
    if (way === 'live') {
      claim(path)
      appendNow(files, absolute(path), text)
      return
    }
    let stage = stages.get(path)
    if (stage === undefined) {
      const mayReplace = force || !taken(path)
      stage = createStage(files, folder, nameOf(path), mayReplace ? undefined : () => makeWay(path))
      stages.set(path, stage)
      claim(path)
    }
    stage.append(text)
  }

  const one = (operation: FileOperation): void => {
    switch (operation.op) {
      case 'append':
        return append(operation.path, operation.text)
      case 'write':
        return put(operation.path, Buffer.from(operation.content))
      case 'create':
        if (files.kind(absolute(operation.path)) === undefined)
          put(operation.path, Buffer.from(operation.content))
        return
      case 'update': {
        const changed = operation.change(readWholeFile(files, absolute(operation.path))?.toString('utf8'))
        makeFolderOf(operation.path)
        written.add(operation.path)
        return writeWhole(
          files,
          dirname(absolute(operation.path)),
          nameOf(operation.path),
          Buffer.from(changed),
        )
      }
      case 'remove':
        return remove(operation.path)
      case 'prune':
        return prune(operation.folder, operation.suffix, operation.keep)
      case 'set-aside':
        return setAside(operation.path)
    }
  }

  const remove = (path: string): void => {
    if (way === 'staged' && !ours.has(path)) return
    if (files.kind(absolute(path)) === 'file') files.remove(absolute(path))
    written.delete(path)
  }

  const prune = (folder: string, suffix: string, keep: number): void => {
    const names = files
      .list(absolute(folder))
      .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    const inOrder = names.sort()
    for (const name of inOrder.slice(0, Math.max(0, inOrder.length - keep))) remove(`${folder}/${name}`)
  }

  const setAside = (path: string): void => {
    if (!taken(path)) return
    // Staged, it stays until it is known that the new file is not the same.
    if (way === 'staged') asides.add(path)
    else rename(path)
  }

  const rename = (path: string): void => {
    const dot = path.lastIndexOf('.')
    for (let n = 1; ; n += 1) {
      const aside = `${path.slice(0, dot)}.${n}${path.slice(dot)}`
      if (files.kind(absolute(aside)) !== undefined) continue
      files.rename(absolute(path), absolute(aside))
      return files.syncFolder(dirname(absolute(path)))
    }
  }

  return {
    taken,
    run(operations) {
      for (const operation of operations) {
        try {
          if (!begun && ignored !== undefined) keepOutOfGit(files, root, ignored)
          begun = true
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

/** Relative, below, and plain: what formats are allowed to name. */
function checkPath(path: string): string {
  const parts = path.split('/')
  const bad = path.includes('\0') || path.includes('\\') || parts.some((part) => part === '' || part === '..')
  if (!bad) return path
  throw new HansardError('unsafe-path', `not a path below the root: ${JSON.stringify(path)}`)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Makes each folder from the root down, and refuses one that is a link: a planted link would lead writes elsewhere. */
function makeSafeFolder(files: Files, root: string, folder: string): void {
  files.makeFolder(root)
  let at = root
  for (const part of folder.slice(root.length).split(sep).filter(Boolean)) {
    at = join(at, part)
    const kind = files.kind(at)
    if (kind === undefined) {
      files.makeFolder(at)
      files.syncFolder(dirname(at))
    } else if (kind !== 'folder') {
      throw new HansardError('unsafe-path', `${at} is not a folder`, {
        hint: 'remove it, or choose another place',
      })
    }
  }
}

function appendNow(files: Files, path: string, text: string): void {
  const fd = files.openAppend(path, 'any')
  try {
    const before = files.size(fd)
    try {
      writeAll(files, fd, Buffer.from(text))
    } catch (error) {
      // Half a line must not stay: the next append would be fused with it.
      files.truncate(fd, before)
      throw error
    }
  } finally {
    files.close(fd)
  }
}

function isSame(files: Files, path: string, content: Buffer): boolean {
  return readWholeFile(files, path)?.equals(content) === true
}

/** Transcripts hold whatever the agent saw: inside a repository they stay out of commits unless somebody decides otherwise. */
function keepOutOfGit(files: Files, root: string, ignored: string): void {
  if (!insideRepository(files, root)) return
  const folder = ignored === '.' ? root : join(root, checkPath(ignored))
  makeSafeFolder(files, root, folder)
  try {
    const fd = files.openAppend(join(folder, '.gitignore'), 'new')
    try {
      writeAll(files, fd, Buffer.from('*\n'))
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

function insideRepository(files: Files, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (files.kind(join(at, '.git')) !== undefined) return true
    if (dirname(at) === at) return false
  }
}
