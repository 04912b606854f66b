/**
 * Entries as Claude-style lines: what was read from such a line goes back as it was, field by field; what came from elsewhere is
 * put into the same shape. `claude-losses.ts` says what the shape cannot hold.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asArray, asObject, isObject, rest, type Json, type JsonObject } from '../transcript/json.ts'
import { toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { toAnthropicUsage } from '../wire/anthropic-usage.ts'
import { lowered } from './claude-events.ts'
import { EVENT_LINE, isInjected, isPlainText, OURS } from './claude-lines.ts'
import { toolDuration } from './claude-rest.ts'
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
  const metadata = own ? (entry.metadata ?? {}) : {}
  const { message: kept, uuid, timestamp, ...said } = metadata
  const others = withoutOurs(said)
  const text = own ? lowered(entry.blocks, metadata) : undefined
  const type = lineType(entry)
  const { sessionId, parentUuid, cwd, version, gitBranch } = wrapper
  const line = {
    type,
    sessionId,
    uuid: uuid ?? wrapper.uuid,
    parentUuid,
    timestamp: timestamp ?? wrapper.timestamp,
    cwd,
    version,
    ...(text === undefined && { message: toMessage(entry, type, asObject(kept)) }),
    ...(entry.call?.requestId !== undefined && type === 'assistant' && { requestId: entry.call.requestId }),
    ...durationOf(entry, others),
    ...(gitBranch !== undefined && { gitBranch }),
    ...(others['isSidechain'] !== true && toSidechain(entry.source)),
  }
  if (text === undefined) return { ...line, ...(own ? others : foreignMetadata(entry, type)) }
  const { record: name, ...fields } = others
  return { ...line, ...(name !== undefined && { type: name }), ...fields, ...text }
}

/** The line without what it lacked when it was read. For lines of Claude Code that go back as they were. */
export function toOwnLine(entry: Entry, wrapper: Wrapper): Json {
  const line = toClaudeLine(entry, wrapper)
  const { metadata = {}, id, source, sequence, at, parent } = entry
  if (!isObject(line) || keptRecord(entry) !== undefined) return line
  const absent = new Set<string>((asArray(metadata['absent']) ?? []).map(String))
  if (id === `${source}/${sequence}`) absent.add('uuid')
  if (at === undefined) absent.add('timestamp')
  if (parent === undefined) absent.add('parentUuid')
  if (absent.has('isSidechain')) absent.add('agentId')
  const { uuid, timestamp } = metadata
  const left: JsonObject = {
    ...Object.fromEntries(
      Object.entries(line).filter(([key]) => !absent.has(key) || Object.hasOwn(metadata, key)),
    ),
    ...(uuid !== undefined && { uuid }),
    ...(timestamp !== undefined && { timestamp }),
  }
  const message = asObject(left['message'])
  if (message === undefined) return left
  const lacked = new Set(
    [...absent].flatMap((name) => (name.startsWith(IN_MESSAGE) ? [name.slice(IN_MESSAGE.length)] : [])),
  )
  return lacked.size === 0 ? left : { ...left, message: rest(message, lacked) ?? {} }
}

const IN_MESSAGE = 'message.'

/** A tool's own time stands in its result, and on its line only where the line has it as well. */
function durationOf({ durationMs }: Entry, others: JsonObject): JsonObject {
  const isSaid = durationMs === undefined || toolDuration(others['toolUseResult']) === durationMs
  return isSaid ? {} : { durationMs }
}

function withoutOurs(metadata: JsonObject): JsonObject {
  if (!OURS.some((name) => Object.hasOwn(metadata, name))) return metadata
  return rest(metadata, OURS_SET) ?? {}
}

const OURS_SET: ReadonlySet<string> = new Set(OURS)

/** The entry's own instant as a line spells it. */
export function entryTimestamp(entry: Entry): string | undefined {
  return entry.at === undefined ? undefined : toTimestamp(entry.at)
}

export type LineType = 'user' | 'assistant' | 'system' | typeof EVENT_LINE

export function lineType(entry: Entry): LineType {
  const { kind, role, metadata, blocks } = entry
  // What no person typed is the system's word here, and stands in the user's place there.
  if (kind === 'message' && role === 'system' && isOwnLine(entry) && isInjected(metadata ?? {}, blocks))
    return 'user'
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
    ...(usage !== undefined && {
      usage: isOwnLine(entry) && isObject(usage.raw) ? usage.raw : toAnthropicUsage(usage),
    }),
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
