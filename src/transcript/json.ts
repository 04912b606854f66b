/**
 * JSON as this project handles it: values of unknown shape are asked for one field at a time, and writing one
 * never fails, however deep it is (`JSON.stringify` throws a RangeError near depth 5,000 that `JSON.parse` accepts).
 */
import { isSwelling } from './swelling.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value, or undefined when the text is not JSON, or would be far more in memory than it is as text. */
export function parseJson(text: string): Json | undefined {
  if (isSwelling(text)) return undefined
  try {
    // The one place where parsed text becomes Json.
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Fields of foreign objects: the value when it has the type asked for, else undefined. */
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)
export const asArray = (value: unknown): readonly Json[] | undefined =>
  Array.isArray(value) ? value : undefined
export const asBoolean = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** A token count or a size: a whole number of at least 0. Anything else is unknown. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** The object without the keys named; undefined when nothing is left. For "keep what you do not understand". */
export function rest(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let kept: Record<string, Json> | undefined
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = object[key] as Json
  }
  return kept
}

/** `JSON.stringify` that also takes values too deep for it. */
export function toJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return stackToJson(value, ',', ':')
  }
}

/**
 * JSON on one line with a space after each comma and colon, the way Python writes it and two of the seeds show it:
 * `{"path": "src", "depth": 2}`.
 */
export function toSpacedJson(value: unknown): string {
  return stackToJson(value, ', ', ': ')
}

/** By an explicit stack, so no depth is too deep; slow, and only for what the built-in one cannot write. */
function stackToJson(value: unknown, comma: string, colon: string): string {
  const out: string[] = []
  const stack: (string | { readonly value: unknown })[] = [{ value }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') out.push(next)
    else if (Array.isArray(next.value)) {
      const items: readonly unknown[] = next.value
      stack.push(']')
      for (let i = items.length - 1; i >= 0; i -= 1) {
        stack.push({ value: items[i] ?? null })
        if (i > 0) stack.push(comma)
      }
      out.push('[')
    } else if (isObject(next.value)) {
      const object = next.value
      const keys = Object.keys(object).filter((key) => object[key] !== undefined)
      stack.push('}')
      for (let i = keys.length - 1; i >= 0; i -= 1) {
        const key = keys[i] as string
        stack.push({ value: object[key] }, `${i > 0 ? comma : ''}${JSON.stringify(key)}${colon}`)
      }
      out.push('{')
    } else out.push(JSON.stringify(next.value) ?? 'null')
  }
  return out.join('')
}
