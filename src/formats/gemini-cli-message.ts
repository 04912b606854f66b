/**
 * One of Gemini CLI's messages as entries: what was said with the calls it makes, then a result for each call that has one,
 * for Gemini CLI keeps results inside the message that asked for them.
 */
import type { Block } from '../transcript/block.ts'
import { isUuid } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { hasCounts, withoutZeros, type Usage } from '../transcript/usage.ts'
import { splitParts } from '../wire/gemini-parts.ts'
import { fromGeminiUsage } from '../wire/gemini-usage.ts'
import { readCall } from './gemini-cli-call.ts'
import { always, isText, isTime, kept, listed, unread, type Reads } from './gemini-cli-kept.ts'
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
