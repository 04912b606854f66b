/** A value as one text, the same for all that say the same: keys in order, what a normaliser reads as it reads it. */
import { createHash } from 'node:crypto'
import { toJson, type Json, type JsonObject } from '../../transcript/json.ts'
import type { Way } from './normalisers.ts'

/** Deeper than any request; below it, the order of keys counts. */
const DEEPEST = 200

export function canonical(value: Json, way?: Way, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(way === undefined ? value : way.text(value))
  if (typeof value === 'number') return JSON.stringify(way === undefined ? value : way.number(value))
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth > DEEPEST) return toJson(value)
  if (Array.isArray(value)) {
    const items = way === undefined ? (value as readonly Json[]) : way.list(value)
    return `[${items.map((one) => canonical(one, way, depth + 1)).join(',')}]`
  }
  const object = value as JsonObject
  const keys = Object.keys(object).filter((key) => way === undefined || !way.isLeftOut(key))
  const parts = keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key] as Json, way, depth + 1)}`)
  return `{${parts.join(',')}}`
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
