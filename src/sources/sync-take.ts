/** The second step of a sync: what has changed is kept, and the units it belongs to are marked to be read. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import type { Kept, KeptFiles, KeptPlace } from '../archive/kept.ts'
import { unnumbered } from '../archive/safe-path.ts'
import { isHansardError } from '../errors.ts'
import { journal } from '../journal/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { SourceFile } from '../transcript/source.ts'
import { exporting, forgetRows, memoryOf, openRowsOf } from './followed-rows.ts'
import { collect } from './one-at-a-time.ts'
import { createDiskWatch, diskFullMessage } from './disk.ts'
import { unitOf } from './unit-of.ts'
import type { FoundPlace } from './places.ts'
import type { Problems } from './problems.ts'
import type { KnownFile, StateFiles } from './state-files.ts'
import { pendingOf, type Looked } from './sync-look.ts'
import type { DirtyReading } from './sync-read.ts'
import { createTogether } from './sync-together.ts'
import type { SyncOptions } from './sync.ts'

/** What is kept; `together`: the same, on disk only once settled. */
export type KeptTogether = KeptFiles & { readonly together: KeptFiles; settle(): Promise<void> }

export type Shared = {
  readonly archive: Archive
  readonly kept: KeptTogether
  readonly database: Database
  readonly files: StateFiles
  readonly problems: Problems
  readonly options: SyncOptions
}

export type Taken = {
  readonly new: number
  readonly grown: number
  readonly rewritten: number
  readonly failed: number
  readonly bytesRead: number
}

const BATCH = 200
/** Kept in a row: what is read beside must be answered. */
const BYTES_A_TURN = 1024 * 1024

export type TakeOptions = {
  /** What is kept is read beside. */
  readonly reading?: Pick<DirtyReading, 'more'>
  /** All of it was read where it lies, by a sync that began then. */
  readonly readSince?: number
}

export async function takePending(
  looked: Pick<Looked, 'places'>,
  shared: Shared,
  { reading, readSince }: TakeOptions = {},
): Promise<Taken> {
  const { places } = looked
  const { files, problems, options } = shared
  const taken = { new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }
  const pending = pendingOf(looked, shared.database)
  const failed = (file: KnownFile, place: FoundPlace, error: unknown): void => {
    taken.failed += 1
    problems.caught(error, join(place.root, file.path))
    files.failed(file.id, isHansardError(error) ? error.code : 'internal')
  }
  const together = createTogether(shared, {
    count: (change) => count(taken, change),
    takeOne: async (file, place) => count(taken, await take(file, place, shared)),
    failed,
    kept: (last) => reading?.more(last),
    readSince,
  })
  const isDiskFullBy = createDiskWatch(shared.archive.home, options.disk)
  const isOurs = createOurs(shared)
  let done = 0
  let bytes = 0
  let turned = 0
  let after = 0
  for (let batch = files.pending(after, BATCH); batch.length > 0; batch = files.pending(after, BATCH)) {
    await nextTurn()
    for (const file of batch) {
      if (options.signal?.aborted) break
      after = file.id
      const place = places.get(file.place)
      if (place === undefined) continue
      done += 1
      if (await isOurs(join(place.root, file.path))) {
        files.ours(file.id)
        continue
      }
      const isKept = options.keep !== false && place.agent !== journal.id
      if (isKept && isDiskFullBy(Math.max(0, file.size - (file.bytes ?? 0)))) {
        taken.failed += 1
        problems.add('disk-full', diskFullMessage(join(place.root, file.path)))
        files.failed(file.id, 'disk-full')
        continue
      }
      try {
        if (isKept && file.bytes === undefined && place.rows === undefined) await together.take(file, place)
        else count(taken, await take(file, place, shared))
      } catch (error) {
        // Gone since it was looked at: agents remove files, and what was kept of it stays.
        if (!fs.existsSync(join(place.root, file.path))) files.gone(file.id)
        else failed(file, place, error)
      }
      bytes += Math.max(0, file.size - (file.bytes ?? 0))
      if (bytes - turned >= BYTES_A_TURN) {
        turned = bytes
        await nextTurn()
      }
      options.onProgress?.({ doing: 'keeping', done, of: pending.files, bytes, ofBytes: pending.bytes })
    }
    if (options.signal?.aborted) break
  }
  await together.settle()
  return taken
}

/**
 * Whether this program wrote a file: by its name, or by the one that it had before a later execution of the same step set it aside.
 * Journals are taken in first: they say which these are.
 */
