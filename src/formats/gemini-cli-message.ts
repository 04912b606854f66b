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
import { hasCounts, withoutZeros, type Usage } from '../transcript/usage.ts'
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

/** What a message's call used and how it is named, alike in each of its versions; undefined where it states no tokens. */
export function reportOf(
  message: JsonObject,
  session: string | undefined,
): Pick<Said, 'usage' | 'model' | 'call'> | undefined {
  const tokens = asObject(message['tokens'])
  const id = asId(message['id'])
  if (tokens === undefined || id === undefined) return undefined
  const usage = fromGeminiTokens(tokens)
  const model = asString(message['model'])
  if (!hasCounts(usage)) return undefined
  return { usage, ...(model !== undefined && { model }), call: toCall(id, session) }
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
  return withoutZeros({ ...usage, raw: tokens })
}

function fromUser(value: JsonObject): Said {
  const { blocks, extras } = contentOf(value)
  const isResults = blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')
  return {
    ...placeOf(value),
    kind: 'message',
    role: isResults ? 'tool' : 'user',
    blocks,
    ...kept({ ...unread(value, SAID), ...extras }),
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
  const metadata = { record: type, ...unread(value, SAID), ...extras }
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
  const thoughts = asArray(value['thoughts']) ?? []
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
    ...(id !== undefined && { call: toCall(id, session) }),
    ...kept({
      ...unread(value, MODEL_SAID),
      ...extras,
      ...listed(
        'thoughts',
        thoughts.map((thought) => (isObject(thought) ? unread(thought, THOUGHT) : undefined)),
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
function toCall(id: string, session: string | undefined): NonNullable<Said['call']> {
  return { provider: 'google', messageId: isUuid(id) || session === undefined ? id : `${session}/${id}` }
}

/** What is read of a record, by key, and when it is: anything else is kept under its own name. */
type Reads = ReadonlyMap<string, (value: Json, record: JsonObject) => boolean>

const isText = (value: Json): boolean => typeof value === 'string'
const isTime = (value: Json): boolean => parseInstant(value) !== undefined
const always = (): boolean => true

const SAID: Reads = new Map<string, (value: Json, record: JsonObject) => boolean>([
  ['id', (value) => asId(value) !== undefined],
  ['timestamp', isTime],
  ['type', always],
  ['content', always],
  ['parts', (_, { content }) => content === undefined || content === null],
])
const MODEL_SAID: Reads = new Map([
  ...SAID,
  ['model', isText],
  ['tokens', isObject],
  ['thoughts', Array.isArray],
  ['toolCalls', Array.isArray],
])
const THOUGHT: Reads = new Map([
  ['subject', isText],
  ['description', isText],
])
const CALL: Reads = new Map<string, (value: Json, record: JsonObject) => boolean>([
  ['id', (value) => asId(value) !== undefined],
  ['name', always],
  ['args', always],
  ['result', always],
  // It is the result's time.
  ['timestamp', (value, { result, status }) => isTime(value) && hasEnded(result, status)],
])

function unread(record: JsonObject, reads: Reads): JsonObject | undefined {
  const known = new Set<string>()
  for (const [key, isRead] of reads) {
    const value = record[key]
    if (value === undefined || value === null || isRead(value, record)) known.add(key)
  }
  return rest(record, known)
}

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

function toThinking(thought: Json): Block {
  if (typeof thought === 'string') return { type: 'thinking', text: thought }
  if (!isObject(thought)) return { type: 'unknown', raw: thought }
  const { subject, description } = thought
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
  const more = unread(raw, CALL)
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
      ...kept({ ...more, ...answeredAs(raw['result'], names) }),
    },
  }
}

/** What the answer calls itself, where that is not what the call is called. */
function answeredAs(
  result: Json | undefined,
  names: { readonly callId: string; readonly name: string },
): JsonObject {
  const answer = asObject(asObject(asArray(result)?.[0])?.['functionResponse'])
  const { id, name } = answer ?? {}
  const own = {
    ...(id !== undefined && id !== null && id !== names.callId && { id }),
    ...(name !== undefined && name !== null && name !== names.name && { name }),
  }
  return Object.keys(own).length === 0 ? {} : { functionResponse: own }
}

/** Ends that leave no result: what the person saw is then all there is. */
const ENDS: ReadonlySet<string> = new Set(['success', 'error', 'cancelled'])

function hasEnded(result: Json | undefined, status: Json | undefined): boolean {
  return (result !== undefined && result !== null) || (typeof status === 'string' && ENDS.has(status))
}

function toResult(
  { result, status, resultDisplay }: JsonObject,
  names: { readonly callId: string; readonly name: string },
): ToolResultBlock | undefined {
  const isError = status === 'error' || status === 'cancelled'
  const shown = asString(resultDisplay)
  if (result === undefined || result === null) {
    if (!hasEnded(result, status)) return undefined
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
