/** The first step of a sync: every place is walked, and what has changed since is marked. No file is opened. */
import fs from 'node:fs'
import { join } from 'node:path'
import { PLACED } from '../formats/places.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Archive } from '../archive/archive.ts'
import { HansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Exclusion } from './exclude.ts'
import { givenPaths, rememberGiven } from './given.ts'
import { findPlaces, isInside, ownRoots, type FoundPlace } from './places.ts'
import type { Problems } from './problems.ts'
import type { SeenFile, StateFiles } from './state-files.ts'
import { workingFolders } from './state-sessions.ts'
import { inStretches, openStretches } from './state-stretches.ts'
import { openUnseen } from './state-unseen.ts'
import type { SyncOptions } from './sync.ts'
import { toStamp } from './stamp.ts'
import { walk, type OnProblem, type WalkedFile } from './walk.ts'

export type Looked = {
  /** By the state's own number. */
  readonly places: ReadonlyMap<number, FoundPlace>
  readonly seen: number
  /** What was named and cannot be looked at: also among what was seen. */
  readonly failed: number
}

export type LookOptions = {
  readonly archive: Archive
  readonly database: Database
  readonly files: StateFiles
  readonly problems: Problems
  readonly options: SyncOptions
  readonly env: NodeJS.ProcessEnv
  readonly userHome: string
  readonly platform: NodeJS.Platform
  readonly cwd: string
  readonly exclude: Exclusion
  /** Of who follows: whether a database is asked for what was written since. */
  readonly isAskedSince?: ((home: string, place: FoundPlace, path: string) => boolean) | undefined
  /** Told how many bytes files have that are new or changed, or may be. */
  readonly onChanged?: (bytes: number) => void
}

export async function lookAround(look: LookOptions): Promise<Looked> {
  const { options, database } = look
  const unseen = openUnseen(database)
  const tell = tellOf(look.problems)
  const onProblem: OnProblem = (path, problem) => {
    tell(path, problem)
    unseen.note(path, problem)
  }
  const { places, failed } = await placesToLook(look, onProblem)
  const looked = lookAt(places, { ...look, onProblem })
  if (options.signal?.aborted !== true)
    unseen.settle(options.paths !== undefined || options.places !== undefined)
  return { ...looked, seen: looked.seen + failed, failed }
}

/** The same for folders that sessions are known to have been held in since. `known`: what was looked at before. */
export function lookInto(folders: readonly string[], look: LookOptions, known: Looked): Looked {
  const { env, userHome: home, platform } = look
  const nameOf = ({ agent, root }: FoundPlace): string => `${agent}\n${root}`
  const names = new Set([...known.places.values()].map(nameOf))
  const found = joinPlaces(findPlaces(PLACED, { env, home, platform, folders }))
  return lookAt(
    found.filter((place) => !names.has(nameOf(place))),
    { ...look, onProblem: tellOf(look.problems) },
  )
}