export function createOurs({ archive, files }: Shared): (path: string) => Promise<boolean> {
  const hasOwn = files.hasOwn()
  return async (path) => {
    if (!hasOwn) return false
    if (files.isOwn(path)) return true
    const before = unnumbered(path)
    const writers = before === undefined ? [] : files.writersOf(before)
    if (writers.length === 0) return false
    const { isWrittenBy } = await import('./own-files.ts')
    return isWrittenBy(archive, writers, path)
  }
}

type Counts = { -readonly [K in keyof Taken]: number }

function count(taken: Counts, { change, bytesRead, isHalf }: Change): void {
  if (isHalf === true) taken.failed += 1
  else if (change !== 'none') taken[change] += 1
  taken.bytesRead += bytesRead
}

/** `isHalf`: not all of it could be taken in. */
type Change = Pick<Kept, 'change' | 'bytesRead'> & { readonly isHalf?: boolean }

async function take(file: KnownFile, place: FoundPlace, shared: Shared): Promise<Change> {
  const { files, kept, database, problems, options } = shared
  if (options.keep === false || place.agent === journal.id) {
    const named =
      place.agent === journal.id ? undefined : kept.place(place.agent, place.root).namedFormat(file.path)
    const unit = await unitOf(place.agent, await openAt(place, file), named)
    database.transaction(() => files.taken(file, unit, undefined))
    const bytesRead = place.agent === journal.id ? 0 : file.size
    const changed = files.hasShrunk(file.id) ? 'rewritten' : 'grown'
    return { change: file.unit === undefined ? 'new' : changed, bytesRead }
  }
  const target = kept.place(place.agent, place.root)
  // A death between keeping and noting it would leave a rewrite that looks like no change to the next sync.
  if (file.unit !== undefined) files.taking(file.id)
  const { result, damage } = await keep(target, file, place, options)
  const told = (): Change => {
    if (damage === undefined) return result
    problems.add('damage', `${join(place.root, file.path)}: ${damage}`)
    files.half(file.id, 'damage', damage)
    return { ...result, isHalf: true }
  }
  if (result.change === 'none' && isKnown(file, result)) {
    return database.transaction(() => {
      files.unchanged(file.id)
      return told()
    })
  }
  const copy = target.file(file.path)
  const named = target.namedFormat(file.path)
  const unit = copy === undefined ? file.path : await unitOf(place.agent, copy, named)
  return database.transaction(() => {
    if (result.change === 'rewritten' || file.isHalfTaken) files.forgetFormat(file.id)
    files.taken(file, unit, { bytes: result.bytes, tail: result.tail })
    return told()
  })
}

/** Of one that was adopted, no more is known than how long it is. */
function isKnown({ unit, bytes, tail, isHalfTaken }: KnownFile, now: Kept): boolean {
  return unit !== undefined && !isHalfTaken && bytes === now.bytes && (tail ?? now.tail) === now.tail
}

/** `damage`: of a database, why not all of it can be read. */
type Copied = { readonly result: Kept; readonly damage?: string }

async function keep(
  target: KeptPlace,
  { path }: KnownFile,
  place: FoundPlace,
  { isFollowing }: Pick<SyncOptions, 'isFollowing'>,
): Promise<Copied> {
  const absolute = join(place.root, path)
  const copy = async (): Promise<Copied> => ({ result: await target.keep(path, { file: absolute }) })
  if (place.rows === undefined) return copy()
  const one = { place: target, path, rows: place.rows }
  const opened = await openRowsOf(one)
  if (opened === undefined) return copy()
  const { source, database } = opened
  try {
    const memory = isFollowing === true ? memoryOf(one) : undefined
    const result = await exporting(() => target.keepRows(path, database, one.rows, memory))
    // What can be read of a damaged database is kept; the rest stays as it was kept before.
    const [first, ...others] = source.damage()
    if (first === undefined) return { result }
    forgetRows(one)
    return { result, damage: first.reason + (others.length > 0 ? `, and ${others.length} more` : '') }
  } finally {
    await database.close()
    // What every row was takes tens of MB, of which V8 knows little; others read the rows while this thread has nothing to do.
    collect()
  }
}

export async function openAt({ root }: FoundPlace, { path }: Pick<KnownFile, 'path'>): Promise<SourceFile> {
  const { openSource } = await import('./open.ts')
  const source = await openSource(join(root, path))
  const [file] = await source.list()
  // A file source lists itself, under its name; units go by the path below the place.
  return { ...(file as SourceFile), path }
}
