/**
 * Token counts of the Cline family, made disjoint. Which side the input is on differs: Cline's own requests leave the cache out, Roo's and
 * Kilo's since November 2025 and the messages of Cline's CLI include it. Where only a rule of thumb tells, the quality says so.
 */
import { asCount, asObject, asString, type JsonObject } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'

/** What a request's record does not say itself. */
export type RequestContext = {
  readonly provider: string | undefined
  /** Milliseconds since 1970. */
  readonly ts: number | undefined
}

/** Roo Code 3.29.5; Kilo Code followed eleven days later. */
const INCLUDED_SINCE_MS = Date.UTC(2025, 10, 1)

/** Of Cline's providers, those that hand on the API's `prompt_tokens` as they are, cache and all. */
const WHOLE_INPUT: ReadonlySet<string> = new Set([
  'openai',
  'litellm',
  'doubao',
  'fireworks',
  'hicap',
  'lmstudio',
  'qwen',
  'xai',
  'zai',
])

/** The counts of `api_req_started`. Without any, and with nothing but zeros, nobody knows: the request was cut off or failed. */
export function requestUsage(request: JsonObject, context: RequestContext): Usage | undefined {
  const { tokensIn, tokensOut, cacheReads, cacheWrites, cancelReason, streamingFailedMessage } = request
  const counts = {
    input: asCount(tokensIn),
    output: asCount(tokensOut),
    cacheRead: asCount(cacheReads),
    cacheWrite: asCount(cacheWrites),
  }
  const { request: _, ...raw } = request
  if (!hasTokens(counts)) return { quality: 'unavailable', raw }
  const side = sideOf(counts, request, context)
  const isCut = typeof cancelReason === 'string' || typeof streamingFailedMessage === 'string'
  return toUsage(counts, side, isCut ? 'partial' : side.isKnown ? 'reported' : 'estimated', raw)
}

/** The counts of a message of Cline's CLI, whose input includes what was cached. */
export function metricsUsage(metrics: JsonObject): Usage | undefined {
  const counts = {
    input: asCount(metrics['inputTokens']),
    output: asCount(metrics['outputTokens']),
    cacheRead: asCount(metrics['cacheReadTokens']),
    cacheWrite: asCount(metrics['cacheWriteTokens']),
  }
  if (!hasTokens(counts)) return { quality: 'unavailable', raw: metrics }
  const isIncluded = (counts.input ?? 0) >= (counts.cacheRead ?? 0) + (counts.cacheWrite ?? 0)
  return toUsage(counts, { isIncluded, isKnown: isIncluded }, isIncluded ? 'reported' : 'estimated', metrics)
}

/** The counts that newer histories keep with an answer: `prompt` includes `cached`. */
export function answerUsage(metrics: JsonObject): Usage | undefined {
  const tokens = asObject(metrics['tokens'])
  if (tokens === undefined) return undefined
  const counts = {
    input: asCount(tokens['prompt']),
    output: asCount(tokens['completion']),
    cacheRead: asCount(tokens['cached']),
    cacheWrite: undefined,
  }
  if (!hasTokens(counts)) return { quality: 'unavailable', raw: metrics }
  const isIncluded = (counts.input ?? 0) >= (counts.cacheRead ?? 0)
  return toUsage(counts, { isIncluded, isKnown: isIncluded }, isIncluded ? 'reported' : 'estimated', metrics)
}

type Counts = {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
}

type Side = { readonly isIncluded: boolean; readonly isKnown: boolean }

function sideOf(counts: Counts, request: JsonObject, { provider, ts }: RequestContext): Side {
  const cached = (counts.cacheRead ?? 0) + (counts.cacheWrite ?? 0)
  // Without a cache both sides are the same; less than the cache cannot include it.
  if (cached === 0) return { isIncluded: false, isKnown: true }
  if ((counts.input ?? 0) < cached) return { isIncluded: false, isKnown: true }
  const protocol = asString(request['apiProtocol'])
  if (protocol === undefined) {
    const isIncluded = provider !== undefined && WHOLE_INPUT.has(provider)
    return { isIncluded, isKnown: !isIncluded }
  }
  if (protocol !== 'anthropic') return { isIncluded: true, isKnown: true }
  return { isIncluded: ts === undefined || ts >= INCLUDED_SINCE_MS, isKnown: false }
}

function toUsage(counts: Counts, { isIncluded }: Side, quality: Usage['quality'], raw: JsonObject): Usage {
  const { input, output, cacheRead, cacheWrite } = counts
  const cached = isIncluded ? (cacheRead ?? 0) + (cacheWrite ?? 0) : 0
  const usage: Usage = {
    ...(input !== undefined && { input: input - cached }),
    ...(cacheRead !== undefined && { cacheRead }),
    // How long it lives is not said; the family asks for five minutes.
    ...(cacheWrite !== undefined && { cacheWrite5m: cacheWrite }),
    ...(output !== undefined && { output }),
    quality,
    raw,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw }
}

function hasTokens({ input, output, cacheRead, cacheWrite }: Counts): boolean {
  return [input, output, cacheRead, cacheWrite].some((count) => count !== undefined && count > 0)
}
