/** A session while its unit is read: what is counted of it, and the facts that this comes to at its end, or now. */
import { citation } from '../transcript/entry.ts'
import type { Session, Totals } from '../transcript/session.ts'
import type { CallFold } from '../transcript/totals.ts'
import { lengthOfFacts } from './held-facts.ts'
import type { Call, Mention, SessionFacts } from './session-facts.ts'
import type { SpawnFold } from './spawns.ts'
import { addTold, type Told } from './stowed-facts.ts'
import type { Stowed, Stowing } from './stowing.ts'
import { toCall } from './unit-call.ts'
import type { SessionWork, WorkFold } from './work.ts'

export type OpenSession = {
  /** What it was opened by: of a long one, what is held of the session has but the beginning. */
  readonly id: string
  session: Session
  /** Of entries that name none: what it was opened with, or, once it is over, all that was said of it. */
  model: string | undefined
  key: string
  /** Calls that wait for the session's name; undefined once they need no longer. */
  waiting?: Call[] | undefined
  waitingWeight: number
  readonly fold: CallFold
  readonly work: WorkFold
  readonly spawned: SpawnFold
  stub: boolean
  prompt?: string
  /** No prompt was found yet that says what the session is about. */
  isAsking: boolean
  /** Blocks of entries since it was opened, and what they started: what is held grows with them. */
  weight: number
  /** What was told of it before others came. */
  readonly before?: Stowed
}

/** A session by itself takes as much memory as so many entries. */
const ENTRIES_OF_SESSION = 20
/** And as many characters of its facts as another. */
const CHARACTERS_OF_ENTRY = 100

export function isStowed(one: OpenSession | Stowed): one is Stowed {
  return typeof one !== 'object'
}

export function weightOf({ weight, spawned, session }: OpenSession): number {
  const ofFacts = Math.floor(lengthOfFacts(session) / CHARACTERS_OF_ENTRY)
  return weight + spawned.spawns.size + ENTRIES_OF_SESSION + ofFacts
}

/** When no more comes, or others do. `giveAll`: gives out the calls that wait. */
export function toldBy(one: OpenSession, stowing: () => Stowing, giveAll: (one: OpenSession) => void): Told {
  const { fold, work } = one
  const counted = fold.totals()
  giveAll(one)
  // After the totals: what calls were not settled until then have taken theirs.
  const told = { facts: factsOf(one, counted, work.end()), started: startedBy(one) }
  return one.before === undefined ? told : addTold(stowing().take(one.before), told)
}

/** Its calls that may be told of again, as they are now. */
export function* openCalls({ key, stub, fold, work }: OpenSession): Generator<Call> {
  for (const call of fold.allOpen()) yield toCall(key, call, stub, work.look(call.key, call.tools))
}

/**
 * The same while more may come, and `give` gets the calls that were told of since this was last asked: as they are now, for each may be
 * told of again. Undefined where only the end can tell; `isInTurns`: its files are read in another order than at once, and what hangs on
 * that is not told either.
 */
export function toldNow(one: OpenSession, give: (call: Call) => void, isInTurns: boolean): Told | undefined {
  const { key, stub, fold, work } = one
  const reported = fold.reported()
  const changed = work.changed()
  if (reported === undefined || one.waiting !== undefined || one.before !== undefined) return undefined
  if (isInTurns && (fold.isFull() || work.isFull())) return undefined
  for (const name of new Set([...reported, ...changed])) {
    const call = fold.open(name)
    if (call !== undefined) give(toCall(key, call, stub, work.look(call.key, call.tools)))
  }
  const did = work.now((call) => fold.open(call)?.tools)
  return { facts: factsOf(one, fold.now(), did), started: startedBy(one) }
}

function factsOf(
  { session, key, prompt }: OpenSession,
  { entries, toolCalls, models }: Pick<Totals, 'entries' | 'toolCalls' | 'models'>,
  work: SessionWork,
): SessionFacts {
  const totals = { entries, toolCalls, calls: 0, ...(models && { models }) }
  return { key, session: { ...session, totals }, entries, toolCalls, ...(prompt && { prompt }), work }
}

function startedBy({ key, spawned }: OpenSession): readonly Mention[] {
  return [...spawned.spawns].map(([session, at]) => ({
    session,
    parent: { session: key, citation: citation(key, at), relation: 'subagent' },
  }))
}
