/**
 * One line of a Copilot CLI log as what it says: messages of user, system, assistant and tools, and an event for every other line that is
 * known, with all of its data. A line of a type that nobody here knows is kept whole.
 */
import type { Block } from '../transcript/block.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromTimestamp } from './claude-time.ts'
import {
  fromComplete,
  fromStart,
  left,
  REQUEST,
  toCall,
  type FromData,
  type Known,
} from './copilot-cli-tools.ts'
import { callOf, fromMetrics, messageUsage, toMetrics } from './copilot-cli-usage.ts'
import { VOCABULARY } from './copilot-cli-vocabulary.ts'
import { always, isCount, isList, isNamed, isText, leftOver, takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'

export function fromCopilotLine(line: Json, known: Known): Said {
  if (!isObject(line)) return { kind: 'event', blocks: [{ type: 'unknown', raw: line }] }
  const type = asString(line['type'])
  const data = asObject(line['data'])
  const said = type === undefined || data === undefined ? undefined : TYPES.get(type)?.(data, known)
  if (said !== undefined) return { ...placeOf(line), ...said, metadata: metadataOf(line, said.metadata) }
  const isKnown = type !== undefined && data !== undefined && VOCABULARY.records.has(type)
  return {
    ...placeOf(line),
    kind: 'event',
    blocks: isKnown ? [] : [{ type: 'unknown', raw: line }],
    metadata: isKnown ? metadataOf(line, data) : { record: type ?? '' },
  }
}

function placeOf({ id, parentId, timestamp }: JsonObject): Pick<Said, 'id' | 'parent' | 'at'> {
  const own = asId(id)
  const at = typeof timestamp === 'string' ? fromTimestamp(timestamp) : undefined
  return {
    ...(own !== undefined && { id: own }),
    ...((parentId === null || typeof parentId === 'string') && { parent: parentId }),
    ...(at !== undefined && { at }),
  }
}

/** The line's type, and under their own names what its data and its envelope say beyond the entry. */
function metadataOf(line: JsonObject, data: JsonObject | undefined): JsonObject {
  const envelope = leftOver(line, ENVELOPE)
  return {
    ...envelope,
    record: asString(line['type']) ?? '',
    ...(data !== undefined && Object.keys(data).length > 0 && { data }),
  }
}

/** `record` and `data` are the names that we use there. */
const ENVELOPE = takes({
  type: always,
  data: always,
  record: always,
  id: isNamed,
  parentId: isText,
  timestamp: (value) => typeof value === 'string' && fromTimestamp(value) !== undefined,
})

const TYPES: ReadonlyMap<string, FromData> = new Map<string, FromData>([
  ['user.message', (data) => fromText('user', data)],
  ['system.message', (data) => fromText('system', data)],
  ['assistant.message', fromAssistant],
  ['tool.execution_start', fromStart],
  ['tool.user_requested', fromStart],
  ['tool.execution_complete', fromComplete],
  ['assistant.reasoning', fromReasoning],
  ['session.info', (data) => fromNotice('message', data)],
  ['session.warning', (data) => fromNotice('message', data)],
  ['system.notification', (data) => fromNotice('content', data)],
  ['session.error', fromError],
  ['session.usage_record', fromUsageRecord],
  ['abort', fromAbort],
])

/** What the person typed; what the model was given instead stays beside it as `transformedContent`. */
function fromText(role: 'user' | 'system', data: JsonObject): ReturnType<FromData> {
  const text = asString(data['content'])
  if (text === undefined) return undefined
  return { kind: 'message', role, blocks: [{ type: 'text', text }], ...left(data, 'content') }
}

function fromAssistant(
  data: JsonObject,
  { isCovered, isCounted, isRecorded, model: current, isSaid }: Known,
): ReturnType<FromData> {
  const requests = asArray(data['toolRequests']) ?? []
  const calls = requests.map(toCall)
  const model = asString(data['model']) ?? current
  const named = callOf(data)
  const usage = messageUsage(data, isCovered || (named !== undefined && isRecorded(named)))
  // One that no message counts is in the shutdown's sums: by itself it would be an answer that nobody counted.
  const isSummed = isCovered && usage === undefined && named !== undefined && !isCounted(named)
  const call = isSummed ? undefined : named
  const more = requests.map((request, at) =>
    isObject(request)
      ? ((isRepeated(calls[at], isSaid) ? request : leftOver(request, REQUEST)) ?? null)
      : null,
  )
  return {
    kind: 'message',
    role: 'assistant',
    blocks: [
      ...thinkingOf(data),
      ...contentOf(data['content']),
      ...calls.filter((block) => !isRepeated(block, isSaid)),
    ],
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(call !== undefined && { call }),
    metadata: {
      ...leftOver(data, ASSISTANT),
      ...(more.some((one) => one !== null) && { toolRequests: more }),
    },
  }
}

const ASSISTANT = takes({
  content: always,
  toolRequests: isList,
  model: isText,
  outputTokens: isCount,
  reasoningText: isText,
  reasoningOpaque: isText,
  encryptedContent: isText,
})

/** A text until now; a list would be one of blocks. */
function contentOf(content: Json | undefined): readonly Block[] {
  if (content === undefined || content === null || content === '') return []
  return (asArray(content) ?? [content]).map((part): Block => {
    const text =
      isObject(part) && part['type'] === 'text' && Object.keys(part).length === 2 ? part['text'] : part
    return typeof text === 'string' ? { type: 'text', text } : { type: 'unknown', raw: part }
  })
}

/** A call whose start was written before the message that asks for it is said there. */
function isRepeated(block: Block | undefined, isSaid: Known['isSaid']): boolean {
  return block?.type === 'tool-call' && block.callId !== undefined && isSaid(block.callId)
}

function thinkingOf({ reasoningText, reasoningOpaque, encryptedContent }: JsonObject): readonly Block[] {
  const text = asString(reasoningText)
  const signature = asString(reasoningOpaque)
  const redacted = asString(encryptedContent)
  if (text === undefined && signature === undefined && redacted === undefined) return []
  return [
    {
      type: 'thinking',
      text: text ?? '',
      ...(signature !== undefined && { signature }),
      ...(redacted !== undefined && { redacted }),
    },
  ]
}

function fromReasoning(data: JsonObject): ReturnType<FromData> {
  const text = asString(data['content'])
  if (text === undefined) return undefined
  return { kind: 'event', role: 'assistant', blocks: [{ type: 'thinking', text }], ...left(data, 'content') }
}

function fromNotice(key: string, data: JsonObject): ReturnType<FromData> {
  const text = asString(data[key])
  if (text === undefined) return undefined
  return { kind: 'event', blocks: [{ type: 'text', text }], ...left(data, key) }
}

function fromError(data: JsonObject): ReturnType<FromData> {
  const message = asString(data['message'])
  const code = asString(data['errorType'])
  if (message === undefined) return undefined
  return {
    kind: 'event',
    blocks: [{ type: 'error', message, ...(code !== undefined && { code }) }],
    ...left(data, 'message', ...(code === undefined ? [] : ['errorType'])),
  }
}

/** What one call used, also a subagent's and those that wrote no message. */
function fromUsageRecord(data: JsonObject): ReturnType<FromData> {
  const counted = asObject(data['usage'])
  if (counted === undefined) return undefined
  const model = asString(counted['model'])
  const call = callOf(counted)
  const durationMs = asCount(counted['duration'])
  return {
    kind: 'event',
    blocks: [],
    usage: fromMetrics(toMetrics(counted), counted),
    ...(model !== undefined && { model }),
    ...(call !== undefined && { call }),
    ...(durationMs !== undefined && { durationMs }),
    ...left(data, 'usage'),
  }
}

function fromAbort(data: JsonObject): ReturnType<FromData> {
  const stopReason = asString(data['reason'])
  if (stopReason === undefined) return undefined
  return { kind: 'event', blocks: [], stopReason, ...left(data, 'reason') }
}
