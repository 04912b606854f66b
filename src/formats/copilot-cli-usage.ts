/**
 * What Copilot CLI counted: since 1.0.102 each call; before that output per message, and everything else only when the program was left,
 * summed by model. Its input includes what was cached; its reasoning is a part of the output.
 */
import type { Call } from '../transcript/entry.ts'
import { asCount, asObject, type JsonObject } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { asId } from './placing.ts'

/** One model's counters, as they stand in `modelMetrics`. */
export type Metrics = { readonly [K in Counter]?: number }
export type Counter = (typeof COUNTERS)[number]

const COUNTERS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const

/** A hostile file may name any number of models. */
const MOST_MODELS = 100

/** The counters of `session.shutdown`, by model. */
export function metricsOf(shutdown: JsonObject): ReadonlyMap<string, Metrics> {
  const models = Object.entries(asObject(shutdown['modelMetrics']) ?? {}).slice(0, MOST_MODELS)
  return new Map(models.map(([model, metrics]) => [model, toMetrics(asObject(asObject(metrics)?.['usage']))]))
}

/** True when no counter fell since. */
export function hasGrown(since: ReadonlyMap<string, Metrics>, now: ReadonlyMap<string, Metrics>): boolean {
  return [...since].every(([model, before]) =>
    COUNTERS.every((counter) => (now.get(model)?.[counter] ?? 0) >= (before[counter] ?? 0)),
  )
}

/** What the counters grew by. */
export function growth(
  since: ReadonlyMap<string, Metrics>,
  now: ReadonlyMap<string, Metrics>,
): ReadonlyMap<string, Metrics> {
  const grown = new Map<string, Metrics>()
  for (const [model, metrics] of now) {
    const more: { [K in Counter]?: number } = {}
    for (const counter of COUNTERS) {
      const count = metrics[counter]
      if (count !== undefined) more[counter] = Math.max(0, count - (since.get(model)?.[counter] ?? 0))
    }
    grown.set(model, more)
  }
  return grown
}

export function outputOf(metrics: ReadonlyMap<string, Metrics>): number {
  return [...metrics.values()].reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0)
}

/** One model's counters made disjoint. All zeros are a placeholder: no request reads nothing. */
export function fromMetrics(metrics: Metrics, raw?: JsonObject): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = metrics
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0)
  const isWhole = inputTokens === undefined || inputTokens >= cached
  const input = isWhole && inputTokens !== undefined ? inputTokens - cached : inputTokens
  const kept = raw !== undefined && { raw }
  if (!COUNTERS.some((counter) => (metrics[counter] ?? 0) > 0)) return { quality: 'unavailable', ...kept }
  return {
    ...(input !== undefined && { input }),
    ...(cacheReadTokens !== undefined && { cacheRead: cacheReadTokens }),
    // How long it lives is not said; the providers' usual is five minutes.
    ...(cacheWriteTokens !== undefined && { cacheWrite5m: cacheWriteTokens }),
    ...(outputTokens !== undefined && { output: outputTokens }),
    ...(reasoningTokens !== undefined && { reasoning: reasoningTokens }),
    quality: isWhole ? 'reported' : 'estimated',
    ...kept,
  }
}

/** A message's own count. What it read is `partial` news until a shutdown says so. */
export function messageUsage(message: JsonObject, isCovered: boolean): Usage | undefined {
  const output = asCount(message['outputTokens'])
  if (output === undefined) return undefined
  const raw = { outputTokens: output }
  const usage: Usage = { output, quality: isCovered ? 'reported' : 'partial', raw }
  return hasCounts(usage) && output > 0 ? usage : { quality: 'unavailable', raw }
}

/** The provider's name for the answer, else Copilot's own. */
export function callOf(message: JsonObject): Call | undefined {
  const messageId = asId(message['apiCallId']) ?? asId(message['messageId'])
  const requestId = asId(message['requestId'])
  if (messageId === undefined && requestId === undefined) return undefined
  return { ...(requestId !== undefined && { requestId }), ...(messageId !== undefined && { messageId }) }
}

export function toMetrics(usage: JsonObject | undefined): Metrics {
  const metrics: { [K in Counter]?: number } = {}
  for (const counter of COUNTERS) {
    const count = asCount(usage?.[counter])
    if (count !== undefined) metrics[counter] = count
  }
  return metrics
}
