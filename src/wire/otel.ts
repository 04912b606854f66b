/**
 * What a span of OpenTelemetry tells of an agent: a call of a model, a tool that ran, an agent at work, or a step around these. By
 * the GenAI conventions as they are and as they were, by OpenInference, Traceloop and the AI SDK. Pure: a span in, what it tells out.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asString } from '../transcript/json.ts'
import { errorOf, toCall, type CallTold } from './otel-call.ts'
import { toInput, toOutput } from './otel-messages.ts'
import type { Attributes, OtlpSpan } from './otlp.ts'

export type OtelTold = OtelWho & (OtelCall | OtelTool | OtelAgent | OtelStep)

/** Whose it is, as far as the span says it. */
export type OtelWho = {
  /** The conversation, session or thread, as the program names it. */
  readonly conversation?: string
  readonly agentName?: string
  readonly agentId?: string
}

export type OtelCall = CallTold & { readonly kind: 'call' }

export type OtelTool = {
  readonly kind: 'tool'
  readonly name: string
  readonly callId?: string
  readonly input?: Json
  readonly output?: string
  readonly error?: string
}

/** Its counts are the sum of its calls', where these are told too. */
export type OtelAgent = CallTold & { readonly kind: 'agent'; readonly about: JsonObject }

export type OtelStep = {
  readonly kind: 'step'
  readonly about: JsonObject
  /** A chain or a workflow, which says nothing that is not in it: what was said in it is left out. */
  readonly isWrapper: boolean
}

/** Undefined for a span that has nothing to do with models. */
export function readOtelSpan(span: OtlpSpan): OtelTold | undefined {
  const { attributes } = span
  const kind = kindOf(attributes)
  if (kind === undefined) return undefined
  const who = whoOf(attributes)
  switch (kind) {
    case 'call':
      return { ...who, ...toCall(span), kind }
    case 'tool':
      return { ...who, ...toTool(span), kind }
    case 'agent':
      return { ...who, ...toCall(span), kind, about: aboutOf(span) }
    case 'step':
      return { ...who, kind, ...toStep(span) }
  }
}

function toStep(span: OtlpSpan): Omit<OtelStep, 'kind'> {
  const isWrapper = WRAPPERS.some(([name, kinds]) => kinds.has(asString(span.attributes.get(name)) ?? ''))
  return { isWrapper, about: aboutOf(span, !isWrapper) }
}

const WRAPPERS: readonly (readonly [string, ReadonlySet<string>])[] = [
  ['gen_ai.operation.name', new Set(['invoke_workflow', 'plan'])],
  ['openinference.span.kind', new Set(['CHAIN'])],
  ['traceloop.span.kind', new Set(['workflow', 'task'])],
]

type Kind = OtelTold['kind']

const OPERATIONS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['chat', 'call'],
  ['text_completion', 'call'],
  ['completion', 'call'],
  ['generate_content', 'call'],
  ['embeddings', 'call'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
])
const INFERENCE_KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['LLM', 'call'],
  ['TOOL', 'tool'],
  ['AGENT', 'agent'],
])
const TRACELOOP_KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['agent', 'agent'],
  ['tool', 'tool'],
])

function kindOf(attributes: Attributes): Kind | undefined {
  const said = (name: string): string | undefined => asString(attributes.get(name))
  const sdk = said('ai.operationId')
  if (sdk !== undefined) return sdkKind(sdk)
  const operation = said('gen_ai.operation.name')
  if (operation !== undefined) return OPERATIONS.get(operation) ?? 'step'
  const inference = said('openinference.span.kind')
  if (inference !== undefined) return INFERENCE_KINDS.get(inference.toUpperCase()) ?? 'step'
  const traceloop = said('traceloop.span.kind')
  if (traceloop !== undefined) return TRACELOOP_KINDS.get(traceloop) ?? 'step'
  for (const name of attributes.keys()) if (CALLS.test(name)) return 'call'
  return undefined
}

/** Names that only a model's call has, where the span does not say what it is. */
const CALLS =
  /^(?:gen_ai\.(?:request\.model|response\.model|prompt\.|completion\.|usage\.)|llm\.(?:request\.type|model_name|input_messages\.|token_count\.))/

/** The inner spans of the AI SDK are its calls; the outer ones sum them up. */
function sdkKind(operation: string): Kind {
  if (operation === 'ai.toolCall') return 'tool'
  if (/\.do(?:Generate|Stream|Embed)$/.test(operation)) return 'call'
  return /^ai\.(?:generate|stream)/.test(operation) ? 'agent' : 'step'
}

const CONVERSATIONS = [
  'gen_ai.conversation.id',
  'session.id',
  'langfuse.session.id',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'ai.telemetry.metadata.sessionId',
]

function whoOf(attributes: Attributes): OtelWho {
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => asString(attributes.get(name))).find((one) => one !== undefined && one !== '')
  const conversation = first(CONVERSATIONS)
  const isAgent = attributes.get('traceloop.span.kind') === 'agent'
  const agentName = first(['gen_ai.agent.name', 'agent.name', ...(isAgent ? ['traceloop.entity.name'] : [])])
  const agentId = first(['gen_ai.agent.id'])
  return {
    ...(conversation !== undefined && { conversation }),
    ...(agentName !== undefined && { agentName }),
    ...(agentId !== undefined && { agentId }),
  }
}

function toTool(span: OtlpSpan): Omit<OtelTool, 'kind'> {
  const { attributes } = span
  const said = (...names: readonly string[]): Json | undefined =>
    names.map((name) => attributes.get(name)).find((value) => value !== undefined)
  const callId = asString(said('gen_ai.tool.call.id', 'ai.toolCall.id', 'tool_call.id'))?.trim()
  const input = said(
    'gen_ai.tool.call.arguments',
    'ai.toolCall.args',
    'tool.parameters',
    'input.value',
    'traceloop.entity.input',
  )
  const output = toOutput(
    said('gen_ai.tool.call.result', 'ai.toolCall.result', 'output.value', 'traceloop.entity.output'),
  )
  const error = errorOf(span)?.message
  return {
    name:
      asString(said('gen_ai.tool.name', 'ai.toolCall.name', 'tool.name', 'traceloop.entity.name')) ??
      span.name,
    ...(callId !== undefined && callId !== '' && { callId }),
    ...(input !== undefined && { input: toInput(input) }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  }
}

/** What a span says; unless it is the whole, without the conversation, which its calls tell. */
function aboutOf(span: OtlpSpan, isWhole = false): JsonObject {
  const { name, attributes, durationMs, scope } = span
  const error = errorOf(span)
  const rest = [...attributes].filter(([key]) => isWhole || !CONVERSATION.test(key))
  return {
    name,
    ...(scope !== undefined && { scope }),
    ...(durationMs !== undefined && { durationMs }),
    ...(error && { error: error.message }),
    ...(rest.length > 0 && { attributes: Object.fromEntries(rest) }),
  }
}

const CONVERSATION =
  /^(?:gen_ai\.(?:input\.messages|output\.messages|system_instructions|tool\.definitions|prompt\.|completion\.)|llm\.(?:input|output)_messages\.|(?:input|output)\.(?:value|mime_type)$|ai\.(?:prompt|response\.(?:text|toolCalls|reasoning))|traceloop\.entity\.(?:input|output)$)/
