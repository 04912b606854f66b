/**
 * A record that somebody said something, whoever wrote it: under one of the usual names it says who, under another what. Everything
 * that is not one of these is kept beside it.
 */
import type { Block } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { genericBlocks, toCall } from './generic-blocks.ts'
import { findUsage } from './generic-usage.ts'
import { asId, type Said } from './placing.ts'

const WORDS: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  ['customer', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['bot', 'assistant'],
  ['gpt', 'assistant'],
  ['agent', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
  ['tool_result', 'tool'],
  ['toolresult', 'tool'],
  ['tool_use', 'assistant'],
])

/** Who: in the order of how sure they are. */
const ROLE_KEYS = ['role', 'author', 'speaker', 'from', 'sender', 'type'] as const
/** What. */
const CONTENT_KEYS = ['content', 'text', 'value', 'parts', 'body', 'message'] as const
const TIME_KEYS = ['timestamp', 'created_at', 'createdAt', 'create_time', 'time', 'ts', 'date', 'at'] as const
const ID_KEYS = ['id', 'uuid', 'message_id', 'messageId'] as const
const MODEL_KEYS = ['model', 'model_id', 'modelId', 'model_name', 'modelName'] as const
const CALL_KEYS = ['tool_call_id', 'toolCallId', 'call_id', 'tool_use_id', 'name'] as const
const THOUGHT_KEYS = ['reasoning_content', 'reasoning', 'thinking'] as const

/** Where a record keeps a message that it is about. */
const ENVELOPES = ['message', 'data', 'payload', 'entry', 'body'] as const

/** Names of fields, and values that entries say in their own way. */
export const GENERIC_WORDS = [
  ...[ROLE_KEYS, CONTENT_KEYS, TIME_KEYS, ID_KEYS, MODEL_KEYS, CALL_KEYS, THOUGHT_KEYS, ENVELOPES].flat(),
  ...WORDS.keys(),
  'Human User Assistant AI System Bot tool_calls toolCalls function arguments input output tool_use tool_call image image_url url data',
].join(' ')

/** Undefined for a record that is no message. One in an envelope is looked at inside. */
export function fromGeneric(record: JsonObject): Said | undefined {
  const own = toSaid(record, record)
  if (own !== undefined) return own
  for (const key of ENVELOPES) {
    const inner = asObject(record[key])
    const said = inner && toSaid(inner, record)
    if (said === undefined) continue
    const around = rest(record, new Set([key, ...TIME_KEYS, ...ID_KEYS]))
    return around === undefined ? said : { ...said, metadata: { ...said.metadata, around } }
  }
  return undefined
}

/** Who spoke in the record that `fromGeneric` would make a message of; undefined for one that is none. */
export function speakerOf(record: JsonObject): Role | undefined {
  const own = spokenIn(record)
  if (own !== undefined) return own.role
  for (const key of ENVELOPES) {
    const inner = asObject(record[key])
    const said = inner && spokenIn(inner)
    if (said !== undefined) return said.role
  }
  return undefined
}

type Spoken = {
  readonly role: Role
  readonly roleKey: string
  readonly contentKey: string | undefined
  readonly calls: readonly Json[] | undefined
}

function spokenIn(message: JsonObject): Spoken | undefined {
  const who = roleOf(message)
  if (who === undefined) return undefined
  const contentKey = CONTENT_KEYS.find((key) => key !== who.key && isContent(message[key]))
  const calls = flatCall(message) ?? asArray(message['tool_calls']) ?? asArray(message['toolCalls'])
  if (contentKey === undefined && calls === undefined) return undefined
  return { role: who.role, roleKey: who.key, contentKey, calls }
}

/** A record that is one call: `{type: 'tool_use', tool_name, tool_use_id, input}`. */
function flatCall(message: JsonObject): readonly Json[] | undefined {
  const { tool_name: name, tool_use_id: id, input, type } = message
  return type === 'tool_use' && typeof name === 'string'
    ? [{ name, id: id ?? null, input: input ?? {} }]
    : undefined
}

const FLAT_CALL = ['tool_name', 'tool_use_id', 'input']

