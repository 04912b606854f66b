/** A unit that has changed, read by one of the readers and put in the state. */
import fs from 'node:fs'
import { PLACED } from '../formats/places.ts'
import { mapped } from '../transcript/made-list.ts'
import { hashText } from '../transcript/text-hash.ts'
import { withoutSessions } from './call-rows.ts'
import type { Described } from './describe.ts'
import { parseGlobs } from './globs.ts'
import { wayInto } from './package-kind.ts'
import type { Readers } from './readers.ts'
import { STDIN_ROOT } from './spool.ts'
import type { UnitFile } from './state-files.ts'
import type { KnownUnit } from './state-units.ts'
import type { Load } from './state-load.ts'
import { beginReading, clearReading, lastSaid, type Reading } from './state-readings.ts'
import type { Shared } from './sync-take.ts'
import type { SessionFacts } from './session-facts.ts'
import type { UnitFiles } from './unit-files.ts'

type ReadingAll = Shared & {
  readonly readers: Readers
  readonly deleted: ReadonlySet<string>
  readonly load: Load | undefined
  /** Absolute paths that the user gave. */
  readonly named: ReadonlySet<string>
  /** A pass after this one has been counted. */
  readonly since: number
}

/** `entries` and `damage`: more than were counted of it before, or fewer. */
export type ReadOne = {
  /** `hashText` of the key of each session: there may be a million. */
  readonly keys: readonly number[]
  readonly entries: number
  readonly damage: number
  readonly bytes: number
}

export async function readOne(
  unit: KnownUnit,
  { own, listed }: Pick<UnitFiles, 'own' | 'listed'>,
  shared: ReadingAll,
): Promise<ReadOne> {
  const { archive, files, kept, database, problems, readers, deleted, load, since } = shared
  const bytes = own.reduce((sum, { size }) => sum + size, 0)
  const nothing: ReadOne = { keys: [], entries: 0, damage: 0, bytes }
  // Asked for before that pass goes.
  const takeBack = (): ReadOne => {
    const before = (unit.reading ?? 0) > since ? lastSaid(database, unit.id) : NOTHING_SAID
    return { ...nothing, entries: -before.entries, damage: -before.damage }
  }
  const { agent, root } = files.placeAt(unit.place)
  const place = kept.place(agent, root)
  // Nothing is left of it, or there never was anything: all of it was deleted on purpose, or was always empty.
  if (own.every(({ bytes, path }) => bytes === 0 && place.versions(path).length === 0)) {
    const none = takeBack()
    clearReading(database, unit.id, undefined)
    return none
  }
  const isKept = own.every(({ bytes }) => bytes !== undefined)
  const job = {
    home: archive.home,
    agent,
    root,
    unit: unit.path,
    ...(listed === undefined ? { paths: own.map(({ path }) => path) } : { paths: [], listed }),
    isKept,
    bytes,
    ...(unit.format !== undefined && { format: unit.format }),
    // Of what was deleted, calls are left out one by one.
    ...(load?.isPacking() === true && deleted.size === 0 && { mayPack: true }),
  }
  let begun: Reading | undefined
  const reading = (): Reading => (begun ??= load?.begin(unit, root) ?? beginReading(database, unit.id))
  const keys: number[] = []
  let told = 0
  const left = (sessions: readonly SessionFacts[]): readonly SessionFacts[] => {
    const others = withoutDeleted(sessions, deleted)
    for (const { key } of others) keys.push(hashText(key))
    told += sessions.length
    return others
  }
  const { result, bills } = await readers.read(job, {
    calls: (calls) => reading().calls(withoutSessions(calls, deleted)),
    packed: (calls) => reading().packed(calls),
    sessions: (part) => reading().sessions({ ...part, sessions: left(part.sessions) }),
  })
  if (result.type === 'failed') {
    files.unitFailed(unit.id, result.message)
    problems.add(result.cause, `${root}/${unit.path}: ${result.message}`)
    return nothing
  }
  if (result.type === 'gone') {
    files.unitGone(unit.id, result.message)
    return nothing
  }
  const { looks, cause = 'unknown-format' } = result
  const isStrange = looks !== undefined && isTranscriptLike(own, agent)
  if (isStrange) {
    const path = `${root}/${unit.path}`
    // A file that somebody named, and that cannot be read, is a failure. One in a folder is not.
    const isNamed = root === STDIN_ROOT || shared.named.has(path)
    problems.add(isNamed && cause !== 'damage' ? 'not-a-transcript' : cause, sayLooks(path, { looks, cause }))
  }
  if (result.type === 'unknown') {
    const none = takeBack()
    clearReading(database, unit.id, isStrange ? looks : undefined)
    return cause === 'damage' ? { ...none, damage: none.damage + 1 } : none
  }
  const facts = { ...result.facts, sessions: left(result.facts.sessions) }
  const before = takeBack()
  const { entries } = reading().end(result.format, facts, bills)
  if (result.own !== undefined) files.own(unit.id, result.own)
  await settleKept(unit, own, told > 0 && keys.length === 0, shared)
  return { keys, entries: entries + before.entries, damage: result.facts.damage + before.damage, bytes }
}

const NOTHING_SAID = { entries: 0, damage: 0 }

/** What lies inside another package cannot be named to an import. */
function sayLooks(path: string, { looks, cause }: Described): string {
  if (cause !== 'unsupported') return `${path} is ${looks}`
  return `${path} is ${looks}: ${fs.existsSync(path) ? wayInto(path) : 'unpack it, and import what it holds'}`
}

/**
 * False where no file can be a transcript: empty ones are sessions that never were, hidden ones say something about the folder, and
 * some agents write files beside a log before they write the log.
 */
function isTranscriptLike(own: readonly UnitFile[], agent: string): boolean {
  const places = PLACED.find(({ id }) => id === agent)?.places ?? []
  const beside = parseGlobs(places.flatMap((place) => place.beside ?? []))
  return own.some(
    ({ path, size }) =>
      size > 0 && !path.slice(path.lastIndexOf('/') + 1).startsWith('.') && !beside.matches(path),
  )
}

function withoutDeleted(
  sessions: readonly SessionFacts[],
  deleted: ReadonlySet<string>,
): readonly SessionFacts[] {
  return sessions.filter(({ key, session }) => !deleted.has(session.id) && !deleted.has(key))
}

/** What was deleted on purpose is not kept again; older versions that say nothing more are let go. */
async function settleKept(
  unit: KnownUnit,
  own: readonly UnitFile[],
  isDeleted: boolean,
  { archive, files, kept, problems, options }: ReadingAll,
): Promise<void> {
  const { agent, root } = files.placeAt(unit.place)
  const place = kept.place(agent, root)
  try {
    if (isDeleted) {
      const isKept = own.some(({ path }) => place.file(path) !== undefined)
      if (!isKept && options.keep === false) return
      if (isKept) for (const { path } of own) place.remove(path)
      files.dropped(unit.id)
      return
    }
    // Of what is also read in place, what is newest is not kept yet.
    if (own.some(({ bytes }) => bytes === undefined)) return
    const paths = mapped(own, ({ path }) => path)
    if (paths.every((path) => place.versions(path).length === 0)) return
    const [{ formatOfUnit }, { coveredVersions }] = await Promise.all([
      import('./read-unit.ts'),
      import('./versions-merged.ts'),
    ])
    const formatOf = await formatOfUnit({ home: archive.home, agent, root, paths })
    const covered = await coveredVersions(place, paths, formatOf)
    for (const { path, version } of covered) place.drop(path, version)
  } catch (error) {
    problems.caught(error, `${root}/${unit.path}`)
  }
}
