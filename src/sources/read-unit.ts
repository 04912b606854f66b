/**
 * One unit read for the state: its format told by its content, its items counted as they come. Runs in this thread or in a worker,
 * and needs nothing but where the archive is and what the unit consists of.
 */
import { isAbsolute, posix } from 'node:path'
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { ShortFile } from '../transcript/source.ts'
import { openShortBelow } from './below.ts'
import type { Described } from './describe.ts'
import { LOADABLE, loadFormat } from './load-format.ts'
import { createFileLists, type FileLists } from './file-lists.ts'
import { gated, goneMessage, isNew, keptIn, openVersions, type Gate } from './open-unit.ts'
import type { LongListIn } from './long-list.ts'
import { collect } from './one-at-a-time.ts'
import { placeName, type UnitPlace } from './unit-place.ts'
import type { Call, FactsPart, UnitFacts } from './session-facts.ts'
import { createUnitReading, type UnitReading } from './unit-facts.ts'
import { pathsIn } from './unit-files.ts'
import { safeNames, withNames, withoutSecrets, withoutSecretsIn } from './unit-secrets.ts'
import { openedOnce, readVersions, type FormatOf, type UnitVersion } from './versions.ts'

export type UnitJob = UnitPlace & {
  /** As it was told the last time; told anew when absent. */
  readonly format?: string
  /** Its calls may come packed. */
  readonly mayPack?: boolean
  /** Of its files as they lie there. */
  readonly bytes?: number
  /** Where its paths are if they are very many: `paths` is empty then. */
  readonly listed?: LongListIn
}

export type UnitResult =
  /** `looks`: what the newest version looks like, where only older ones are in a format known. */
  | (Partial<Described> & {
      readonly type: 'read'
      readonly format: string
      readonly facts: UnitFacts
      /** Of a journal: the files that were written beside it, absolute. */
      readonly own?: readonly string[]
    })
  /** Its source is gone, and nothing of it was kept: what was read before is all that is known. */
  | { readonly type: 'gone'; readonly message: string }
  /** Nothing to read: an empty file, or in no format known here. */
  | ({ readonly type: 'unknown' } & Described)
  | { readonly type: 'failed'; readonly cause: string; readonly message: string }

/** Some of a unit's sessions. `format`: the unit's. */
export type SessionsPart = FactsPart & { readonly format: string }

export type Taking = {
  /** Of a unit with many sessions, the facts of some, before the rest comes with the result; absent, all come with it. */
  readonly onSessions?: (part: SessionsPart) => void
  /** Between batches: reading is faster than what takes the calls, or the sessions. */
  readonly isTaken?: () => Promise<void>
  /** Before what takes much memory: see `oneAtATime`. */
  readonly enter?: () => Promise<void>
}

/** Of a unit of more files than this, what is left of each adds up before V8 looks for it: it is told to, after so many batches. */
const MANY_FILES = 5000
/** The same of as many parts of a unit's sessions. */
const MANY_PARTS = 25

const NO_WAIT = async (): Promise<void> => {}

/** Never throws. */
export async function runUnitJob(
  given: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
  taking: Taking = {},
): Promise<UnitResult> {
  const { isTaken = NO_WAIT, enter = NO_WAIT } = taking
  const job = given.listed === undefined ? given : { ...given, paths: pathsIn(given.listed) }
  const lists = createFileLists()
  let opened: OpenReading | undefined
  try {
    if (job.agent === JOURNAL) {
      const { readRecorded } = await import('./read-recorded.ts')
      return await readRecorded(job, onCalls)
    }
    opened = openReading(job, onCalls)
    const { reading, options } = opened
    const own = await readShort(job, reading, options)
    const long = createLongWatch()
    const begun: Begun | UnitResult =
      own === undefined
        ? await begin(job, { enter, onLong: () => long.note() }, { ...options, lists })
        : { format: own }
    if ('type' in begun) return begun
    const { format, described, items } = begun
    if (items !== undefined) await readAll(items, reading, withCollecting(job, isTaken), long)
    const read = await end(job, format, reading, taking)
    return { ...read, ...described }
  } catch (error) {
    return failed(error)
  } finally {
    opened?.reading.close()
    lists.close()
  }
}

