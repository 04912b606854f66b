/**
 * One line of a pi session as one entry, and back. Messages of user, assistant and tools are messages; every other line (the
 * header, model changes, compactions, labels, what extensions wrote) is an event that holds it whole.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { fromTimestamp } from './claude-time.ts'
import { EXACT } from './exact-numbers.ts'
import { ABSENT, keptFields, putBack } from './kept-fields.ts'
import { fromPart, fromResultContent, partsOf, toResultContent, usageOf } from './pi-content.ts'
import { fromPiUsage, toPiUsage } from './pi-usage.ts'

/** What the reader decides before a line is one entry: its id may be a copy's, and its call's may not be one. */
export type Place = Pick<Entry, 'id' | 'source' | 'sequence'>
export type PiEntry = { -readonly [K in keyof Omit<Entry, 'origin'>]: Omit<Entry, 'origin'>[K] }

/** Names in an entry's metadata that are not the line's. A line that has one of them at its top is kept whole. */
const OURS: readonly string[] = ['record', 'plain', ABSENT, EXACT]

/** Ids of calls that we made because pi has none. */
export const MADE = 'pi:'

/** `messageId` names the provider's call of a line that is an answer. */
export function fromPiLine(line: Json, place: Place, messageId: string | undefined): PiEntry {
  if (!isObject(line)) return { ...place, kind: 'event', blocks: [{ type: 'unknown', raw: line }] }
  const { parentId, timestamp, type } = line
  const at = typeof timestamp === 'string' ? fromTimestamp(timestamp) : undefined
  const placed: PiEntry = {
    ...place,
    ...((parentId === null || typeof parentId === 'string') && { parent: parentId }),
    kind: 'event',
    ...(at !== undefined && { at }),
    blocks: [],
  }
  const message = asObject(line['message'])
  const isMessage = type === 'message' && message !== undefined
  const said = isMessage && !OURS.some((name) => Object.hasOwn(line, name)) ? fromMessage(message) : undefined
  if (said !== undefined) {
    const entry: PiEntry = { ...placed, kind: 'message', ...said }
    if (said.role === 'assistant') Object.assign(entry, callOf(message as JsonObject, messageId))
    const isPlain = typeof message?.['content'] === 'string'
    const kept = keptFields(line, toBase(entry, isPlain))
    if (kept !== undefined) {
      const metadata = { ...kept, ...(isPlain && { plain: true }) }
      if (Object.keys(metadata).length > 0) entry.metadata = metadata
      return entry
    }
  }
  const record = isMessage ? asString(message['role']) : asString(type)
  return {
    ...placed,
    blocks: [{ type: 'unknown', raw: line }],
    ...(record !== undefined && { metadata: { record } }),
  }
}

/** The line that an entry was read from. For entries of this format only. */
export function toOwnLine(entry: Entry): Json {
  const [first] = entry.blocks
  if (entry.kind === 'event') return first?.type === 'unknown' ? first.raw : null
  const { record: _, plain, [EXACT]: _exact, ...kept } = entry.metadata ?? {}
  return putBack(toBase(entry, plain === true), kept)
}

type Said = { readonly role: Role; readonly blocks: readonly Block[] }

function fromMessage(message: JsonObject): Said | undefined {
  const { role, content, errorMessage } = message
  if (role === 'toolResult') return fromResult(message)
  if (role !== 'user' && role !== 'assistant') return undefined
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
  if (parts === undefined) return undefined
  const blocks = parts.map((part) => fromPart(part))
  const isError = role === 'assistant' && typeof errorMessage === 'string'
  return { role, blocks: isError ? [...blocks, { type: 'error', message: errorMessage }] : blocks }
}

function fromResult({ toolCallId, toolName, content, isError }: JsonObject): Said | undefined {
  const parts = asArray(content)
  if (parts === undefined) return undefined
  const block: Block = {
    type: 'tool-result',
    ...(typeof toolCallId === 'string' && { callId: toolCallId }),
    ...(typeof toolName === 'string' && { name: toolName }),
    ...fromResultContent(parts),
    ...(isError === true && { isError }),
  }
  return { role: 'tool', blocks: [block] }
}

function callOf(message: JsonObject, messageId: string | undefined): Partial<Entry> {
  const raw = usageOf(message)
  // What has no name is written as an empty one.
  const model = asString(message['model']) || undefined
  const provider = asString(message['provider']) || undefined
  const stopReason = asString(message['stopReason'])
  const call = {
    ...(provider !== undefined && { provider }),
    ...(messageId !== undefined && { messageId }),
  }
  return {
    ...(model !== undefined && { model }),
    ...(raw !== undefined && { usage: fromPiUsage(raw, stopReason) }),
    ...(stopReason !== undefined && { stopReason }),
    ...(Object.keys(call).length > 0 && { call }),
  }
}

/** The line as we would write it: what is kept of the real one is the difference to this. */
function toBase(entry: PiEntry, isPlain: boolean): JsonObject {
  const { id, source, sequence, parent, at, role, blocks } = entry
  const [first] = blocks
  const isResult = role === 'tool' && first?.type === 'tool-result'
  return {
    type: 'message',
    ...(id !== `${source}/${sequence}` && { id }),
    ...(parent !== undefined && { parentId: parent }),
    ...(at !== undefined && { timestamp: at }),
    message: isResult
      ? {
          role: 'toolResult',
          ...(first.callId !== undefined && { toolCallId: first.callId }),
          ...(first.name !== undefined && { toolName: first.name }),
          content: toResultContent(first),
          isError: first.isError === true,
        }
      : {
          role: role === 'assistant' ? role : 'user',
          content: isPlain ? plainText(blocks) : partsOf(blocks),
          ...(role === 'assistant' && toCall(entry)),
        },
  }
}

const plainText = ([first]: readonly Block[]): string =>
  first?.type === 'text' ? (asString(first.text) ?? '') : ''

function toCall({ blocks, model, usage, stopReason, call }: PiEntry): JsonObject {
  const last = blocks.at(-1)
  const responseId = call?.messageId?.startsWith(MADE) ? undefined : call?.messageId
  return {
    ...(call?.provider !== undefined && { provider: call.provider }),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage: usage.raw ?? toPiUsage(usage) }),
    ...(stopReason !== undefined && { stopReason }),
    ...(last?.type === 'error' && { errorMessage: last.message }),
    ...(responseId !== undefined && { responseId }),
  }
}
