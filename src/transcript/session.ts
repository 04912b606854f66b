import type { Apart } from './block.ts'
import type { JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export const STATUSES = ['running', 'completed', 'failed', 'canceled', 'interrupted'] as const
export type Status = (typeof STATUSES)[number]

/** One recorded conversation, of a main agent and its subagents. */
export type Session = {
  readonly id: string
  /** The conversation's name in the agent that had it: the same wherever it was seen. */
  readonly native?: { readonly agent: string; readonly sessionId: string }
  /** What the seeds' formats call this session, by format id: a devflow run id, an Entire session id. */
  readonly names?: { readonly [format: string]: string }
  readonly recordings?: readonly Recording[]
  readonly title?: string
  readonly agent?: string
  readonly model?: string
  readonly run?: Run
  readonly thread?: string
  readonly chat?: string
  readonly mode?: string
  readonly cwd?: string
  readonly git?: { readonly branch?: string; readonly commit?: string; readonly remote?: string }
  /** The version of the agent's program. */
  readonly version?: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly status: Status
  readonly error?: string
  readonly stopReason?: string
  readonly input?: JsonObject
  readonly parent?: Parent
  /** Written by an engine in stub mode: nothing was asked of a provider, so it has no part in cost. */
  readonly stub?: boolean
  readonly tags?: { readonly [key: string]: string }
  readonly totals?: Totals
  /** What the source states about the whole, shown beside what we compute and never added to it. */
  readonly reportedUsage?: Usage
  /** US dollars as a decimal string: `"0.12"`. */
  readonly reportedCost?: string
  /** What the format says beyond this model, by format id, so that a writer of that format can put it back. */
  readonly metadata?: JsonObject
  readonly apart?: Apart
}

/** The session and entry that this one comes from. */
export type Parent = {
  readonly session: string
  /** The call that started it, or the entry that it was forked at, where that is known. */
  readonly citation?: string
  readonly relation?: Relation
}

/**
 * `subagent`: the parent started it, for work of its own. `fork`: a person took another way from the parent's history on. `resume`: it
 * goes on with the parent's conversation under another name. Absent where the source does not say which.
 */
export const RELATIONS = ['subagent', 'fork', 'resume'] as const
export type Relation = (typeof RELATIONS)[number]

export type Run = {
  readonly id?: string
  readonly flow?: string
  readonly step?: string
  readonly node?: string
  readonly agentKey?: string
  readonly engine?: string
}

/** One capture of the session: by proxy, wrapper, API, or an agent's own log. */
export type Recording = { readonly by: string; readonly startedAt?: string; readonly file?: string }

export type Totals = {
  readonly entries: number
  readonly toolCalls: number
  /** Provider calls whose counts are known, each counted once. */
  readonly calls: number
  /** Answers whose calls nobody counted; absent for none. With any, `usage` is a lower bound. */
  readonly uncounted?: number
  /** Every model an entry names, in the order they came. */
  readonly models?: readonly string[]
  /** Absent when no entry states any. */
  readonly usage?: Usage
  readonly cost?: Cost
}

/** `usd` is null when nothing could be priced; `unpriced` names the models that could not be. */
export type Cost = { readonly usd: string | null; readonly unpriced: readonly string[] }
