/** Spans that we wrote ourselves: which entries each stands for, and what of them the conventions have no attribute for. */
import {
  asArray,
  asNumber,
  asString,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { readOtelSpan } from '../wire/otel.ts'
import type { OtlpSpan } from '../wire/otlp.ts'
import type { RequestMessage } from '../wire/request.ts'
import { withFacts } from './own-facts.ts'
import type { Said } from './placing.ts'
import { fromAnswer } from './provider-entries.ts'

/** Attributes of ours. */
export const ENTRIES = 'hansard.entries'
export const SESSION = 'hansard.session'
export const SOURCE = 'hansard.source'
export const AGENT = 'hansard.agent'

export const isOwn = ({ attributes }: OtlpSpan): boolean => attributes.has(ENTRIES)

/** What a span says in the conventions' words: the messages that were sent, then the answer. */
export function messagesIn(span: OtlpSpan): readonly Said[] {
  const told = readOtelSpan(span)
  if (told?.kind !== 'call') return []
  return [...told.request.messages.map(toSaid), fromAnswer(told.message)]
}

export const toSaid = ({ role, blocks, extras, fields }: RequestMessage): Said => ({
  kind: 'message',
  role,
  blocks,
  ...((extras !== undefined || fields !== undefined) && {
    metadata: { ...(extras !== undefined && { extras }), ...(fields !== undefined && { fields }) },
  }),
})

/** The entries that a span of ours was written for. `m` is the place of an entry's message, `f` what differs. */
export function entriesOf(span: OtlpSpan): readonly Said[] {
  const listed = asArray(parsed(span, ENTRIES)) ?? []
  const messages = listed.length === 0 ? [] : messagesIn(span)
  const source = asString(span.attributes.get(SOURCE))
  const where = source !== undefined && source.startsWith('subagent:') ? { source } : {}
  return listed.filter(isObject).flatMap((one) => {
    const said = withFacts(messages[asNumber(one['m']) ?? -1], one['f'])
    return said === undefined ? [] : [{ ...said, ...where }]
  })
}

export const sessionIn = (span: OtlpSpan): JsonObject | undefined => {
  const value = parsed(span, SESSION)
  return isObject(value) ? value : undefined
}

const parsed = ({ attributes }: OtlpSpan, name: string): Json | undefined =>
  parseJson(asString(attributes.get(name)) ?? '')
