/** What a line of `hansard record` says of an entry beside its content. What is none of ours is kept as metadata, not dropped. */
import type { Details } from '../capture/recorder.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asCount, asNumber, asObject, asString, rest, type JsonObject } from '../transcript/json.ts'
import { COUNTS } from '../transcript/usage.ts'

const KNOWN: ReadonlySet<string> = new Set(
  (
    'type role text blocks source at id model usage stopReason durationMs call metadata name input callId output ' +
    'error isError message code record raw status usd title'
  ).split(' '),
)

export function toDetails(value: JsonObject): Details | { readonly problem: string } {
  const at = value['at'] === undefined ? undefined : parseInstant(value['at'])
  if (value['at'] !== undefined && at === undefined) return { problem: '"at" is no ISO 8601 time' }
  const durationMs = asNumber(value['durationMs'])
  const model = asString(value['model'])
  const stopReason = asString(value['stopReason'])
  const id = asString(value['id'])
  const usage = toUsage(asObject(value['usage']))
  const call = toCall(asObject(value['call']))
  const own = asObject(value['metadata'])
  const strange = rest(value, KNOWN)
  return {
    ...(at !== undefined && { at }),
    ...(id !== undefined && id !== '' && { id }),
    ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
    ...(model !== undefined && { model }),
    ...(stopReason !== undefined && { stopReason }),
    ...(usage && { usage }),
    ...(call && { call }),
    ...((own !== undefined || strange !== undefined) && { metadata: { ...own, ...strange } }),
  }
}

/** Our own counts; what else a provider's object says stays in `raw`. */
function toUsage(value: JsonObject | undefined): Details['usage'] {
  if (value === undefined) return undefined
  const counts = COUNTS.flatMap((name) => {
    const count = asCount(value[name])
    return count === undefined ? [] : [[name, count] as const]
  })
  const others = rest(value, new Set<string>(COUNTS))
  return { ...Object.fromEntries(counts), ...(others !== undefined && { raw: value }) }
}

function toCall(value: JsonObject | undefined): Details['call'] {
  if (value === undefined) return undefined
  const provider = asString(value['provider'])
  const requestId = asString(value['requestId'])
  const messageId = asString(value['messageId'])
  return {
    ...(provider !== undefined && { provider }),
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
  }
}
