/** What one of Gemini CLI's records says beyond the model: kept under its own name, so that nothing of it is lost. */
import { parseInstant } from '../transcript/instant.ts'
import { rest, type Json, type JsonObject } from '../transcript/json.ts'

/** What is read of a record, by key, and when it is: anything else is kept under its own name. */
export type Reads = ReadonlyMap<string, (value: Json, record: JsonObject) => boolean>

export const isText = (value: Json): boolean => typeof value === 'string'
export const isTime = (value: Json): boolean => parseInstant(value) !== undefined
export const always = (): boolean => true

export function unread(record: JsonObject, reads: Reads): JsonObject | undefined {
  const known = new Set<string>()
  for (const [key, isRead] of reads) {
    const value = record[key]
    if (value === undefined || value === null || isRead(value, record)) known.add(key)
  }
  return rest(record, known)
}

export function kept(metadata: JsonObject | undefined): { readonly metadata?: JsonObject } {
  return metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }
}

/** What each of a list says beyond the model, by place; nothing when none does. */
export function listed(key: string, values: readonly (JsonObject | undefined)[]): JsonObject {
  return values.every((value) => value === undefined) ? {} : { [key]: values.map((value) => value ?? null) }
}
