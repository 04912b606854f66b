/** A line of a swarm transcript as text: how it is put together, and what it says of its time. */
import type { Entry } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asObject,
  asString,
  parseJson,
  type Json,
  type JsonObject,
  toSpacedJson,
} from '../transcript/json.ts'

/** The seed's fields first, then what another writer added. */
export function toLine(own: JsonObject, fields: JsonObject): string {
  const line = Object.create(null) as Record<string, Json>
  for (const key of Object.keys(own)) line[key] = own[key] as Json
  for (const key of Object.keys(fields)) if (!(key in line)) line[key] = fields[key] as Json
  return `${toSpacedJson(line)}\n`
}

export function timeOf(line: string | undefined): string | undefined {
  const record = line === undefined ? undefined : asObject(parseJson(line))
  return parseInstant(asString(record?.['timestamp']) ?? asString(record?.['ts']))
}

/** A line that no dialect explains, exactly as it was. */
export function rawOf({ kind, blocks }: Entry): Json | undefined {
  return kind === 'event' ? blocks.find((block) => block.type === 'unknown')?.raw : undefined
}
