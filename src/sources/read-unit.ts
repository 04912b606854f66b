/**
 * One unit read for the state: its format told by its content, its items counted as they come. Runs in this thread or in a worker,
 * and needs nothing but where the archive is and what the unit consists of.
 */
import { isAbsolute, posix } from 'node:path'
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptFiles, type KeptPlace } from '../archive/kept.ts'
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import { nodeFiles } from '../journal/files.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { ShortFile } from '../transcript/source.ts'
import { openShortBelow } from './below.ts'
import { LOADABLE, loadFormat } from './load-format.ts'
import type { OpenSource } from './open.ts'
import { collect, oneAtATime } from './one-at-a-time.ts'
import { createOutlet, type Outlet } from './outlet.ts'
import { placeName, type UnitPlace } from './unit-place.ts'
import { safeWork } from './work-safe.ts'
import {
  createUnitReading,
  type Call,
  type SessionFacts,
  type UnitFacts,
  type UnitReading,
} from './unit-facts.ts'
import { readVersions, versionsOf, type FormatOf, type UnitVersion } from './versions.ts'

export type UnitJob = UnitPlace & {
  /** As it was told the last time; told anew when absent. */
  readonly format?: string
  /** Its calls may come packed. */
  readonly mayPack?: boolean
  /** Of its files as they lie there. */
  readonly bytes?: number
}

export type UnitResult =
  | {
      readonly type: 'read'
      readonly format: string
      readonly facts: UnitFacts
      /** What the newest version looks like, where only older ones are in a format known. */
      readonly looks?: string
      /** Of a journal: the files that were written beside it, absolute. */
      readonly own?: readonly string[]
    }
  /** Its source is gone, and nothing of it was kept: what was read before is all that is known. */
  | { readonly type: 'gone'; readonly message: string }
  /** Nothing to read: an empty file, or in no format known here. */
  | { readonly type: 'unknown'; readonly looks: string }
  | { readonly type: 'failed'; readonly cause: string; readonly message: string }

/** Some of a unit's sessions. `format`: the unit's. */
export type SessionsPart = { readonly format: string; readonly sessions: readonly SessionFacts[] }

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

const NO_WAIT = async (): Promise<void> => {}

/** Never throws. */
export async function runUnitJob(
  job: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
  taking: Taking = {},
): Promise<UnitResult> {
  const { isTaken = NO_WAIT, enter = NO_WAIT } = taking
  try {
    if (job.agent === JOURNAL) {
      const { readRecorded } = await import('./read-recorded.ts')
      return await readRecorded(job, onCalls)
    }
    const { reading, options } = openReading(job, onCalls)
    const own = await readShort(job, reading, options)
    const begun: Begun | UnitResult = own === undefined ? await begin(job, enter, options) : { format: own }
    if ('type' in begun) return begun
    const { format, looks, items } = begun
    if (items !== undefined) await readAll(items, reading, withCollecting(job, isTaken))
    const read = await end(job, format, reading, taking)
    return looks === undefined ? read : { ...read, looks }
  } catch (error) {
    return failed(error)
  }
}

/** The same for a short log in its own place, which takes little memory whatever it holds. Undefined for any other unit: nothing was read. */
export async function runShortJob(
  job: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
  taking: Pick<Taking, 'onSessions'>,
): Promise<UnitResult | undefined> {
  try {
    const { reading, options } = openReading(job, onCalls)
    const own = await readShort(job, reading, options)
    return own && (await end(job, own, reading, taking))
  } catch (error) {
    return failed(error)
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
    let hasParts = false
    for (let part = reading.part(); part !== undefined; part = reading.part()) {
      hasParts = true
      onSessions({ format: id, sessions: part.map((one) => withoutSecretsOf(one, home)) })
      await isTaken()
    }
    // They are written down now, by another thread: what they were made of is not needed meanwhile.
    if (hasParts) collect()
  }
  return { type: 'read', format: id, facts: withoutSecrets(reading.end(), home) }
}

function failed(error: unknown): UnitResult {
  const cause = isHansardError(error) ? error.code : 'internal'
  return { type: 'failed', cause, message: messageOf(error) }
}

type Items = AsyncIterable<readonly ReadItem[]>

/** `items`: absent where all of them were taken. */
type Begun = { readonly format: Format; readonly looks?: string; readonly items?: Items }

