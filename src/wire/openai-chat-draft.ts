/** One choice of a streamed chat completion. `toRaw` gives the choice as it would have come whole. */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject, rest, toJson } from '../transcript/json.ts'
import type { Budget } from './limits.ts'
import { PARTIAL_JSON_LIMIT, TOOL_CALL_LIMIT } from './limits.ts'
import { createPieces, type Pieces } from './pieces.ts'

export type ChoiceDraft = {
  /** Takes one chunk's choice; gives back what of it was not understood. */
  take(choice: JsonObject): Json[]
  isFinished(): boolean
  toRaw(): JsonObject
}

/** Fields of a delta that are text to append; servers beside OpenAI say what the model thought under either of the last two. */
const TEXTS = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const
const KNOWN_DELTA: ReadonlySet<string> = new Set([...TEXTS, 'role', 'tool_calls', 'function_call'])
const KNOWN_CHOICE: ReadonlySet<string> = new Set(['index', 'delta', 'finish_reason'])

export function createChoiceDraft(index: number, budget: Budget): ChoiceDraft {
  const texts = new Map<string, Pieces>()
  const calls = new Map<number, CallDraft>()
  const lastKept = new Map<string, string>()
  let legacy: CallDraft | undefined
  let finishReason: string | undefined

  const takeCall = (raw: Json): boolean => {
    if (!isObject(raw)) return false
    // Some servers leave the index out: an id then begins a call, and what has none continues the last.
    const next = typeof raw['id'] === 'string' ? calls.size : Math.max(0, calls.size - 1)
    const at = raw['index'] === undefined ? next : asCount(raw['index'])
    if (at === undefined || at >= TOOL_CALL_LIMIT) return false
    const call = calls.get(at) ?? createCallDraft(budget)
    calls.set(at, call)
    call.take(raw)
    return true
  }

  const takeDelta = (delta: JsonObject): Json[] => {
    for (const field of TEXTS) {
      const text = asString(delta[field])
      if (text === undefined) continue
      const pieces = texts.get(field) ?? createPieces(budget)
      texts.set(field, pieces)
      pieces.add(text)
    }
    const refused = (asArray(delta['tool_calls']) ?? []).filter((call) => !takeCall(call))
    const called = asObject(delta['function_call'])
    if (called !== undefined) (legacy ??= createCallDraft(budget)).take({ function: called })
    const others = rest(delta, KNOWN_DELTA)
    return [
      ...(refused.length > 0 ? [{ index, delta: { tool_calls: refused } }] : []),
      ...(others === undefined ? [] : [{ index, delta: others }]),
    ]
  }

  /** Filters and the like stand on every chunk: each value is kept when it changes. */
  const takeOthers = (choice: JsonObject): Json[] => {
    const kept: Json[] = []
    for (const [key, value] of Object.entries(rest(choice, KNOWN_CHOICE) ?? {})) {
      const text = toJson(value)
      if (value === null || text === '{}' || lastKept.get(key) === text) continue
      lastKept.set(key, text)
      kept.push({ index, [key]: value })
    }
    return kept
  }

  return {
    take(choice) {
      finishReason = asString(choice['finish_reason']) ?? finishReason
      const delta = asObject(choice['delta'])
      return [...(delta === undefined ? [] : takeDelta(delta)), ...takeOthers(choice)]
    },
    isFinished: () => finishReason !== undefined,
    toRaw() {
      const said = [...texts]
        .filter(([, pieces]) => !pieces.isEmpty)
        .map(([field, pieces]) => [field, pieces.text()])
      const toolCalls = [...calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call.toRaw())
      return {
        index,
        message: {
          role: 'assistant',
          ...Object.fromEntries(said),
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
          ...(legacy !== undefined && { function_call: legacy.toRaw()['function'] ?? {} }),
        },
        ...(finishReason !== undefined && { finish_reason: finishReason }),
      }
    },
  }
}

type CallDraft = { take(raw: JsonObject): void; toRaw(): JsonObject }

/** A call in fragments: id and name come once, in the first; arguments are text to append. */
function createCallDraft(budget: Budget): CallDraft {
  const input = createPieces(budget, PARTIAL_JSON_LIMIT)
  let isCustom = false
  let stated: JsonObject = {}
  let name: string | undefined
  return {
    take(raw) {
      const custom = asObject(raw['custom'])
      const called = custom ?? asObject(raw['function'])
      if (custom !== undefined) isCustom = true
      const id = asString(raw['id'])
      if (id !== undefined && id !== '') stated = { ...stated, id }
      const others = rest(raw, FRAGMENT)
      if (others !== undefined) stated = { ...stated, ...others }
      const stating = asString(called?.['name'])
      if (stating !== undefined && stating !== '') name = stating
      const text = called?.[isCustom ? 'input' : 'arguments']
      // A server that sends arguments as an object sends them whole.
      if (text !== undefined && text !== null) input.add(typeof text === 'string' ? text : toJson(text))
    },
    toRaw() {
      const text = input.text()
      if (isCustom)
        return { ...stated, type: 'custom', custom: { ...(name !== undefined && { name }), input: text } }
      return {
        ...stated,
        type: 'function',
        function: { ...(name !== undefined && { name }), arguments: text },
      }
    },
  }
}

const FRAGMENT: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom'])
