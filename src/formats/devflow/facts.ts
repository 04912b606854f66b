/** A run's metadata, as `metadata.json` and the transcript's `metadata` state it: read into a session's facts and written from them. */
import { asCount, asObject, isObject, type Json, type JsonObject } from '../../transcript/json.ts'
import type { Session, Status } from '../../transcript/session.ts'
import type { Usage } from '../../transcript/usage.ts'
import { asCost, asText, asTime, asTotal, openFields, toGoTime } from './fields.ts'

export type Facts = {
  readonly runId?: string
  readonly flowId?: string
  readonly nodeId?: string
  readonly input?: JsonObject
  readonly startedAt?: string
  readonly endedAt?: string
  readonly status?: Status
  readonly tokensIn?: number
  readonly tokensOut?: number
  /** US dollars, decimal. */
  readonly cost?: string
  readonly turnCount?: number
  readonly error?: string
  /** Fields that were not understood. */
  readonly kept?: JsonObject
}

const STATUSES: ReadonlyMap<Json, Status> = new Map([
  ['running', 'running'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
])

export function readFacts(metadata: JsonObject): Facts {
  const fields = openFields(metadata)
  const facts = {
    runId: fields.take('runId', asText),
    flowId: fields.take('flowId', asText),
    nodeId: fields.take('nodeId', asText),
    input: fields.take('input', asObject),
    startedAt: fields.take('startedAt', asTime),
    endedAt: fields.take('endedAt', asTime),
    // The other spelling is understood and, like every value devflow does not have, kept for the writer.
    status:
      fields.take('status', (value) => STATUSES.get(value)) ??
      (metadata['status'] === 'cancelled' ? 'canceled' : undefined),
    tokensIn: fields.take('totalTokensIn', asTotal),
    tokensOut: fields.take('totalTokensOut', asTotal),
    cost: fields.take('totalCost', asCost),
    turnCount: fields.take('turnCount', asCount),
    error: fields.take('error', asText),
    kept: fields.rest(),
  }
  return defined(facts)
}

/** True for an object that only devflow writes: how `metadata.json` is told from others of that name. */
export function isMetadata(value: unknown): value is JsonObject {
  return isObject(value) && 'flowId' in value && 'status' in value && 'startedAt' in value
}

export type SessionParts = {
  readonly id: string
  readonly runId: string | undefined
  readonly facts: Facts
  /** For a status that is missing or not one of devflow's. */
  readonly otherwise: Status
  /** For `session.metadata.devflow`. */
  readonly kept: JsonObject
}

export function toSession({ id, runId, facts, otherwise, kept }: SessionParts): Session {
  const { flowId, nodeId, tokensIn, tokensOut, cost, input, startedAt, endedAt, error } = facts
  const usage = toUsage(tokensIn, tokensOut)
  return {
    id,
    ...(runId !== undefined && { names: { devflow: runId } }),
    run: {
      ...(runId !== undefined && { id: runId }),
      ...(flowId !== undefined && { flow: flowId }),
      ...(nodeId !== undefined && { node: nodeId }),
    },
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    status: facts.status ?? otherwise,
    ...(error !== undefined && { error }),
    ...(input !== undefined && { input }),
    ...(usage && { reportedUsage: usage }),
    ...(cost !== undefined && { reportedCost: cost }),
    ...(Object.keys(kept).length > 0 && { metadata: { devflow: kept } }),
  }
}

/** The fields of `metadata`, in the order of the seed's type, fillers where Go has zero values. */
export function writeFacts(facts: Facts, { bare = false }: { readonly bare?: boolean } = {}): JsonObject {
  const { runId, nodeId, input, endedAt, turnCount, error } = facts
  return {
    ...(!bare && runId !== undefined && { runId }),
    flowId: facts.flowId ?? '',
    ...(nodeId !== undefined && { nodeId }),
    ...(input !== undefined && { input }),
    startedAt: toGoTime(facts.startedAt),
    ...(endedAt !== undefined && { endedAt: toGoTime(endedAt) }),
    status: facts.status ?? 'running',
    totalTokensIn: facts.tokensIn ?? 0,
    totalTokensOut: facts.tokensOut ?? 0,
    totalCost: Number(facts.cost ?? 0),
    ...(!bare && { turnCount: turnCount ?? 0 }),
    ...(error !== undefined && { error }),
  }
}

/**
 * `tokensIn` is the whole prompt: how much of it came from a cache, at a tenth of the price or less, devflow cannot say. All of it
 * stands as plain input, by that rule and not by report.
 */
export function toUsage(input: number | undefined, output: number | undefined): Usage | undefined {
  if (input === undefined && output === undefined) return undefined
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    quality: input === undefined ? 'reported' : 'estimated',
  }
}

/** Without the keys whose value is undefined. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never
}
