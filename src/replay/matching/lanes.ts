/**
 * Whether a request goes on with the lane of a recorded one: by what the two share, and by how many answers have come before. An agent
 * that is at another step is not there, however much is the same.
 */
import { asArray, asObject, asString, isObject, type Json } from '../../transcript/json.ts'
import { canonical } from './canonical.ts'
import { partsOf, type Asked } from './keys.ts'
import type { Way } from './normalisers.ts'

export type LaneScore = {
  /** 0 for nothing in common: then it is another lane. */
  readonly score: number
  /** At the same step: as many answers before it, and the last message of the same kind. */
  readonly isThere: boolean
}

export function toLaneScore(recorded: Asked, live: Asked, way: Way): LaneScore {
  if (recorded.api !== live.api || !isObject(recorded.body) || !isObject(live.body))
    return { score: 0, isThere: false }
  const [one, other] = [partsOf(recorded.body), partsOf(live.body)]
  const isSameField = (name: string): boolean => {
    const [a, b] = [one.fields[name], other.fields[name]]
    return a !== undefined && b !== undefined && canonical(a, way) === canonical(b, way)
  }
  const shared = SPEAKING.filter(isSameField).length
  const first = isAlike(one.list[0], other.list[0], way) ? 1 : 0
  const answers = answersOf(one.list)
  const common = answers.filter((answer, at) => isAlike(answer, answersOf(other.list)[at], way)).length
  return {
    // An answer that only this lane was given says more than what every agent is told.
    score: common * 8 + first * 4 + shared,
    isThere: answers.length === positionOf(live) && lastOf(one.list) === lastOf(other.list),
  }
}

/** Who an agent is, and what it has to work with. */
const SPEAKING = ['system', 'instructions', 'systemInstruction', 'system_instruction', 'tools', 'model']

/** How many answers have come before. */
export function positionOf({ body }: Asked): number {
  return isObject(body) ? answersOf(partsOf(body).list).length : 0
}

function answersOf(list: readonly Json[]): readonly Json[] {
  return list.filter((item) => {
    const { role, type } = asObject(item) ?? {}
    return role === 'assistant' || role === 'model' || asString(type)?.endsWith('_call') === true
  })
}

/** What kind of message stands last: words, or what tools gave. */
export function lastOf(list: readonly Json[]): string {
  const last = asObject(list.findLast((item) => isSpoken(item)))
  if (last === undefined) return 'nothing'
  const type = asString(last['type']) ?? ''
  if (type.endsWith('_output') || last['role'] === 'tool') return 'tool results'
  const parts = asArray(last['content']) ?? asArray(last['parts']) ?? []
  const isResult = parts.some((part) => {
    const { type: kind, functionResponse } = asObject(part) ?? {}
    return kind === 'tool_result' || functionResponse !== undefined
  })
  return isResult ? 'tool results' : `${asString(last['role']) ?? type} words`
}

/** Not what a client puts between them for the provider's sake, or into the history as if somebody had said it. */
function isSpoken(item: Json): boolean {
  const { role, type } = asObject(item) ?? {}
  if (role === 'system' || role === 'developer') return false
  return (
    role !== undefined ||
    asString(type)?.endsWith('_output') === true ||
    asString(type)?.endsWith('_call') === true
  )
}

function isAlike(one: Json | undefined, other: Json | undefined, way: Way): boolean {
  return one !== undefined && other !== undefined && canonical(one, way) === canonical(other, way)
}
