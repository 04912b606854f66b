/** A folder and all below it, watched: with one watch where the system can, else with one for each folder that matters. */
import fs from 'node:fs'
import { systemCode } from '../errors.ts'
import { toProblem, walkFolders, type WalkOptions } from './walk.ts'
import { parseGlobs } from './globs.ts'

export type TreeWatch = {
  /** False where some of it is not watched, and has to be looked at. */
  readonly isWhole: boolean
  /** A folder that is new: watched from now on, with what is in it. */
  enter(path: string): void
  /** Something that is gone. */
  leave(path: string): void
  close(): void
}

/** Told a path relative to the root, of a file or folder; none when the system does not say which. */
export type OnEvent = (path?: string) => void

/** The system's limit is the user's, for all programs together: more than this would take it from others. */
const MAX_WATCHES = 4096

let watches = 0

/** One watch for the whole tree. */
export function watchWhole(root: string, options: WalkOptions, onEvent: OnEvent): TreeWatch {
  const state = { isWhole: true }
  const watcher = open(root, true, onEvent, options, () => (state.isWhole = false))
  return {
    get isWhole() {
      return state.isWhole
    },
    enter: () => {},
    leave: () => {},
    close: () => watcher?.close(),
  }
}

/** One watch for each folder that files may be in. */
export function watchFolders(root: string, options: WalkOptions, onEvent: OnEvent): TreeWatch {
  const watched = new Map<string, Watcher>()
  const state = { isWhole: true }
  const fail = (): void => {
    state.isWhole = false
  }
  const add = (path: string, absolute: string): void => {
    if (watched.has(path)) return
    if (watches >= MAX_WATCHES) return fail()
    const tell = (name?: string): void =>
      onEvent(name === undefined ? undefined : path === '' ? name : `${path}/${name}`)
    const watcher = open(absolute, false, tell, options, fail)
    if (watcher !== undefined) watched.set(path, watcher)
  }
  const addAll = (folders: WalkOptions): void => {
    for (const { path, absolute } of walkFolders(root, folders)) {
      add(path, absolute)
      // The limit is reached: each further one would be refused as well.
      if (!state.isWhole) return
    }
  }
  addAll(options)
  const globs = parseGlobs(options.files)
  return {
    get isWhole() {
      return state.isWhole
    },
    enter(path) {
      const files = globs.narrow(path)
      if (files.length > 0 && state.isWhole) addAll({ ...options, files })
    },
    leave(path) {
      for (const [folder, watcher] of watched) {
        if (folder !== path && !folder.startsWith(`${path}/`)) continue
        watcher.close()
        watched.delete(folder)
      }
    },
    close() {
      for (const watcher of watched.values()) watcher.close()
      watched.clear()
    },
  }
}

type Watcher = { close(): void }

function open(
  folder: string,
  recursive: boolean,
  onEvent: OnEvent,
  { onProblem = () => {} }: WalkOptions,
  onFail: () => void,
): Watcher | undefined {
  const fail = (error: unknown): void => {
    const isLimit = ['ENOSPC', 'EMFILE', 'ENFILE'].includes(systemCode(error) ?? '')
    const problem = toProblem(error)
    if (problem === undefined) return
    onFail()
    // Nothing is missed for want of watches: it is looked at instead.
    if (!isLimit) onProblem(folder, problem)
  }
  try {
    const watcher = fs.watch(folder, { recursive }, (_, name) =>
      onEvent(name === null ? undefined : name.replaceAll('\\', process.platform === 'win32' ? '/' : '\\')),
    )
    watches += 1
    watcher.on('error', fail)
    let isOpen = true
    return {
      close() {
        if (!isOpen) return
        isOpen = false
        watches -= 1
        watcher.close()
      },
    }
  } catch (error) {
    fail(error)
    return undefined
  }
}
