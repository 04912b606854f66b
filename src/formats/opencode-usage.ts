/**
 * OpenCode's token counts, made disjoint. The input never includes the cache; the output includes reasoning up to about 1.3.16
 * and not after it, which the total tells, and else the version. Zeros of a message that never came to its end are unknown.
 */
import { asCount, asObject, type JsonObject } from '../transcript/json.ts'
import { addUsage, hasCounts, type Usage } from '../transcript/usage.ts'

export type UsageContext = {
  /** The version that began the session. */
  readonly version: string | undefined
  /** When the message was made, in milliseconds since 1970. */
  readonly createdMs: number | undefined
}

/** The first version, and the day, whose output is without reasoning. */
const APART_SINCE = [1, 3, 16] as const
const APART_SINCE_MS = Date.UTC(2026, 3, 4)

/**
 * What a message used, from its own counts and those of its steps, which say the same: one side is counted. A message of
 * several steps has only the last one's counts, so there the steps are added up.
 */
export function messageUsage(
  tokens: JsonObject | undefined,
  steps: readonly JsonObject[],
  context: UsageContext,
): Usage | undefined {
  const own = tokens && toUsage(tokens, context)
  const [first, ...others] = steps.map((step) => toUsage(step, context))
  const last = others.at(-1) ?? first
  if (first === undefined || last === undefined) return own && withoutPlaceholder(own)
  if (own !== undefined && hasTokens(own) && (others.length === 0 || !sameCounts(own, last))) return own
  const sum = others.reduce(addUsage, first)
  return withoutPlaceholder({ ...sum, raw: others.length === 0 ? (steps[0] ?? null) : steps })
}

export function toUsage(tokens: JsonObject, context: UsageContext): Usage {
  const cache = asObject(tokens['cache'])
  const input = asCount(tokens['input'])
  const cacheRead = asCount(cache?.['read'])
  const cacheWrite5m = asCount(cache?.['write'])
  const written = asCount(tokens['output'])
  const reasoning = asCount(tokens['reasoning'])
  const side = sideOf(tokens, { before: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite5m ?? 0), ...context })
  const output = side.isApart && written !== undefined ? written + (reasoning ?? 0) : written
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    // OpenCode asks for the provider's usual lifetime, which is five minutes, and does not write it down.
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: side.isKnown ? 'reported' : 'estimated',
    raw: tokens,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw: tokens }
}

type Side = { readonly isApart: boolean; readonly isKnown: boolean }

function sideOf(
  { output, reasoning, total }: JsonObject,
  { before, version, createdMs }: UsageContext & { readonly before: number },
): Side {
  const thought = asCount(reasoning) ?? 0
  const written = asCount(output) ?? 0
  const all = asCount(total)
  if (thought === 0) return { isApart: false, isKnown: true }
  if (all === before + written) return { isApart: false, isKnown: true }
  if (all === before + written + thought) return { isApart: true, isKnown: true }
  // More reasoning than output cannot be a part of it.
  if (thought > written) return { isApart: true, isKnown: false }
  return {
    isApart: isSince(version) ?? (createdMs !== undefined && createdMs >= APART_SINCE_MS),
    isKnown: false,
  }
}

function isSince(version: string | undefined): boolean | undefined {
  const match = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(version ?? '')
  if (match === null) return undefined
  const numbers = match.slice(1).map(Number)
  const at = APART_SINCE.findIndex((number, index) => numbers[index] !== number)
  return at === -1 || (numbers[at] as number) > (APART_SINCE[at] as number)
}

function hasTokens({ input, cacheRead, cacheWrite5m, output }: Usage): boolean {
  return [input, cacheRead, cacheWrite5m, output].some((count) => count !== undefined && count > 0)
}

/** A message begins with zeros and keeps them when nothing more is heard. */
function withoutPlaceholder(usage: Usage): Usage {
  return hasTokens(usage)
    ? usage
    : { quality: 'unavailable', ...(usage.raw !== undefined && { raw: usage.raw }) }
}

function sameCounts(a: Usage, b: Usage): boolean {
  return (
    a.input === b.input &&
    a.cacheRead === b.cacheRead &&
    a.cacheWrite5m === b.cacheWrite5m &&
    a.output === b.output
  )
}
