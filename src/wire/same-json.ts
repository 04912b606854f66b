/** Whether two values say the same: the order of an object's keys does not count, that of a list does. Any depth. */
import { isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'

export function isSame(one: Json, other: Json): boolean {
  return isSameAt(one, other, 0)
}

/** Deeper than what anybody sends, and than the stack would be at its end. */
const DEEPEST = 500

function isSameAt(a: Json, b: Json, depth: number): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  // Down there the order of keys counts.
  if (depth > DEEPEST) return toJson(a) === toJson(b)
  if (Array.isArray(a)) return Array.isArray(b) && areSameItems(a, b, depth + 1)
  return isObject(a) && isObject(b) && areSameFields(a, b, depth + 1)
}

function areSameItems(a: readonly Json[], b: readonly Json[], depth: number): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at += 1) if (!isSameAt(a[at] as Json, b[at] as Json, depth)) return false
  return true
}

function areSameFields(a: JsonObject, b: JsonObject, depth: number): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  for (const key of keys)
    if (!Object.hasOwn(b, key) || !isSameAt(a[key] as Json, b[key] as Json, depth)) return false
  return true
}
