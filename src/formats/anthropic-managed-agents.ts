/**
 * Events of Anthropic's managed agents: a session's stream as the API gives it, an event each line or element, or a log of the client's
 * calls, `[method, value]`. What a client sends comes back in the stream, and is said there.
 */
import { counted } from '../transcript/counted.ts'
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  parseJson,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { toBlocks } from '../wire/split.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat } from './folded-format.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { asId, type Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'anthropic-managed-agents'

export const anthropicManagedAgents: Format = foldedFormat({
  id: ID,
  title: "Anthropic's managed agents: events of a session",
  words: `type id processed_at content text name input model_request_start_id model_usage custom_tool_use_id is_error user.message agent.message
    agent.thinking agent.custom_tool_use user.custom_tool_result agent.tool_use agent.tool_result tool_use_id stop_reason`,
  look,
  fold: createManagedFold,
  vocabulary: vocabulary({
    records: [
      'session: agent archived_at created_at environment_id metadata outcome_evaluations resources stats status title updated_at usage vault_ids',
      'session.status_running:',
      'session.status_idle: stop_reason',
      'session.status_rescheduled:',
      'session.status_terminated:',
      'session.error: error',
      'session.thread_created: agent_name session_thread_id',
      'session.thread_status_running: agent_name session_thread_id',
      'session.thread_status_idle: agent_name session_thread_id stop_reason',
      'user.message: content',
      'user.interrupt:',
      'user.tool_confirmation: tool_use_id result deny_message',
      'user.custom_tool_result: content custom_tool_use_id is_error',
      'agent.message: content',
      'agent.thinking: content',
      'agent.tool_use: name input evaluated_permission',
      'agent.tool_result: tool_use_id content is_error',
      'agent.mcp_tool_use: name input mcp_server_name evaluated_permission',
      'agent.mcp_tool_result: mcp_tool_use_id content is_error',
      'agent.custom_tool_use: name input',
      'agent.thread_context_compacted:',
      'span.model_request_start:',
      'span.model_request_end: is_error model_request_start_id model_usage',
    ],
    common: 'type id processed_at',
  }),
  watch(watch, event) {
    if (typeof event['type'] === 'string') watch.record(event['type'], event)
  },
  isLines: (head) => linesOf(head).length > 1,
})

function look(head: Head): Detection | undefined {
  const lines = head.records.length > 0 ? head.records : linesOf(head)
  const values = lines.length > 0 ? lines : (asArray(head.document ?? head.peeked) ?? [])
  const own = values.filter((value) => isEvent(eventIn(value))).length
  const isCalls = values.some((value) => callIn(value) !== undefined)
  const others = values.filter((value) => !isEvent(eventIn(value)) && callIn(value) === undefined).length
  if (own === 0 || own <= others) return undefined
  return {
    confidence: 0.95,
    reason: `${counted(own, 'event')} of a managed agent${isCalls ? ', among the calls of a client' : ''}`,
  }
}

/** Lines that are lists: the head holds only objects. */
function linesOf({ text, records, document }: Head): readonly Json[] {
  if (records.length > 0 || document !== undefined || !/^\uFEFF?\["/.test(text)) return []
  return text.split('\n', LOOKED_AT).flatMap((line) => {
    const value = parseJson(line)
    return Array.isArray(value) ? [value as Json] : []
  })
}

const LOOKED_AT = 50

/** `[method, value]` */
function callIn(value: Json): readonly [string, Json] | undefined {
  const [method, given, ...others] = asArray(value) ?? []
  if (typeof method !== 'string' || given === undefined || others.length > 0) return undefined
  return /(?:^|\.)sessions\./.test(method) ? [method, given] : undefined
}

/** The event itself, alone or as what a call gave. */
function eventIn(value: Json): JsonObject | undefined {
  return isObject(value) ? value : asObject(callIn(value)?.[1])
}

const TYPE = /^(?:user|agent|session|span)\.[a-z_]+$/

function isEvent(event: JsonObject | undefined): boolean {
  const type = asString(event?.['type'])
  return (
    type !== undefined &&
    TYPE.test(type) &&
    (asString(event?.['id'])?.startsWith('sevt_') === true || 'processed_at' in (event ?? {}))
  )
}

function createManagedFold(): SessionFold {
  const span = createSpan()
  let created: JsonObject | undefined
  let sessionId: string | undefined
  let stopReason: string | undefined
  let error: string | undefined
  /** The request that is under way: what the agent says belongs to it. */
  let request: string | undefined

  const call = (id: string | undefined): Partial<Said> =>
    id === undefined ? {} : { call: { provider: 'anthropic', messageId: id } }
  const model = (): string | undefined => asString(asObject(asObject(created?.['agent'])?.['model'])?.['id'])

  const fromEvent = (event: JsonObject): Said => {
    const type = asString(event['type']) ?? ''
    const id = asId(event['id'])
    const at = parseInstant(event['processed_at'])
    const placed = { ...(id !== undefined && { id }), ...(at !== undefined && { at }) }
    span.see(at)
    const said = toMessage(type, event)
    if (said !== undefined) return { ...said, ...placed, ...(said.role === 'assistant' && call(request)) }
    if (type === 'span.model_request_start') request = id
    if (type.startsWith('session.status_'))
      stopReason = asString(asObject(event['stop_reason'])?.['type']) ?? stopReason
    if (type === 'session.error')
      error = asString(asObject(event['error'])?.['message']) ?? 'an error that says nothing'
    return { ...unknownSaid(event, type), ...placed, ...usageOf(type, event) }
  }
  const usageOf = (type: string, event: JsonObject): Partial<Said> => {
    if (type !== 'span.model_request_end') return {}
    const usage = event['model_usage']
    const named = model()
    const of = asId(event['model_request_start_id']) ?? request
    request = undefined
    if (usage === undefined || usage === null) return {}
    return { ...call(of), usage: fromAnthropicUsage(usage), ...(named !== undefined && { model: named }) }
  }
  const learn = (method: string, given: Json): void => {
    if (/sessions\.(?:create|retrieve)$/.test(method) && isObject(given)) {
      created = given
      sessionId = asId(given['id']) ?? sessionId
    }
    const [named] = asArray(given) ?? []
    if (typeof named === 'string' && named.startsWith('sesn_')) sessionId ??= named
  }
  return {
    next(value) {
      const event = eventIn(value)
      const made = callIn(value)
      if (made !== undefined) learn(...made)
      if (event !== undefined && isEvent(event)) return [fromEvent(event)]
      return made === undefined ? [] : [unknownSaid(value, made[0])]
    },
    facts() {
      const name = asString(asObject(created?.['agent'])?.['name'])
      const title = asString(created?.['title']) || undefined
      const named = model()
      return {
        agent: name ?? ID,
        ...(sessionId !== undefined && { sessionId }),
        ...(title !== undefined && { title }),
        ...(named !== undefined && { model: named }),
        ...(stopReason !== undefined && { stopReason }),
        ...(error !== undefined && { status: 'failed' as const, error }),
        ...span.facts(),
      }
    },
  }
}

const TAKEN: ReadonlySet<string> = new Set([
  'id',
  'type',
  'processed_at',
  'content',
  'name',
  'input',
  'is_error',
])

/** Undefined for what is no message. */
function toMessage(type: string, event: JsonObject): Said | undefined {
  const role = ROLES.get(type)
  const metadata = { record: type, ...rest(event, TAKEN) }
  if (role !== undefined) {
    const content = event['content']
    const parts: readonly Json[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : (asArray(content) ?? [])
    const { blocks, extras } = toBlocks(parts.map(splitAnthropicBlock))
    const isThinking = type === 'agent.thinking'
    return {
      kind: 'message',
      role,
      blocks: isThinking ? blocks.map(toThinking) : blocks,
      metadata: { ...metadata, ...(extras !== undefined && { extras }) },
    }
  }
  const name = asString(event['name'])
  const callId = asString(event['id'])
  if (/^agent\.(?:custom_|mcp_)?tool_use$/.test(type) && name !== undefined) {
    const block: Block = {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name,
      input: event['input'] ?? {},
    }
    return { kind: 'message', role: 'assistant', blocks: [block], metadata }
  }
  if (!/^(?:agent|user)\.(?:custom_|mcp_)?tool_result$/.test(type)) return undefined
  const of = event['tool_use_id'] ?? event['custom_tool_use_id'] ?? event['mcp_tool_use_id']
  const raw = {
    type: 'tool_result',
    tool_use_id: of ?? null,
    content: event['content'] ?? '',
    is_error: event['is_error'] === true,
  }
  const { block } = splitAnthropicBlock(raw)
  return { kind: 'message', role: 'tool', blocks: [block], metadata }
}

const toThinking = (block: Block): Block =>
  block.type === 'text' ? { type: 'thinking', text: block.text } : block

const ROLES: ReadonlyMap<string, 'user' | 'assistant'> = new Map([
  ['user.message', 'user'],
  ['agent.message', 'assistant'],
  ['agent.thinking', 'assistant'],
])
