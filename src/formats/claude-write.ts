/**
 * Entries as Claude-style lines: what was read from such a line goes back as it was, field by field; what came from elsewhere is
 * put into the same shape. `claude-losses.ts` says what the shape cannot hold.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { toAnthropicUsage } from '../wire/anthropic-usage.ts'
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

export function toClaudeLine(entry: Entry, wrapper: Wrapper): Json {
  const own = isOwnLine(entry)
  const record = own ? keptRecord(entry) : undefined
  if (record !== undefined) return record
  const { message: kept, uuid, timestamp, ...others } = own ? (entry.metadata ?? {}) : {}
  const type = lineType(entry)
  const { sessionId, parentUuid, cwd, version, gitBranch } = wrapper
  return {
    type,
    sessionId,
    uuid: uuid ?? wrapper.uuid,
    parentUuid,
    timestamp: timestamp ?? wrapper.timestamp,
    cwd,
    version,
    message: toMessage(entry, type, asObject(kept)),
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

export type LineType = 'user' | 'assistant' | 'system' | typeof EVENT_LINE

export function lineType({ kind, role }: Entry): LineType {
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

function toMessage(entry: Entry, type: LineType, kept: JsonObject | undefined): JsonObject {
  const { content: spelling, ...others } = kept ?? {}
  const role = type === EVENT_LINE ? entry.role : type
  return {
    ...(role !== undefined && { role }),
    content: toContent(entry, spelling),
    ...(type === 'assistant' && toCall(entry)),
    ...others,
  }
}

function toContent(entry: Entry, spelling: Json | undefined): Json {
  const { role, kind, blocks } = entry
  const extras = asObject(spelling)
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

function toCall(entry: Entry): JsonObject {
  const { usage, model, stopReason, call } = entry
  return {
    ...(usage !== undefined && { usage: toAnthropicUsage(usage) }),
    ...(call?.messageId !== undefined && { id: call.messageId }),
    ...(model !== undefined && { model }),
    ...(stopReason !== undefined && { stop_reason: stopReason }),
    ...(isOpen(entry) && { stop_reason: null }),
  }
}

/** How Claude Code's own lines say that the provider's last word was not in yet. */
export function isOpen({ usage, stopReason }: Entry): boolean {
  return usage?.quality === 'partial' && stopReason === undefined
}
