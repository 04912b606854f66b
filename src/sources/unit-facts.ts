/**
 * What the list needs of a unit's sessions, counted while it is read: nothing is held but the sessions' facts and the calls that
 * still wait for a later report. Calls are given out in batches, for a unit may have any number of them.
 */
import type { Drift, ReadItem } from '../formats/format.ts'
import { createIdSet, createRecentIds } from '../formats/id-set.ts'
import { citation } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold, type CallFold } from '../transcript/totals.ts'
import { createCallBatches } from './call-batches.ts'
import { createDriftCounts } from './drift-counts.ts'
import { heldRaw, heldSession, lengthOfFacts } from './held-facts.ts'
import { isBareCommand, promptOf } from './prompt-of.ts'
import {
  isNamedOnly,
  keyOf,
  lengthOf,
  weightOfCall,
  type Call,
  type FactsPart,
  type Mention,
  type SessionFacts,
  type UnitFacts,
} from './session-facts.ts'
import { createSpawnFold, type SpawnFold } from './spawns.ts'
import { addTold, type Told } from './stowed-facts.ts'
import { createStowing, type Stowed, type Stowing } from './stowing.ts'
import { toCall } from './unit-call.ts'
import { createUnitSessions } from './unit-sessions.ts'
import { createWorkFold, type WorkFold } from './work.ts'

export type UnitReading = {
  /** For the reader: `ReadOptions.drift`. */
  readonly drift: (drift: Drift) => void
  add(items: readonly ReadItem[]): void
  /**
   * When all was added: the facts of some sessions, while there are more than one part of them, each after its calls, and what is said
   * of others. What is left is in `end`.
   */
  part(): FactsPart | undefined
  end(): UnitFacts
  /** Lets go of what is on disk, whether it came to its end or not. */
  close(): void
}

/** Calls of one session that may still be reported again: as many as the archive's own totals wait for. */
export const OPEN_CALLS = 10_000
/** Entries of sessions that others came after, of which calls may still be open: beyond that, the oldest are put away. */
const IDLE_ENTRIES = 20_000
/** A session by itself takes as much memory as so many entries. */
const ENTRIES_OF_SESSION = 20
/** And as many characters of its facts as another. */
const CHARACTERS_OF_ENTRY = 100
/**
 * Calls of a recorded session whose agent has not said its name for it yet. One that says it later than this goes by our own id
 * for good.
 */
const MOST_WAITING = 20_000
/** A part of the sessions' facts, which are handed from thread to thread and written at a time: so many, or about so many characters. */
const PART_SESSIONS = 200
const PART_LENGTH = 512 * 1024
/** The same of what is said of sessions that lie elsewhere. */
const PART_MENTIONS = 2000
/** A hostile file may have any number of sessions. Some twenty bytes are held of each. */
const MOST_SESSIONS = 1_000_000

