/**
 * One output item of a streamed response, for when the response itself never came: the item as it was done, else as it was
 * begun with its deltas put in.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asCount, asObject, asString, toJson } from '../transcript/json.ts'
import type { Budget } from './limits.ts'
import { BLOCK_LIMIT, PARTIAL_JSON_LIMIT } from './limits.ts'
import { createPieces, type Pieces } from './pieces.ts'

export type ItemDraft = {
  /** False when the event is not one of an item: the caller keeps it. */
  take(event: JsonObject, type: string): boolean
  toRaw(): JsonObject
  /** Deltas that no field of ours takes; none once the item is done, for it then says them whole. */
  unplaced(): readonly Json[]
}

/** Where a delta's text goes: a part of a list of the item, or a field of it. Without the `.delta` or `.done`. */
const LISTS: ReadonlyMap<string, { readonly list: string; readonly part: string; readonly place: string }> =
  new Map([
    ['response.output_text', { list: 'content', part: 'output_text', place: 'content_index' }],
    ['response.refusal', { list: 'content', part: 'refusal', place: 'content_index' }],
    ['response.reasoning_text', { list: 'content', part: 'reasoning_text', place: 'content_index' }],
    ['response.reasoning_summary_text', { list: 'summary', part: 'summary_text', place: 'summary_index' }],
  ])
const FIELDS: ReadonlyMap<string, { readonly field: string; readonly item: string }> = new Map([
  ['response.function_call_arguments', { field: 'arguments', item: 'function_call' }],
  ['response.mcp_call_arguments', { field: 'arguments', item: 'mcp_call' }],
  ['response.custom_tool_call_input', { field: 'input', item: 'custom_tool_call' }],
  ['response.code_interpreter_call_code', { field: 'code', item: 'code_interpreter_call' }],
])

/** Deltas for places deep inside an item. */
const DEEP =
  /^response\.(?:apply_patch_call_operation_diff|shell_call_command|shell_call_output_content)\.[a-z]+$/

export function createItemDraft(budget: Budget): ItemDraft {
  const parts = new Map<string, { list: string; part: string; place: number; pieces: Pieces }>()
  const fields = new Map<string, Pieces>()
  let begun: JsonObject | undefined
  let done: JsonObject | undefined
  let itemType: string | undefined
  const unplaced: Json[] = []

  const addToPart = (event: JsonObject, kind: string, text: string): boolean => {
    const target = LISTS.get(kind)
    if (target === undefined) return false
    const place = asCount(event[target.place]) ?? 0
    const key = `${target.list} ${target.part} ${place}`
    if (!parts.has(key) && parts.size >= BLOCK_LIMIT) return false
    itemType ??= target.part === 'reasoning_text' || target.list === 'summary' ? 'reasoning' : 'message'
    const found = parts.get(key) ?? {
      list: target.list,
      part: target.part,
      place,
      pieces: createPieces(budget),
    }
    parts.set(key, found)
    found.pieces.add(text)
    return true
  }

  const addToField = (kind: string, text: string): boolean => {
    const target = FIELDS.get(kind)
    if (target === undefined) return false
    itemType ??= target.item
    const pieces = fields.get(target.field) ?? createPieces(budget, PARTIAL_JSON_LIMIT)
    fields.set(target.field, pieces)
    pieces.add(text)
    return true
  }

  const partsOf = (list: string): Json[] =>
    [...parts.values()]
      .filter((part) => part.list === list)
      .sort((a, b) => a.place - b.place)
      .map(({ part, pieces }) => ({ type: part, [part === 'refusal' ? 'refusal' : 'text']: pieces.text() }))

  return {
    take(event, type) {
      const item = asObject(event['item'])
      if (type === 'response.output_item.added' && item !== undefined) {
        begun = item
        return true
      }
      if (type === 'response.output_item.done' && item !== undefined) {
        done = item
        return true
      }
      if (DEEP.test(type)) {
        if (budget.take(toJson(event).length)) unplaced.push(event)
        return true
      }
      const kind = type.slice(0, type.lastIndexOf('.'))
      // `.done` repeats whole what its deltas said.
      if (type.endsWith('.done')) return LISTS.has(kind) || FIELDS.has(kind)
      const text = asString(event['delta'])
      if (!type.endsWith('.delta') || text === undefined) return false
      return addToPart(event, kind, text) || addToField(kind, text)
    },
    toRaw() {
      if (done !== undefined) return done
      const content = partsOf('content')
      const summary = partsOf('summary')
      const texts = [...fields].map(([field, pieces]) => [field, pieces.text()])
      return {
        ...(begun ?? { type: itemType ?? 'message', ...(itemType === 'message' && { role: 'assistant' }) }),
        ...(content.length > 0 && { content }),
        ...(summary.length > 0 && { summary }),
        ...Object.fromEntries(texts),
      }
    },
    unplaced: () => (done === undefined ? unplaced : []),
  }
}