/** `around` is what the message stands in: it may have its time and its id. */
function toSaid(message: JsonObject, around: JsonObject): Said | undefined {
  const spoken = spokenIn(message)
  if (spoken === undefined) return undefined
  const { role, roleKey, contentKey, calls } = spoken
  const content = contentKey === undefined ? undefined : message[contentKey]
  const at = timeOf(message) ?? timeOf(around)
  const id = idOf(message) ?? idOf(around)
  const about = findUsage(message)
  const model = pick(message, MODEL_KEYS) ?? about?.model
  const thought = pick(message, THOUGHT_KEYS)
  const kept = rest(
    message,
    new Set([
      roleKey,
      ...(contentKey === undefined ? [] : [contentKey]),
      'tool_calls',
      'toolCalls',
      ...(flatCall(message) === undefined ? [] : FLAT_CALL),
      ...TIME_KEYS,
      ...ID_KEYS,
    ]),
  )
  const isSilent = flatCall(message) !== undefined && content === ''
  const blocks = isSilent ? [] : genericBlocks(content)
  return {
    ...(id !== undefined && { id }),
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks:
      role === 'tool' && !blocks.some(({ type }) => type === 'tool-result')
        ? [toResult(message, content)]
        : [
            ...(thought === undefined || thought === ''
              ? []
              : [{ type: 'thinking', text: thought } satisfies Block]),
            ...blocks,
            ...(calls ?? []).map(toCall),
          ],
    ...(role === 'assistant' && model !== undefined && { model }),
    ...(role === 'assistant' && about?.usage !== undefined && { usage: about.usage }),
    ...(kept !== undefined && { metadata: kept }),
  }
}

function roleOf(message: JsonObject): { readonly key: string; readonly role: Role } | undefined {
  for (const key of ROLE_KEYS) {
    const value = message[key]
    const word = asString(value) ?? asString(asObject(value)?.['role'])
    const role = word === undefined ? undefined : WORDS.get(word.toLowerCase())
    if (role !== undefined) return { key, role }
  }
  return undefined
}

const isContent = (value: Json | undefined): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every(isPart)) || isPartObject(value)

const isPart = (value: Json): boolean => typeof value === 'string' || isObject(value)

/** `{parts: […]}` or `{text}` in place of a text. */
const isPartObject = (value: Json | undefined): boolean =>
  isObject(value) && (Array.isArray(value['parts']) || typeof value['text'] === 'string')

function toResult(message: JsonObject, content: Json | undefined): Block {
  const callId = CALL_KEYS.slice(0, -1)
    .map((key) => asString(message[key]))
    .find((one) => one !== undefined)
  const name = asString(message['name']) ?? asString(message['toolName']) ?? asString(message['tool_name'])
  const output =
    typeof content === 'string' ? content : content === undefined ? undefined : genericBlocks(content)
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(output !== undefined && { output }),
    ...((message['is_error'] === true || message['isError'] === true) && { isError: true }),
  }
}

const pick = (message: JsonObject, keys: readonly string[]): string | undefined =>
  keys.map((key) => asString(message[key])).find((one) => one !== undefined && one !== '')

function idOf(message: JsonObject): string | undefined {
  return ID_KEYS.map((key) => asId(message[key])).find((one) => one !== undefined)
}

/** Seconds and milliseconds are told apart by their size: seconds of this century are smaller than milliseconds of 1973. */
const MILLIS = 1e11

function timeOf(message: JsonObject): string | undefined {
  for (const key of TIME_KEYS) {
    const value = message[key]
    const number = asNumber(value)
    const at =
      number === undefined
        ? parseInstant(value)
        : number > 0
          ? fromMillis(number < MILLIS ? number * 1000 : number)
          : undefined
    if (at !== undefined) return at
  }
  return undefined
}

/** Text in which somebody wrote who spoke, line by line: `user: …`. Undefined for any other. */
export function fromRoleText(text: string): readonly Said[] | undefined {
  const marks = [...text.matchAll(/^(system|user|human|assistant|ai|tool|function): ?/gim)]
  if (marks.length < 2 || marks[0]?.index !== 0) return undefined
  return marks.map((mark, index) => {
    const said = text.slice(mark.index + mark[0].length, marks[index + 1]?.index).replace(/\n$/, '')
    const role = WORDS.get((mark[1] as string).toLowerCase()) as Role
    const block: Block =
      role === 'tool' ? { type: 'tool-result', output: said } : { type: 'text', text: said }
    return { kind: 'message', role, blocks: [block] }
  })
}
