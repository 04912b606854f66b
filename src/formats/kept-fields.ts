/**
 * What a record says beyond what its entry would be written as: the fields that differ, under their own names and at their own
 * places, so that whoever writes the entry in the same format puts the same record back. Small where a reader understands a
 * record well, and never wrong: a difference that cannot be said this way is refused, and the record is then kept whole.
 */
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'

/** Under this key stand the paths of fields that we would write and the record does not have. */
export const ABSENT = 'absent'

/** Deeper than this no record of an agent is understood; it is kept whole. */
const DEPTH_LIMIT = 64

/** The fields of `record` that `ours` does not say; undefined when that cannot be said in fields. */
export function keptFields(record: JsonObject, ours: JsonObject): JsonObject | undefined {
  const absent: Json[] = []
  const kept = compareObjects(record, ours, [], absent)
  if (kept === REFUSED) return undefined
  if (absent.length === 0) return kept ?? {}
  return { ...kept, [ABSENT]: absent }
}

/** The record again: `ours`, with the kept fields in their places. */
export function putBack(ours: JsonObject, kept: JsonObject): JsonObject {
  const { [ABSENT]: absent, ...fields } = kept
  const record = mergeObject(ours, fields)
  const removed = toRemoved(Array.isArray(absent) ? (absent as readonly Json[]) : [])
  return removed.below.size === 0 ? record : (without(record, removed) as JsonObject)
}

const REFUSED = Symbol('refused')
type Kept = JsonObject | undefined | typeof REFUSED
type Path = readonly (string | number)[]

function compareObjects(record: JsonObject, ours: JsonObject, path: Path, absent: Json[]): Kept {
  if (path.length > DEPTH_LIMIT) return REFUSED
  let kept: Record<string, Json> | undefined
  for (const key of Object.keys(record)) {
    // At the top this name is ours.
    if (key === ABSENT && path.length === 0) return REFUSED
    const value = record[key] as Json
    const difference = Object.hasOwn(ours, key)
      ? compare(value, ours[key] as Json, [...path, key], absent)
      : { value }
    if (difference === undefined) continue
    if (difference === REFUSED) return REFUSED
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = difference.value
  }
  for (const key of Object.keys(ours)) if (!Object.hasOwn(record, key)) absent.push([...path, key])
  return kept
}

/** Undefined: the same. */
function compare(
  record: Json,
  ours: Json,
  path: Path,
  absent: Json[],
): { readonly value: Json } | undefined | typeof REFUSED {
  if (record === ours) return undefined
  if (isObject(ours)) {
    // An object in place of an object is read as its fields; anything else replaces it.
    if (!isObject(record)) return { value: record }
    const kept = compareObjects(record, ours, path, absent)
    return kept === undefined || kept === REFUSED ? kept : { value: kept }
  }
  if (!Array.isArray(ours)) return { value: record }
  if (!Array.isArray(record)) return isObject(record) ? REFUSED : { value: record }
  if (record.length !== ours.length) return { value: record as Json }
  let kept: Record<string, Json> | undefined
  for (const [index, item] of (record as readonly Json[]).entries()) {
    const difference = compare(item, ours[index] as Json, [...path, index], absent)
    if (difference === undefined) continue
    if (difference === REFUSED) return REFUSED
    kept ??= Object.create(null) as Record<string, Json>
    kept[index] = difference.value
  }
  return kept === undefined ? undefined : { value: kept }
}

function merge(ours: Json | undefined, kept: Json): Json {
  if (!isObject(kept)) return kept
  if (isObject(ours)) return mergeObject(ours, kept)
  if (!Array.isArray(ours)) return kept
  return ours.map((item: Json, index) =>
    Object.hasOwn(kept, index) ? merge(item, kept[index] as Json) : item,
  )
}

function mergeObject(ours: JsonObject, kept: JsonObject): JsonObject {
  const merged = Object.create(null) as Record<string, Json>
  for (const key of Object.keys(ours)) merged[key] = ours[key] as Json
  for (const key of Object.keys(kept)) {
    merged[key] = merge(Object.hasOwn(ours, key) ? ours[key] : undefined, kept[key] as Json)
  }
  return merged
}

/** All paths at once, so that a record is gone through once however many there are. */
type Removed = { isRemoved: boolean; readonly below: Map<Json, Removed> }

function toRemoved(paths: readonly Json[]): Removed {
  const root: Removed = { isRemoved: false, below: new Map() }
  for (const path of paths) {
    if (!Array.isArray(path)) continue
    let at = root
    for (const key of path as readonly Json[]) {
      const next = at.below.get(key) ?? { isRemoved: false, below: new Map<Json, Removed>() }
      at.below.set(key, next)
      at = next
    }
    at.isRemoved = true
  }
  return root
}

function without(value: Json, { below }: Removed): Json {
  if (below.size === 0) return value
  if (Array.isArray(value)) {
    // An element has its place in the list: only what is below it is removed.
    return (value as readonly Json[]).map((item, index) => {
      const removed = below.get(index)
      return removed === undefined ? item : without(item, removed)
    })
  }
  if (!isObject(value)) return value
  const left = Object.create(null) as Record<string, Json>
  for (const name of Object.keys(value)) {
    const removed = below.get(name)
    if (removed?.isRemoved === true) continue
    left[name] = removed === undefined ? (value[name] as Json) : without(value[name] as Json, removed)
  }
  return left
}
