/**
 * pi's usage: input excludes what was cached, `cacheWrite` includes the part that is kept for an hour, output includes reasoning. Its own
 * object, with the cost that pi computed, stays in `raw`. All zeros are a placeholder: no call reads nothing.
 */
import { asCount, type JsonObject } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'

export function fromPiUsage(raw: JsonObject, stopReason: string | undefined): Usage {
  const input = asCount(raw['input'])
  const output = asCount(raw['output'])
  const cacheRead = asCount(raw['cacheRead'])
  const cacheWrite = asCount(raw['cacheWrite'])
  const cacheWrite1h = asCount(raw['cacheWrite1h'])
  const reasoning = asCount(raw['reasoning'])
  if (!input && !output && !cacheRead && !cacheWrite) return { quality: 'unavailable', raw }
  const hour = Math.min(cacheWrite1h ?? 0, cacheWrite ?? 0)
  // A call that was cut short was counted up to there.
  const isCut = stopReason === 'aborted' || stopReason === 'error'
  return {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite5m: cacheWrite - hour }),
    ...(cacheWrite1h !== undefined && { cacheWrite1h: hour }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: isCut ? 'partial' : 'reported',
    raw,
  }
}

/** For usages from elsewhere. Nobody computed a cost: pi's own code needs the object, and 0 in it says nothing. */
export function toPiUsage(usage: Usage | undefined): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, reasoning } = usage ?? {}
  const cacheWrite = cacheWrite5m + cacheWrite1h
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    ...(reasoning !== undefined && { reasoning }),
  }
}

/** True where a usage from elsewhere lacks a count that pi always has. */
export function isFilled(usage: Usage | undefined): boolean {
  if (usage === undefined || !hasCounts(usage)) return true
  return usage.input === undefined || usage.output === undefined || usage.cacheRead === undefined
}
