/**
 * A session's entries as the spans of one trace: what waits for an answer is told with it, a tool's result with its call's name, and each
 * agent's lane in a span around its own, when it ends.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { toMillis } from '../transcript/instant.ts'
import { toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { sha256 } from '../transcript/sha256.ts'
import { readSpans } from '../wire/otlp.ts'
import type { WriteContext } from './format.ts'
import { attributesOf, toProviderName, toValue, usageOf } from './otel-attributes.ts'
import { AGENT, ENTRIES, SESSION, SOURCE, messagesIn } from './otel-own.ts'
import { toMessage, toResponse } from './otel-parts.ts'
import { factsOf, sessionFacts } from './own-facts.ts'

export type Trace = {
  entry(entry: Entry): readonly JsonObject[]
  end(session: Session): readonly JsonObject[]
}

type Lane = {
  readonly source: string
  readonly spanId: string
  /** Entries since the last answer. */
  pending: Entry[]
  first: bigint | undefined
  last: bigint | undefined
  /** Who was asked last. */
  provider: string | undefined
}

/** Entries that wait for an answer; past this they go with a span of their own. */
const MOST_PENDING = 500

export function createTrace(session: Session, context: WriteContext): Trace {
  const traceId = hex(session.id, 'trace').slice(0, 32)
  const lanes = new Map<string, Lane>()
  const tools = new Map<string, string>()
  const conversation = session.native?.sessionId ?? session.id
  let spans = 0
  let latest = nanosOf(session.startedAt) ?? 1n

  const laneOf = (source: string): Lane => {
    const lane = lanes.get(source) ?? {
      source,
      spanId: hex(session.id, 'agent', source).slice(0, 16),
      pending: [],
      first: undefined,
      last: undefined,
      provider: undefined,
    }
    lanes.set(source, lane)
    return lane
  }
  const timeOf = (entry: Entry): bigint => {
    const at = nanosOf(entry.at)
    if (at === undefined) context.filled(entry, 'time')
    latest = at ?? latest
    return latest
  }
  const toSpan = (
    lane: Lane,
    name: string,
    [start, end]: readonly [bigint, bigint],
    attributes: { readonly [key: string]: Json },
    isError = false,
  ): JsonObject => {
    spans += 1
    if (lane.first === undefined || start < lane.first) lane.first = start
    if (lane.last === undefined || end > lane.last) lane.last = end
    return {
      traceId,
      spanId: hex(session.id, 'span', String(spans)).slice(0, 16),
      parentSpanId: lane.spanId,
      name,
      kind: name.startsWith('chat') ? CLIENT : INTERNAL,
      startTimeUnixNano: String(start),
      endTimeUnixNano: String(end),
      attributes: attributesOf({
        ...aboutOf(lane),
        ...attributes,
        ...(isError && { 'error.type': '_OTHER' }),
      }),
      status: isError ? { code: ERROR } : {},
    }
  }
  /** Asked for by the conventions, and `unknown` is what is said where nobody knows. */
  const providerOf = (lane: Lane, answer: Entry): string => {
    const provider = answer.call?.provider
    if (provider === undefined) {
      context.filled(answer, 'provider')
      return UNKNOWN
    }
    lane.provider = toProviderName(provider)
    return lane.provider
  }
  const aboutOf = ({ source }: Lane): { readonly [key: string]: Json } => ({
    'gen_ai.conversation.id': conversation,
    ...(session.native !== undefined && { [AGENT]: session.native.agent }),
    ...(source !== PRIMARY && { [SOURCE]: source }),
  })
  const chat = (lane: Lane, answer: Entry): JsonObject => {
    const entries = [...lane.pending, answer]
    lane.pending = []
    const asked: Json[] = []
    const places = entries.slice(0, -1).map((entry) => {
      const message = toMessage(entry)
      return message === undefined ? undefined : asked.push(message) - 1
    })
    const end = timeOf(answer)
    const start =
      answer.durationMs === undefined
        ? end
        : max(1n, end - BigInt(Math.max(0, Math.round(answer.durationMs))) * 1_000_000n)
    const said = toMessage(answer, answer.stopReason ?? 'stop')
    const model = answer.model ?? session.model
    const base = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(lane, answer),
      ...(model !== undefined && { 'gen_ai.request.model': model }),
      ...(answer.model !== undefined && { 'gen_ai.response.model': answer.model }),
      ...(answer.call?.messageId !== undefined && { 'gen_ai.response.id': answer.call.messageId }),
      ...(answer.stopReason !== undefined && { 'gen_ai.response.finish_reasons': [answer.stopReason] }),
      ...(answer.usage !== undefined && usageOf(answer.usage)),
      ...(asked.length > 0 && { 'gen_ai.input.messages': toJson(asked) }),
      'gen_ai.output.messages': toJson(said === undefined ? [] : [said]),
    }
    const span = toSpan(lane, `chat ${model ?? ''}`.trim(), [start, end], base)
    const read = messagesOf(span)
    const facts = entries.map((entry, index): JsonObject => {
      const m = index === entries.length - 1 ? read.length - 1 : places[index]
      const f = factsOf(entry, m === undefined ? undefined : read[m])
      return { ...(m !== undefined && { m }), ...(f !== undefined && { f }) }
    })
    return withAttribute(span, ENTRIES, toJson(facts))
  }
  /** Beside the messages, for whoever looks at what tools took; the entry itself goes with the next answer. */
  const ran = (lane: Lane, entry: Entry): readonly JsonObject[] =>
    entry.blocks.flatMap((block) => {
      if (block.type !== 'tool-result') return []
      const end = nanosOf(entry.at) ?? latest
      const start =
        entry.durationMs === undefined
          ? end
          : max(1n, end - BigInt(Math.max(0, Math.round(entry.durationMs))) * 1_000_000n)
      const name = block.name ?? tools.get(block.callId ?? '') ?? 'unknown'
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        ...(block.callId !== undefined && { 'gen_ai.tool.call.id': block.callId }),
        'gen_ai.tool.call.result': toText(toResponse(block)),
        [ENTRIES]: '[]',
      }
      return [toSpan(lane, `execute_tool ${name}`, [start, end], attributes, block.isError === true)]
    })

  return {
    entry(entry) {
      const lane = laneOf(entry.source)
      for (const block of entry.blocks)
        if (block.type === 'tool-call' && block.callId !== undefined)
          remember(tools, block.callId, block.name)
      if (entry.kind === 'message' && entry.role === 'assistant') return [chat(lane, entry)]
      lane.pending.push(entry)
      const results = ran(lane, entry)
      return lane.pending.length < MOST_PENDING
        ? results
        : [...results, toSpan(lane, 'entries', [latest, latest], restOf(lane))]
    },
    end(ended) {
      const main = laneOf(PRIMARY)
      // The main agent's is the last: what the session is stands there.
      return [...[...lanes.values()].filter((lane) => lane !== main), main].map((lane) => {
        const isMain = lane === main
        // Around all that stands below it, subagents too.
        const [start, end] = spanOf(isMain ? [...lanes.values()] : [lane], latest)
        const agent = isMain ? ended.agent : lane.source.replace(/^subagent:/, '')
        const attributes = {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': lane.provider ?? UNKNOWN,
          ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
          ...(isMain && ended.version !== undefined && { 'gen_ai.agent.version': ended.version }),
          ...restOf(lane),
          ...(isMain && { [SESSION]: toJson(sessionFacts(ended)) }),
        }
        const { parentSpanId: _parent, ...span } = toSpan(
          lane,
          `invoke_agent ${agent ?? ''}`.trim(),
          [start, end],
          attributes,
          isMain && ended.status === 'failed',
        )
        return { ...span, spanId: lane.spanId, ...(isMain ? {} : { parentSpanId: main.spanId }) }
      })
    },
  }
}

