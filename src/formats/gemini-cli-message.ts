/**
 * One of Gemini CLI's messages as entries: what was said with the calls it makes, then a result for each call that has one,
 * for Gemini CLI keeps results inside the message that asked for them.
 */
import type { Block, ToolCallBlock, ToolResultBlock } from '../transcript/block.ts'
import { isUuid } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { splitParts } from '../wire/gemini-parts.ts'
import { fromGeminiUsage } from '../wire/gemini-usage.ts'
import { asId, type Said } from './placing.ts'

export type MessagePlace = {
  readonly session: string | undefined
  /** Where the message stands: names its calls where neither it nor they have an id. */
  readonly number: number
}

/** Undefined for what is no message, or of a type that nobody here knows. */
export function fromGeminiMessage(value: JsonObject, place: MessagePlace): Said[] | undefined {
  const type = asString(value['type'])
  if (type === 'user') return [fromUser(value)]
  if (type === 'gemini' || type === 'model') return fromModel(value, place)
  if (type === 'info' || type === 'warning' || type === 'error') return [fromNotice(value, type)]
  return undefined
}

/** Gemini CLI counts what was cached inside the input, and thoughts and tool prompts beside the others. */
export function fromGeminiTokens(tokens: JsonObject): Usage {
  const { input = null, output = null, cached = null, thoughts = null, tool = null, total = null } = tokens
  const usage = fromGeminiUsage({
    promptTokenCount: input,
    candidatesTokenCount: output,
    cachedContentTokenCount: cached,
    thoughtsTokenCount: thoughts,
    toolUsePromptTokenCount: tool,
    totalTokenCount: total,
  })
  return { ...usage, raw: tokens }
}

function fromUser(value: JsonObject): Said {
  const { blocks, extras } = contentOf(value)
  const isResults = blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')
  return {
    ...placeOf(value),
    kind: 'message',
    role: isResults ? 'tool' : 'user',
    blocks,
    ...kept({ ...rest(value, SAID), ...extras }),
  }
}

/** What the program told its user; the model never saw it. */
function fromNotice(value: JsonObject, type: string): Said {
  const { blocks, extras } = contentOf(value)
  const isError = type === 'error'
  const said = blocks.map((block): Block =>
    isError && block.type === 'text' && typeof block.text === 'string'
      ? { type: 'error', message: block.text }
      : block,
  )
  const metadata = { record: type, ...rest(value, SAID), ...extras }
  return { ...placeOf(value), kind: 'event', blocks: said, metadata }
}

function fromModel(value: JsonObject, { session, number }: MessagePlace): Said[] {
  const id = asId(value['id'])
  const model = asString(value['model'])
  const tokens = asObject(value['tokens'])
  const calls = (asArray(value['toolCalls']) ?? []).map((call, index) =>
    readCall(call, { message: id, number, index }),
  )
  const made = new Set(calls.map(({ block }) => (block.type === 'tool-call' ? block.callId : undefined)))
  const thoughts = (asArray(value['thoughts']) ?? []).filter(isObject)
  const { blocks, extras } = contentOf(value)
  const said: Said = {
    ...placeOf(value),
    kind: 'message',
    role: 'assistant',
    blocks: [
      ...thoughts.map(toThinking),
      // A call may stand both among the parts and in the list of calls, which knows more.
      ...blocks.filter((block) => block.type !== 'tool-call' || !made.has(block.callId)),
      ...calls.map(({ block }) => block),
    ],
    ...(model !== undefined && { model }),
    ...(tokens !== undefined && { usage: fromGeminiTokens(tokens) }),
    ...(id !== undefined && { call: { provider: 'google', messageId: messageId(id, session) } }),
    ...kept({
      ...rest(value, MODEL_SAID),
      ...extras,
      ...listed(
        'thoughts',
        thoughts.map((thought) => rest(thought, THOUGHT)),
      ),
      ...listed(
        'toolCalls',
        calls.map(({ open }) => open),
      ),
    }),
  }
  return [said, ...calls.flatMap(({ result }) => result ?? [])]
}

/** Uuids are the same message wherever they turn up; anything else only within its session. */
function messageId(id: string, session: string | undefined): string {
  return isUuid(id) || session === undefined ? id : `${session}/${id}`
}

