/**
 * What the list needs of a unit's sessions, counted while it is read: nothing is held but the sessions' facts and the calls that
 * still wait for a later report. Calls are given out in batches, for a unit may have any number of them.
 */
import type { Drift, ReadItem } from '../formats/format.ts'
import { createIdSet, createRecentIds } from '../formats/id-set.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold } from '../transcript/totals.ts'
import { createCallBatches } from './call-batches.ts'
import { createDriftCounts } from './drift-counts.ts'
import { heldRaw, heldSession } from './held-facts.ts'
import { isStowed, openCalls, toldBy, toldNow, weightOf, type OpenSession } from './open-session.ts'
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
import { createSpawnFold } from './spawns.ts'
import { createStowing, type Stowed, type Stowing } from './stowing.ts'
import { toCall } from './unit-call.ts'
import { createUnitSessions } from './unit-sessions.ts'
import { createWorkFold } from './work.ts'

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
  /**
   * What `end` would say now, while more may come: the calls that were told of since this was last asked are given out before. Undefined
   * where only the end can tell: a unit of several sessions, or of none. `isInTurns`: its files come some lines at a time.
   */
  now(isInTurns?: boolean): UnitFacts | undefined
  /** Calls that may be told of again, as they are now. */
  openCalls(): Iterable<Call>
  /** Lets go of what is on disk, whether it came to its end or not. */
  close(): void
}

/** Calls of one session that may still be reported again: as many as the archive's own totals wait for. */
export const OPEN_CALLS = 10_000
/** Entries of sessions that others came after, of which calls may still be open: beyond that, the oldest are put away. */
const IDLE_ENTRIES = 20_000
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

/** Held until there is another: what was compiled of its functions goes with the last of them. */
let latest: UnitReading | undefined

export type UnitReadingOptions = {
  readonly mostSessions?: number
  /** `now` will be asked. */
  readonly isFollowed?: boolean
  /** Told of calls that no more is expected of, as they are given out. */
  readonly onSettled?: (call: Call) => void
}

/** `unit`: see `keyOf`. */
export function createUnitReading(
  onCalls: (calls: readonly Call[]) => void,
  unit: string | undefined,
  options: UnitReadingOptions = {},
): UnitReading {
  latest = createReading(onCalls, unit, options)
  return latest
}

function createReading(
  onCalls: (calls: readonly Call[]) => void,
  unit: string | undefined,
  { mostSessions = MOST_SESSIONS, isFollowed = false, onSettled }: UnitReadingOptions,
): UnitReading {
  let made: Stowing | undefined
  const stowing = (): Stowing => (made ??= createStowing())
  const sessions = createUnitSessions<OpenSession>((stowed) => stowing().take(stowed).facts.session.id)
  const keys = createIdSet()
  const refused = createRecentIds()
  const drift = createDriftCounts()
  /** Sessions that are not told of now and may go on, the oldest first. */
  const idle = new Set<OpenSession>()
  let idleEntries = 0
  let current: OpenSession | undefined
  let damage = 0
  const { give, flush } = createCallBatches(onCalls)
  const settle = (open: OpenSession, call: Call): void => {
    onSettled?.(call)
    if (open.waiting === undefined) return give(call)
    open.waiting.push(call)
    open.waitingWeight += weightOfCall(call)
    if (open.waitingWeight >= MOST_WAITING) giveAll(open)
  }
  const giveAll = (open: OpenSession): void => {
    for (const call of open.waiting ?? []) give({ ...call, session: open.key })
    open.waiting = undefined
  }
  /** A database may hold any number of sessions, each with calls that nothing more will be said of. */
  const turnTo = (next: OpenSession | undefined): void => {
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
  const opened = (session: Session): OpenSession | undefined => {
    const known = sessions.get(session.id)
    return known === undefined || isStowed(known) ? open(session, known) : known
  }
  const open = (session: Session, before: Stowed | undefined): OpenSession | undefined => {
    if (before === undefined && sessions.size() >= mostSessions) return undefined
    const work = createWorkFold(isFollowed)
    const told = before === undefined ? undefined : stowing().take(before).facts
    const prompt = told?.prompt
    const opened: OpenSession = {
      id: session.id,
      session,
      model: session.model,
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
        isFollowed,
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
          current.fold.add(entry, current.model)
        } else if (item.type === 'damage') damage += 1
        else {
          turnTo(opened(item.session))
          if (current === undefined) {
            // Of one session too many, nothing is told but that it is missing: once, though it is named again at its end.
            if (refused.take(item.session.id)) damage += 1
            continue
          }
          current.session = heldSession(item.session)
          if (!isFollowed) current.model = current.session.model
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
    now(isInTurns = false) {
      const isOne = current !== undefined && sessions.size() === 1
      const told = isOne ? toldNow(current as OpenSession, give, isInTurns) : undefined
      flush()
      if (told === undefined || isNamedOnly(told.facts)) return undefined
      return { sessions: [told.facts], mentions: told.started, damage, drift: drift.all() }
    },
    openCalls: () => (current === undefined ? [] : openCalls(current)),
    close: () => made?.close(),
  }
}
