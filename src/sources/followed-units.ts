/**
 * Long logs of a process that follows them, read on where they ended: what a reading holds of each stays in memory, of a few at a time.
 * What is said of one in all is what reading it whole would say; where that is not sure, nothing is said, and it has to be read whole.
 */
import { createRecentIds } from '../formats/id-set.ts'
import { beginReadingOn, readOn, type FollowedUnit, type ReadOn } from './read-on.ts'
import type { Call, UnitFacts } from './session-facts.ts'
import type { OwnBill } from './state-own-bill.ts'
import type { UnitFile } from './state-files.ts'
import { placeName } from './unit-place.ts'
import { safeNames, withNames, withoutSecrets } from './unit-secrets.ts'

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
/** ReadOn at a time: some MB each. */
export const MOST_HELD = 6
const MOST_WISHES = 100
/** One that was asked for since so long ago makes room for no other. */
const HELD_MS = 60_000
/** Times that one is looked for which grows while it is read. */
const TRIES = 3

/** Those of this process. */
export const followedUnits = createFollowedUnits()

export function createFollowedUnits(): FollowedUnits {
  /** The one that was asked for last is the last. */
  const held = new Map<string, ReadOn>()
  const refused = createRecentIds()
  const wishes = new Map<string, { readonly home: string; readonly id: number }>()
  const letGo = (name: string): void => {
    held.get(name)?.told.close()
    held.delete(name)
  }
  const use = (name: string, one: ReadOn): void => {
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
      const facts = isSame ? await readOn(one, unit) : undefined
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
      const one = await beginReadingOn(unit)
      const pass = one && (await catchUp(one, unit, find, signal))
      if (one !== undefined && pass !== undefined) {
        one.calls = []
        one.pass = pass
        use(name, one)
        return
      }
      one?.told.close()
      // It would be read in vain each time it grows.
      if (signal?.aborted !== true && one?.following.isSure() !== true) refused.take(name)
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

/** The pass by which all that was read of it is known; undefined where it says something else, or cannot be had. */
async function catchUp(
  one: ReadOn,
  unit: FollowedUnit,
  find: FindUnit,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let facts = await readOn(one, unit, signal)
  for (let tries = 0; facts !== undefined && tries < TRIES; tries += 1) {
    const now = await find()
    if (now === undefined || signal?.aborted === true) return undefined
    facts = await readOn(one, now.unit, signal)
    if (facts === undefined) return undefined
    // It may have been read meanwhile, by somebody else.
    if ((await find())?.unit.pass !== now.unit.pass) continue
    return now.isKnown(withoutSecrets(facts, unit.home)) ? now.unit.pass : undefined
  }
  return undefined
}
