/**
 * Long logs and databases of a process that follows them, read on where they ended: what a reading holds of each stays, of a few at a
 * time. What is said of one in all is what reading it whole would say; where that is not sure, nothing is said, and it is to be read whole.
 */
import { createRecentIds } from '../formats/id-set.ts'
import { followDatabase } from './followed-database.ts'
import { followLog } from './followed-log.ts'
import type { Call, SessionFacts, UnitFacts } from './session-facts.ts'
import type { OwnBill } from './state-own-bill.ts'
import type { UnitFile } from './state-files.ts'
import { placeName, type UnitPlace } from './unit-place.ts'

/** A unit as the state knows it. `pass`: see `passOf`. */
export type FollowedUnit = Omit<UnitPlace, 'paths'> & {
  readonly format: string
  readonly pass: string
  readonly files: readonly UnitFile[]
}

/**
 * What has come to a unit. `facts`: of all of it. `calls`: those that are new, or are told of otherwise than before. `bill`: what all of its
 * calls come to, where that is known without asking for them. `isAnew`: the sessions are those that were read anew, with all their calls,
 * and others are as they were; all else that is said is of the whole.
 */
export type Added = {
  readonly facts: UnitFacts
  readonly calls: readonly Call[]
  readonly bill: OwnBill | undefined
  readonly isAnew?: boolean
}

/** How much there is in all: what a reading of the whole would count, too. */
export type Counted = {
  readonly sessions: readonly Pick<SessionFacts, 'key' | 'entries'>[]
  readonly damage: number
}

export type ReadMore = { readonly added: Added; readonly counted: Counted }

/** One that is held. */
export type Followed = {
  /** What came since it was last asked for; the first time, all. Undefined where only reading the whole can tell, or it was to stop. */
  more(unit: FollowedUnit, signal?: AbortSignal): Promise<ReadMore | undefined>
  /** All of it is on disk once more while it is held. */
  readonly isOnDisk?: boolean
  /** False once reading it on has shown that it cannot be. */
  isSure(): boolean
  close(): Promise<void>
}

export type FindUnit = () => Promise<
  { readonly unit: FollowedUnit; readonly isKnown: (counted: Counted) => boolean } | undefined
>

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

/** Below this, reading a log whole takes less time than anybody notices. */
export const LONG_BYTES = 4 * 1024 * 1024
/** Held at a time: some MB each. */
export const MOST_HELD = 6
/** Of those, the ones that are on disk once more. */
const MOST_ON_DISK = 2
const MOST_WISHES = 100
/** One that was asked for since so long ago makes room for no other. */
const HELD_MS = 60_000
/** Times that one is looked for which grows while it is read. */
const TRIES = 3

type Held = {
  readonly format: string
  /** Undefined from when something came to it until that is in the state. */
  pass: string | undefined
  usedAt: number
  readonly followed: Followed
}

/** Those of this process. */
export const followedUnits = createFollowedUnits()

export function createFollowedUnits(): FollowedUnits {
  /** The one that was asked for last is the last. */
  const held = new Map<string, Held>()
  const refused = createRecentIds()
  const wishes = new Map<string, { readonly home: string; readonly id: number }>()
  const letGo = async (name: string): Promise<void> => {
    const one = held.get(name)
    held.delete(name)
    await one?.followed.close()
  }
  const use = (name: string, one: Held): void => {
    one.usedAt = Date.now()
    held.delete(name)
    held.set(name, one)
  }
  const letGoOnDisk = async (): Promise<void> => {
    const onDisk = [...held].filter(([, { followed }]) => followed.isOnDisk === true)
    for (const [oldest] of onDisk.slice(0, -MOST_ON_DISK)) await letGo(oldest)
  }
  /** False where all others are in use: they would push out each other with every line. */
  const makeRoom = async (): Promise<boolean> => {
    const [oldest] = held
    if (held.size < MOST_HELD || oldest === undefined) return true
    if (Date.now() - oldest[1].usedAt < HELD_MS) return false
    await letGo(oldest[0])
    return true
  }

  return {
    async more(unit) {
      const name = nameOf(unit)
      const one = held.get(name)
      if (one === undefined) return undefined
      const isSame = one.format === unit.format && one.pass === unit.pass
      one.pass = undefined
      const more = isSame ? await one.followed.more(unit) : undefined
      if (more === undefined) await letGo(name)
      else use(name, one)
      return more?.added
    },
    took(unit, pass) {
      const one = held.get(nameOf(unit))
      if (one !== undefined) one.pass = pass
    },
    async prepare(unit, find, signal) {
      const name = nameOf(unit)
      if (held.get(name)?.pass === unit.pass || refused.has(name) || !(await makeRoom())) return
      await letGo(name)
      const followed = (await followDatabase(unit)) ?? (await followLog(unit))
      const pass = followed && (await catchUp(followed, unit, find, signal))
      if (followed !== undefined && pass !== undefined) {
        use(name, { format: unit.format, pass, usedAt: 0, followed })
        await letGoOnDisk()
        return
      }
      await followed?.close()
      // It would be read in vain each time it grows.
      if (signal?.aborted !== true && followed?.isSure() !== true) refused.take(name)
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

/** Of a database what was kept of it may be more than its file: what is new stands in its log first. */
const bytesOf = (files: readonly UnitFile[]): number =>
  files.reduce((sum, { size, bytes = 0 }) => sum + Math.max(size, bytes), 0)

/** The pass by which all that was read of it is known; undefined where it says something else, or cannot be had. */
async function catchUp(
  followed: Followed,
  unit: FollowedUnit,
  find: FindUnit,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let all = await followed.more(unit, signal)
  for (let tries = 0; all !== undefined && tries < TRIES; tries += 1) {
    const now = await find()
    if (now === undefined || signal?.aborted === true) return undefined
    all = await followed.more(now.unit, signal)
    if (all === undefined) return undefined
    // It may have been read meanwhile, by somebody else.
    if ((await find())?.unit.pass !== now.unit.pass) continue
    return now.isKnown(all.counted) ? now.unit.pass : undefined
  }
  return undefined
}
