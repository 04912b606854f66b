/**
 * Tells which files of places change, soon after they do: events of the system, gathered for a fifth of a second, and a call to
 * look at everything once a minute for what events have missed. Where the system cannot watch, everything is looked at more often.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { parseGlobs } from './globs.ts'
import type { FoundPlace } from './places.ts'
import { watchFolders, watchWhole, type TreeWatch } from './watch-tree.ts'
import { walk, type WalkOptions } from './walk.ts'

export type WatchOptions = {
  /** A file of the place that is new, changed or gone, relative to its root; without a path, look at all of it. */
  readonly onChange: (place: FoundPlace, path?: string) => void
  /** Ends it. */
  readonly signal: AbortSignal
  /** Events are gathered for so long from the first one, so that a file that never rests is told of all the same. */
  readonly settleMs?: number
  readonly rescanMs?: number
  /** Between looks at a place that the system cannot watch. */
  readonly pollMs?: number
  readonly exclude?: WalkOptions['exclude']
  readonly onProblem?: WalkOptions['onProblem']
  /** Whether the system watches a folder with all below it. Linux does not: Node.js would watch each file there. */
  readonly recursive?: boolean
}

const SETTLE_MS = 200
const RESCAN_MS = 60_000
const POLL_MS = 2000
/** Past so many changes at once, looking at everything costs less. */
const MAX_GATHERED = 1000

export function watchPlaces(places: readonly FoundPlace[], options: WatchOptions): void {
  if (options.signal.aborted) return
  for (const place of places) watchPlace(place, options)
}

function watchPlace(place: FoundPlace, options: WatchOptions): void {
  const { onChange, signal, settleMs = SETTLE_MS, rescanMs = RESCAN_MS, pollMs = POLL_MS } = options
  const gathered = new Set<string>()
  let isAll = false
  let settling: NodeJS.Timeout | undefined
  const tell = (): void => {
    settling = undefined
    const paths = isAll ? [undefined] : [...gathered].sort()
    isAll = false
    gathered.clear()
    for (const path of paths) {
      if (signal.aborted) return
      if (path === undefined) onChange(place)
      else onChange(place, path)
    }
  }
  const gather = (path?: string): void => {
    if (signal.aborted) return
    if (path === undefined || gathered.size >= MAX_GATHERED) isAll = true
    else gathered.add(path)
    settling ??= setTimeout(tell, settleMs)
  }

  let watch = openWatch(place, options, gather)
  let nextMs = 0
  const rescan = (): void => {
    // Opened anew: a root that was put in another's place is not the one that is watched.
    watch.close()
    watch = openWatch(place, options, gather)
    gather()
    again()
  }
  let rescanning: NodeJS.Timeout
  const again = (): void => {
    nextMs = watch.isWhole ? rescanMs : Math.min(pollMs, rescanMs)
    rescanning = setTimeout(watch.isWhole ? rescan : poll, nextMs)
  }
  let untilRescanMs = rescanMs
  const poll = (): void => {
    untilRescanMs -= nextMs
    if (untilRescanMs <= 0) {
      untilRescanMs = rescanMs
      return rescan()
    }
    gather()
    again()
  }
  again()
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(settling)
      clearTimeout(rescanning)
      watch.close()
    },
    { once: true },
  )
}

function openWatch(
  { root, files, rows }: FoundPlace,
  { exclude, onProblem, recursive = process.platform !== 'linux' }: WatchOptions,
  gather: (path?: string) => void,
): TreeWatch {
  const globs = parseGlobs(files)
  const shared = { ...(exclude !== undefined && { exclude }), ...(onProblem !== undefined && { onProblem }) }
  const open = recursive ? watchWhole : watchFolders
  const watch: TreeWatch = open(root, { files, ...shared }, (told) => {
    if (told === undefined) return gather()
    // A database's changes stand in its log first.
    const path = rows === undefined ? told : told.replace(LOG, '')
    // Whether it is excluded is asked of the walk, which knows; a file that is gone has no say.
    const kind = kindOf(join(root, path))
    if (kind === 'folder') {
      watch.enter(path)
      for (const file of filesBelow(path)) gather(file)
    } else if (globs.matches(path) && (kind === 'gone' || isWanted(path))) gather(path)
    if (kind === 'gone') watch.leave(path)
  })
  const filesBelow = (path: string): readonly string[] => {
    const narrowed = globs.narrow(path)
    if (narrowed.length === 0) return []
    return Array.from(walk(root, { files: narrowed, ...shared }), (file) => file.path)
  }
  const isWanted = (path: string): boolean => exclude === undefined || filesBelow(path).length > 0
  return watch
}

/** How the log of a database is called, behind the database's own name. */
const LOG = /-wal$/

function kindOf(path: string): 'file' | 'folder' | 'gone' | 'other' {
  try {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return 'gone'
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other'
  } catch {
    return 'other'
  }
}
