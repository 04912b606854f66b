/**
 * One long log that is followed, read on where it ended: its reading stays in memory with what it holds. What is said of it in all is what
 * reading it whole would say; where that is not sure, nothing is.
 */
import type { KeptPlace } from '../archive/kept.ts'
import { isHansardError, systemCode } from '../errors.ts'
import type { LogFollowing } from '../formats/format.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { SourceFile } from '../transcript/source.ts'
import { addedTo } from './added-bytes.ts'
import type { Followed, FollowedUnit } from './followed-units.ts'
import { isGzip } from './gzip.ts'
import { loadFormat } from './load-format.ts'
import { collect } from './one-at-a-time.ts'
import { keptIn } from './open-unit.ts'
import { createRunningBill } from './running-bill.ts'
import type { Call, UnitFacts } from './session-facts.ts'
import { createUnitReading, type UnitReading } from './unit-facts.ts'
import { placeName } from './unit-place.ts'
import { safeNames, withNames, withoutSecrets } from './unit-secrets.ts'
import { keptSource } from './versions.ts'
import { isZstd } from './zstd.ts'

/** Batches read in a row: some MB, in the time that a change may wait. */
const BATCHES_A_TURN = 8
/** Until what is left of them is let go. */
const BATCHES_LEFT = 48

type Held = {
  readonly following: LogFollowing
  readonly told: UnitReading
  /** By path, how many bytes were read. */
  readonly read: Map<string, number>
}

/** Undefined for a unit that is to be read whole. */
export async function followLog(unit: FollowedUnit): Promise<Followed | undefined> {
  const { format, files } = unit
  const own = await loadFormat(format)
  if (own.follow === undefined) return undefined
  const names = safeNames(unit.home)
  const bill = createRunningBill()
  /** Given out since they were last asked for; undefined while nobody will. */
  let calls: Call[] | undefined
  const told = createUnitReading((some) => calls?.push(...some), placeName({ ...unit, paths: [] }), {
    isFollowed: true,
    onSettled: (call) => withNames([call], names).forEach((named) => bill.settle(named)),
  })
  const source = keptSource(
    placeOf(unit),
    files.map(({ path }) => path),
  )
  const following = await own.follow(source, { drift: told.drift, isForFacts: true })
  if (following === undefined) return undefined
  const held: Held = { following, told, read: new Map() }
  return {
    async more(now, signal) {
      const found = await readOn(held, now, signal)
      if (found === undefined) return undefined
      const given = withNames(calls ?? [], names)
      calls = []
      const facts = withoutSecrets(found, unit.home)
      const owed = bill.now(withNames([...told.openCalls()], names))
      return { added: { facts, calls: given, bill: owed }, counted: facts }
    },
    isSure: () => following.isSure(),
    close: async () => told.close(),
  }
}

/** What is known of all of it, after what came since. Undefined where only reading it whole can tell, also why it cannot be read. */
async function readOn(one: Held, unit: FollowedUnit, signal?: AbortSignal): Promise<UnitFacts | undefined> {
  try {
    return await readAdded(one, unit, signal)
  } catch (error) {
    if (isHansardError(error) || systemCode(error) !== undefined) return undefined
    throw error
  }
}

/** The same, also undefined when it was to stop. */
async function readAdded(
  { following, told, read }: Held,
  unit: FollowedUnit,
  signal?: AbortSignal,
): Promise<UnitFacts | undefined> {
  const place = placeOf(unit)
  const added: SourceFile[] = []
  const paths = new Set<string>()
  const isFirst = read.size === 0
  for (const { path, bytes } of unit.files) {
    const from = read.get(path)
    paths.add(path)
    if (bytes === undefined || !(await isPlain(place, path, bytes))) return undefined
    if (from === bytes) continue
    if (from !== undefined && (bytes < from || (await beginsWithMark(place, path, from)))) return undefined
    added.push(addedTo(place, path, { from: from ?? 0, to: bytes }))
    read.set(path, bytes)
  }
  for (const path of read.keys()) if (!paths.has(path)) return undefined
  let batches = 0
  for await (const items of following.more(added)) {
    // Where a damaged line is looked at again is learnt from those before it.
    if (!isFirst && items.some(({ type }) => type === 'damage')) return undefined
    told.add(items)
    batches += 1
    // V8 would wait until what is left of them is as much again as all that is held.
    if (batches % BATCHES_LEFT === 0) collect()
    if (batches % BATCHES_A_TURN === 0) await nextTurn()
    if (signal?.aborted === true) return undefined
  }
  return following.isSure() ? told.now(unit.files.length > 1) : undefined
}

const placeOf = ({ home, agent, root }: FollowedUnit): KeptPlace => keptIn(home).place(agent, root)

/** Kept as it was written, in one version, to the end of a line, and not packed by its agent. */
async function isPlain(place: KeptPlace, path: string, bytes: number): Promise<boolean> {
  if (place.look(path)?.bytes !== bytes || place.namedFormat(path) !== undefined) return false
  if (place.versions(path).length > 0) return false
  if (!path.endsWith('.jsonl')) return true
  if (bytes === 0) return true
  const [head, last] = await Promise.all([
    place.readAt(path, undefined, 0, 4),
    place.readAt(path, undefined, bytes - 1, 1),
  ])
  return last[0] === NEWLINE && !isGzip(head) && !isZstd(head)
}

const NEWLINE = 0x0a

/** A byte order mark is one at the beginning of a file, and damage anywhere else. */
async function beginsWithMark(place: KeptPlace, path: string, at: number): Promise<boolean> {
  return BYTE_ORDER_MARK.equals(await place.readAt(path, undefined, at, BYTE_ORDER_MARK.length))
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')
