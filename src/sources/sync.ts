/**
 * Sync: finds what agents have written on this machine, keeps its bytes, and reads what is new into the state. A purge, truncation
 * or rewrite of a source takes nothing with it; an unchanged file costs one look at its inode; a sync that dies is completed by
 * the next. What goes wrong with one file is told of, and the others go on.
 */
import type { IdSet } from '../formats/id-set.ts'
import type { Archive } from '../archive/archive.ts'
import { openKept, type KeptOptions } from '../archive/kept.ts'
import { readReplayed } from '../archive/replayed.ts'
import { waitForLock } from '../archive/lock.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { VERSION } from '../version.ts'
import { gatherSyncs } from './gathered-files.ts'
import { forgetGiven } from './given.ts'
import type { FoundPlace } from './places.ts'
import { createProblems, type SyncProblem } from './problems.ts'
import { forgetState, openState, remember } from './state.ts'
import { settleBills } from './state-billing.ts'
import { openStateFiles } from './state-files.ts'
import { removeLeftovers } from './state-readings.ts'
import { refreshSessions } from './state-sessions.ts'
import { lookAtJournals } from './sync-look.ts'
import { syncPlaces, takeLooked } from './sync-places.ts'
import { readDirty, type ReadReport } from './sync-read.ts'
import { noticeDeaths } from './sync-running.ts'
import type { KeptTogether, Shared } from './sync-take.ts'

export type SyncOptions = {
  /** Only what these files and folders hold; every known place when absent. They are looked into again with every sync. */
  readonly paths?: readonly string[]
  /** Paths that were given to a sync before and are not to be looked into any more. What was kept of them stays. */
  readonly forget?: readonly string[]
  /** They are not looked into again. */
  readonly isOnce?: boolean
  /** What they are in, where that is not to be told by their content: noted beside what is kept of them, for good. */
  readonly format?: string
  /** Files in them, absolute, that somebody else takes in. */
  readonly passOver?: ReadonlySet<string>
  /** Sessions that another part of the same work told of: they are not counted again. */
  readonly told?: IdSet
  /** How long to wait for another process that is at work. */
  readonly patienceMs?: number
  /** Only these, as they were found before: what a watch saw change. */
  readonly places?: readonly FoundPlace[]
  /** With `places`: the repositories of known folders, too. */
  readonly repositories?: boolean
  /** More of the same will follow, by this process: what it holds of long logs is gone on with. */
  readonly isFollowing?: boolean
  /** `false`: read in place, keep nothing. */
  readonly keep?: boolean | 'redacted'
  /** Patterns of what is not looked at. */
  readonly exclude?: readonly string[]
  /** Where to look for what programs leave in a project. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The user's folder. */
  readonly userHome?: string
  readonly platform?: NodeJS.Platform
  /** How much of the disk that holds a folder is free; asked of the system when absent. */
  readonly disk?: (folder: string) => Disk
  /** Told before the first byte is kept. */
  readonly onPlan?: (plan: SyncPlan) => void
  /**
   * Told when lists, costs and statistics have all that there is, and the bytes of what was read where it lies are yet to be kept. Not told
   * where all was kept before it was read.
   */
  readonly onReady?: (read: ReadReport) => void
  readonly onProgress?: (progress: SyncProgress) => void
  /** Stops between two files. What was done stays done. */
  readonly signal?: AbortSignal
}

/** In bytes. */
export type Disk = { readonly free: number; readonly total: number }

export type SyncPlan = { readonly files: number; readonly bytes: number; readonly isFirst: boolean }
export type SyncProgress = {
  readonly doing: 'looking' | 'keeping' | 'reading'
  readonly done: number
  readonly of?: number
  readonly bytes?: number
  readonly ofBytes?: number
}

export type SyncReport = {
  readonly files: {
    readonly seen: number
    readonly new: number
    readonly grown: number
    readonly rewritten: number
    readonly unchanged: number
    readonly failed: number
  }
  /** Read this time. */
  readonly sessions: number
  readonly entries: number
  readonly damage: number
  /** Of sources; what is unchanged costs none. */
  readonly bytesRead: number
  readonly problems: readonly SyncProblem[]
  /** Of who follows: there is a database to look through, when there is time. */
  readonly isLookDue?: boolean
}

/** Longer than a reader needs to bring the state up to date, shorter than anybody's patience. */
const PATIENCE_MS = 3000

/** Throws `locked` while another sync is at work, and what makes all of it impossible. */
export function sync(archive: Archive, options: SyncOptions = {}): Promise<SyncReport> {
  return withState(archive, options, (shared, isFirst) => syncPlaces(shared, isFirst))
}

/** Takes in what was recorded into the archive since; after the state was lost, all that is kept. No source is looked at. */
export async function catchUp(archive: Archive): Promise<void> {
  await withState(archive, { patienceMs: 0 }, async (shared) => void (await readDirty(shared)))
}

/** Throws the state away, and builds it again from what is kept and recorded. */
export async function rebuild(archive: Archive): Promise<void> {
  const release = await waitForLock(archive.files, archive.home, PATIENCE_MS)
  try {
    forgetState(archive)
    await workOnce(archive, {}, async (shared) => void (await readDirty(shared)))
  } finally {
    release()
  }
}

/** One process at a time, with what is recorded here taken in first. */
export async function withState<T>(
  archive: Archive,
  options: SyncOptions,
  work: (shared: Shared, isFirst: boolean) => Promise<T>,
): Promise<T> {
  const release = await waitForLock(archive.files, archive.home, options.patienceMs ?? PATIENCE_MS)
  try {
    if (options.forget !== undefined) forgetGiven(archive, options.forget)
    return await workOnce(archive, options, work)
  } catch (error) {
    // The state is derived: one that turns out to be damaged is built again.
    if (!isDamagedDatabase(error)) throw error
    forgetState(archive)
    return await workOnce(archive, options, work)
  } finally {
    release()
  }
}

async function workOnce<T>(
  archive: Archive,
  options: SyncOptions,
  work: (shared: Shared, isFirst: boolean) => Promise<T>,
): Promise<T> {
  const state = await openState(archive)
  try {
    const { database, isNew } = state
    const files = openStateFiles(database)
    const problems = createProblems()
    const kept = await openKeptFor(archive, options)
    const shared = { archive, kept, database, files, problems, options }
    removeLeftovers(database)
    if (isNew) {
      const { adoptKept } = await import('./sync-adopt.ts')
      await adoptKept(kept, { database, files, problems })
      remember(database, 'adopted', VERSION)
    }
    // Journals first: they say which files elsewhere are this program's own.
    await takeLooked(lookAtJournals(shared), shared)
    noticeDeaths(database, archive)
    const isFirst = isNew && kept.places().length === 0
    const result = await work(shared, isFirst)
    await settleBills(
      database,
      (keys) => refreshSessions(database, keys),
      readReplayed(archive.files, archive.home),
    )
    return result
  } finally {
    state.close()
  }
}

async function openKeptFor(
  archive: Archive,
  { keep, env = process.env }: SyncOptions,
): Promise<KeptTogether> {
  const gathered = gatherSyncs(archive.files)
  const open = (options: KeptOptions): KeptTogether => ({
    ...openKept(archive, options),
    together: openKept({ ...archive, files: gathered.files }, options),
    settle: () => gathered.settle(),
  })
  if (keep !== 'redacted') return open({})
  const { createRedactor } = await import('../redact/redactor.ts')
  return open({ redact: createRedactor({ key: archive.redactionKey(), env }) })
}