/** The same for a short log in its own place, which takes little memory whatever it holds. Undefined for any other unit: nothing was read. */
export async function runShortJob(
  job: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
  taking: Pick<Taking, 'onSessions'>,
): Promise<UnitResult | undefined> {
  let opened: OpenReading | undefined
  try {
    opened = openReading(job, onCalls)
    const { reading, options } = opened
    const own = await readShort(job, reading, options)
    return own && (await end(job, own, reading, taking))
  } catch (error) {
    return failed(error)
  } finally {
    opened?.reading.close()
  }
}

type OpenReading = { readonly reading: UnitReading; readonly options: ReadOptions }

function openReading(job: UnitJob, onCalls: (calls: readonly Call[]) => void): OpenReading {
  const names = safeNames(job.home)
  const reading = createUnitReading((calls) => onCalls(withNames(calls, names)), placeName(job))
  return { reading, options: { drift: reading.drift, isForFacts: true } }
}

async function end(
  { home }: UnitJob,
  { id }: Format,
  reading: UnitReading,
  { onSessions, isTaken = NO_WAIT }: Taking,
): Promise<Extract<UnitResult, { readonly type: 'read' }>> {
  if (onSessions !== undefined) {
    let parts = 0
    for (let part = reading.part(); part !== undefined; part = reading.part()) {
      parts += 1
      onSessions({ format: id, ...withoutSecretsIn(part, home) })
      if (parts % MANY_PARTS === 0) collect()
      await isTaken()
    }
    // They are written down now, by another thread: what they were made of is not needed meanwhile.
    if (parts > 0) collect()
  }
  return { type: 'read', format: id, facts: withoutSecrets(reading.end(), home) }
}

function failed(error: unknown): UnitResult {
  const cause = isHansardError(error) ? error.code : 'internal'
  return { type: 'failed', cause, message: messageOf(error) }
}

type Items = AsyncIterable<readonly ReadItem[]>

/** `items`: absent where all of them were taken. */
type Begun = { readonly format: Format; readonly described?: Described; readonly items?: Items }

async function readAll(
  items: Items,
  reading: UnitReading,
  isTaken: () => Promise<void>,
  long: LongWatch,
): Promise<void> {
  for await (const batch of items) {
    reading.add(batch)
    long.letGo(batch)
    await isTaken()
  }
}

type LongWatch = {
  /** A row of many MB is about to be read. */
  note(): void
  /** Of these, which were read, if there was such a row: before the next is made a text, too. */
  letGo(batch: readonly ReadItem[]): void
}

function createLongWatch(): LongWatch {
  let isNoted = false
  return {
    note: () => void (isNoted = true),
    letGo(batch) {
      if (!isNoted) return
      isNoted = false
      // Frames that wait hold on to the list.
      ;(batch as ReadItem[]).length = 0
      collect()
    },
  }
}

function withCollecting({ paths }: UnitJob, isTaken: () => Promise<void>): () => Promise<void> {
  if (paths.length <= MANY_FILES) return isTaken
  let batches = 0
  return () => {
    batches += 1
    if (batches % MANY_FILES === 0) collect()
    return isTaken()
  }
}

/** A format may take less at once. */
const SHORT_BYTES = 2 * 1024 * 1024

/** For all that can be told without looking at it. */
export function mayBeShort({ paths, isKept, format, bytes = 0 }: UnitJob): boolean {
  return !isKept && format === undefined && paths.length === 1 && bytes <= SHORT_BYTES
}

/**
 * What nearly all units of a first sync are, a short log in its own place: opened once, and read without waiting. Its format; undefined
 * where nothing was read.
 */
async function readShort(
  job: UnitJob,
  reading: UnitReading,
  options: ReadOptions,
): Promise<Format | undefined> {
  const { home, agent, root, paths } = job
  const [path] = paths
  if (path === undefined || !mayBeShort(job)) return undefined
  const own = await loadOwn(agent)
  // What is no folder, as a repository, is opened otherwise.
  if (own?.readAtOnce === undefined || !isAbsolute(root) || !isNew(keptIn(home).place(agent, root)))
    return undefined
  const open = (mostBytes: number): ShortFile | undefined => openShortBelow(root, path, mostBytes)
  const items = own.readAtOnce(posix.basename(path), open, options)
  if (items === undefined) return undefined
  try {
    for (let some = items.next(); some !== undefined; some = items.next()) reading.add(some)
  } finally {
    items.leave()
  }
  return own
}

