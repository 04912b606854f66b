/**
 * Live logs followed: every change that a watch tells of becomes a sync of just what changed. Syncs come one after the other, and
 * changes during one are gathered for the next.
 */
import fs from 'node:fs'
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import { isHansardError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import type { Exclusion } from './exclude.ts'
import { givenPaths } from './given.ts'
import { escapeGlob } from './globs.ts'
import { prepareFollowed } from './prepare-followed.ts'
import { findPlaces, ownRoots, type FoundPlace } from './places.ts'
import { placesOf } from './place-of.ts'
import { peekState } from './state.ts'
import { joinPlaces } from './sync-look.ts'
import { workingFolders } from './state-sessions.ts'
import { sync, type SyncOptions, type SyncReport } from './sync.ts'
import { watchPlaces } from './watch.ts'

export type FollowOptions = {
  readonly formats: readonly Format[]
  readonly exclude: Exclusion
  readonly signal: AbortSignal
  readonly onSync: (report: SyncReport) => void
  readonly onError: (error: unknown) => void
  /** Who takes in what has changed; this process where nobody is named. */
  readonly take?: (options: SyncOptions) => Promise<SyncReport>
  /**
   * Reads one long log, by whoever takes in what has changed, so that what comes to it can be read by itself. False when there is none
   * left. Goes on beside what is taken in.
   */
  readonly prepare?: (signal: AbortSignal) => Promise<boolean>
  /** Between looks for new places, and for checkpoints in repositories. */
  readonly lookAgainMs?: number
}

/** Ends when the signal does, after the sync at hand. */
export async function followPlaces(
  archive: Archive,
  options: SyncOptions,
  {
    formats,
    exclude,
    signal,
    onSync,
    onError,
    take = (what) => sync(archive, what),
    prepare = (until) => prepareFollowed(archive, until),
    lookAgainMs = LOOK_AGAIN_MS,
  }: FollowOptions,
): Promise<void> {
  const watched = new Map<string, Watched>()
  let isTimeForRepositories = false
  const changed = new Map<FoundPlace, Set<string> | 'all'>()
  let wake: () => void = () => {}
  const sleep = (ms?: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const onChange = (place: FoundPlace, path?: string): void => {
    const known = changed.get(place)
    if (path === undefined) changed.set(place, 'all')
    else if (known === undefined) changed.set(place, new Set([path]))
    else if (known !== 'all') known.add(path)
    wake()
  }
  /** An agent that was not here before makes its folder when it first runs. */
  const watchNew = async (): Promise<void> => {
    const places = joinPlaces(await placesToWatch(archive, options, formats))
    for (const place of places) {
      if (signal.aborted) return
      const name = nameOf(place)
      const files = place.files.join('\n')
      const before = watched.get(name)
      if (before?.files === files) continue
      // More of it is asked for than before: one watch, not two.
      before?.ending.abort()
      const ending = new AbortController()
      watched.set(name, { files, ending })
      watchPlaces([place], { exclude, signal: ending.signal, onChange })
      onChange(place)
    }
  }
  await watchNew()
  const lookAgain = (): void => {
    isTimeForRepositories = true
    wake()
    void watchNew().catch(onError)
  }
  const looking = setInterval(lookAgain, lookAgainMs)
  signal.addEventListener('abort', () => {
    clearInterval(looking)
    for (const { ending } of watched.values()) ending.abort()
    wake()
  })
  let preparing: Promise<void> | undefined
  const prepareAll = async (): Promise<void> => {
    while (!signal.aborted && (await prepare(signal)));
  }
  let isFirst = true
  while (!signal.aborted) {
    if (changed.size === 0 && !isTimeForRepositories) {
      await sleep()
      continue
    }
    const now = [...changed]
    changed.clear()
    const repositories: boolean = isTimeForRepositories
    isTimeForRepositories = false
    try {
      const places = now.map(([place, paths]) => narrowed(place, paths))
      const report = await take({ ...options, places, repositories, signal, isFollowing: true })
      onSync(report)
      // What brought nothing leaves nothing else to prepare.
      if (isFirst || report.sessions > 0 || report.isLookDue === true)
        preparing ??= prepareAll()
          .catch(onError)
          .finally(() => (preparing = undefined))
      isFirst = false
    } catch (error) {
      if (isHansardError(error) && error.code === 'locked') {
        // Another process, which may have passed these files before they changed: they are as new to us as before.
        for (const [place, paths] of now) {
          if (paths === 'all') onChange(place)
          else for (const path of paths) onChange(place, path)
        }
        isTimeForRepositories ||= repositories
        await sleep(TRY_AGAIN_MS)
      } else onError(error)
    }
  }
  await preparing
}

type Watched = { readonly files: string; readonly ending: AbortController }

const nameOf = ({ agent, root }: FoundPlace): string => `${agent}\n${root}`

const LOOK_AGAIN_MS = 30_000
const TRY_AGAIN_MS = 100

/** What a sync without a watch would look into now. */
async function placesToWatch(
  archive: Archive,
  options: SyncOptions,
  formats: readonly Format[],
): Promise<readonly FoundPlace[]> {
  const { env = process.env, userHome: home = os.homedir(), platform = process.platform } = options
  const state = options.paths === undefined ? await peekState(archive) : undefined
  try {
    const given = options.paths ?? givenPaths(archive)
    const named = given.filter((path) => fs.existsSync(path))
    const places = await Promise.all(named.map((path) => placesOf(path, formats, { env, home, platform })))
    if (options.paths !== undefined) return places.flat()
    const roots = ownRoots(formats, { env, userHome: home, platform })
    const known = state === undefined ? [] : workingFolders(state.database, roots)
    const folders = [options.cwd ?? process.cwd(), ...known]
    return [...findPlaces(formats, { env, home, platform, folders }), ...places.flat()]
  } finally {
    state?.close()
  }
}

function narrowed(place: FoundPlace, paths: Set<string> | 'all'): FoundPlace {
  return paths === 'all' ? place : { ...place, files: [...paths].map(escapeGlob) }
}
