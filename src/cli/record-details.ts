/** What a line of `hansard record` says of an entry beside its content. What is none of ours is kept as metadata, not dropped. */
import type { Details } from '../capture/recorder.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asCount,
  asNumber,
  asObject,
  asString,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { COUNTS } from '../transcript/usage.ts'
import { strings } from './record-block.ts'

/** `content` names the fields that the entry's blocks were made from. */
export function toDetails(
  value: JsonObject,
  content: readonly string[],
): Details | { readonly problem: string } {
  const at = value['at'] === undefined ? undefined : parseInstant(value['at'])
  if (value['at'] !== undefined && at === undefined) return { problem: '"at" is no ISO 8601 time' }
  const durationMs = asNumber(value['durationMs'])
  const id = asString(value['id'])
  const usage = toUsage(asObject(value['usage']))
  const call = asObject(value['call'])
  const details: Details = {
    ...strings(value, 'model', 'stopReason'),
    ...(at !== undefined && { at }),
    ...(id !== undefined && id !== '' && { id }),
    ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
    ...(usage && { usage }),
    ...(call && { call: strings(call, 'provider', 'requestId', 'messageId') }),
  }
  const metadata = toMetadata(value, new Set(['type', 'source', ...content, ...Object.keys(details)]))
  return { ...details, ...(metadata && { metadata }) }
}

/** The line's own metadata, and whatever else it says: also a field of ours that holds what it cannot. */
function toMetadata(value: JsonObject, used: ReadonlySet<string>): { [key: string]: Json } | undefined {
  const own = asObject(value['metadata'])
  const strange = rest(value, own === undefined ? used : new Set([...used, 'metadata']))
  return own === undefined && strange === undefined ? undefined : { ...strange, ...own }
}

/** Our own counts; a provider's object that says more, or says a count that cannot be one, stays in `raw`. */
function toUsage(value: JsonObject | undefined): Details['usage'] {
  if (value === undefined) return undefined
  const counts = COUNTS.flatMap((name) => {
    const count = asCount(value[name])
    return count === undefined ? [] : [[name, count] as const]
  })
  const others = rest(value, new Set<string>(counts.map(([name]) => name)))
  return { ...Object.fromEntries(counts), ...(others !== undefined && { raw: value }) }
}
