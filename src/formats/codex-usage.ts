/**
 * Codex's token counts, made into one usage for each call. A `token_count` states a running total and the last call's counts. It
 * is written more than once for a call, states only a size of the context after a compaction, and its total falls back to an
 * older one when a session is resumed from a snapshot. So: what the total grew by, or, where it fell or grew by less than the
 * last call used, that call's counts.
 * Newer versions also write a `token_usage_record` for each response, which a `token_count` says again.
 */
import { asCount, asObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'

export type TokenFold = {
  /** The usage that a count adds to those before it; undefined when it adds none. */
  add(info: Json | undefined): Usage | undefined
  /** The same of a total that is stated alone. */
  total(usage: Json): Usage | undefined
  /** The usage of one response; undefined when the count before it said so already. */
  record(payload: JsonObject | undefined): Usage | undefined
}

/** Codex's own fields: `input` includes `cached` and `written`, `output` includes `reasoning`. */
type Counts = {
  readonly input: number
  readonly cached: number
  readonly written: number | undefined
  readonly output: number
  readonly reasoning: number | undefined
}

type Options = {
  /** The calls before the first count here are told in another file: its total says nothing about this one. */
  readonly continues: () => boolean
}

export function createTokenFold({ continues }: Options): TokenFold {
  let before: Counts | undefined
  /** What came last: a record, which the next count repeats, or the counts of a call that a record may repeat. */
  let latest: 'record' | Counts | undefined

  return {
    record(payload) {
      const raw = asObject(payload?.['usage'])
      const counts = toCounts(raw)
      if (counts === undefined) return undefined
      const isSaid = typeof latest === 'object' && sameCounts(latest, counts)
      latest = isSaid ? undefined : 'record'
      return isSaid || isNothing(counts) ? undefined : toUsage(counts, raw)
    },
    total(usage) {
      const raw = asObject(usage)
      const total = toCounts(raw)
      if (total === undefined) return undefined
      const counts = before === undefined ? total : (minus(total, before) ?? total)
      before = total
      return isNothing(counts) ? undefined : toUsage(counts, raw)
    },
    add(info) {
      const stated = asObject(info)
      const last = asObject(stated?.['last_token_usage'])
      const total = toCounts(asObject(stated?.['total_token_usage']))
      if (total === undefined) return undefined
      const isRecorded = latest === 'record'
      latest = undefined
      const isFirst = before === undefined
      const grown = isFirst ? (continues() ? undefined : total) : minus(total, before as Counts)
      before = total
      if (isRecorded) return undefined
      const used = toCounts(last)
      const counts = grown === undefined || isOlder(grown, used) ? used : grown
      if (counts === undefined) return { quality: 'unavailable', ...(last !== undefined && { raw: last }) }
      if (isNothing(counts)) return undefined
      latest = counts
      return toUsage(counts, last)
    },
  }
}

/** A total that is an older one plus the last call. One that did not grow at all is the same again. */
function isOlder(grown: Counts, used: Counts | undefined): boolean {
  if (used === undefined || isNothing(grown) || isNothing(used)) return false
  const isWithin = grown.input <= used.input && grown.output <= used.output
  return isWithin && (grown.input < used.input || grown.output < used.output)
}

const isNothing = ({ input, output }: Counts): boolean => input === 0 && output === 0

const sameCounts = (a: Counts, b: Counts): boolean =>
  a.input === b.input && a.cached === b.cached && a.output === b.output

/** Undefined where neither input nor output is stated. */
function toCounts(raw: JsonObject | undefined): Counts | undefined {
  const input = asCount(raw?.['input_tokens'])
  const output = asCount(raw?.['output_tokens'])
  if (input === undefined && output === undefined) return undefined
  return {
    input: input ?? 0,
    cached: asCount(raw?.['cached_input_tokens']) ?? 0,
    written: asCount(raw?.['cache_write_input_tokens']),
    output: output ?? 0,
    reasoning: asCount(raw?.['reasoning_output_tokens']),
  }
}

/** Undefined where any count fell: the total is then not that of the count before plus a call. */
function minus(total: Counts, before: Counts): Counts | undefined {
  const grown = {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    written: total.written === undefined ? undefined : total.written - (before.written ?? 0),
    output: total.output - before.output,
    reasoning: total.reasoning === undefined ? undefined : total.reasoning - (before.reasoning ?? 0),
  }
  return Object.values(grown).some((count) => count !== undefined && count < 0) ? undefined : grown
}

/** Details larger than their whole contradict it: they are cut to it, and the usage is `estimated`. */
function toUsage({ input, cached, written, output, reasoning }: Counts, raw: JsonObject | undefined): Usage {
  const cacheRead = Math.min(cached, input)
  const cacheWrite5m = written === undefined ? undefined : Math.min(written, input - cacheRead)
  const isCut = cacheRead !== cached || cacheWrite5m !== written || (reasoning ?? 0) > output
  return {
    input: input - cacheRead - (cacheWrite5m ?? 0),
    cacheRead,
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    output,
    ...(reasoning !== undefined && { reasoning: Math.min(reasoning, output) }),
    quality: isCut ? 'estimated' : 'reported',
    ...(raw !== undefined && { raw }),
  }
}

/** A usage as Codex counts: cache inside input, reasoning inside output. */
export function toCodexCounts({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
  output,
  reasoning,
}: Usage): JsonObject {
  const written = sum(cacheWrite5m, cacheWrite1h)
  const prompt = (input ?? 0) + (cacheRead ?? 0) + (written ?? 0)
  return {
    input_tokens: prompt,
    cached_input_tokens: cacheRead ?? 0,
    ...(written !== undefined && { cache_write_input_tokens: written }),
    output_tokens: output ?? 0,
    reasoning_output_tokens: reasoning ?? 0,
    total_tokens: prompt + (output ?? 0),
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