type Open = {
  /** What it was opened by: of a long one, what is held of the session has but the beginning. */
  readonly id: string
  session: Session
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

/** Held until there is another: what was compiled of its functions goes with the last of them. */
let latest: UnitReading | undefined

/** `unit`: see `keyOf`. */
export function createUnitReading(
  onCalls: (calls: readonly Call[]) => void,
  unit: string | undefined,
  mostSessions: number = MOST_SESSIONS,
): UnitReading {
  latest = createReading(onCalls, unit, mostSessions)
  return latest
}

function createReading(
  onCalls: (calls: readonly Call[]) => void,
  unit: string | undefined,
  mostSessions: number,
): UnitReading {
  let made: Stowing | undefined
  const stowing = (): Stowing => (made ??= createStowing())
  const sessions = createUnitSessions<Open>((stowed) => stowing().take(stowed).facts.session.id)
  const keys = createIdSet()
  const refused = createRecentIds()
  const drift = createDriftCounts()
  /** Sessions that are not told of now and may go on, the oldest first. */
  const idle = new Set<Open>()
  let idleEntries = 0
  let current: Open | undefined
  let damage = 0
  const { give, flush } = createCallBatches(onCalls)
  const settle = (open: Open, call: Call): void => {
    if (open.waiting === undefined) return give(call)
    open.waiting.push(call)
    open.waitingWeight += weightOfCall(call)
    if (open.waitingWeight >= MOST_WAITING) giveAll(open)
  }
  const giveAll = (open: Open): void => {
    for (const call of open.waiting ?? []) give({ ...call, session: open.key })
    open.waiting = undefined
  }
  /** A database may hold any number of sessions, each with calls that nothing more will be said of. */
  const turnTo = (next: Open | undefined): void => {
    if (next === current) return
    // One that waits for its name is not put away: it may be the only one, and is not known by what it will be called.
    if (current !== undefined && current.waiting === undefined) {
      idle.add(current)
      idleEntries += weightOf(current)
    }
    if (next !== undefined && idle.delete(next)) idleEntries -= weightOf(next)
    current = next
    for (const oldest of idle) {
      if (idleEntries <= IDLE_ENTRIES) break
      idle.delete(oldest)
      idleEntries -= weightOf(oldest)
      sessions.stow(oldest.id, stowing().put(toldBy(oldest, stowing, giveAll), oldest.before))
    }
  }
  /** Two recordings of one conversation in one unit: the second goes by its own id, as its format means it to. */
  const newKey = (session: Session): string => {
    const shared = keyOf(session, unit)
    const key = keys.has(shared) ? session.id : shared
    keys.add(key)
    return key
  }
  const opened = (session: Session): Open | undefined => {
    const known = sessions.get(session.id)
    return known === undefined || isStowed(known) ? open(session, known) : known
  }
  const open = (session: Session, before: Stowed | undefined): Open | undefined => {
    if (before === undefined && sessions.size() >= mostSessions) return undefined
    const work = createWorkFold()
    const told = before === undefined ? undefined : stowing().take(before).facts
    const prompt = told?.prompt
    const opened: Open = {
      id: session.id,
      session,
      key: told?.key ?? newKey(session),
      ...(before !== undefined && { before, ...(prompt !== undefined && { prompt }) }),
      // What is recorded here begins before its agent may have said anything.
      ...(before === undefined && unit === undefined && session.native === undefined && { waiting: [] }),
      stub: session.stub === true,
      isAsking: prompt === undefined || isBareCommand(prompt),
      weight: 0,
      waitingWeight: 0,
      work,
      spawned: createSpawnFold(),
      fold: createCallFold({
        window: OPEN_CALLS,
        isNotSummed: true,
        toHeld: heldRaw,
        settle: (call) =>
          settle(opened, toCall(opened.key, call, opened.stub, work.take(call.key, call.tools))),
      }),
    }
    sessions.open(session.id, opened)
    return opened
  }

  /** The last part, which `end` gives. */
  let last: FactsPart | undefined
  const takePart = (): FactsPart => {
    const recorded: SessionFacts[] = []
    const mentions: Mention[] = []
    let length = 0
    idle.clear()
    for (let one = sessions.take(); one !== undefined; one = sessions.take()) {
      const { facts, started: others } = isStowed(one) ? stowing().take(one) : toldBy(one, stowing, giveAll)
      const { key, session } = facts
      if (!isNamedOnly(facts)) recorded.push(facts)
      else mentions.push({ session: key, ...(session.title !== undefined && { title: session.title }) })
      for (const other of others) mentions.push(other)
      length += lengthOf(facts)
      if (recorded.length >= PART_SESSIONS || mentions.length >= PART_MENTIONS || length >= PART_LENGTH) break
    }
    flush()
    return { sessions: recorded, mentions }
  }

  return {
    drift: drift.add,
    add(items) {
      for (const item of items) {
        if (item.type === 'entry') {
          const { entry } = item
          if (current === undefined) continue
          if (current.isAsking) {
            const prompt = promptOf(entry)
            if (prompt !== undefined) {
              current.prompt = prompt
              current.isAsking = isBareCommand(prompt)
            }
          }
          current.weight += entry.blocks.length > 1 ? entry.blocks.length : 1
          current.work.add(entry)
          current.spawned.observe(entry)
          current.fold.add(entry, current.session.model)
        } else if (item.type === 'damage') damage += 1
        else {
          turnTo(opened(item.session))
          if (current === undefined) {
            // Of one session too many, nothing is told but that it is missing: once, though it is named again at its end.
            if (refused.take(item.session.id)) damage += 1
            continue
          }
          current.session = heldSession(item.session)
          if (current.waiting !== undefined && item.session.native !== undefined) {
            current.key = newKey(item.session)
            giveAll(current)
          }
          current.stub = item.session.stub === true
        }
      }
    },
    part() {
      if (last !== undefined) return undefined
      const part = takePart()
      if (sessions.size() > 0) return part
      last = part
      return undefined
    },
    end() {
      const recorded = [...(last?.sessions ?? [])]
      const mentions = [...(last?.mentions ?? [])]
      while (sessions.size() > 0) {
        const part = takePart()
        for (const facts of part.sessions) recorded.push(facts)
        for (const mention of part.mentions) mentions.push(mention)
      }
      last = undefined
      return { sessions: recorded, mentions, damage, drift: drift.all() }
    },
    close: () => made?.close(),
  }
}

function isStowed(one: Open | Stowed): one is Stowed {
  return typeof one !== 'object'
}

function weightOf({ weight, spawned, session }: Open): number {
  const ofFacts = Math.floor(lengthOfFacts(session) / CHARACTERS_OF_ENTRY)
  return weight + spawned.spawns.size + ENTRIES_OF_SESSION + ofFacts
}

function toldBy(one: Open, stowing: () => Stowing, giveAll: (one: Open) => void): Told {
  const told = { facts: factsOf(one, giveAll), started: startedBy(one) }
  return one.before === undefined ? told : addTold(stowing().take(one.before), told)
}

function factsOf(one: Open, giveAll: (one: Open) => void): SessionFacts {
  const { session, key, fold, work, prompt } = one
  const { entries, toolCalls, models } = fold.totals()
  giveAll(one)
  const totals = { entries, toolCalls, calls: 0, ...(models && { models }) }
  return {
    key,
    session: { ...session, totals },
    entries,
    toolCalls,
    ...(prompt && { prompt }),
    // After the totals: what calls were not settled until then have taken theirs.
    work: work.end(),
  }
}

function startedBy({ key, spawned }: Open): readonly Mention[] {
  return [...spawned.spawns].map(([session, at]) => ({
    session,
    parent: { session: key, citation: citation(key, at), relation: 'subagent' },
  }))
}
