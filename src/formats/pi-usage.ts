/**
 * pi's usage, which is disjoint as ours is: input excludes what was cached. Its own object, with the cost that pi computed, stays in
 * `raw`. All zeros are a placeholder: no call reads nothing.
 */
import { asCount, type JsonObject } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'

export function fromPiUsage(raw: JsonObject, stopReason: string | undefined): Usage {
  const input = asCount(raw['input'])
  const output = asCount(raw['output'])
  const cacheRead = asCount(raw['cacheRead'])
  const cacheWrite5m = asCount(raw['cacheWrite'])
  if (!input && !output && !cacheRead && !cacheWrite5m) return { quality: 'unavailable', raw }
  // A call that was cut short was counted up to there.
  const isCut = stopReason === 'aborted' || stopReason === 'error'
  return {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: isCut ? 'partial' : 'reported',
    raw,
  }
}

/** For usages from elsewhere. Nobody computed a cost: pi's own code needs the object, and 0 in it says nothing. */
export function toPiUsage(usage: Usage | undefined): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage ?? {}
  const cacheWrite = cacheWrite5m + cacheWrite1h
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  }
}

/** True where a usage from elsewhere lacks a count that pi always has. */
export function isFilled(usage: Usage | undefined): boolean {
  if (usage === undefined || !hasCounts(usage)) return true
  return usage.input === undefined || usage.output === undefined || usage.cacheRead === undefined
}
