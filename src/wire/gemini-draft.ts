/** One candidate of a streamed Gemini answer. `toRaw` gives the candidate as it would have come whole. */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asObject, asString, isObject, rest, toJson } from '../transcript/json.ts'
import type { Budget } from './limits.ts'
import { BLOCK_LIMIT } from './limits.ts'
import { createPieces, type Pieces } from './pieces.ts'
import { saidFields } from './message.ts'

export type CandidateDraft = {
  take(candidate: JsonObject): void
  isFinished(): boolean
  toRaw(): JsonObject
}

/** Text grows while pieces of the same kind follow each other; a part with anything more to say stands alone. */
type Part = { readonly thought: boolean; readonly pieces: Pieces } | { readonly raw: Json }

const CONTENT_FIELDS: ReadonlySet<string> = new Set(['parts', 'role'])
const GROWING: ReadonlySet<string> = new Set(['text', 'thought'])

export function createCandidateDraft(budget: Budget): CandidateDraft {
  const parts: Part[] = []
  /** Grounding, ratings, citations: the last value of each wins. */
  let stated: JsonObject = {}
  let content: JsonObject = {}

  const takePart = (raw: Json): void => {
    const text = isObject(raw) ? asString(raw['text']) : undefined
    const isGrowing = isObject(raw) && text !== undefined && rest(raw, GROWING) === undefined
    const thought = isObject(raw) && raw['thought'] === true
    const last = parts.at(-1)
    if (isGrowing && last !== undefined && 'pieces' in last && last.thought === thought) {
      last.pieces.add(text)
      return
    }
    if (parts.length >= BLOCK_LIMIT) {
      budget.drop(toJson(raw).length)
      return
    }
    if (isGrowing) {
      const pieces = createPieces(budget)
      pieces.add(text)
      parts.push({ thought, pieces })
    } else if (budget.take(toJson(raw).length)) parts.push({ raw })
  }

  return {
    take(candidate) {
      const said = asObject(candidate['content'])
      for (const part of asArray(said?.['parts']) ?? []) takePart(part)
      stated = { ...stated, ...saidFields(rest(candidate, new Set(['content']))) }
      content = { ...content, ...saidFields(said && rest(said, CONTENT_FIELDS)) }
    },
    isFinished: () => asString(stated['finishReason']) !== undefined,
    toRaw() {
      const whole = parts.map((part): Json => {
        if ('raw' in part) return part.raw
        return { text: part.pieces.text(), ...(part.thought && { thought: true }) }
      })
      return { ...stated, content: { ...content, role: 'model', parts: whole } }
    },
  }
}
