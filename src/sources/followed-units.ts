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

/** A unit as the state knows it. `reading`: its last whole pass. */
export type FollowedUnit = Omit<UnitPlace, 'paths'> & {
  readonly format: string
  readonly reading: number
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

/** One that is held. */
export type Followed = {
  /** What came since it was last asked for; the first time, all. Undefined where only reading the whole can tell. */
  more(unit: FollowedUnit): Promise<{ readonly added: Added; readonly counted: Counted } | undefined>
  /** All of it is on disk once more while it is held. */
  readonly isOnDisk?: boolean
  close(): Promise<void>
}

export type FollowedUnits = {
  /** Undefined for a unit that is to be read whole. */
  more(unit: FollowedUnit): Promise<Added | undefined>
  /** Reads it once, to go on from there. `isKnown`: whether the last pass over it said the same; undefined when there was another since. */
  prepare(unit: FollowedUnit, isKnown: (counted: Counted) => boolean | undefined): Promise<void>
  /** It was read whole, and may be long: whoever has time prepares it. `id`: the state's. */
  wish(unit: Pick<FollowedUnit, 'home' | 'files'>, id: number): void
  /** The next that was wished for, in this archive. */
  nextWish(home: string): number | undefined
}

/** Below this, reading a log whole takes less time than anybody notices. */
export const LONG_BYTES = 4 * 1024 * 1024
/** Held at a time: some MB each. */
export const MOST_HELD = 6
const MOST_ON_DISK = 2
const MOST_WISHES = 100

type Held = { readonly format: string; readonly reading: number; readonly followed: Followed }

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
  const hold = async (name: string, one: Held): Promise<void> => {
    held.delete(name)
    held.set(name, one)
    const onDisk = [...held].filter(([, { followed }]) => followed.isOnDisk === true)
    for (const [oldest] of onDisk.slice(0, -MOST_ON_DISK)) await letGo(oldest)
    for (const oldest of held.keys()) if (held.size > MOST_HELD) await letGo(oldest)
  }

  return {
    async more(unit) {
      const name = nameOf(unit)
      const one = held.get(name)
      if (one === undefined) return undefined
      const isSame = one.format === unit.format && one.reading === unit.reading
      const more = isSame ? await one.followed.more(unit).catch(() => undefined) : undefined
      await (more === undefined ? letGo(name) : hold(name, one))
      return more?.added
    },
    async prepare(unit, isKnown) {
      const name = nameOf(unit)
      if (held.get(name)?.reading === unit.reading || refused.has(name)) return
      await letGo(name)
      const followed = await begin(unit)
      const all = await followed?.more(unit).catch(() => undefined)
      const isSame = all && isKnown(all.counted)
      if (followed !== undefined && isSame === true) {
        const { format, reading } = unit
        return hold(name, { format, reading, followed })
      }
      await followed?.close()
      // It would be read in vain each time it grows.
      if (isSame === false) refused.take(name)
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

async function begin(unit: FollowedUnit): Promise<Followed | undefined> {
  return (await followDatabase(unit)) ?? (await followLog(unit))
}