async function readAll(items: Items, reading: UnitReading, isTaken: () => Promise<void>): Promise<void> {
  for await (const batch of items) {
    reading.add(batch)
    await isTaken()
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
  enter: () => Promise<void>,
  options: ReadOptions,
): Promise<Begun | UnitResult> {
  const found = await openVersions(job)
  if (found.length === 0) return { type: 'gone', message: goneMessage(job) }
  const versions = gated(found.length === 1 ? found.map(openedOnce) : found, enter)
  const told = await tellFormat(job, versions)
  if ('unknown' in told) return { type: 'unknown', looks: told.unknown }
  return {
    ...told,
    items: readVersions(versions, job.paths, told.format, { ...options, formatOf: toldFormat }),
  }
}

/** The items of a unit, from its kept files and all their versions, and where it lies. Throws `not-found` when it is nowhere. */
export async function* readPlaced(
  place: UnitPlace,
  format: Format,
  { enter }: Pick<Taking, 'enter'> = {},
): AsyncGenerator<readonly ReadItem[]> {
  const found = await openVersions(place)
  const versions = enter === undefined ? found : gated(found, enter)
  if (versions.length === 0) {
    throw new HansardError('not-found', goneMessage(place), {
      hint: 'sync without --no-keep keeps what programs delete',
    })
  }
  yield* readVersions(versions, place.paths, format, { formatOf: toldFormat })
}

/** Looked for once, for telling what it is and for reading it. */
function openedOnce(version: UnitVersion): UnitVersion {
  let opened: Promise<OpenSource> | undefined
  const open = async (): Promise<OpenSource> => {
    const source = await version.open()
    let listed: ReturnType<OpenSource['list']> | undefined
    return { ...source, list: () => (listed ??= source.list()) }
  }
  return { ...version, open: () => (opened ??= open()) }
}

function gated(versions: readonly UnitVersion[], enter: () => Promise<void>): readonly UnitVersion[] {
  return versions.map((version) => ({
    ...version,
    open: async () => oneAtATime(await version.open(), enter),
  }))
}

function goneMessage({ root, unit }: UnitPlace): string {
  return `${root}/${unit} is gone, and nothing of it was kept`
}

/** Of what is read in place, all that was kept of it before is an older version. None when it is nowhere. */
async function openVersions({
  home,
  agent,
  root,
  paths,
  isKept,
}: UnitPlace): Promise<readonly UnitVersion[]> {
  const kept = keptIn(home).place(agent, root)
  if (isKept) return versionsOf(kept, paths)
  const { openFiles } = await import('./open-files.ts')
  const open = (): Promise<OpenSource> => openFiles(root, paths)
  if (await isThere(open)) {
    // Of a place that is read for the first time, no file needs to be looked for.
    return isNew(kept) ? [{ versions: new Map(), open }] : versionsOf(kept, paths, open)
  }
  return paths.some((path) => kept.file(path) !== undefined) ? versionsOf(kept, paths) : []
}

/** Nothing was kept of it. */
function isNew({ folder }: KeptPlace): boolean {
  return nodeFiles.kind(folder) === undefined
}

async function isThere(open: () => Promise<OpenSource>): Promise<boolean> {
  try {
    return (await (await open()).list()).length > 0
  } catch (error) {
    if (isHansardError(error) && error.code === 'not-found') return false
    throw error
  }
}

/** By archive, of which a process reads one: opened anew for each of a million units, it would be looked for anew each time. */
const kepts = new Map<string, KeptFiles>()

function keptIn(home: string): KeptFiles {
  const kept = kepts.get(home) ?? openKept(openArchive(home))
  kepts.set(home, kept)
  return kept
}

const outlets = new Map<string, Outlet>()

function outletOf(home: string): Outlet {
  const outlet = outlets.get(home) ?? createOutlet(openArchive(home), false)
  outlets.set(home, outlet)
  return outlet
}

const names = new Map<string, string>()
const MOST_NAMES = 10_000

/** Names of tools, of which there are few. */
function safeNames(home: string): (name: string) => string {
  return (name) => {
    const known = names.get(name)
    if (known !== undefined) return known
    const safe = outletOf(home).text(name)
    if (names.size < MOST_NAMES) names.set(name, safe)
    return safe
  }
}

/** Nearly all are called what they are: no copy is made of these. */
function withNames(calls: readonly Call[], names: (name: string) => string): readonly Call[] {
  for (const { tools = [] } of calls)
    for (const tool of tools)
      if (names(tool) !== tool)
        return calls.map((call) => (call.tools ? { ...call, tools: call.tools.map(names) } : call))
  return calls
}

/** What is derived is searched, listed and served: what a program wrote of secrets is not in it. */
function withoutSecrets(facts: UnitFacts, home: string): UnitFacts {
  const outlet = outletOf(home)
  const sessions = facts.sessions.map((one) => withoutSecretsOf(one, home))
  const mentions = facts.mentions.map((one) => ({
    ...one,
    ...(one.title && { title: outlet.text(one.title) }),
  }))
  return { ...facts, sessions, mentions }
}

function withoutSecretsOf(one: SessionFacts, home: string): SessionFacts {
  const outlet = outletOf(home)
  const { prompt, ...session } = outlet.session({ ...one.session, ...(one.prompt && { prompt: one.prompt }) })
  const work = safeWork(one.work, outlet.text, safeNames(home))
  return { ...one, session, work, ...(prompt !== undefined && { prompt }) }
}

/** What a version is in, told by its content. */
export const toldFormat: FormatOf = async (source) => (await import('./tell-format.ts')).tellFormat(source)

/** Of the agent whose place it is, if that is one. */
async function loadOwn(agent: string): Promise<Format | undefined> {
  return LOADABLE.includes(agent) ? loadFormat(agent) : undefined
}

type Told = { readonly format: Format; readonly looks?: string } | { readonly unknown: string }

/** The format of the newest version that is in one. A file that was emptied, or has become something else, was a session before. */
async function tellFormat({ agent, format }: UnitJob, versions: readonly UnitVersion[]): Promise<Told> {
  const [only, ...others] = versions
  if (only !== undefined && others.length === 0) {
    if (format !== undefined) return { format: await loadFormat(format) }
    const own = await loadOwn(agent)
    if ((await own?.isSurely?.(await only.open())) === true && own !== undefined) return { format: own }
  }
  let looks: string | undefined
  for (const { open } of versions.toReversed()) {
    const source = await open()
    const told = await toldFormat(source)
    if (told !== undefined) return { format: told, ...(looks !== undefined && { looks }) }
    looks ??= await (await import('./describe.ts')).describeSource(source)
  }
  return { unknown: looks ?? 'empty' }
}
