/**
 * Sync: finds what agents have written on this machine, keeps its bytes, and reads what is new into the state. A purge, truncation
 * or rewrite of a source takes nothing with it; an unchanged file costs one look at its inode; a sync that dies is completed by
 * the next. What goes wrong with one file is told of, and the others go on.
 */
import { realpathSync } from 'node:fs'
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import { openKept, type KeptOptions } from '../archive/kept.ts'
import { waitForLock } from '../archive/lock.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { VERSION } from '../version.ts'
import { mayHaveCheckpoints } from './checkpoint-refs.ts'
import { parseExclude } from './exclude.ts'
import { escapeGlob } from './globs.ts'
import { gatherSyncs } from './gathered-files.ts'
import type { FoundPlace } from './places.ts'
import { createProblems, type SyncProblem } from './problems.ts'
import { forgetState, openState, remember } from './state.ts'
import { settleBills } from './state-billing.ts'
import { openStateFiles } from './state-files.ts'
import { lastReading, removeLeftovers } from './state-readings.ts'
import { refreshSessions } from './state-sessions.ts'
import { keepBehind, placesAhead, readAhead } from './sync-ahead.ts'
import { openEarlyReaders, type EarlyReaders } from './sync-early.ts'
import {
  lookAround,
  lookAtJournals,
  pendingOf,
  projectFolders,
  type Looked,
  type LookOptions,
} from './sync-look.ts'
import {
  createCounts,
  readBeside,
  readDirty,
  WORTH_READING_BESIDE,
  type Counts,
  type DirtyReading,
  type ReadReport,
} from './sync-read.ts'
import { noticeDeaths } from './sync-running.ts'
import { warnOfPurge } from './sync-warn.ts'
import type { KeptTogether, Shared, Taken } from './sync-take.ts'

export type SyncOptions = {
  /** Only what these files and folders hold; every known place when absent. They are looked into again with every sync. */
  readonly paths?: readonly string[]
  /** They are not looked into again. */
  readonly isOnce?: boolean
  /** How long to wait for another process that is at work. */
  readonly patienceMs?: number
  /** Only these, as they were found before: what a watch saw change. */
  readonly places?: readonly FoundPlace[]
  /** With `places`: the repositories of known folders, too. */
  readonly repositories?: boolean
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
    await takeLooked(lookAtJournals(shared, archive.home), shared)
    noticeDeaths(database, archive)
    const isFirst = isNew && kept.places().length === 0
    const result = await work(shared, isFirst)
    settleBills(database, (keys) => refreshSessions(database, keys))
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

async function syncPlaces(shared: Shared, isFirst: boolean): Promise<SyncReport> {
  const { archive, options } = shared
  const began = Date.now()
  const {
    env = process.env,
    userHome = os.homedir(),
    platform = process.platform,
    cwd = process.cwd(),
  } = options
  const counts = createCounts(lastReading(shared.database))
  await readDirty(shared, counts)
  // A folder that was named may hold the archive itself.
  const exclude = parseExclude([...(options.exclude ?? []), escapeGlob(realpathSync(archive.home))], {
    home: userHome,
    platform,
  })
  const early = isFirst ? await openEarlyReaders(WORTH_READING_BESIDE) : undefined
  try {
    const onChanged = (bytes: number): void => early?.seen(bytes)
    const look = { env, userHome, platform, cwd, exclude, onChanged }
    return await takeIn({ ...shared, ...look }, { isFirst, began, counts, early })
  } finally {
    await early?.close()
  }
}

type Syncing = {
  readonly isFirst: boolean
  /** When, in ms. */
  readonly began: number
  readonly counts: Counts
  readonly early: EarlyReaders | undefined
}

async function takeIn(
  shared: Shared & LookOptions,
  { isFirst, began, counts, early }: Syncing,
): Promise<SyncReport> {
  const { problems, options, env, userHome, platform, cwd } = shared
  const looked = await lookAround(shared)
  const pending = pendingOf(looked, shared.database)
  if (pending.files > 0) options.onPlan?.({ ...pending, isFirst })
  // By the sessions that were known before, however many are read meanwhile.
  const folders = projectFolders({ database: shared.database, options, cwd })
  const ahead = await placesAhead(looked, shared, pending)
  const others = new Map([...looked.places].filter(([id]) => !ahead.has(id)))
  const takeAll = async (reading?: DirtyReading) => {
    if (reading !== undefined && ahead.size > 0) await readAhead(ahead, shared, reading)
    const fromFiles = await takeLooked({ places: others }, shared, reading)
    return { fromFiles, fromGit: await takeRefs(folders.filter(mayHaveCheckpoints), shared) }
  }
  const { fromFiles, fromGit } = await readBeside(shared, pending.bytes, {
    take: takeAll,
    counts,
    isAsked: ahead.size > 0,
    started: early,
  })
  const fromAhead = ahead.size === 0 ? NOTHING : await keepBehind(ahead, shared, { counts, since: began })
  const taken = [fromFiles, fromAhead].reduce(addTaken, {
    ...fromGit,
    failed: fromGit.failed + looked.failed,
  })
  // What is kept cannot be lost: only what is not has to be warned of.
  if (options.keep === false || taken.failed > 0) {
    warnOfPurge(shared.database, problems, { env, userHome, platform, now: Date.now() })
  }
  const seen = looked.seen + fromGit.seen
  const { failed, rewritten, grown } = taken
  const unchanged = Math.max(0, seen - taken.new - grown - rewritten - failed)
  return {
    files: { seen, new: taken.new, grown, rewritten, unchanged, failed },
    ...counts.report(),
    bytesRead: taken.bytesRead,
    problems: problems.list(),
  }
}

const NOTHING = { seen: 0, new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }

/** What keeps files has every format behind it, and takes longer to load than a sync of nothing new to run. */
async function takeLooked(
  looked: Pick<Looked, 'places'>,
  shared: Shared,
  reading?: DirtyReading,
): Promise<Taken> {
  if (pendingOf(looked, shared.database).files === 0) return NOTHING
  const { takePending } = await import('./sync-take.ts')
  return takePending(looked, shared, reading && { reading })
}

async function takeRefs(
  folders: readonly string[],
  shared: Shared,
): Promise<Taken & { readonly seen: number }> {
  if (folders.length === 0) return NOTHING
  const { takeRepositories } = await import('./sync-git.ts')
  return takeRepositories(folders, shared)
}

function addTaken(a: Taken, b: Taken): Taken {
  return {
    new: a.new + b.new,
    grown: a.grown + b.grown,
    rewritten: a.rewritten + b.rewritten,
    failed: a.failed + b.failed,
    bytesRead: a.bytesRead + b.bytesRead,
  }
}
