/**
 * Telemetry of OpenClaw's gateway: what came in and went out on its channels, when agents and tools began and ended. The conversations
 * themselves are lists of pi's messages that some of its events carry, each time from the beginning: a message is said where it first
 * stands, and what repeats it is left out.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { sha256 } from '../transcript/sha256.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Format } from './format.ts'
import { createRecentIds } from './id-set.ts'
import { fromPiLine } from './pi-lines.ts'
import type { Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'openclaw-telemetry'

export const openclawTelemetry: Format = foldedFormat({
  id: ID,
  title: "OpenClaw's telemetry: messages, agents and tools as they begin and end",
  look: (head) => vote(head, isLine, { what: 'event', of: "OpenClaw's telemetry" }),
  fold: createTelemetryFold,
  vocabulary: vocabulary({
    records: [
      'message.in: channel content contentLength from metadata timestamp',
      'message.out: channel content success to',
      'message.sending: channel content to',
      'agent.start: agentId messages prompt promptLength sessionKey',
      'agent.end: agentId durationMs markdown messages sessionKey success',
      'tool.start: agentId params sessionKey toolName',
      'tool.end: agentId durationMs sessionKey success toolName',
    ],
    common: 'type ts seq',
  }),
  watch: (watch, line) => watch.record(asString(line['type']) ?? '', line),
})

const TYPES: ReadonlySet<string> = new Set([
  'message.in',
  'message.out',
  'message.sending',
  'agent.start',
  'agent.end',
  'tool.start',
  'tool.end',
])

function isLine(record: JsonObject): boolean {
  const type = asString(record['type']) ?? ''
  if (!TYPES.has(type)) return false
  return type.startsWith('message.') ? 'channel' in record : 'sessionKey' in record || 'agentId' in record
}

function createTelemetryFold(): SessionFold {
  const span = createSpan()
  const seen = createRecentIds()
  let model: string | undefined

  /** What a list says that was not said before, in the list's order. */
  const fresh = (messages: readonly Json[], source: string): readonly Said[] =>
    messages.flatMap((message): readonly Said[] => {
      const mark = sha256(toJson([source, message])).toString('base64', 0, 18)
      if (seen.has(mark)) return []
      seen.add(mark)
      if (!isObject(message)) return [{ ...unknownSaid(message), source }]
      const {
        id: _,
        sequence: __,
        ...said
      } = fromPiLine({ type: 'message', message }, { id: '', source, sequence: 0 }, mark)
      const at = fromMillis(asNumber(message['timestamp']) ?? Number.NaN)
      model = said.model ?? model
      span.see(at)
      return [{ ...said, ...(at !== undefined && { at }) }]
    })
  return {
    next(value) {
      if (!isObject(value) || !isLine(value)) return []
      const record = asString(value['type']) as string
      const source = sourceOf(asString(value['sessionKey']))
      const at = fromMillis(asNumber(value['ts'] ?? value['timestamp']) ?? Number.NaN)
      span.see(at)
      const messages = asArray(value['messages'])
      const event = { ...toEvent(value, record), source, ...(at !== undefined && { at }) }
      return messages === undefined ? [event] : [event, ...fresh(messages, source)]
    },
    facts: () => ({ agent: 'openclaw', ...(model !== undefined && { model }), ...span.facts() }),
  }
}

/** `agent:main:subagent:<uuid>` */
function sourceOf(key: string | undefined): string {
  const [, id] = /:subagent:([^:]{1,128})/.exec(key ?? '') ?? []
  return id === undefined ? PRIMARY : `subagent:${id}`
}

/** Of a list of messages the event holds only how long it is: they are entries of their own. */
function toEvent(line: JsonObject, record: string): Said {
  const messages = asArray(line['messages'])
  const raw =
    messages === undefined ? line : { ...rest(line, new Set(['messages'])), messages: messages.length }
  const text = asString(line['content'])
  const duration = asNumber(line['durationMs'])
  const event = unknownSaid(raw, record)
  return {
    ...event,
    ...(text !== undefined && {
      blocks: [{ type: 'text', text }],
      metadata: { record, ...rest(asObject(raw) ?? {}, new Set(['content', 'type'])) },
    }),
    ...(duration !== undefined && duration >= 0 && { durationMs: duration }),
  }
}
