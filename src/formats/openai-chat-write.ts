/**
 * A session as messages of Chat Completions: `{"messages": […]}` on a line, as training sets have them. Thinking is `reasoning_content`, as
 * the servers beside OpenAI say it. Entries of one provider's message that follow each other are one message, so that calls made at once
 * stand before their results.
 */
import { contentText, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asArray, asObject, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Writer } from './format.ts'
import { loseEntry } from './lost-facts.ts'
import { messageWriter, type Lane, type LaneOptions } from './message-lanes.ts'
import { loseByReadingAgain } from './message-losses.ts'
import { fromRequestMessage } from './provider-entries.ts'

const ID = 'openai-chat'

export const openAiChatWriter: Writer = messageWriter({
  root: ID,
  extension: 'jsonl',
  close: ']}\n',
  lane: createLane,
})

/** A message that is being made. */
type Draft = { readonly role: string; thought?: string; readonly parts: Json[]; readonly calls: Json[] }

/** The last message of an answer, which the next entry may go on with. */
type Held = { readonly draft: Draft; readonly entry: Entry; isMerged: boolean }

function createLane({ context, ids }: LaneOptions): Lane {
  let held: Held | undefined
  const release = (): readonly Json[] => {
    if (held === undefined) return []
    const { draft } = held
    held = undefined
    return [toMessage(draft)]
  }
  /** True when the entry went into the message before it. */
  const merge = (drafts: readonly (Draft | JsonObject)[], entry: Entry): boolean => {
    const [only, ...more] = drafts
    if (
      held === undefined ||
      only === undefined ||
      more.length > 0 ||
      !isDraft(only) ||
      !goesOn(held.entry, entry)
    )
      return false
    if (!canJoin(held.draft, only)) return false
    if (only.thought !== undefined) held.draft.thought = only.thought
    held.draft.parts.push(...only.parts)
    held.draft.calls.push(...only.calls)
    if (!held.isMerged) context.lost(held.entry, 'that it is an entry of its own')
    held.isMerged = true
    return true
  }
  return {
    head: () => '{"messages":[',
    entry(entry) {
      if (entry.kind === 'event') {
        loseEntry(entry, 'a list of messages has no events', context)
        return []
      }
      const blocks = entry.blocks.map((block) => ids.fill(block, entry, context))
      const drafts = toDrafts(blocks, entry)
      if (drafts.length === 0) {
        loseEntry(entry, 'nothing in it is a message', context)
        return []
      }
      const written = drafts.map((draft) => withFields(isDraft(draft) ? toMessage(draft) : draft, entry))
      const read = written.flatMap((message) => fromRequestMessage(ID, message))
      const isMerged = merge(drafts, entry)
      loseByReadingAgain(
        entry,
        { read, toolOf: ids.toolOf, others: isMerged ? ['that it is an entry of its own'] : [] },
        context,
      )
      if (isMerged) return []
      const before = release()
      const last = drafts.at(-1)
      if (
        entry.role !== 'assistant' ||
        entry.call?.messageId === undefined ||
        last === undefined ||
        !isDraft(last)
      )
        return [...before, ...written]
      held = { draft: last, entry, isMerged: false }
      return [...before, ...written.slice(0, -1)]
    },
    end: release,
  }
}

const isDraft = (one: Draft | JsonObject): one is Draft =>
  Array.isArray(one['parts']) && Array.isArray(one['calls'])

const goesOn = (before: Entry, entry: Entry): boolean =>
  entry.role === 'assistant' &&
  before.call?.messageId !== undefined &&
  before.call.messageId === entry.call?.messageId &&
  before.call.provider === entry.call.provider

/** Thinking comes first, calls last: what would change the order begins a message of its own. */
function canJoin(before: Draft, next: Draft): boolean {
  if (
    next.thought !== undefined &&
    (before.thought !== undefined || before.parts.length + before.calls.length > 0)
  )
    return false
  return next.parts.length === 0 || before.calls.length === 0
}

function toDrafts(blocks: readonly Block[], entry: Entry): readonly (Draft | JsonObject)[] {
  const role = entry.role === 'assistant' || entry.role === 'system' ? entry.role : 'user'
  const made: (Draft | JsonObject)[] = []
  let open: Draft | undefined
  const draftFor = (isIn: (draft: Draft) => boolean): Draft => {
    if (open !== undefined && isIn(open)) return open
    open = { role, parts: [], calls: [] }
    made.push(open)
    return open
  }
  for (const block of blocks) {
    if (block.type === 'unknown') continue
    if (block.type === 'tool-result') {
      open = undefined
      made.push(toResult(block))
    } else if (block.type === 'thinking')
      draftFor((one) => one.thought === undefined && one.parts.length + one.calls.length === 0).thought =
        contentText(block.text)
    else if (block.type === 'tool-call') draftFor(() => true).calls.push(toCall(block))
    else draftFor((one) => one.calls.length === 0).parts.push(toPart(block))
  }
  return made
}

function toMessage({ role, thought, parts, calls }: Draft): JsonObject {
  const [only] = parts
  const text =
    parts.length === 1 && isObject(only) && only['type'] === 'text' && only['text'] !== ''
      ? only['text']
      : undefined
  return {
    role,
    ...(thought !== undefined && { reasoning_content: thought }),
    content: parts.length === 0 ? (calls.length > 0 ? null : '') : (text ?? parts),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toCall({ callId, name, input, inputBlob }: Extract<Block, { readonly type: 'tool-call' }>): Json {
  const stated = inputBlob === undefined ? (input ?? {}) : contentText(inputBlob)
  // What the model wrote and was no JSON goes back as it was.
  const text = typeof stated === 'string' ? stated : toJson(stated)
  return { id: callId ?? '', type: 'function', function: { name, arguments: text } }
}

function toPart(block: Extract<Block, { readonly type: 'text' | 'image' | 'error' }>): Json {
  if (block.type === 'text') return { type: 'text', text: contentText(block.text) }
  if (block.type === 'error') return { type: 'text', text: block.message }
  const { data, mediaType, url } = block
  const stated = data === undefined ? (url ?? '') : `data:${mediaType ?? ''};base64,${contentText(data)}`
  return { type: 'image_url', image_url: { url: stated } }
}

function toResult({ callId, output, error }: ToolResultBlock): JsonObject {
  const content: Json =
    output === undefined
      ? (error ?? '')
      : typeof output === 'string' || isBlobRef(output)
        ? contentText(output)
        : output.map((part): Json =>
            part.type === 'text' || part.type === 'image' || part.type === 'error'
              ? toPart(part)
              : { type: 'text', text: toJson(part) },
          )
  return { role: 'tool', tool_call_id: callId ?? '', content }
}

/** Keys that the message had when it was read from the same format. */
function withFields(message: JsonObject, { origin, metadata }: Entry): JsonObject {
  const fields = origin?.format === ID ? asObject(metadata?.['fields']) : undefined
  const extras = origin?.format === ID ? asArray(metadata?.['extras']) : undefined
  const content = asArray(message['content'])
  const parts = content?.map((part, index): Json => {
    const more = asObject(extras?.[index])
    return more === undefined || !isObject(part) ? part : { ...more, ...part }
  })
  return { ...message, ...(parts !== undefined && { content: parts }), ...fields }
}
