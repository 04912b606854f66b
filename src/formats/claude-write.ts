/**
 * Entries as Claude-style lines: what was read from such a line goes back as it was, field by field; what came from elsewhere is
 * put into the same shape. Says what the shape cannot hold.
 */
import { isBlobRef, type Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage, toAnthropicUsage } from '../wire/anthropic-usage.ts'
import { EVENT_LINE, isPlainText } from './claude-lines.ts'
import { toTimestamp } from './claude-time.ts'

/** What the session and the entry's place in it give every line, in the order of writing. */
export type Wrapper = {
  readonly sessionId: string
  readonly uuid: string
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly cwd: string
  readonly version: string
  readonly gitBranch?: string
}

export type Lose = (what: string) => void

/** True for entries that were read from Claude-style lines: their metadata has those lines' own names. */
export function isOwnLine(entry: Entry): boolean {
  return entry.origin?.format === 'entire' || entry.origin?.format === 'claude-code'
}

/** The record of an event that one of our readers kept whole; undefined for everything else. */
export function keptRecord({ kind, blocks, role }: Entry): Json | undefined {
  const [block] = blocks
  const isKept = kind === 'event' && role === undefined && blocks.length === 1
  return isKept && block?.type === 'unknown' && block.reason === undefined ? block.raw : undefined
}

export function toClaudeLine(entry: Entry, wrapper: Wrapper, lose: Lose): Json {
  const own = isOwnLine(entry)
  const record = own ? keptRecord(entry) : undefined
  if (record !== undefined) return record
  const { message: kept, uuid, timestamp, ...others } = own ? (entry.metadata ?? {}) : {}
  const type = lineType(entry)
  if (type === EVENT_LINE && entry.kind === 'message') lose('a message without a role, kept as an event')
  const { sessionId, parentUuid, cwd, version, gitBranch } = wrapper
  return {
    type,
    sessionId,
    uuid: uuid ?? wrapper.uuid,
    parentUuid,
    timestamp: timestamp ?? wrapper.timestamp,
    cwd,
    version,
    message: toMessage(entry, type, asObject(kept), lose),
    ...(entry.call?.requestId !== undefined && type === 'assistant' && { requestId: entry.call.requestId }),
    ...(entry.durationMs !== undefined && { durationMs: entry.durationMs }),
    ...(gitBranch !== undefined && { gitBranch }),
    ...(others['isSidechain'] !== true && toSidechain(entry.source)),
    ...(own ? others : foreignMetadata(entry, type)),
  }
}

/** The entry's own instant as a line spells it. */
export function entryTimestamp(entry: Entry): string | undefined {
  return entry.at === undefined ? undefined : toTimestamp(entry.at)
}

type LineType = 'user' | 'assistant' | 'system' | typeof EVENT_LINE

function lineType({ kind, role }: Entry): LineType {
  if (kind === 'event' || role === undefined) return EVENT_LINE
  return role === 'tool' ? 'user' : role
}

/** Metadata of another format keeps to itself, so that no key of it can pass for the line's. */
function foreignMetadata({ metadata }: Entry, type: LineType): JsonObject {
  if (metadata === undefined) return {}
  const { record, ...others } = metadata
  const isRecord = type === EVENT_LINE && typeof record === 'string'
  const kept = isRecord ? others : metadata
  return {
    ...(isRecord && { record }),
    ...(Object.keys(kept).length > 0 && { metadata: kept }),
  }
}

function toSidechain(source: string): JsonObject {
  return source.startsWith('subagent:')
    ? { isSidechain: true, agentId: source.slice('subagent:'.length) }
    : {}
}

function toMessage(entry: Entry, type: LineType, kept: JsonObject | undefined, lose: Lose): JsonObject {
  const { content: spelling, ...others } = kept ?? {}
  const role = type === EVENT_LINE ? entry.role : type
  return {
    ...(role !== undefined && { role }),
    content: toContent(entry, spelling, lose),
    ...(type === 'assistant' ? toCall(entry, lose) : loseCall(entry, lose)),
    ...others,
  }
}

function toContent(entry: Entry, spelling: Json | undefined, lose: Lose): Json {
  const { role, kind, blocks } = entry
  const results = blocks.filter((block) => block.type === 'tool-result').length
  const readAsTool = results > 0 && results === blocks.length
  if (kind === 'message' && role === 'tool' && !readAsTool) lose('role tool, for it holds more than results')
  if (kind === 'message' && role === 'user' && readAsTool) lose('role user, for it holds only results')
  const extras = asObject(spelling)
  for (const block of blocks) loseOfBlock(block, lose)
  const isText = spelling === 'string' || (spelling === undefined && isPlainText(role, asWritten(blocks)))
  const [first] = blocks
  if (isText && kind === 'message' && blocks.length === 1 && first !== undefined) {
    const written = toAnthropicBlock(first)
    if (isObject(written) && typeof written['text'] === 'string') return written['text']
  }
  return blocks.map((block, at) => toAnthropicBlock(block, asObject(extras?.[at])))
}

/** An error has no block of its own here: it is written, and will be read, as text. */
function asWritten(blocks: readonly Block[]): readonly Block[] {
  return blocks.map((block) => (block.type === 'error' ? { type: 'text', text: block.message } : block))
}

function toCall(entry: Entry, lose: Lose): JsonObject {
  const { usage, model, stopReason, call } = entry
  const written = usage === undefined ? undefined : toAnthropicUsage(usage)
  // How Claude Code's own lines say that the provider's last word was not in yet.
  const isOpen = usage?.quality === 'partial' && stopReason === undefined
  if (written !== undefined && usage !== undefined) {
    const { quality } = fromAnthropicUsage(written, isOpen ? 'partial' : 'reported')
    if (quality !== usage.quality) lose(`usage quality ${usage.quality}`)
  }
  if (call?.provider !== undefined && call.provider !== 'anthropic') lose(`provider ${call.provider}`)
  return {
    ...(written !== undefined && { usage: written }),
    ...(call?.messageId !== undefined && { id: call.messageId }),
    ...(model !== undefined && { model }),
    ...(stopReason !== undefined && { stop_reason: stopReason }),
    ...(isOpen && { stop_reason: null }),
  }
}

function loseCall({ usage, model, stopReason, call }: Entry, lose: Lose): JsonObject {
  if (usage !== undefined) lose('usage')
  if (model !== undefined) lose('model')
  if (stopReason !== undefined) lose('stop reason')
  if (call !== undefined) lose('provider call')
  return {}
}

function loseOfBlock(block: Block, lose: Lose): void {
  if (block.type === 'error') lose(block.code === undefined ? 'error, kept as text' : 'error code')
  else if (block.type === 'unknown' && block.reason !== undefined) lose(`content withheld: ${block.reason}`)
  else if (block.type === 'thinking' && block.redacted !== undefined) {
    if (block.text !== '' || block.signature !== undefined) lose('encrypted thinking beside its text')
  } else if (block.type === 'tool-result') {
    if (block.name !== undefined && block.callId === undefined) lose('name of the tool that answered')
    if (block.error !== undefined)
      lose(block.output === undefined ? 'error, kept as output' : 'error beside output')
    if (Array.isArray(block.output)) for (const part of block.output) loseOfBlock(part, lose)
  }
  if (block.type === 'tool-call' && block.inputBlob !== undefined) lose('input kept in a blob')
  if ('text' in block && isBlobRef(block.text)) lose('text kept in a blob')
  if ('output' in block && isBlobRef(block.output)) lose('output kept in a blob')
  if ('data' in block && isBlobRef(block.data)) lose('image kept in a blob')
}
