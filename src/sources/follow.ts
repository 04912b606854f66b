/**
 * Live logs followed: every change that a watch tells of becomes a sync of just what changed. Syncs come one after the other, and
 * changes during one are gathered for the next.
 */
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import type { Format } from '../formats/format.ts'
import type { Exclusion } from './exclude.ts'
import { escapeGlob } from './globs.ts'
import { findPlaces, type FoundPlace } from './places.ts'
import { placesOf } from './place-of.ts'
import { sync, type SyncOptions, type SyncReport } from './sync.ts'
import { watchPlaces } from './watch.ts'

export type FollowOptions = {
  readonly formats: readonly Format[]
  readonly exclude: Exclusion
  readonly signal: AbortSignal
  readonly onSync: (report: SyncReport) => void
  readonly onError: (error: unknown) => void
}

/** Ends when the signal does, after the sync at hand. */
export async function followPlaces(
  archive: Archive,
  options: SyncOptions,
  { formats, exclude, signal, onSync, onError }: FollowOptions,
): Promise<void> {
  const watched = new Set<string>()
  const changed = new Map<FoundPlace, Set<string> | 'all'>()
  let wake: () => void = () => {}
  const onChange = (place: FoundPlace, path?: string): void => {
    const known = changed.get(place)
    if (path === undefined) changed.set(place, 'all')
    else if (known === undefined) changed.set(place, new Set([path]))
    else if (known !== 'all') known.add(path)
    wake()
  }
  /** An agent that was not here before makes its folder when it first runs. */
  const watchNew = async (): Promise<void> => {
    const found = (await placesToWatch(options, formats)).filter(
      ({ agent, root }) => !watched.has(`${agent}\n${root}`),
    )
    for (const { agent, root } of found) watched.add(`${agent}\n${root}`)
    if (signal.aborted) return
    watchPlaces(found, { exclude, signal, onChange })
    for (const place of found) onChange(place)
  }
  await watchNew()
  const looking = setInterval(() => void watchNew().catch(onError), LOOK_AGAIN_MS)
  signal.addEventListener('abort', () => {
    clearInterval(looking)
    wake()
  })
  while (!signal.aborted) {
    if (changed.size === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    const now = [...changed].map(([place, paths]) => narrowed(place, paths))
    changed.clear()
    try {
      onSync(await sync(archive, { ...options, places: now, signal }))
    } catch (error) {
      onError(error)
    }
  }
}

const LOOK_AGAIN_MS = 30_000

async function placesToWatch(
  options: SyncOptions,
  formats: readonly Format[],
): Promise<readonly FoundPlace[]> {
  const { env = process.env, userHome: home = os.homedir(), platform = process.platform } = options
  if (options.paths !== undefined) {
    return (
      await Promise.all(options.paths.map((path) => placesOf(path, formats, { env, home, platform })))
    ).flat()
  }
  return findPlaces(formats, { env, home, platform, folders: [options.cwd ?? process.cwd()] })
}

function narrowed(place: FoundPlace, paths: Set<string> | 'all'): FoundPlace {
  return paths === 'all' ? place : { ...place, files: [...paths].map(escapeGlob) }
}
