/**
 * What is told of a unit by whoever reads it, and all that the state is made of: its sessions' facts, their provider calls, and what it
 * says of sessions that lie elsewhere. Nothing but values: they go from thread to thread.
 */
import type { Drift } from '../formats/format.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Session } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import { lengthOfFacts } from './held-facts.ts'
import type { SessionWork, ToolCounts } from './work.ts'

/** A provider call as a session mentions it. `pico`: US dollars × 10⁻¹², absent with the model in `unpriced`. */
export type Call = {
  /** The session's key. */
  readonly session: string
  readonly key?: string
  readonly provider?: string
  readonly model?: string
  readonly at?: string
  readonly usage: Usage
  readonly pico?: bigint
  readonly unpriced?: string
  /** Who made it: `primary`, or `subagent:<id>`. */
  readonly source?: string
  /** The tools that it calls, each once. */
  readonly tools?: readonly string[]
  /** What each of them did, in the same order. */
  readonly work?: readonly ToolCounts[]
}

export type SessionFacts = {
  /** What its recordings share: see `keyOf`. */
  readonly key: string
  /** Without what only a writer of its format needs. `totals` count entries and tool calls; usage is in the calls. */
  readonly session: Session
  readonly entries: number
  readonly toolCalls: number
  /** How it began: the first thing a person said, cut short. What a session without a title is known by. */
  readonly prompt?: string
  readonly work: SessionWork
}

/** What is said of a session that lies elsewhere. `session`: its key. */
export type Mention = { readonly session: string } & Pick<Session, 'title' | 'parent'>

/** Some of what a unit says, when there is much of it. */
export type FactsPart = { readonly sessions: readonly SessionFacts[]; readonly mentions: readonly Mention[] }

export type CountedDrift = Drift & { readonly count: number }

export type UnitFacts = FactsPart & {
  readonly damage: number
  readonly drift: readonly CountedDrift[]
}

/**
 * The same for every recording of a conversation that its agent has a name for. What has none goes by where it was found: run ids
 * and threads of two projects may be the same. `unit` is undefined for what was recorded here, whose ids are our own.
 */
export function keyOf({ id, native }: Session, unit: string | undefined): string {
  if (native !== undefined) return uuidFrom(native.agent, native.sessionId)
  return unit === undefined ? id : uuidFrom(unit, id)
}

/** Nothing was recorded of it but what it is called: an index of sessions says no more. */
export function isNamedOnly({ entries, session }: SessionFacts): boolean {
  const { native, title, startedAt } = session
  return entries === 0 && native !== undefined && title !== undefined && startedAt === undefined
}

/** About as long as what may be long of it. */
export function lengthOf({ session, work }: SessionFacts): number {
  let length = lengthOfFacts(session)
  for (const path of Object.keys(work.files)) length += path.length
  return length
}

/** Tools that a call names, which take as much memory as another call. */
const TOOLS_OF_CALL = 10

/** As many calls with few tools take as much memory. */
export function weightOfCall({ tools }: Call): number {
  return tools === undefined || tools.length < TOOLS_OF_CALL ? 1 : tools.length / TOOLS_OF_CALL
}
