/** A model's call as a span tells it: what was asked, what was answered, what it took, in whichever convention it is told. */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asBoolean, asNumber, asObject, asString } from '../transcript/json.ts'
import type { WireError, WireMessage } from './message.ts'
import { aiSdkAnswer, aiSdkMessages } from './otel-ai-sdk.ts'
import { fromEvents, type EventMessages } from './otel-events.ts'
import { flatTools, openInferenceMessages, traceloopMessages } from './otel-flat.ts'
import { fromJson, toMessages, toParts, type OtelMessage } from './otel-messages.ts'
import { toUsage } from './otel-usage.ts'
import type { Attributes, OtlpSpan } from './otlp.ts'
import type { WireRequest } from './request.ts'

export type CallTold = {
  readonly operation: string
  /** Empty where it is not said. */
  readonly provider: string
  readonly request: WireRequest
  /** Blocks, model, counts, error: as far as they are told. */
  readonly message: WireMessage
  readonly firstByteMs?: number
}

export function toCall(span: OtlpSpan): CallTold {
  const { attributes } = span
  const provider = toProvider(
    asString(attributes.get('gen_ai.provider.name')) ??
      asString(attributes.get('gen_ai.system')) ??
      asString(attributes.get('llm.provider')) ??
      asString(attributes.get('llm.system')) ??
      asString(attributes.get('ai.model.provider')),
  )
  const events = fromEvents(span.events)
  const { system, asked, answered } = saidIn(events.details ?? attributes, events)
  const model =
    asString(attributes.get('gen_ai.request.model')) ??
    asString(attributes.get('llm.model_name')) ??
    asString(attributes.get('ai.model.id'))
  const stream = asBoolean(
    attributes.get('gen_ai.request.stream') ??
      attributes.get('llm.is_streaming') ??
      attributes.get('gen_ai.is_streaming'),
  )
  const parameters = parametersOf(attributes)
  const first = asNumber(
    attributes.get('gen_ai.response.time_to_first_chunk') ??
      attributes.get('gen_ai.server.time_to_first_token'),
  )
  const firstMs =
    asNumber(attributes.get('ai.response.msToFirstChunk')) ?? (first === undefined ? undefined : first * 1000)
  return {
    operation: asString(attributes.get('gen_ai.operation.name')) ?? 'chat',
    provider,
    request: {
      ...(system.length > 0 && { system: { blocks: system } }),
      messages: asked,
      ...(model !== undefined && { model }),
      ...(stream !== undefined && { stream }),
      ...(parameters && { parameters }),
      unknown: [],
    },
    message: toAnswer(span, answered, { provider, model }),
    ...(firstMs !== undefined && firstMs >= 0 && { firstByteMs: Math.round(firstMs) }),
  }
}

function toAnswer(
  span: OtlpSpan,
  [first, ...others]: readonly OtelMessage[],
  { provider, model: asked }: { readonly provider: string; readonly model: string | undefined },
): WireMessage {
  const { attributes, traceId, spanId } = span
  const messageId =
    asString(attributes.get('gen_ai.response.id')) ?? asString(attributes.get('ai.response.id'))
  const model =
    asString(attributes.get('gen_ai.response.model')) ??
    asString(attributes.get('ai.response.model')) ??
    asked
  const reasons =
    attributes.get('gen_ai.response.finish_reasons') ??
    attributes.get('ai.response.finishReason') ??
    attributes.get('llm.finish_reason')
  const [reason] = asArray(fromJson(reasons)) ?? [reasons]
  const stopReason = asString(reason) ?? first?.finishReason
  const usage = toUsage(attributes)
  const error = errorOf(span)
  return {
    provider,
    ...(messageId !== undefined && messageId !== '' && { messageId }),
    // A span that is sent again, to whomever, is the same call.
    requestId: `${traceId}-${spanId}`,
    ...(model !== undefined && { model }),
    role: 'assistant',
    blocks: first?.blocks ?? [],
    usage: usage ?? { quality: 'unavailable' },
    ...(stopReason !== undefined && stopReason !== '' && { stopReason }),
    ...(error && { error }),
    complete: error === undefined,
    ...(others.length > 0 && {
      alternatives: others.map(({ blocks, finishReason }) => ({
        blocks,
        ...(finishReason !== undefined && { stopReason: finishReason }),
      })),
    }),
    unknown: [],
  }
}

