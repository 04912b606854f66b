/** One sync of places: looked around, what is worth it read ahead, the rest kept and read, and all of it counted. */
import { realpathSync } from 'node:fs'
import os from 'node:os'
import { mayHaveCheckpoints } from './checkpoint-refs.ts'
import { parseExclude } from './exclude.ts'
import { escapeGlob } from './globs.ts'
import { lastReading } from './reading-numbers.ts'
import { tellAgain } from './sync-again.ts'
import { keepBehind, placesAhead, readAhead } from './sync-ahead.ts'
import { openEarlyReaders, type EarlyReaders } from './sync-early.ts'
import {
  lookAround,
  lookInto,
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
} from './sync-read.ts'
import { nameFormats } from './sync-named.ts'
import { warnOfPurge } from './sync-warn.ts'
import type { Shared, Taken } from './sync-take.ts'
import type { SyncReport } from './sync.ts'
import type { V8Flag } from './v8-flag.ts'

/** What is known of places, taken in where it changed. `isFirst`: nothing was kept before. */
export async function syncPlaces(shared: Shared, isFirst: boolean): Promise<SyncReport> {
  const { archive, options } = shared
  const began = Date.now()
  const {
    env = process.env,
    userHome = os.homedir(),
    platform = process.platform,
    cwd = process.cwd(),
  } = options
  const counts = createCounts(lastReading(shared.database), shared.options.told)
  await readDirty(shared, counts)
  // A folder that was named may hold the archive itself.
  const exclude = parseExclude([...(options.exclude ?? []), escapeGlob(realpathSync(archive.home))], {
    home: userHome,
    platform,
  })
  const early = isFirst ? await openEarlyReaders(WORTH_READING_BESIDE) : undefined
  let growth: V8Flag | undefined
  const growLittle = async (): Promise<void> => {
    growth = (await import('./v8-flag.ts')).createFlag('heap-growing-percent', LITTLE_GROWTH, 0)
    growth.set()
  }
  try {
    const onChanged = (bytes: number): void => early?.seen(bytes)
    const following = options.isFollowing === true ? await import('./followed-rows.ts') : undefined
    const look = { env, userHome, platform, cwd, exclude, onChanged, isAskedSince: following?.isAskedSince }
    const report = await takeIn({ ...shared, ...look }, { isFirst, began, counts, early, growLittle })
    return following?.isLookDue() === true ? { ...report, isLookDue: true } : report
  } finally {
    growth?.usual()
    await early?.close()
  }
}

type Syncing = {
  readonly isFirst: boolean
  /** When, in ms. */
  readonly began: number
  readonly counts: Counts
  readonly early: EarlyReaders | undefined
  /** For less memory, and more time. */
  readonly growLittle: () => Promise<void>
}

/** Files to be taken in, from which on time is less dear than memory. */
const VERY_MANY = 50_000
/** In %: what V8 takes more than it needs until it lets go of what is left. By itself it takes several times as much. */
const LITTLE_GROWTH = 50

async function takeIn(
  shared: Shared & LookOptions,
  { isFirst, began, counts, early, growLittle }: Syncing,
): Promise<SyncReport> {
  const { problems, options, env, userHome, platform } = shared
  const looked = await lookAround(shared)
  const failedBefore = tellAgain(looked.places, shared)
  nameFormats(looked, shared, shared.exclude)
  const pending = pendingOf(looked, shared.database)
  if (pending.files > 0) options.onPlan?.({ ...pending, isFirst })
  if (pending.files > VERY_MANY) await growLittle()
  // By the sessions that were known before, however many are read meanwhile: their folders follow.
  const folders = projectFolders(shared)
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
  const fromNew = await takeNewFolders(shared, { counts, looked, folders })
  const taken = [fromFiles, fromAhead, fromNew].reduce(addTaken, {
    ...fromGit,
    failed: fromGit.failed + looked.failed + failedBefore,
  })
  // What is kept cannot be lost: only what is not has to be warned of.
  if (options.keep === false || taken.failed > 0) {
    const isKeepingOff = options.keep === false
    warnOfPurge(shared.database, problems, { env, userHome, platform, now: Date.now(), isKeepingOff })
  }
  const seen = looked.seen + fromGit.seen + fromNew.seen
  const { failed, rewritten, grown } = taken
  const unchanged = Math.max(0, seen - taken.new - grown - rewritten - failed)
  return {
    files: { seen, new: taken.new, grown, rewritten, unchanged, failed },
    ...counts.report(),
    bytesRead: taken.bytesRead,
    problems: problems.list(),
  }
}

type Before = { readonly counts: Counts; readonly looked: Looked; readonly folders: readonly string[] }

/** What programs left in the folders of sessions that were just found. Its own sessions' folders are the next sync's. */
async function takeNewFolders(
  shared: Shared & LookOptions,
  { counts, looked, folders }: Before,
): Promise<Taken & { readonly seen: number }> {
  const { options } = shared
  if (options.paths !== undefined || options.places !== undefined || options.signal?.aborted) return NOTHING
  if (counts.report().sessions === 0) return NOTHING
  const known = new Set(folders)
  const more = projectFolders(shared).filter((folder) => !known.has(folder))
  if (more.length === 0) return NOTHING
  const found = lookInto(more, shared, looked)
  const fromGit = await takeRefs(more.filter(mayHaveCheckpoints), shared)
  if (found.seen + fromGit.seen === 0) return NOTHING
  const taken = addTaken(await takeLooked(found, shared), fromGit)
  await readDirty(shared, counts)
  return { ...taken, seen: found.seen + fromGit.seen }
}

const NOTHING = { seen: 0, new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }

/** What keeps files has every format behind it, and takes longer to load than a sync of nothing new to run. */
export async function takeLooked(
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
