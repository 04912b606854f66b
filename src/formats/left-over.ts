/**
 * What a reader did not take of a record: keys that it does not know, and known ones whose value is not what it takes there. Formats
 * change the types of their fields without telling anybody, and such a value must not be lost.
 */
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import { asArray, asCount, asNumber, asObject, type Json, type JsonObject } from '../transcript/json.ts'
import { asId } from './placing.ts'

/** Of each key that is taken: when. null is what many write for nothing, and says as much. */
export type Takes = ReadonlyMap<string, (value: Json) => boolean>

export function takes(keys: Readonly<Record<string, (value: Json) => boolean>>): Takes {
  return new Map(Object.entries(keys))
}

/** Undefined when everything was taken. `around` is what the record's surroundings say already, by the same keys. */
export function leftOver(
  object: JsonObject,
  taken: Takes,
  around?: ReadonlyMap<string, Json | undefined>,
): JsonObject | undefined {
  let left: Record<string, Json> | undefined
  for (const key of Object.keys(object)) {
    const value = object[key] as Json
    const isTaken = taken.get(key)
    if (isTaken !== undefined && (value === null || isTaken(value))) continue
    if (around !== undefined && typeof value === 'string' && around.get(key) === value) continue
    left ??= Object.create(null) as Record<string, Json>
    left[key] = value
  }
  return left
}

export const always = (): boolean => true
export const isText = (value: Json): boolean => typeof value === 'string'
export const isNamed = (value: Json): boolean => asId(value) !== undefined
export const isCount = (value: Json): boolean => asCount(value) !== undefined
export const isFlag = (value: Json): boolean => typeof value === 'boolean'
export const isList = (value: Json): boolean => asArray(value) !== undefined
export const isRecord = (value: Json): boolean => asObject(value) !== undefined
export const isInstant = (value: Json): boolean => parseInstant(value) !== undefined
export const isMillis = (value: Json): boolean => fromMillis(asNumber(value) ?? Number.NaN) !== undefined