async function begin(
  job: UnitJob,
  gate: Gate,
  { lists, ...options }: ReadOptions & { readonly lists: FileLists },
): Promise<Begun | UnitResult> {
  const found = await openVersions(job, lists)
  if (found.length === 0) return { type: 'gone', message: goneMessage(job) }
  const all = gated(found, gate)
  const versions = found.length === 1 ? all.map(openedOnce) : all
  const told = await tellFormat(job, versions)
  if ('unknown' in told) return { type: 'unknown', ...told.unknown }
  const formatOf = await formatOfUnit(job)
  return { ...told, items: readVersions(versions, job.paths, told.format, { ...options, formatOf }) }
}

/** The items of a unit, from its kept files and all their versions, and where it lies. Throws `not-found` when it is nowhere. */
export async function* readPlaced(
  place: UnitPlace,
  format: Format,
  { enter }: Pick<Taking, 'enter'> = {},
): AsyncGenerator<readonly ReadItem[]> {
  const found = await openVersions(place)
  const versions = enter === undefined ? found : gated(found, { enter })
  if (versions.length === 0) {
    throw new HansardError('not-found', goneMessage(place), {
      hint: 'sync without --no-keep keeps what programs delete',
    })
  }
  yield* readVersions(versions, place.paths, format, { formatOf: await formatOfUnit(place) })
}

/** What a version is in, told by its content. */
export const toldFormat: FormatOf = async (source) => (await import('./tell-format.ts')).tellFormat(source)

/** What versions of a unit are in: what the user said, or else what each of them tells. */
export async function formatOfUnit(
  place: Pick<UnitPlace, 'home' | 'agent' | 'root' | 'paths'>,
): Promise<FormatOf> {
  const named = await loadNamed(place)
  return named === undefined ? toldFormat : asNamed(named)
}

/** A tar or zip file is in no format, whatever it is said to be. */
function asNamed(format: Format): FormatOf {
  return async (source) => {
    if (format.id === 'raw') return format
    const { packageOf } = await import('./package-kind.ts')
    return (await packageOf(source)) === undefined ? format : undefined
  }
}

async function loadNamed({
  home,
  agent,
  root,
  paths,
}: Pick<UnitPlace, 'home' | 'agent' | 'root' | 'paths'>): Promise<Format | undefined> {
  const [path] = paths
  const named = path === undefined ? undefined : keptIn(home).place(agent, root).namedFormat(path)
  return named !== undefined && LOADABLE.includes(named) ? loadFormat(named) : undefined
}

/** Of the agent whose place it is, if that is one. */
async function loadOwn(agent: string): Promise<Format | undefined> {
  return LOADABLE.includes(agent) ? loadFormat(agent) : undefined
}

type Told = { readonly format: Format; readonly described?: Described } | { readonly unknown: Described }

/** The format of the newest version that is in one. A file that was emptied, or has become something else, was a session before. */
async function tellFormat(job: UnitJob, versions: readonly UnitVersion[]): Promise<Told> {
  const { agent, format } = job
  const [only, ...others] = versions
  const named = await loadNamed(job)
  const formatOf = named === undefined ? toldFormat : asNamed(named)
  if (only !== undefined && others.length === 0 && named === undefined) {
    if (format !== undefined) return { format: await loadFormat(format) }
    const own = await loadOwn(agent)
    if ((await own?.isSurely?.(await only.open())) === true && own !== undefined) return { format: own }
  }
  let described: Described | undefined
  for (const { open } of versions.toReversed()) {
    const source = await open()
    const told = await formatOf(source)
    if (told !== undefined) return { format: told, ...(described !== undefined && { described }) }
    described ??= await (await import('./describe.ts')).describeSource(source)
  }
  return { unknown: described ?? { looks: 'empty', cause: 'unknown-format' } }
}
