/**
 * Codex's token counts, made into one usage for each call. A `token_count` states a running total and the last call's counts. It
 * is written more than once for a call, states only a size of the context after a compaction, and its total falls back to an
 * older one when a session is resumed from a snapshot. So: what the total grew by, or, where it fell or grew by less than the
 * last call used, that call's counts; also where the first total has calls in it that nothing here counted.
 * Newer versions also write a `token_usage_record` for each response, which a `token_count` says again.
 */
import { asCount, asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'

export type TokenFold = {
  /** The usage that a count adds to those before it; undefined when it adds none. */
  add(info: Json | undefined): Usage | undefined
  /** The same of a total that is stated alone. */
  total(usage: Json): Usage | undefined
  /** The usage of one response; undefined when the count before it said so already. */
  record(payload: JsonObject | undefined): Usage | undefined
  /**
   * What the thread had used before the first count here, where that states more than its own call: the calls before are told in
   * another file, or nowhere.
   */
  readonly usedBefore: Json | undefined
}

/** Codex's own fields: `input` includes `cached` and `written`, `output` includes `reasoning`. Not stated is not 0. */
type Counts = {
  readonly input: number | undefined
  readonly cached: number | undefined
  readonly written: number | undefined
  readonly output: number | undefined
  readonly reasoning: number | undefined
}

type Options = {
  /** The calls before the first count here are told in another file: its total says nothing about this one. */
  readonly continues: () => boolean
  /** True for a total that an older version of the file states: what it is made of was counted there. */
  readonly isTold?: (total: string) => boolean
}

export function createTokenFold({ continues, isTold = () => false }: Options): TokenFold {
  let before: Counts | undefined
  /** What came last: a record, which the next count repeats, or the counts of a call that a record may repeat. */
  let latest: 'record' | Counts | undefined
  /** The counts of a call that were stated without a total, until something else is. */
  let alone: Counts | undefined
  let isBegun = false
  let usedBefore: Json | undefined

  const isToldBefore = (total: Counts, used: Counts): boolean => {
    const rest = minus(total, used)
    return rest !== undefined && isTold(totalKey(rest))
  }

  /** At the first count: whether its total has calls in it that nothing here counted. */
  const beginsWithin = (total: Counts | undefined, used: Counts | undefined): boolean => {
    if (isBegun) return false
    isBegun = true
    if (total === undefined || used === undefined || !isBeyond(total, used)) return false
    if (isToldBefore(total, used)) return true
    usedBefore = [less(used.input, total.input), less(used.output, total.output)]
    return true
  }

  /** Counts without a total: nothing but being the very same tells that they are said again. */
  const addAlone = (used: Counts, raw: JsonObject | undefined): Usage | undefined => {
    isBegun = true
    const isRecorded = latest === 'record'
    const isAgain = alone !== undefined && sameCounts(alone, used)
    if (isNothing(used)) return undefined
    alone = used
    latest = isRecorded ? undefined : used
    // A total that comes later has this call in it.
    if (!isAgain && (before !== undefined || !continues())) before = plus(before, used)
    return isRecorded || isAgain ? undefined : { ...toUsage(used, raw), quality: 'estimated' }
  }

  return {
    record(payload) {
      const raw = asObject(payload?.['usage'])
      const counts = toCounts(raw)
      if (counts === undefined) return undefined
      beginsWithin(toCounts(asObject(payload?.['thread_token_usage'])), counts)
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
      const used = toCounts(last)
      const total = toCounts(asObject(stated?.['total_token_usage']))
      if (total === undefined) return used && addAlone(used, last)
      alone = undefined
      const isRecorded = latest === 'record'
      latest = undefined
      const isWithin = beginsWithin(total, used)
      const grown =
        before === undefined ? (continues() || isWithin ? undefined : total) : minus(total, before)
      before = total
      if (isRecorded) return undefined
      // What it grew by beyond its own call was counted where the total before it stands.
      const isLost = grown !== undefined && used !== undefined && isBeyond(grown, used)
      const isElsewhere = isLost && isToldBefore(total, used)
      const isOwn = grown === undefined || isElsewhere || isOlder(grown, used)
      const counts = isOwn ? used : filled(grown, used)
      if (counts === undefined) return { quality: 'unavailable', ...(last !== undefined && { raw: last }) }
      if (isNothing(counts)) return undefined
      latest = counts
      const usage = toUsage(counts, last)
      // The header does not say where the calls before are: they may be in no file at all.
      const isBound = usedBefore !== undefined && isWithin && !continues() && usage.quality === 'reported'
      return isBound ? { ...usage, quality: 'partial' } : usage
    },
    get usedBefore() {
      return usedBefore
    },
  }
}

/** The running total that a line states, as one text. */
export function statedTotal(line: Json): string | undefined {
  const payload = isObject(line) && line['type'] === 'event_msg' ? asObject(line['payload']) : undefined
  const total = toCounts(asObject(asObject(payload?.['info'])?.['total_token_usage']))
  return total && totalKey(total)
}

const totalKey = ({ input, cached, output }: Counts): string => `${input}/${cached}/${output}`

const isBeyond = (total: Counts, used: Counts): boolean =>
  less(used.input, total.input) > 0 || less(used.output, total.output) > 0

/** A total that is an older one plus the last call. One that did not grow at all is the same again. */
function isOlder(grown: Counts, used: Counts | undefined): boolean {
  if (used === undefined || isNothing(grown) || isNothing(used)) return false
  const beyond = [less(grown.input, used.input), less(grown.output, used.output)]
  return beyond.every((by) => by >= 0) && beyond.some((by) => by > 0)
}

/** How much `a` is below `b`; what one of them does not state tells nothing. */
const less = (a: number | undefined, b: number | undefined): number =>
  a === undefined || b === undefined ? 0 : b - a

const isNothing = ({ input = 0, output = 0 }: Counts): boolean => input === 0 && output === 0

const sameCounts = (a: Counts, b: Counts): boolean =>
  a.input === b.input && a.cached === b.cached && a.output === b.output

/** Undefined where neither input nor output is stated. */
function toCounts(raw: JsonObject | undefined): Counts | undefined {
  const input = asCount(raw?.['input_tokens'])
  const output = asCount(raw?.['output_tokens'])
  if (input === undefined && output === undefined) return undefined
  return {
    input,
    cached: asCount(raw?.['cached_input_tokens']),
    written: asCount(raw?.['cache_write_input_tokens']),
    output,
    reasoning: asCount(raw?.['reasoning_output_tokens']),
  }
}

/** Field by field; `how` sees undefined for a count that is not stated. */
function combine(
  a: Counts,
  b: Counts,
  how: (a: number | undefined, b: number | undefined) => number | undefined,
): Counts {
  return {
    input: how(a.input, b.input),
    cached: how(a.cached, b.cached),
    written: how(a.written, b.written),
    output: how(a.output, b.output),
    reasoning: how(a.reasoning, b.reasoning),
  }
}

/** Undefined where any count fell: the total is then not that of the count before plus a call. */
function minus(total: Counts, before: Counts): Counts | undefined {
  const grown = combine(total, before, (now, then) =>
    now === undefined || then === undefined ? undefined : now - then,
  )
  return Object.values(grown).some((count) => count !== undefined && count < 0) ? undefined : grown
}

const plus = (a: Counts | undefined, b: Counts): Counts => (a === undefined ? b : combine(a, b, sum))

/** A count that only one of two totals states did not grow by a known number: the last call's own is there for it. */
const filled = (grown: Counts, used: Counts | undefined): Counts =>
  used === undefined ? grown : combine(grown, used, (by, last) => by ?? last)

/**
 * Details larger than their whole contradict it: they are cut to it, and the usage is `estimated`. Without input or output, what is
 * stated is a lower bound.
 */
function toUsage({ input, cached, written, output, reasoning }: Counts, raw: JsonObject | undefined): Usage {
  const cacheRead = within(cached, input)
  const cacheWrite5m = within(written, input === undefined ? undefined : input - (cacheRead ?? 0))
  const thought = within(reasoning, output)
  const isCut = cacheRead !== cached || cacheWrite5m !== written || thought !== reasoning
  const isWhole = input !== undefined && output !== undefined
  return {
    ...(input !== undefined && { input: input - (cacheRead ?? 0) - (cacheWrite5m ?? 0) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(thought !== undefined && { reasoning: thought }),
    quality: isCut ? 'estimated' : isWhole ? 'reported' : 'partial',
    ...(raw !== undefined && { raw }),
  }
}

const within = (part: number | undefined, whole: number | undefined): number | undefined =>
  part === undefined || whole === undefined ? part : Math.min(part, whole)

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
