/**
 * Checkpoints that Entire keeps inside git repositories: looked at where there are any, kept session by session when a ref has
 * moved. Later checkpoints of a session go on where earlier ones end, so that what is kept grows by what is new.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, dirname } from 'node:path'
import { isHansardError } from '../errors.ts'
import { entire } from '../formats/entire.ts'
import {
  openEntireRepository,
  type EntireSource,
  type StampedFile,
  type StampedSession,
} from './entire-git.ts'
import { parseExclude, type Exclusion } from './exclude.ts'
import { collect } from './one-at-a-time.ts'
import { GIT } from './open-files.ts'
import type { Kept } from '../archive/kept.ts'
import { createDiskWatch, diskFullMessage } from './disk.ts'
import { createSettledTogether, type SettledTogether } from './settled-together.ts'
import { openStretches } from './state-stretches.ts'
import type { Shared, Taken } from './sync-take.ts'
import { unitOf } from './unit-of.ts'

export type TakenRepositories = Taken & { readonly seen: number }

/** `folders`: work trees that may have such refs: see `mayHaveCheckpoints`. */
export async function takeRepositories(
  folders: readonly string[],
  shared: Shared,
): Promise<TakenRepositories> {
  const { files, problems, options } = shared
  const taken = { seen: 0, new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }
  const { exclude: patterns = [], userHome = os.homedir(), platform = process.platform } = options
  const exclude = parseExclude(patterns, { home: userHome, platform })
  for (const folder of folders) {
    if (options.signal?.aborted) continue
    try {
      const real = fs.realpathSync(folder)
      if (exclude.isExcluded(dirname(real), basename(real))) continue
      const source = await openEntireRepository(folder)
      if (source === undefined) continue
      const place = files.place(entire.id, `${GIT}${real}`)
      // Other patterns, and other files are looked at.
      const stamp = patterns.length === 0 ? source.stamp : `${source.stamp} ${JSON.stringify(patterns)}`
      if (isKnown(files.stamp(place), stamp, options.keep !== false)) continue
      const isWhole = await takeSessions(source, { place, taken, exclude, real, patterns }, shared)
      const damage = source.damage()
      for (const { file, reason } of damage) problems.add('damage', `${folder}: ${file}: ${reason}`)
      // Objects that are missing may be fetched later, under the same refs.
      if (isWhole && !damage.some(({ kind }) => kind === 'missing'))
        files.setStamp(place, options.keep === false ? `${READ_ONLY}${stamp}` : stamp)
    } catch (error) {
      // Another user's repository is passed over, as git does.
      if (isHansardError(error) && error.code === 'not-permitted') problems.add('owner', error.message)
      else {
        taken.failed += 1
        problems.caught(error, folder)
      }
    }
  }
  // What was known of very many checkpoints, before they are read.
  if (taken.seen >= COLLECTED) collect()
  return taken
}

/** Before the stamp of refs that were read where they lie: they are still to be kept. */
const READ_ONLY = 'read '

function isKnown(known: string | undefined, stamp: string, isToKeep: boolean): boolean {
  return known === stamp || (!isToKeep && known === `${READ_ONLY}${stamp}`)
}

type Taking = {
  readonly place: number
  readonly taken: { -readonly [K in keyof TakenRepositories]: number }
  readonly exclude: Exclusion
  readonly real: string
  /** What is left out by them is another question. */
  readonly patterns: readonly string[]
}

/** True when all of it was taken in, or left out on purpose. Sessions that are as they were are not looked into. */
async function takeSessions(source: EntireSource, taking: Taking, shared: Shared): Promise<boolean> {
  const { place, taken, patterns } = taking
  const { files, database, options } = shared
  const known = openStretches(database, place, options.keep !== false)
  const settling = createSettledTogether<Noted>({
    settle: () => shared.kept.settle(),
    note(all) {
      database.transaction(() => {
        for (const { path, unit, kept, stamp } of all) files.copied(place, path, unit, kept, stamp)
      })
    },
  })
  const take = createTake(source, taking, shared, settling)
  let isWhole = true
  try {
    for await (const session of source.sessions()) {
      if (options.signal?.aborted) break
      const stamp = patterns.length === 0 ? session.stamp : `${session.stamp} ${JSON.stringify(patterns)}`
      const seen = [{ path: session.name, stamp, size: 0 }]
      if (known.isKnown(seen)) {
        taken.seen += files.countOf(place, session.name)
        continue
      }
      if (await take(session)) known.compared(seen, 0)
      else isWhole = false
    }
  } finally {
    // What was kept before something failed is known, and read: it may fail every time.
    await settling.end()
  }
  if (options.signal?.aborted) return false
  known.settle()
  return isWhole
}

/** Files that are compared with what is known of them at a time. */
const COMPARED = 256
/** After so many that were kept, what is left of keeping them is let go: V8 would wait until it is several times what is needed. */
const COLLECTED = 4096

type Noted = {
  readonly path: string
  readonly unit: string
  readonly stamp: string
  readonly kept: Kept | undefined
}

/** Takes in what is new or changed of a session. False when something of it has to be taken in again. */
function createTake(
  source: EntireSource,
  { place, taken, exclude, real }: Taking,
  { archive, files, kept, problems, options }: Shared,
  settling: SettledTogether<Noted>,
): (session: StampedSession) => Promise<boolean> {
  const { agent, root } = files.placeAt(place)
  const [target, together] = [kept.place(agent, root), kept.together.place(agent, root)]
  const isToKeep = options.keep !== false
  const isDiskFullBy = createDiskWatch(archive.home, options.disk)
  let count = 0
  const take = async (file: StampedFile): Promise<Noted | undefined> => {
    const { path, sizeBytes, stamp } = file
    const opened = file.open()
    const unit = await unitOf(entire.id, opened)
    if (!isToKeep) return { path, unit, stamp, kept: undefined }
    const before = together.file(path)
    if (isDiskFullBy(Math.max(0, sizeBytes - (before?.sizeBytes ?? 0)))) {
      taken.failed += 1
      problems.add('disk-full', diskFullMessage(`${root}/${path}`))
      return undefined
    }
    const from = { chunks: () => opened.chunks(), modifiedAt: opened.modifiedAt }
    // What replaces bytes is on disk before they go.
    const result = await (before === undefined ? together : target).keep(path, from)
    taken.bytesRead += result.bytesRead
    if (result.change !== 'none') taken[result.change] += 1
    count += 1
    if (count % COLLECTED === 0) collect()
    // Objects that are missing may be fetched later: what there is of them is taken in again.
    return { path, unit, kept: result, stamp: source.isWhole(path) ? stamp : '' }
  }
  return async (session) => {
    let isWhole = true
    const takeChanged = async (some: readonly StampedFile[]): Promise<void> => {
      const seen = some.map(({ path, stamp, sizeBytes }) => ({ path, stamp, size: sizeBytes }))
      for (const at of files.changed(place, seen, isToKeep)) {
        const file = some[at]
        if (file === undefined || options.signal?.aborted) continue
        const noted = await take(file)
        if (noted === undefined || noted.stamp === '') isWhole = false
        if (noted !== undefined) await settling.add(noted, noted.kept?.bytesRead ?? 0)
      }
    }
    let some: StampedFile[] = []
    for (const file of await session.files()) {
      if (exclude.isExcluded(real, file.path)) continue
      taken.seen += 1
      some.push(file)
      if (some.length < COMPARED) continue
      await takeChanged(some)
      some = []
    }
    await takeChanged(some)
    return isWhole
  }
}
