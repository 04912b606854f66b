/**
 * What one span of a trace says, told once: a call's new messages and its answer, a tool's call and result, and what is neither as it
 * stands. Every call repeats its conversation, and agents sum up their calls.
 */
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { hasCounts } from '../transcript/usage.ts'
import type { CallTold } from '../wire/otel-call.ts'
import type { OtelTool } from '../wire/otel.ts'
import type { Attributes, OtlpSpan } from '../wire/otlp.ts'
import type { IdSet } from './id-set.ts'
import { keepLast } from './keep-last.ts'
import { entriesOf, isOwn, sessionIn, toSaid } from './otel-own.ts'
import type { OtelTree, TreeSpan } from './otel-tree.ts'
import { sessionOf } from './own-facts.ts'
import type { Place, Said } from './placing.ts'
import { fromAnswer } from './provider-entries.ts'
import type { Telling } from './telling.ts'
import { createToldMessages, withoutLong, type ToldMessages } from './told-messages.ts'
import { unknownSaid } from './unknown.ts'

export type Held = TreeSpan & { readonly place: Place }

/** What was told of a session so far. */
export type Talk = {
  readonly telling: Telling
  readonly lanes: Map<string, ToldMessages>
  readonly calls: IdSet
  readonly resources: IdSet
}

export function tellSpan({ span, told, place }: Held, tree: OtelTree, talk: Talk): void {
  if (isOwn(span)) {
    const session = sessionIn(span)
    if (session !== undefined) talk.telling.know(sessionOf(session))
    talk.telling.begin()
    for (const said of entriesOf(span)) talk.telling.say(said, place)
    return
  }
  const source = tree.sourceOf(span)
  const where = { ...(source !== PRIMARY && { source }) }
  const say = (said: Said, at: string | undefined): void =>
    talk.telling.say({ ...said, ...where, ...(at !== undefined && { at }) }, place)
  const lane = talk.lanes.get(source) ?? createToldMessages()
  keepLast(talk.lanes, source, lane)
  const resource = Object.fromEntries(span.resource)
  const key = toJson(withoutLong(resource))
  if (span.resource.size > 0 && !talk.resources.has(key)) {
    talk.resources.add(key)
    say(unknownSaid(resource, 'resource'), span.startedAt)
  }
  const ids = {
    trace: span.traceId,
    span: span.spanId,
    ...(span.parentId !== undefined && { parent: span.parentId }),
    name: span.name,
    ...(span.scope !== undefined && { scope: span.scope }),
    ...(span.rest !== undefined && { rest: span.rest }),
    ...eventsOf(span.events.filter(({ name }) => !name.startsWith('gen_ai.'))),
  }
  const lasted = span.durationMs === undefined ? {} : { durationMs: span.durationMs }
  if (told?.kind === 'tool') {
    const id = told.callId
    if (id === undefined || !talk.calls.has(id)) say(callOf(told), span.startedAt)
    const result = resultOf(told)
    lane.tell(result)
    return say(
      { ...result, ...lasted, metadata: { ...ids, attributes: restOf(span.attributes, TOOL) } },
      span.endedAt ?? span.startedAt,
    )
  }
  const isAlone = told?.kind === 'agent' && !tree.hasCalls(span) && isSaying(told)
  if (told?.kind === 'call' || (told?.kind === 'agent' && isAlone)) {
    const { request } = told
    const asked = [
      ...(request.system === undefined ? [] : [toSaid({ role: 'system', ...request.system })]),
      ...request.messages.map(toSaid),
    ]
    for (const message of lane.news(asked)) say(message, span.startedAt)
    const answer = answerOf(span, told)
    for (const block of answer.blocks)
      if (block.type === 'tool-call' && block.callId !== undefined) talk.calls.add(block.callId)
    lane.tell(answer)
    const metadata = { ...answer.metadata, ...ids, attributes: restOf(span.attributes, CONVERSATION) }
    return say({ ...answer, ...lasted, metadata }, span.endedAt ?? span.startedAt)
  }
  say(
    { ...unknownSaid(spanToJson(span, told?.kind === 'agent'), told?.kind ?? 'span'), ...lasted },
    span.startedAt,
  )
}

/** An agent without calls below it is told by itself, where it says anything. */
const isSaying = ({ request, message }: CallTold): boolean =>
  request.messages.length > 0 ||
  message.blocks.length > 0 ||
  (message.usage !== undefined && hasCounts(message.usage))

function answerOf(span: OtlpSpan, { message, provider, request }: CallTold): Said {
  const said = fromAnswer(message)
  const model = said.model ?? request.model
  // Without a provider's own name for it, a call is its span.
  const messageId = message.messageId ?? `${span.traceId}-${span.spanId}`
  return {
    ...said,
    ...(model !== undefined && { model }),
    call: { ...(provider !== '' && { provider }), messageId },
  }
}

function callOf({ name, callId, input }: OtelTool): Said {
  const block: Block = {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
  return { kind: 'message', role: 'assistant', blocks: [block] }
}

function resultOf({ name, callId, output, error }: OtelTool): Said {
  const block: Block = {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    name,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error, isError: true }),
  }
  return { kind: 'message', role: 'tool', blocks: [block] }
}

/** Attributes that entries say: the conversation, and what a tool was given and gave. */
const CONVERSATION =
  /^(?:gen_ai\.(?:input\.messages|output\.messages|system_instructions|prompt\.\d|completion\.\d)|llm\.(?:input|output)_messages\.\d|(?:input|output)\.value$|ai\.(?:prompt|response\.(?:text|toolCalls|reasoning)))/
const TOOL =
  /^(?:gen_ai\.tool\.(?:call\.(?:id|arguments|result)|name)$|ai\.toolCall\.|tool\.(?:parameters|name)$|(?:input|output)\.value$|traceloop\.entity\.(?:input|output)$)/

const restOf = (attributes: Attributes, said: RegExp): JsonObject =>
  Object.fromEntries([...attributes].filter(([key]) => !said.test(key)))

/** A span around others, or of something else. What was said in it is told by those below, where there are any. */
function spanToJson(span: OtlpSpan, isSummed: boolean): Json {
  const {
    traceId,
    spanId,
    parentId,
    name,
    startedAt,
    endedAt,
    scope,
    statusMessage,
    isError,
    attributes,
    events,
    rest,
  } = span
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentId }),
    name,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(scope !== undefined && { scope }),
    ...(rest !== undefined && { rest }),
    ...(statusMessage !== undefined && { statusMessage }),
    ...(isError && { isError }),
    attributes: restOf(attributes, isSummed ? CONVERSATION : NOTHING),
    ...eventsOf(events),
  }
}

function eventsOf(events: OtlpSpan['events']): { readonly events?: readonly Json[] } {
  if (events.length === 0) return {}
  return {
    events: events.map(({ name, at, attributes }) => ({
      name,
      ...(at !== undefined && { at }),
      attributes: Object.fromEntries(attributes),
    })),
  }
}

const NOTHING = /^$/