type Said = {
  readonly system: ReturnType<typeof toParts>
  readonly asked: readonly OtelMessage[]
  readonly answered: readonly OtelMessage[]
}

/** The first way of telling that tells anything, for what was asked and for what was answered. */
function saidIn(attributes: Attributes, events: EventMessages): Said {
  const asked = [
    () => toMessages(attributes.get('gen_ai.input.messages')),
    () => openInferenceMessages(attributes, 'llm.input_messages'),
    () => traceloopMessages(attributes, 'gen_ai.prompt'),
    () => aiSdkMessages(attributes),
    () => events.asked,
    () => toMessages(bodyOf(attributes.get('input.value'))),
  ]
  const answered = [
    () => toMessages(attributes.get('gen_ai.output.messages'), 'assistant'),
    () => openInferenceMessages(attributes, 'llm.output_messages'),
    () => traceloopMessages(attributes, 'gen_ai.completion'),
    () => aiSdkAnswer(attributes),
    () => events.answered,
    () => toMessages(attributes.get('output.value'), 'assistant'),
  ]
  return {
    system: toParts(attributes.get('gen_ai.system_instructions')),
    asked: firstTold(asked),
    answered: firstTold(answered),
  }
}

/** The body of a request, where that is what is given, else what it is. */
function bodyOf(given: Json | undefined): Json | undefined {
  const value = fromJson(given)
  return asArray(asObject(value)?.['messages']) ?? value
}

function firstTold(ways: readonly (() => readonly OtelMessage[])[]): readonly OtelMessage[] {
  for (const way of ways) {
    const told = way()
    if (told.length > 0) return told
  }
  return []
}

/** What a model was given beside the conversation: limits, temperature, tools. */
function parametersOf(attributes: Attributes): JsonObject | undefined {
  const tools = fromJson(attributes.get('gen_ai.tool.definitions')) ?? flatTools(attributes)
  const given = [...attributes].flatMap(([name, value]) =>
    name.startsWith(REQUEST) && !NOT_PARAMETERS.has(name)
      ? [[name.slice(REQUEST.length), value] as const]
      : [],
  )
  const parameters = { ...Object.fromEntries(given), ...(tools !== undefined && { tools }) }
  return Object.keys(parameters).length > 0 ? parameters : undefined
}

const REQUEST = 'gen_ai.request.'
const NOT_PARAMETERS: ReadonlySet<string> = new Set([`${REQUEST}model`, `${REQUEST}stream`])

export function errorOf({ isError, statusMessage, attributes, events }: OtlpSpan): WireError | undefined {
  const code = asString(attributes.get('error.type'))
  if (!isError && code === undefined) return undefined
  const thrown = events.find(({ name }) => name === 'exception')?.attributes
  const message = statusMessage ?? asString(thrown?.get('exception.message')) ?? code ?? 'failed'
  return { message, ...(code !== undefined && { code }) }
}

/** As our own readers name them, so that one call seen twice is one. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['gcp.gemini', 'google'],
  ['gcp.gen_ai', 'google'],
  ['gcp.vertex_ai', 'google'],
  ['vertex_ai', 'google'],
  ['vertexai', 'google'],
  ['gemini', 'google'],
])

function toProvider(said: string | undefined): string {
  const [name = ''] = (said ?? '').toLowerCase().split(/[./](?:chat|responses|messages|generative-ai)/, 1)
  return PROVIDERS.get(name) ?? name
}
