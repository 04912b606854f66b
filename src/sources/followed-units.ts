/**
 * Long logs of a process that follows them, read on where they ended: what a reading holds of each stays in memory, of a few at a time.
 * What is said of one in all is what reading it whole would say; where that is not sure, nothing is said, and it has to be read whole.
 */
import type { KeptPlace } from '../archive/kept.ts'
import { isHansardError, systemCode } from '../errors.ts'
import type { LogFollowing } from '../formats/format.ts'
import { createRecentIds } from '../formats/id-set.ts'
import type { SourceFile } from '../transcript/source.ts'
import { isGzip } from './gzip.ts'
import { addedTo } from './added-bytes.ts'
import { loadFormat } from './load-format.ts'
import { nextTurn } from './next-turn.ts'
import { collect } from './one-at-a-time.ts'
import { keptIn } from './open-unit.ts'
import { createRunningBill, type RunningBill } from './running-bill.ts'
import type { Call, UnitFacts } from './session-facts.ts'
import type { OwnBill } from './state-own-bill.ts'
import type { UnitFile } from './state-files.ts'
import { createUnitReading, type UnitReading } from './unit-facts.ts'
import { placeName, type UnitPlace } from './unit-place.ts'
import { safeNames, withNames, withoutSecrets } from './unit-secrets.ts'
import { keptSource } from './versions.ts'
import { isZstd } from './zstd.ts'

/** A unit as the state knows it. `pass`: see `passOf`. */
export type FollowedUnit = Omit<UnitPlace, 'paths'> & {
  readonly format: string
  readonly pass: string
  readonly files: readonly UnitFile[]
}

/**
 * What has come to a unit. `facts`: of all of it. `calls`: those that are new, or are told of otherwise than before. `bill`: what all of its
 * calls come to, where that is known without asking for them.
 */
export type Added = {
  readonly facts: UnitFacts
  readonly calls: readonly Call[]
  readonly bill: OwnBill | undefined
}

export type FollowedUnits = {
  /** Undefined for a unit that is to be read whole. Nothing of it is held any more, unless it is said to be taken. */
  more(unit: FollowedUnit): Promise<Added | undefined>
  /** What came to it is in the state, by this pass. */
  took(unit: FollowedUnit, pass: string): void
  /**
   * Reads it once, to go on from there. `find`: the unit as it is known by then, for it may have grown meanwhile, and whether the last
   * pass over it said the same; undefined when it is not to be had.
   */
  prepare(unit: FollowedUnit, find: FindUnit, signal?: AbortSignal): Promise<void>
  /** It was read whole, and may be long: whoever has time prepares it. `id`: the state's. */
  wish(unit: Pick<FollowedUnit, 'home' | 'files'>, id: number): void
  /** The next that was wished for, in this archive. */
  nextWish(home: string): number | undefined
}

export type FindUnit = () => Promise<
  { readonly unit: FollowedUnit; readonly isKnown: (facts: UnitFacts) => boolean } | undefined
>

/** Below this, reading a log whole takes less time than anybody notices. */
export const LONG_BYTES = 4 * 1024 * 1024
/** Held at a time: some MB each. */
export const MOST_HELD = 6
const MOST_WISHES = 100
/** Batches read in a row: some MB, in the time that a change may wait. */
const BATCHES_A_TURN = 8
/** Until what is left of them is let go. */
const BATCHES_LEFT = 48
/** One that was asked for since so long ago makes room for no other. */
const HELD_MS = 60_000
/** Times that one is looked for which grows while it is read. */
const TRIES = 3

type Held = {
  readonly format: string
  /** Undefined from when something came to it until that is in the state. */
  pass: string | undefined
  usedAt: number
  readonly following: LogFollowing
  readonly told: UnitReading
  /** Given out since they were last asked for; undefined while nobody will. */
  calls: Call[] | undefined
  readonly bill: RunningBill
  /** By path, how many bytes were read. */
  readonly read: Map<string, number>
}

/** Those of this process. */
export const followedUnits = createFollowedUnits()

