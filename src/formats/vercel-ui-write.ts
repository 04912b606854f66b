/**
 * A session as UI messages of Vercel's AI SDK: a list, with an answer's calls and what they returned in one part. An answer waits for its
 * results, and what follows it waits with it; a result that comes too late is reported.
 */
import { contentText, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asArray, asObject, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import type { Writer } from './format.ts'
import { loseEntry } from './lost-facts.ts'
import { messageWriter, type Lane, type LaneOptions } from './message-lanes.ts'
import { loseByReadingAgain } from './message-losses.ts'
import type { Said } from './placing.ts'
import { fromUiMessage } from './vercel-ui-parts.ts'

const ID = 'vercel-ui-messages'

export const vercelUiWriter: Writer = messageWriter({
  root: ID,
  extension: 'json',
  close: ']\n',
  lane: createLane,
})

/** Messages that wait at once: past it, the oldest goes without its results. */
const MOST_WAITING = 100

type Waiting = {
  readonly message: JsonObject
  readonly parts: Json[]
  /** By call id: where the part stands. */
  readonly open: Map<string, number>
  /** Of the results that are there: the part that stands last. */
  last: number
}

function createLane({ context, ids }: LaneOptions): Lane {
  let queue: Waiting[] = []
  const release = (isAll: boolean): readonly Json[] => {
    const blocked = queue.findIndex(({ open }) => open.size > 0)
    const most = blocked === -1 || isAll ? queue.length : Math.max(blocked, queue.length - MOST_WAITING)
    const ready = queue.slice(0, most)
    queue = queue.slice(most)
    return ready.map(({ message, parts }) => ({ ...message, parts }))
  }
  /** Puts a result where its call is; the words for what that loses, or undefined where there is no such call. */
  const answer = (result: ToolResultBlock): readonly string[] | undefined => {
    const at = queue.findIndex(({ open }) => result.callId !== undefined && open.has(result.callId))
    const waiting = queue[at]
    const index = waiting?.open.get(result.callId ?? '')
    if (waiting === undefined || index === undefined) return undefined
    waiting.open.delete(result.callId ?? '')
    waiting.parts[index] = { ...asObject(waiting.parts[index]), ...toOutput(result) }
    const isMoved = index < waiting.last || at < queue.length - 1
    waiting.last = Math.max(waiting.last, index)
    return isMoved ? ['its place in the order'] : []
  }
  const push = (blocks: readonly Block[], entry: Entry): readonly Said[] => {
    const isOwn = entry.origin?.format === ID
    const role = entry.role === 'assistant' || entry.role === 'system' ? entry.role : 'user'
    const extras = isOwn ? asArray(entry.metadata?.['extras']) : undefined
    const parts = blocks.map((block, index): Json => {
      const part = toPart(block, entry, context)
      const more = asObject(extras?.[index])
      return more === undefined || !isObject(part) ? part : { ...part, ...more }
    })
    const before = role === 'assistant' ? [{ type: 'step-start' }] : []
    const message: JsonObject = { id: entry.id, role, ...toMetadata(entry, isOwn), parts: [] }
    const open = new Map(
      blocks.flatMap((block, index) =>
        block.type === 'tool-call' && block.callId !== undefined
          ? [[block.callId, index + before.length] as const]
          : [],
      ),
    )
    const waiting: Waiting = { message, parts: [...before, ...parts], open, last: -1 }
    queue.push(waiting)
    return fromUiMessage({ ...message, parts: waiting.parts })
  }
  return {
    head: () => '[',
    entry(entry) {
      if (entry.kind === 'event') {
        loseEntry(entry, 'a list of messages has no events', context)
        return []
      }
      const isOwn = entry.origin?.format === ID
      const blocks = entry.blocks
        .filter(({ type }) => isOwn || type !== 'unknown')
        .map((block) => ids.fill(block, entry, context))
      const results = blocks.filter((block) => block.type === 'tool-result')
      const others = blocks.filter((block) => block.type !== 'tool-result')
      const placed = results.map((result) => ({ result, lost: answer(result) }))
      const answered = placed.filter(({ lost }) => lost !== undefined)
      if (others.length === 0 && answered.length === 0) {
        loseEntry(
          entry,
          results.length > 0 ? 'no call that waits for its result' : 'nothing in it is a message',
          context,
        )
        return release(false)
      }
      const said = others.length === 0 ? [] : push(others, entry)
      const read = [...said, ...answered.map(({ result }) => toSaid(result))]
      const moved = answered.length > 0 && others.length > 0 ? ['its place in the order'] : []
      loseByReadingAgain(
        entry,
        { read, toolOf: ids.toolOf, others: [...placed.flatMap(({ lost }) => lost ?? []), ...moved] },
        context,
      )
      return release(false)
    },
    end: () => release(true),
  }
}

/** As the part will be read: its call has the tool's name. */
function toSaid(result: ToolResultBlock): Said {
  const part = {
    type: 'dynamic-tool',
    toolName: '',
    toolCallId: result.callId ?? '',
    input: {},
    ...toOutput(result),
  }
  const found = fromUiMessage({ role: 'assistant', parts: [part] }).find(({ role }) => role === 'tool')
  return found ?? { kind: 'message', role: 'tool', blocks: [] }
}

function toOutput({ output, error, isError }: ToolResultBlock): JsonObject {
  const text = typeof output === 'string' || isBlobRef(output) ? contentText(output) : undefined
  if (isError === true || error !== undefined)
    return { state: 'output-error', errorText: error ?? text ?? toJson(output ?? '') }
  return { state: 'output-available', output: text ?? toValue(Array.isArray(output) ? output : []) }
}

/** A structure that a tool returned is one value; anything else of several parts is what they say. */
function toValue(output: readonly Block[]): Json {
  const [only] = output
  if (output.length === 1 && only?.type === 'unknown') return only.raw
  return output.map((part): Json =>
    part.type === 'text' ? { type: 'text', text: contentText(part.text) } : (part as unknown as Json),
  )
}

function toPart(block: Block, entry: Entry, context: LaneOptions['context']): Json {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: contentText(block.text) }
    case 'thinking':
      return { type: 'reasoning', text: contentText(block.text) }
    case 'error':
      return { type: 'text', text: block.message }
    case 'tool-call': {
      const input = block.inputBlob === undefined ? (block.input ?? {}) : contentText(block.inputBlob)
      return {
        type: 'dynamic-tool',
        toolName: block.name,
        toolCallId: block.callId ?? '',
        state: 'input-available',
        input,
      }
    }
    case 'image': {
      const { data, mediaType, url } = block
      if (mediaType === undefined) context.filled(entry, 'mediaType')
      const stated =
        data === undefined ? (url ?? '') : `data:${mediaType ?? 'image/*'};base64,${contentText(data)}`
      return { type: 'file', mediaType: mediaType ?? 'image/*', url: stated }
    }
    case 'unknown':
      return block.raw
    case 'tool-result':
      return { type: 'text', text: '' }
  }
}

/** Programs decide what a message's metadata are: these are the names that the SDK's own examples have. */
function toMetadata({ at, model, usage, role, metadata }: Entry, isOwn: boolean): JsonObject {
  const kept = isOwn ? asObject(metadata?.['message']) : undefined
  const isAnswer = role === 'assistant'
  const said: JsonObject = {
    ...(at !== undefined && { createdAt: at }),
    ...(isAnswer && model !== undefined && { model }),
    ...(isAnswer && usage !== undefined && { usage: toUsage(usage) }),
  }
  if (kept !== undefined) return kept
  return Object.keys(said).length === 0 ? {} : { metadata: said }
}

function toUsage(usage: Usage): JsonObject {
  const { cacheRead, output, reasoning } = usage
  const prompt = promptTokens(usage)
  return {
    ...(prompt !== undefined && { inputTokens: prompt }),
    ...(cacheRead !== undefined && { cachedInputTokens: cacheRead }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