/** From the first beginning to the last end; `none` where nothing was written. */
function spanOf(lanes: readonly Lane[], none: bigint): readonly [bigint, bigint] {
  const first = lanes.flatMap((lane) => (lane.first === undefined ? [] : [lane.first]))
  const last = lanes.flatMap((lane) => (lane.last === undefined ? [] : [lane.last]))
  return [first.reduce((a, b) => (a < b ? a : b), first[0] ?? none), last.reduce(max, last[0] ?? none)]
}

/** What no answer came behind: whole. */
function restOf(lane: Lane): { readonly [key: string]: Json } {
  const facts = lane.pending.map((entry) => ({ f: factsOf(entry, undefined) ?? {} }))
  lane.pending = []
  return { [ENTRIES]: toJson(facts) }
}

/** Kinds of spans, and the status of one that failed: OTLP's JSON has the numbers of its enums. */
const INTERNAL = 1
const CLIENT = 3
const ERROR = 2
const UNKNOWN = 'unknown'

/** A tool's name is asked for soon after its call. */
const MOST_TOOLS = 1000

function remember(tools: Map<string, string>, callId: string, name: string): void {
  tools.set(callId, name)
  if (tools.size > MOST_TOOLS) tools.delete(tools.keys().next().value as string)
}

/** What a reader makes of the span. */
function messagesOf(span: JsonObject): ReturnType<typeof messagesIn> {
  const [read] = readSpans({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })?.items ?? []
  return read === undefined ? [] : messagesIn(read)
}

function withAttribute(span: JsonObject, key: string, value: Json): JsonObject {
  return { ...span, attributes: [...(span['attributes'] as readonly Json[]), { key, value: toValue(value) }] }
}

const toText = (value: Json): string => (typeof value === 'string' ? value : toJson(value))
const hex = (...parts: readonly string[]): string => sha256(parts.join('\n')).toString('hex')
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Instants have up to nine digits of fraction. */
function nanosOf(at: string | undefined): bigint | undefined {
  if (at === undefined) return undefined
  const millis = toMillis(at)
  if (Number.isNaN(millis)) return undefined
  const fraction = /\.(\d{1,9})/.exec(at)?.[1]?.padEnd(9, '0') ?? '000000000'
  const nanos = BigInt(Math.floor(millis / 1000)) * 1_000_000_000n + BigInt(fraction)
  return nanos > 0n ? nanos : undefined
}
