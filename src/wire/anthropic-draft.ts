/** One content block while its deltas arrive. `toRaw` gives the block as the provider would have sent it whole. */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asString, parseJson, toJson } from '../transcript/json.ts'
import type { Budget } from './limits.ts'
import { PARTIAL_JSON_LIMIT } from './limits.ts'
import { createPieces, type Pieces } from './pieces.ts'

export type BlockDraft = {
  /** False when the delta's kind is not known: the caller keeps it. */
  add(delta: JsonObject): boolean
  toRaw(): JsonObject
}

/** `begun` is the block of `content_block_start`; undefined when that event was lost. */
export function createBlockDraft(begun: JsonObject | undefined, budget: Budget): BlockDraft {
  const texts = new Map<string, Pieces>()
  const citations: Json[] = []
  let json: Pieces | undefined
  let signature: string | undefined
  let type: string | undefined

  /** Deltas that append to a field of the block. */
  const append = (blockType: string, field: string, text: string | undefined): boolean => {
    if (text === undefined) return false
    type ??= blockType
    const pieces = texts.get(field) ?? createPieces(budget)
    texts.set(field, pieces)
    pieces.add(text)
    return true
  }

  const addJson = (text: string | undefined): boolean => {
    if (text === undefined) return false
    type ??= 'tool_use'
    json ??= createPieces(budget, PARTIAL_JSON_LIMIT)
    json.add(text)
    return true
  }

  return {
    add(delta) {
      switch (asString(delta['type']) ?? '') {
        case 'text_delta':
          return append('text', 'text', asString(delta['text']))
        case 'thinking_delta':
          return append('thinking', 'thinking', asString(delta['thinking']))
        case 'compaction_delta':
          return delta['content'] === null || append('compaction', 'content', asString(delta['content']))
        case 'input_json_delta':
          return addJson(asString(delta['partial_json']))
        case 'signature_delta': {
          const replacing = asString(delta['signature'])
          if (replacing === undefined || !budget.take(replacing.length)) return replacing !== undefined
          type ??= 'thinking'
          // Whole each time, unlike every other delta.
          signature = replacing
          return true
        }
        case 'citations_delta':
          if (delta['citation'] === undefined) return false
          if (budget.take(toJson(delta['citation']).length)) citations.push(delta['citation'])
          return true
        default:
          return false
      }
    },
    toRaw() {
      const raw: JsonObject = begun ?? { type: type ?? 'text' }
      const appended = [...texts].map(([field, pieces]): [string, Json] => [
        field,
        (asString(raw[field]) ?? '') + pieces.text(),
      ])
      return {
        ...raw,
        ...Object.fromEntries(appended),
        ...(json !== undefined && !json.isEmpty && { input: toInput(json.text()) }),
        ...(signature !== undefined && { signature }),
        ...(citations.length > 0 && { citations: [...(asArray(raw['citations']) ?? []), ...citations] }),
      }
    },
  }
}

/** Eager streaming may end in invalid JSON, and a cut stream does: the model's text is then all there is. */
function toInput(text: string): Json {
  return parseJson(text) ?? text
}
