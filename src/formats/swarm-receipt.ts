/**
 * Receipts: what one execution of a step used and how it ended. Written with the seed's fields in the seed's order; fields
 * that another writer added, and values that still say the same, stay as they were.
 */
import { millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asCount,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Run, Session, Status } from '../transcript/session.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import type { StepNames } from './swarm-names.ts'
import { hasTokens } from './swarm-stub.ts'

export type ReceiptFacts = {
  readonly names: StepNames
  readonly model: string
  readonly startedAt: string
  readonly completedAt: string
  readonly status: Status
  readonly error: string | undefined
  /** Undefined when nobody counted: the seed requires numbers, so zeros are written. */
  readonly usage: Usage | undefined
  readonly transcriptPath: string
}

/** Two-space JSON. `stated`: the receipt this session was read with, where there was one. */
export function toReceipt(facts: ReceiptFacts, stated: JsonObject = {}): string {
  const { names } = facts
  const engine = asString(stated['engine'])
  const startedAt = toMicros(facts.startedAt)
  const completedAt = toMicros(facts.completedAt)
  const isSameTime =
    parseInstant(stated['started_at']) === parseInstant(startedAt) &&
    parseInstant(stated['completed_at']) === parseInstant(completedAt)
  const duration = isSameTime ? asCount(stated['duration_ms']) : undefined
  const own = new Map<string, Json>(
    Object.entries({
      engine: engine !== undefined && toEngine(engine) === names.engine ? engine : `${names.engine}-step`,
      model: facts.model,
      step_id: names.step,
      flow_key: names.flow,
      run_id: names.run,
      agent_key: names.agentKey,
      started_at: startedAt,
      completed_at: completedAt,
      duration_ms: duration ?? Math.max(0, millisBetween(startedAt, completedAt) ?? 0),
      status: toReceiptStatus(facts.status, stated['status']),
      tokens: toTokens(facts.usage, asObject(stated['tokens'])),
      transcript_path: facts.transcriptPath,
      ...(facts.error !== undefined && { error: facts.error }),
    }),
  )
  // Without a prototype, a foreign key is only ever a key. Stated keys first: they keep their places.
  const receipt = Object.create(null) as Record<string, Json>
  for (const key of Object.keys(stated)) receipt[key] = stated[key] as Json
  for (const [key, value] of own) receipt[key] = value
  return `${toJson(receipt, 2)}\n`
}

/** What a receipt says, in the session's words. Nothing is made up for what it does not say. */
export function fromReceipt(raw: JsonObject): Omit<Session, 'id'> {
  const model = asString(raw['model'])
  const startedAt = parseInstant(raw['started_at'])
  const endedAt = parseInstant(raw['completed_at'])
  const error = asString(raw['error'])
  const usage = fromTokens(raw)
  return {
    run: runOf(raw),
    ...(model !== undefined && model !== UNKNOWN_MODEL && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    status: fromStatus(raw['status']),
    ...(error !== undefined && { error }),
    ...(usage && { reportedUsage: usage }),
  }
}

/** True for an object that can only be a receipt. */
export function isReceipt(value: Json | undefined): value is JsonObject {
  return isObject(value) && ['step_id', 'flow_key', 'run_id', 'tokens'].every((key) => key in value)
}

/** The record tag of a receipt among its session's entries: it is the last of them. */
export const RECEIPT = 'receipt'

/** What a receipt calls a model that nobody named. */
export const UNKNOWN_MODEL = 'unknown'

/** `claude-step` is the engine `claude` of file names. */
export function toEngine(engine: string): string {
  return engine.endsWith('-step') ? engine.slice(0, -'-step'.length) : engine
}

/** Microseconds and `Z`, as the seed writes every time. Nanoseconds are cut off. */
export function toMicros(instant: string): string {
  return `${instant.slice(0, 19)}.${instant.slice(20, -1).slice(0, 6).padEnd(6, '0')}Z`
}

function runOf(raw: JsonObject): Run {
  const engine = asString(raw['engine'])
  const id = asString(raw['run_id'])
  const flow = asString(raw['flow_key'])
  const step = asString(raw['step_id'])
  const agentKey = asString(raw['agent_key'])
  return {
    ...(id !== undefined && { id }),
    ...(flow !== undefined && { flow }),
    ...(step !== undefined && { step }),
    ...(agentKey !== undefined && { agentKey }),
    ...(engine !== undefined && { engine: toEngine(engine) }),
  }
}

const STATUSES: ReadonlyMap<unknown, Status> = new Map<unknown, Status>([
  ['failed', 'failed'],
  ['error', 'failed'],
  ['canceled', 'canceled'],
  ['cancelled', 'canceled'],
])

/** A receipt is written when a step ends: what it does not call failed or canceled (`succeeded`, `VERIFIED`) completed. */
function fromStatus(status: Json | undefined): Status {
  return STATUSES.get(status) ?? 'completed'
}

function toReceiptStatus(status: Status, stated: Json | undefined): Json {
  if (stated !== undefined && fromStatus(stated) === status) return stated
  return status === 'completed' ? 'succeeded' : 'failed'
}

/** `prompt` is everything the model read, caches included; it cannot be taken apart again. Zeros mean nobody counted. */
function fromTokens(raw: JsonObject): Usage | undefined {
  const tokens = asObject(raw['tokens'])
  if (tokens === undefined || !hasTokens(raw)) return undefined
  const input = asCount(tokens['prompt'])
  const output = asCount(tokens['completion'])
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw: tokens,
  }
}

function toTokens(usage: Usage | undefined, stated: JsonObject | undefined): Json {
  const prompt = usage === undefined ? undefined : promptTokens(usage)
  const isSame = prompt === asCount(stated?.['prompt']) && usage?.output === asCount(stated?.['completion'])
  if (stated !== undefined && (usage === undefined || isSame)) return stated
  const completion = usage?.output ?? 0
  return { prompt: prompt ?? 0, completion, total: (prompt ?? 0) + completion }
}
