/**
 * Traces of agents, read: spans of OpenTelemetry's GenAI conventions, of OpenInference, Traceloop and the AI SDK, as OTLP's JSON, from
 * Jaeger or from Phoenix; and written, as OTLP's JSON. Every call repeats the conversation, and agents sum up their calls: each message is
 * told once, each call billed once.
 */
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { hasCounts } from '../transcript/usage.ts'
import type { CallTold } from '../wire/otel-call.ts'
import type { OtelTool } from '../wire/otel.ts'
import type { Attributes, OtlpSpan } from '../wire/otlp.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import { keepLast } from './keep-last.ts'
import { AGENT, entriesOf, isOwn, sessionIn, toSaid } from './otel-own.ts'
import { createOtelTree, toTreeSpan, type OtelTree, type TreeSpan } from './otel-tree.ts'
import { exporterOf, readSpanFile } from './otel-spans.ts'
import { otelWriter } from './otel-write.ts'
import { sessionOf } from './own-facts.ts'
import type { Place, Said } from './placing.ts'
import { fromAnswer } from './provider-entries.ts'
import type { Facts, Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { createToldMessages, type ToldMessages } from './told-messages.ts'

export const otel = fileFormat({
  id: 'otel',
  title: 'OpenTelemetry GenAI and OpenInference: OTLP JSON, Jaeger, Phoenix',
  look: lookAtSpans,
  read: readTraces,
  write: otelWriter,
})

const NAMES =
  /"(?:gen_ai\.[a-z_.]+|openinference\.span\.kind|llm\.(?:model_name|input_messages|token_count)|traceloop\.[a-z.]+|ai\.operationId)/

function lookAtSpans(head: Head): Detection | undefined {
  const found = exporterOf(head)
  if (found === undefined) return undefined
  const isModels = NAMES.test(head.text)
  if (found.exporter === 'phoenix') return { confidence: 0.95, reason: 'spans as Phoenix exports them' }
  return {
    confidence: isModels ? 0.95 : 0.6,
    reason: `spans from ${found.exporter}${isModels ? ', of models' : ''}`,
  }
}

type Held = TreeSpan & { readonly place: Place }

/** Up to here spans are put into the order they began in; a larger file is read as it comes. */
const HELD_BYTES = 24 * 1024 * 1024
/** The same for a file of tiny ones: each is kilobytes here. */
const HELD_SPANS = 20_000

async function* readTraces(
  file: SourceFile,
  { open, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  let isHeld = file.sizeBytes <= HELD_BYTES
  const held: Held[] = []
  const loose = open()
  let isLooseOpen = false
  const sessions = createSessions(open)
  for await (const pieces of readSpanFile(file, head)) {
    // What is no span belongs to no trace: a session of its own, whose turn it is again.
    if (pieces.some((piece) => !('span' in piece))) {
      yield sessions.leave()
      if (isLooseOpen) yield loose.end()
    }
    for (const piece of pieces) {
      if ('damage' in piece) loose.damage(piece.damage)
      else if ('value' in piece) loose.say(unknownSaid(piece.value), piece.place)
      else held.push({ ...toTreeSpan(piece.span), place: piece.place })
    }
    const others = loose.take()
    if (others.length > 0) {
      isLooseOpen = true
      yield others
    }
    if (isHeld && held.length <= HELD_SPANS) continue
    // A batch at a time: what hangs together was mostly exported together.
    yield* inBatches(sessions.tell(isHeld ? asBegun(held) : held))
    isHeld = false
    held.length = 0
  }
  if (isLooseOpen) {
    yield sessions.leave()
    yield loose.end()
  }
  yield* inBatches(sessions.tell(asBegun(held)))
  yield sessions.end()
}

/** What we wrote stands in its order. */
function asBegun(held: Held[]): readonly Held[] {
  if (held.some(({ span }) => isOwn(span))) return held
  return held.sort((a, b) => compare(a.span.startedAt ?? '', b.span.startedAt ?? ''))
}

function* inBatches(items: readonly ReadItem[]): Generator<readonly ReadItem[]> {
  for (let from = 0; from < items.length; from += AT_A_TIME) yield items.slice(from, from + AT_A_TIME)
}

const AT_A_TIME = 512

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Talk = {
  readonly telling: Telling
  readonly lanes: Map<string, ToldMessages>
  readonly calls: IdSet
  readonly resources: IdSet
}
type Sessions = {
  tell(spans: readonly Held[]): readonly ReadItem[]
  /** Another session was told of in between: whichever comes next is named again. */
  leave(): readonly ReadItem[]
  end(): readonly ReadItem[]
}

function createSessions(open: FileReading['open']): Sessions {
  const talks = new Map<string, Talk>()
  let current: Talk | undefined
  return {
    tell(spans) {
      const tree = createOtelTree(spans)
      const items: ReadItem[] = []
      for (const one of spans) {
        const { name, isTold } = tree.sessionOf(one.span)
        const known = talks.get(name)
        const talk = known ?? {
          telling: open(name),
          lanes: new Map(),
          calls: createIdSet(),
          resources: createIdSet(),
        }
        if (current !== talk) {
          items.push(...(current?.telling.end() ?? []), ...(known?.telling.end() ?? []))
          current = talk
          keepLast(talks, name, talk)
        }
        talk.telling.know({
          sessionId: name,
          ...(isOwn(one.span) ? nativeOf(one.span, name) : factsOf(one, tree, isTold)),
        })
        tellSpan(one, tree, talk)
      }
      return [...items, ...(current?.telling.take() ?? [])]
    },
    leave() {
      const items = current?.telling.end() ?? []
      current = undefined
      return items
    },
    end: () => current?.telling.end() ?? [],
  }
}

function nativeOf({ attributes }: OtlpSpan, sessionId: string): Facts {
  const agent = asString(attributes.get(AGENT))
  return agent === undefined ? {} : { native: { agent, sessionId } }
}

function factsOf({ span, told }: TreeSpan, tree: OtelTree, isTold: boolean): Facts {
  const isMain = told?.kind === 'agent' && tree.sourceOf(span) === PRIMARY
  const agent = isMain ? told.agentName : undefined
  return { ...(isTold ? {} : { title: span.name }), ...(agent !== undefined && { agent }) }
}

function tellSpan({ span, told, place }: Held, tree: OtelTree, talk: Talk): void {
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
  talk.lanes.set(source, lane)
  const resource = Object.fromEntries(span.resource)
  const key = toJson(resource)
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