export function createFollowedUnits(): FollowedUnits {
  /** The one that was asked for last is the last. */
  const held = new Map<string, Held>()
  const refused = createRecentIds()
  const wishes = new Map<string, { readonly home: string; readonly id: number }>()
  const letGo = (name: string): void => {
    held.get(name)?.told.close()
    held.delete(name)
  }
  const use = (name: string, one: Held): void => {
    one.usedAt = Date.now()
    held.delete(name)
    held.set(name, one)
  }
  /** False where all others are in use: they would push out each other with every line. */
  const makeRoom = (): boolean => {
    const [oldest] = held
    if (held.size < MOST_HELD || oldest === undefined) return true
    if (Date.now() - oldest[1].usedAt < HELD_MS) return false
    letGo(oldest[0])
    return true
  }

  return {
    async more(unit) {
      const name = nameOf(unit)
      const one = held.get(name)
      if (one === undefined) return undefined
      const isSame = one.format === unit.format && one.pass === unit.pass
      one.pass = undefined
      const facts = isSame ? await readOnQuietly(one, unit) : undefined
      if (facts === undefined) {
        letGo(name)
        return undefined
      }
      use(name, one)
      const names = safeNames(unit.home)
      const calls = withNames(one.calls ?? [], names)
      one.calls = []
      const bill = one.bill.now(withNames([...one.told.openCalls()], names))
      return { facts: withoutSecrets(facts, unit.home), calls, bill }
    },
    took(unit, pass) {
      const one = held.get(nameOf(unit))
      if (one !== undefined) one.pass = pass
    },
    async prepare(unit, find, signal) {
      const name = nameOf(unit)
      if (held.get(name)?.pass === unit.pass || refused.has(name) || !makeRoom()) return
      letGo(name)
      const one = await begin(unit)
      let facts = one && (await readOnQuietly(one, unit, signal))
      for (let tries = 0; one !== undefined && facts !== undefined && tries < TRIES; tries += 1) {
        const now = await find()
        if (now === undefined || signal?.aborted === true) break
        facts = await readOnQuietly(one, now.unit, signal)
        const after = facts && (await find())
        if (after?.unit.pass !== now.unit.pass) continue
        if (facts === undefined || !now.isKnown(withoutSecrets(facts, unit.home))) break
        one.calls = []
        one.pass = now.unit.pass
        use(name, one)
        return
      }
      one?.told.close()
      // It would be read in vain each time it grows.
      if (signal?.aborted !== true && !one?.following.isSure()) refused.take(name)
    },
    wish({ home, files }, id) {
      if (bytesOf(files) < LONG_BYTES || wishes.size >= MOST_WISHES) return
      wishes.set(`${home}\n${id}`, { home, id })
    },
    nextWish(home) {
      for (const [name, wish] of wishes) {
        if (wish.home !== home) continue
        wishes.delete(name)
        return wish.id
      }
      return undefined
    },
  }
}

const nameOf = (unit: FollowedUnit): string => `${unit.home}\n${placeName({ ...unit, paths: [] })}`

const bytesOf = (files: readonly UnitFile[]): number => files.reduce((sum, { size }) => sum + size, 0)

async function begin(unit: FollowedUnit): Promise<Held | undefined> {
  const { format, pass, files } = unit
  const own = await loadFormat(format)
  if (own.follow === undefined) return undefined
  const names = safeNames(unit.home)
  const bill = createRunningBill()
  const told = createUnitReading((some) => one?.calls?.push(...some), placeName({ ...unit, paths: [] }), {
    isFollowed: true,
    onSettled: (call) => withNames([call], names).forEach((named) => bill.settle(named)),
  })
  const source = keptSource(
    placeOf(unit),
    files.map(({ path }) => path),
  )
  const following = await own.follow(source, { drift: told.drift, isForFacts: true })
  const one: Held | undefined = following && {
    format,
    pass,
    usedAt: Date.now(),
    following,
    told,
    calls: undefined,
    bill,
    read: new Map(),
  }
  return one
}

/** The same of what cannot be read: reading it whole tells why. */
async function readOnQuietly(
  one: Held,
  unit: FollowedUnit,
  signal?: AbortSignal,
): Promise<UnitFacts | undefined> {
  try {
    return await readOn(one, unit, signal)
  } catch (error) {
    if (isHansardError(error) || systemCode(error) !== undefined) return undefined
    throw error
  }
}

/** What is known of all of it, after what came since. Undefined where only reading it whole can tell, or it was to stop. */
async function readOn(one: Held, unit: FollowedUnit, signal?: AbortSignal): Promise<UnitFacts | undefined> {
  const { following, told, read } = one
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
