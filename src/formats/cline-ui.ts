/**
 * What the Cline family showed its user, `ui_messages.json`: the conversation again, and what nothing else has: tokens and cost of
 * each request, errors, what was canceled. Beside the history every message is an event; alone, what was said is messages.
 */
import type { Block } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asNumber,
  asObject,
  asString,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { modelOf } from './cline-history.ts'
import { requestUsage } from './cline-usage.ts'
import { always, isMillis, isText, leftOver, takes, type Takes } from './left-over.ts'
import type { Said } from './placing.ts'

export type UiContext = {
  /** True when the history is read too: it has said everything that was said. */
  readonly isBeside: boolean
  readonly isFirst: boolean
  /** For requests that do not name their model. */
  readonly model: string | undefined
  /** Names the request's call, in the history as here. */
  readonly messageId: string | undefined
}

export function fromUiMessage(message: JsonObject, context: UiContext): Said {
  const name = nameOf(message)
  const at = fromMillis(asNumber(message['ts']) ?? Number.NaN)
  const request = isCounted(name) ? requestOf(message) : undefined
  const said =
    request === undefined ? fromSaid(name, message, context) : fromRequest(message, request, context)
  return { ...(at !== undefined && { at }), ...said }
}

/** `say:text`, `ask:tool`. */
export function nameOf({ type, say, ask }: JsonObject): string {
  return `${asString(type) ?? ''}:${asString(type === 'ask' ? ask : say) ?? ''}`
}

/** A request to the model; of those that a checkpoint's restoring took away, and of subagents, there is only the sum. */
export function isCounted(name: string): boolean {
  return COUNTED.has(name)
}

export function isRequest(message: JsonObject): boolean {
  return nameOf(message) === 'say:api_req_started'
}

/** The object that a message's text is the JSON of. */
export function requestOf({ text }: JsonObject): JsonObject | undefined {
  return typeof text === 'string' ? asObject(parseJson(text)) : undefined
}

const COUNTED: ReadonlySet<string> = new Set([
  'say:api_req_started',
  'say:deleted_api_reqs',
  'say:subagent_usage',
])

type Saying = Omit<Said, 'at'>

function fromRequest(
  message: JsonObject,
  request: JsonObject,
  { model: told, messageId }: UiContext,
): Saying {
  const provider = asString(asObject(message['modelInfo'])?.['providerId'])
  const model = modelOf(message) ?? told
  const usage = requestUsage(request, { provider, ts: asNumber(message['ts']) })
  const failed = asString(request['streamingFailedMessage'])
  const stopReason = asString(request['cancelReason'])
  const isOwn = isRequest(message)
  return {
    kind: 'event',
    blocks: failed === undefined ? [] : [{ type: 'error', message: failed }],
    ...(isOwn && model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(isOwn && messageId !== undefined && { call: { messageId } }),
    // The request's own text is the prompt, which the history has; it stays where it was.
    metadata: { record: nameOf(message), ...leftOver(message, envelopeOf(message)) },
  }
}

function fromSaid(name: string, message: JsonObject, { isBeside, isFirst }: UiContext): Saying {
  const text = asString(message['text'])
  if (text !== undefined && ERRORS.has(name)) {
    return event(name, message, [{ type: 'error', message: text, code: name.slice(4) }], 'text')
  }
  if (isBeside || text === undefined || message['partial'] === true) return event(name, message, [])
  if (isFirst && name === 'say:text') return toMessage('user', name, message, { type: 'text', text })
  const role = ROLES.get(name)
  if (role !== undefined) return toMessage(role, name, message, { type: 'text', text })
  if (name === 'say:reasoning') return toMessage('assistant', name, message, { type: 'thinking', text })
  const tool = CALLS.get(name)
  if (tool !== undefined) return toMessage('assistant', name, message, toCall(tool, text))
  const answered = RESULTS.get(name)
  if (answered === undefined) return event(name, message, [])
  return toMessage('tool', name, message, { type: 'tool-result', name: answered, output: text })
}

const ERRORS: ReadonlySet<string> = new Set([
  'say:error',
  'say:diff_error',
  'say:clineignore_error',
  'say:rooignore_error',
  'say:condense_context_error',
  'ask:api_req_failed',
  'ask:mistake_limit_reached',
])

const ROLES: ReadonlyMap<string, 'user' | 'assistant'> = new Map([
  ['say:task', 'user'],
  ['say:user_feedback', 'user'],
  ['say:text', 'assistant'],
  ['say:completion_result', 'assistant'],
  ['ask:followup', 'assistant'],
  ['ask:plan_mode_respond', 'assistant'],
])

/** What a call is named where its text does not say. */
const CALLS: ReadonlyMap<string, string> = new Map([
  ['say:tool', 'tool'],
  ['ask:tool', 'tool'],
  ['say:command', 'execute_command'],
  ['ask:command', 'execute_command'],
  ['say:use_mcp_server', 'use_mcp_tool'],
  ['ask:use_mcp_server', 'use_mcp_tool'],
  ['say:browser_action', 'browser_action'],
])

const RESULTS: ReadonlyMap<string, string> = new Map([
  ['say:command_output', 'execute_command'],
  ['ask:command_output', 'execute_command'],
  ['say:mcp_server_response', 'use_mcp_tool'],
  ['say:browser_action_result', 'browser_action'],
])

const ENVELOPE = takes({ ts: isMillis, type: always, record: always })
const SAY: Takes = new Map([...ENVELOPE, ['say', isText]])
const ASK: Takes = new Map([...ENVELOPE, ['ask', isText]])

/** Of what is named in the record's name only that. */
function envelopeOf({ type }: JsonObject): Takes {
  return type === 'ask' ? ASK : SAY
}

function toCall(tool: string, text: string): Block {
  const value = parseJson(text)
  if (!isObject(value)) return { type: 'tool-call', name: tool, input: text }
  const { tool: named, ...input } = value
  return typeof named === 'string'
    ? { type: 'tool-call', name: named, input: input as Json }
    : { type: 'tool-call', name: tool, input: value }
}

function toMessage(
  role: 'user' | 'assistant' | 'tool',
  name: string,
  message: JsonObject,
  block: Block,
): Saying {
  const model = role === 'assistant' ? modelOf(message) : undefined
  return {
    ...event(name, message, [block], 'text'),
    kind: 'message',
    role,
    ...(model !== undefined && { model }),
  }
}

function event(
  name: string,
  message: JsonObject,
  blocks: readonly Block[],
  ...said: readonly string[]
): Saying {
  const own = envelopeOf(message)
  const known = said.length === 0 ? own : new Map([...own, ...said.map((key) => [key, isText] as const)])
  return { kind: 'event', blocks, metadata: { record: name, ...leftOver(message, known) } }
}