/** What is about to be taken in of what was looked at; other places may have files waiting for a sync of theirs. */
export function pendingOf(
  { places }: Pick<Looked, 'places'>,
  database: Database,
): { readonly files: number; readonly bytes: number } {
  const row = database
    .prepare(
      `SELECT count(*) AS files, ifnull(sum(max(size - ifnull(bytes, 0), 0)), 0) AS bytes FROM files
       WHERE pending > 0 AND +place IN (SELECT value FROM json_each(?))`,
    )
    .get(JSON.stringify([...places.keys()]))
  return { files: Number(row?.['files'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) }
}

/** What is recorded in the archive itself. */
export function lookAtJournals(
  look: Pick<LookOptions, 'archive' | 'database' | 'files' | 'problems' | 'options'>,
): Looked {
  const place = journalPlace(look.archive.home)
  if (!fs.existsSync(place.root)) return { places: new Map(), seen: 0, failed: 0 }
  const looked = lookAt([place], { ...look, exclude: undefined, onProblem: tellOf(look.problems) })
  const [id] = looked.places.keys()
  // Journals are no copies of anything: one that was cleaned away is gone.
  if (id !== undefined && look.files.countIn(id) !== looked.seen) {
    const there = new Set(Array.from(walk(place.root, { files: place.files }), ({ path }) => path))
    look.database.transaction(() => look.files.keepOnly(id, there))
  }
  return looked
}

function journalPlace(home: string): FoundPlace {
  return { agent: JOURNAL, root: join(home, 'sessions'), files: ['*/journal-*.jsonl'] }
}

type LookAt = Pick<
  LookOptions,
  'archive' | 'database' | 'files' | 'options' | 'isAskedSince' | 'onChanged'
> & {
  readonly exclude: Exclusion | undefined
  readonly onProblem: OnProblem
}

function tellOf(problems: Problems): OnProblem {
  return (path, { cause, reason }) => problems.add(cause, `${path}: ${reason}`)
}

function lookAt(all: readonly FoundPlace[], look: LookAt): Looked {
  const { database, files, options, exclude, onProblem, onChanged } = look
  const places = new Map<number, FoundPlace>()
  let seen = 0
  for (const place of all) {
    const id = files.place(place.agent, place.root)
    places.set(id, place)
    const isToKeep = options.keep !== false && place.agent !== JOURNAL
    const stretches = openStretches(database, id, isToKeep)
    const walked = walk(place.root, { files: place.files, onProblem, ...(exclude && { exclude }) })
    const wanted = options.passOver === undefined ? walked : others(walked, options.passOver)
    const seenAs = place.rows === undefined ? toSeen : seenInRows(id, place, look)
    for (const stretch of inStretches(asSeen(wanted, seenAs))) {
      if (options.signal?.aborted) break
      seen += stretch.length
      if (!stretches.isKnown(stretch)) {
        onChanged?.(stretch.reduce((sum, { size }) => sum + size, 0))
        stretches.compared(
          stretch,
          database.transaction(() => files.look(id, stretch, isToKeep)),
        )
      }
      options.onProgress?.({ doing: 'looking', done: seen })
    }
    stretches.settle()
  }
  return { places, seen, failed: 0 }
}

/** Where programs may have left something of theirs in a project. */
export function projectFolders({
  database,
  options,
  cwd,
  ...machine
}: Pick<LookOptions, 'database' | 'options' | 'cwd' | 'env' | 'userHome' | 'platform'>): readonly string[] {
  if (options.places !== undefined && options.repositories !== true) return []
  return options.paths ?? [...new Set([cwd, ...workingFolders(database, ownRoots(PLACED, machine))])]
}

type ToLook = { readonly places: readonly FoundPlace[]; readonly failed: number }

async function placesToLook(look: LookOptions, onProblem: OnProblem): Promise<ToLook> {
  const { archive, problems, options, env, userHome: home, platform } = look
  if (options.places !== undefined) return { places: joinPlaces(options.places), failed: 0 }
  const named = options.paths ?? []
  const places: FoundPlace[] = []
  const add = async (path: string): Promise<void> => {
    // What a path holds is told by its content: by then every format is needed.
    const [{ placesOf }, { allFormats }] = await Promise.all([
      import('./place-of.ts'),
      import('./formats.ts'),
    ])
    const { format } = options
    const found = await placesOf(path, allFormats, {
      env,
      home,
      platform,
      onProblem,
      ...(format !== undefined && { format }),
    })
    places.push(...withoutJournals(found, archive.home, path))
  }
  let failed = 0
  const tryToAdd = async (path: string, isToRemember: boolean): Promise<void> => {
    try {
      await add(path)
      if (isToRemember) rememberGiven(archive, [fs.realpathSync(path)])
    } catch (error) {
      failed += 1
      problems.caught(error, path)
    }
  }
  if (named.length > 0) {
    for (const path of named) await tryToAdd(path, options.isOnce !== true)
    return { places: joinPlaces(places), failed }
  }
  const folders = projectFolders(look)
  places.push(...findPlaces(PLACED, { env, home, platform, folders, onProblem }))
  // One that was named and is gone: what was kept of it stays.
  for (const path of givenPaths(archive)) if (fs.existsSync(path)) await tryToAdd(path, false)
  return { places: joinPlaces(places), failed }
}

/** Those of the archive itself are looked at anyway. Throws `invalid-argument` for another's, whose blobs would stay behind. */
function withoutJournals(found: readonly FoundPlace[], home: string, path: string): readonly FoundPlace[] {
  const journals = found.filter(({ agent }) => agent === JOURNAL)
  const own = fs.existsSync(home) ? fs.realpathSync(home) : home
  if (journals.some(({ root }) => !isInside(own, root)))
    throw new HansardError(
      'invalid-argument',
      `${path} is a journal of another archive: hansard show reads it where it is, and hansard convert makes a log of it that can be taken in`,
    )
  return found.filter(({ agent }) => agent !== JOURNAL)
}

/** A root that is named more than once is walked once, for all that was asked of it. */
export function joinPlaces(places: readonly FoundPlace[]): readonly FoundPlace[] {
  const byRoot = new Map<string, FoundPlace>()
  for (const place of places) {
    const key = `${place.agent}\n${place.root}`
    const known = byRoot.get(key)
    byRoot.set(
      key,
      known === undefined ? place : { ...known, files: [...new Set([...known.files, ...place.files])] },
    )
  }
  return [...byRoot.values()]
}

function* others(walked: Iterable<WalkedFile>, passOver: ReadonlySet<string>): Iterable<WalkedFile> {
  for (const file of walked) if (!passOver.has(file.absolute)) yield file
}

function* asSeen(walked: Iterable<WalkedFile>, seenAs: (file: WalkedFile) => SeenFile): Iterable<SeenFile> {
  for (const file of walked) yield seenAs(file)
}

function toSeen({ path, stamp, size }: WalkedFile): SeenFile {
  return { path, stamp, size }
}

/** Behind the stamp of a database of which not all may be kept: to who asks for all of it, it is as if it had changed. */
const SOME = '+some'

function seenInRows(
  id: number,
  place: FoundPlace,
  { archive, files, isAskedSince = () => false }: LookAt,
): (file: WalkedFile) => SeenFile {
  return (file) => {
    const { path, absolute, stamp } = file
    // A database's changes stand in its log first.
    const log = fs.lstatSync(`${absolute}-wal`, { throwIfNoEntry: false })
    const seen = { ...toSeen(file), stamp: log === undefined ? stamp : `${stamp}+${toStamp(log)}` }
    const isSome = isAskedSince(archive.home, place, path) && !files.areKnown(id, [seen])
    return isSome ? { ...seen, stamp: seen.stamp + SOME } : seen
  }
}