const SAID: ReadonlySet<string> = new Set(['id', 'timestamp', 'type', 'content', 'parts'])
const MODEL_SAID: ReadonlySet<string> = new Set([...SAID, 'model', 'tokens', 'thoughts', 'toolCalls'])
const THOUGHT: ReadonlySet<string> = new Set(['subject', 'description'])
const CALL: ReadonlySet<string> = new Set(['id', 'name', 'args', 'result', 'timestamp'])

function placeOf(value: JsonObject): Pick<Said, 'id' | 'at'> {
  const id = asId(value['id'])
  const at = parseInstant(value['timestamp'])
  return { ...(id !== undefined && { id }), ...(at !== undefined && { at }) }
}

type Content = { readonly blocks: readonly Block[]; readonly extras: JsonObject }

/** The parts as blocks, and what they say beyond those, by place. An empty text is Gemini CLI's way to say none. */
function contentOf({ content, parts }: JsonObject): Content {
  const split = splitParts(content ?? parts)
  return {
    blocks: split.map(({ block }) => block).filter((block) => block.type !== 'text' || block.text !== ''),
    extras: listed(
      'parts',
      split.map(({ extras }) => extras),
    ),
  }
}

function toThinking({ subject, description }: JsonObject): Block {
  const lines = [asString(subject), asString(description)].filter((line) => line !== undefined && line !== '')
  return { type: 'thinking', text: lines.join('\n') }
}

type ReadCall = {
  readonly block: Block
  /** Absent while the tool is at work, and for ever when that was never recorded. */
  readonly result?: Said
  /** What a call without a result says beyond the block. */
  readonly open?: JsonObject
}

type CallPlace = { readonly message: string | undefined; readonly number: number; readonly index: number }

function readCall(raw: Json, { message, number, index }: CallPlace): ReadCall {
  const name = isObject(raw) ? asString(raw['name']) : undefined
  if (!isObject(raw) || name === undefined) return { block: { type: 'unknown', raw } }
  const callId = asId(raw['id']) ?? `${message ?? `message-${number}`}/${index + 1}`
  const names = { callId, name }
  const args = raw['args']
  const block: ToolCallBlock = { type: 'tool-call', ...names, ...(args !== undefined && { input: args }) }
  const more = rest(raw, CALL)
  const result = toResult(raw, names)
  if (result === undefined) return { block, ...(more !== undefined && { open: more }) }
  const at = parseInstant(raw['timestamp'])
  return {
    block,
    result: {
      ...(message !== undefined && { id: `${message}/result-${index + 1}`, parent: message }),
      kind: 'message',
      role: 'tool',
      ...(at !== undefined && { at }),
      blocks: [result],
      ...kept(more),
    },
  }
}

/** Ends that leave no result: what the person saw is then all there is. */
const ENDS: ReadonlySet<string> = new Set(['success', 'error', 'cancelled'])

function toResult(
  { result, status, resultDisplay }: JsonObject,
  names: { readonly callId: string; readonly name: string },
): ToolResultBlock | undefined {
  const ended = typeof status === 'string' && ENDS.has(status)
  const isError = status === 'error' || status === 'cancelled'
  const shown = asString(resultDisplay)
  if (result === undefined || result === null) {
    if (!ended) return undefined
    const said = shown === undefined ? {} : isError ? { error: shown } : { output: shown }
    return { type: 'tool-result', ...names, ...said, ...(isError && { isError }) }
  }
  const parts = splitParts(result).map(({ block }) => block)
  const [first, ...others] = parts
  const own = first?.type === 'tool-result' ? first : undefined
  const { output, error } = own ?? {}
  const before: readonly Block[] =
    output === undefined
      ? []
      : typeof output === 'string' || !isList(output)
        ? [{ type: 'text', text: output }]
        : output
  const beside = own === undefined ? parts : others
  const whole = beside.length > 0 ? [...before, ...beside] : output
  return {
    type: 'tool-result',
    ...names,
    ...(whole !== undefined && { output: whole }),
    ...(error !== undefined && { error }),
    ...((isError || own?.isError === true) && { isError: true }),
  }
}

function isList(output: ToolResultBlock['output']): output is readonly Block[] {
  return Array.isArray(output)
}

function kept(metadata: JsonObject | undefined): { readonly metadata?: JsonObject } {
  return metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }
}

/** What each of a list says beyond the model, by place; nothing when none does. */
function listed(key: string, values: readonly (JsonObject | undefined)[]): JsonObject {
  return values.every((value) => value === undefined) ? {} : { [key]: values.map((value) => value ?? null) }
}
