/**
 * What one line of Claude Code says of more than one thing. A call that took several samplings (a refusal answered by another
 * model) states each in `usage.iterations`: the line has the last, and every earlier one is an event with a call, a model and a
 * usage of its own, so that whoever adds up calls bills them all. A progress line of a subagent holds the subagent's message.
 * An error right below an answer says that the answer's stream was cut, and its counts are not the last.
 * All are marked `metadata.derived`, and a writer of these lines passes them over: their line says them again.
 */
import { asObject, asString, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { addUsage, COUNTS, hasCounts, type Quality, type Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import type { Entry } from '../transcript/entry.ts'
import type { LineEntry } from './claude-lines.ts'

/** True for an entry that another entry's line says again. */
export function isDerived({ metadata }: Entry): boolean {
  return metadata?.['derived'] !== undefined
}

/**
 * The usage of the sampling whose answer the line has; undefined for a call that took only one. The line of a call that has no name
 * says all of them, for they can be told from it nowhere else. A list with something in it that is no sampling is a lower bound.
 */
export function iterated(raw: JsonObject, quality: Quality, isNamed: boolean): Usage | undefined {
  const samplings = samplingsIn(raw)
  if (samplings === undefined) return undefined
  const { iterations: _, ...shared } = raw
  const known = samplings.isWhole || quality !== 'reported' ? quality : 'partial'
  const last = fromAnthropicUsage({ ...shared, ...samplings.last }, known)
  if (isNamed) return last
  const sum = samplings.earlier.map((one) => fromAnthropicUsage(one)).reduce(addUsage, last)
  return { ...sum, raw }
}

/** The samplings before that of a line, as events. Every line of a message repeats them: only what is new is given. */
export function createIterations(): (line: JsonObject, said: LineEntry) => readonly LineEntry[] {
  let last: { readonly messageId: string; readonly said: string } | undefined
  return (line, said) => {
    const { call } = said
    const usage = asObject(line['message'])?.['usage']
    // Only where it says more than the entry's.
    if (call?.messageId === undefined || usage === undefined || said.usage?.raw === usage) return NONE
    const all = earlierIterations(line, said)
    if (all.length === 0) return NONE
    const now = toJson(all.map((one) => one.usage))
    if (last?.messageId === call.messageId && last.said === now) return NONE
    last = { messageId: call.messageId, said: now }
    return all
  }
}

const NONE: readonly LineEntry[] = []

/**
 * Claude Code ends a message whose stream was cut with a stop reason of its own and the counts of the stream's first event, and
 * writes an error below it. The error's line then says one thing more: the call's counts again, as a lower bound.
 */
export function createCuts(): (line: JsonObject, said: LineEntry) => LineEntry | undefined {
  let uuid: Json | undefined
  // Not the entry itself: an answer may have many MB, and this stays until the next one.
  let usage: LineEntry['usage']
  let model: LineEntry['model']
  let call: LineEntry['call']
  return (line, said) => {
    if (said.usage !== undefined) {
      uuid = line['uuid']
      usage = said.usage
      model = said.model
      call = said.call
      return undefined
    }
    if (line['isApiErrorMessage'] !== true || usage === undefined) return undefined
    if (uuid === undefined || line['parentUuid'] !== uuid || usage.quality !== 'reported') return undefined
    return {
      kind: 'event',
      ...(said.at !== undefined && { at: said.at }),
      blocks: [],
      ...(model !== undefined && { model }),
      usage: { ...usage, quality: 'partial' },
      ...(call !== undefined && { call }),
      metadata: { record: 'cut', derived: 'cut' },
    }
  }
}

/** `said` is the line's own entry. */
function earlierIterations(line: JsonObject, said: LineEntry): readonly LineEntry[] {
  const message = asObject(line['message'])
  const usage = asObject(message?.['usage'])
  const samplings = usage === undefined ? undefined : samplingsIn(usage)
  const { call, model } = said
  if (samplings === undefined || usage === undefined || call?.messageId === undefined) return []
  return samplings.earlier.map((iteration, index) => {
    const own = asString(iteration['model']) ?? model
    return {
      kind: 'event',
      ...(said.at !== undefined && { at: said.at }),
      blocks: [],
      ...(own !== undefined && { model: own }),
      usage: fromAnthropicUsage({ ...termsOf(usage), ...iteration }),
      call: { provider: 'anthropic', messageId: `${call.messageId}:iteration-${index}` },
      metadata: { record: 'iteration', derived: 'iteration' },
    }
  })
}

/** The message of a subagent inside a progress line, as the line that its own log would have. */
export function embeddedLine(line: JsonObject): JsonObject | undefined {
  const data = asObject(line['data'])
  if (line['type'] !== 'progress' || data?.['type'] !== 'agent_progress') return undefined
  const inner = asObject(data['message'])
  const agentId = asString(data['agentId'])
  if (inner === undefined || !isObject(inner['message']) || agentId === undefined || agentId === '')
    return undefined
  const { sessionId, cwd, version, gitBranch } = line
  const shared = { sessionId, cwd, version, gitBranch }
  const known = Object.entries(shared).filter((pair): pair is [string, Json] => pair[1] !== undefined)
  return { ...Object.fromEntries(known), ...inner, isSidechain: true, agentId }
}

type Samplings = {
  readonly earlier: readonly JsonObject[]
  /** Empty where the list does not have it: the counts beside the list are then its own. */
  readonly last: JsonObject
  /** False where something in the list states no counts. */
  readonly isWhole: boolean
}

function samplingsIn(usage: JsonObject): Samplings | undefined {
  const { iterations, ...top } = usage
  if (!Array.isArray(iterations) || iterations.length < 2) return undefined
  const all = iterations as readonly Json[]
  const counted = all.filter(isObject).filter((one) => hasCounts(fromAnthropicUsage(one)))
  const last = counted.at(-1)
  if (last === undefined) return undefined
  const isWhole = counted.length === all.length
  if (last !== all.at(-1) && hasCounts(fromAnthropicUsage(top)) && !saysSame(last, top))
    return { earlier: counted, last: {}, isWhole }
  return { earlier: counted.slice(0, -1), last, isWhole }
}

function saysSame(a: JsonObject, b: JsonObject): boolean {
  const [left, right] = [fromAnthropicUsage(a), fromAnthropicUsage(b)]
  return COUNTS.every((count) => left[count] === right[count])
}

/** What a price hangs on beside the counts, which only the top level says. */
function termsOf({ service_tier: tier, speed, inference_geo: geo }: JsonObject): JsonObject {
  return {
    ...(tier !== undefined && { service_tier: tier }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { inference_geo: geo }),
  }
}
