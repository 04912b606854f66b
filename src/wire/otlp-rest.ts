/**
 * What a span of OTLP's says that an `OtlpSpan` has no place for, or says in a shape that is not OTLP's: links, flags, its kind, attributes
 * without a name or a value. Kept as it came.
 */
import { asArray, isObject, type Json, type JsonObject } from '../transcript/json.ts'

/** True for what a reader takes of a field. */
export type Takes = Readonly<Record<string, (value: Json) => boolean>>

/** The fields that are not taken; undefined when all are. Nothing, zero and empty are what absence says. */
export function restOf(raw: JsonObject, taken: Takes): JsonObject | undefined {
  let rest: Record<string, Json> | undefined
  for (const key of Object.keys(raw)) {
    const value = raw[key] as Json
    if (isNothing(value) || (Object.hasOwn(taken, key) && taken[key]?.(value) === true)) continue
    rest ??= Object.create(null) as Record<string, Json>
    rest[key] = value
  }
  return rest
}

function isNothing(value: Json): boolean {
  if (value === null || value === '' || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** A list of pairs, each with a name and a value of the types that there are. */
export function areAttributes(value: Json): boolean {
  return (asArray(value) ?? [null]).every(
    (pair) =>
      isObject(pair) &&
      typeof pair['key'] === 'string' &&
      isValue(pair['value'], DEEPEST) &&
      Object.keys(pair).length === 2,
  )
}

/** Values in values: past this they are kept as they came, and told so. */
const DEEPEST = 64

function isValue(value: Json | undefined, depth: number): boolean {
  if (!isObject(value) || depth === 0) return depth === 0
  const [[kind, held] = ['', null], ...more] = Object.entries(value)
  if (more.length > 0) return false
  switch (kind) {
    case '':
      return true
    case 'stringValue':
    case 'bytesValue':
      return typeof held === 'string'
    case 'boolValue':
      return typeof held === 'boolean'
    case 'intValue':
      return typeof held === 'number' || (typeof held === 'string' && /^-?\d{1,20}$/.test(held))
    case 'doubleValue':
      return typeof held === 'number' || typeof held === 'string'
    case 'arrayValue':
      return isObject(held) && (asArray(held['values']) ?? []).every((one) => isValue(one, depth - 1))
    case 'kvlistValue':
      return (
        isObject(held) &&
        (asArray(held['values']) ?? []).every(
          (pair) => isObject(pair) && typeof pair['key'] === 'string' && isValue(pair['value'], depth - 1),
        )
      )
    default:
      return false
  }
}
