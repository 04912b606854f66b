/**
 * One line of a Claude-style log (Claude Code's own, or the flat dialect of forgeflare's `full.jsonl`) as one entry. Nothing in
 * a line is lost: what the model has no field for stands in the entry's metadata at the same place and under the same name as
 * in the line, and a record that is no message is an event that holds the record whole. This is the hot path of reading: no
 * regular expression, no schema, and hardly an object that the entry does not keep.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { withoutZeros } from '../transcript/usage.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { iterated } from './claude-derived.ts'
import { eventOf } from './claude-events.ts'
import { keepMessage, marksOf, restOfLine, restOfMessage, toolDuration } from './claude-rest.ts'
import { fromTimestamp } from './claude-time.ts'
import { EXACT } from './exact-numbers.ts'

/** What every line of a session repeats. A line that says otherwise keeps its own word in its metadata. */
export type LineDefaults = {
  readonly sessionId: string | undefined
  readonly cwd: string | undefined
  readonly version: string | undefined
  readonly gitBranch: string | undefined
  /** Lines go back as they were: what one lacks that others have is kept too, in `metadata.absent`. */
  readonly exact?: boolean
  /** Nobody writes these lines again: what only a line has need not be kept. */
  readonly isForFacts?: boolean
}

/** Names in an entry's metadata that are ours, not the line's. A line that has one of them at its top is kept whole. */
export const OURS: readonly string[] = ['absent', 'derived', EXACT, 'lifted', 'parentSource', 'spawnedBy']

/** What a line says by itself. Whoever reads the file adds id, source, sequence and origin. */
export type LineEntry = {
  -readonly [K in keyof Omit<Entry, 'id' | 'source' | 'sequence' | 'origin' | 'metadata'>]: Entry[K]
} & { metadata?: Record<string, Json> }

/** The model that Claude Code names on messages that no provider sent: API errors, interruptions. Its zeros are no usage. */
export const SYNTHETIC = '<synthetic>'

/** The type of our own lines for events that other formats told us of. Readers of Claude's lines pass over it. */
export const EVENT_LINE = 'event'

export type MessageType = 'user' | 'assistant' | 'system' | typeof EVENT_LINE

/** The entry that a line says, whatever it is: a message, or else an event with the whole record inside. */
export function fromClaudeLine(value: Json, defaults: LineDefaults): LineEntry {
  if (!isObject(value)) return { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  const { message, type } = value
  const isOurs = defaults.exact === true && (hasOurs(value) || (type === 'system' && isInjectedLine(value)))
  if (isMessageType(type) && isObject(message) && !isOurs) {
    const { content } = message
    if (typeof content === 'string' || isArray(content))
      return fromMessage(value, message, type, content, defaults)
  }
  const entry: LineEntry = { kind: 'event', blocks: [] }
  takePlace(entry, value)
  if (typeof value['durationMs'] === 'number') entry.durationMs = value['durationMs']
  const said = defaults.exact === true && !isOurs ? eventOf(value) : undefined
  if (said === undefined) {
    entry.blocks = [{ type: 'unknown', raw: value }]
    if (typeof type === 'string') entry.metadata = { record: type }
  } else {
    Object.assign(entry, said.entry)
    entry.metadata = { ...restOfLine(said.rest, entry, defaults), ...said.metadata }
  }
  // Before a compaction's boundary nothing is above it; what it follows is said beside.
  const { parentUuid, logicalParentUuid } = value
  if (parentUuid === null && typeof logicalParentUuid === 'string') {
    entry.parent = logicalParentUuid
    if (said !== undefined) entry.metadata = { ...entry.metadata, parentUuid }
  }
  return entry
}

/** True when a message of these blocks has a plain string for content unless it says otherwise, as the seed's prompts have. */
export function isPlainText(role: Role | undefined, blocks: readonly Block[]): boolean {
  return (role === 'user' || role === 'system') && blocks.length === 1 && blocks[0]?.type === 'text'
}

function isMessageType(type: Json | undefined): type is MessageType {
  return type === 'assistant' || type === 'user' || type === 'system' || type === EVENT_LINE
}

function hasOurs(line: JsonObject): boolean {
  for (const name of OURS) if (name in line && Object.hasOwn(line, name)) return true
  return false
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function fromMessage(
  line: JsonObject,
  message: JsonObject,
  type: MessageType,
  content: string | readonly Json[],
  defaults: LineDefaults,
): LineEntry {
  const blocks: Block[] = []
  let results = 0
  /** How content was written where that is not how we would: what `metadata.message.content` says. */
  let spelling: Json | undefined
  if (typeof content === 'string') blocks.push({ type: 'text', text: content })
  else {
    let extras: Record<string, Json> | undefined
    for (let at = 0; at < content.length; at += 1) {
      const split = splitAnthropicBlock(content[at] as Json)
      blocks.push(split.block)
      if (split.block.type === 'tool-result') results += 1
      if (split.extras !== undefined) (extras ??= {})[at] = split.extras
    }
    spelling = extras
  }
  if (line['isApiErrorMessage'] === true && type === 'assistant') toErrors(blocks, line['error'])
  const onlyResults = results > 0 && results === blocks.length
  const role =
    type === EVENT_LINE
      ? asRole(message['role'])
      : type === 'user'
        ? userRole(line, blocks, onlyResults)
        : type
  const isText = typeof content === 'string'
  if (isText !== isPlainText(role, blocks)) spelling ??= isText ? 'string' : 'blocks'

  const entry: LineEntry = { kind: type === EVENT_LINE ? 'event' : 'message', blocks }
  if (role !== undefined) entry.role = role
  takePlace(entry, line)
  const tookMs = toolDuration(line['toolUseResult']) ?? line['durationMs']
  if (typeof tookMs === 'number') entry.durationMs = tookMs
  if (type === 'assistant' && message['model'] !== SYNTHETIC)
    takeCall(entry, line, message, defaults.exact === true)
  if (defaults.isForFacts === true) {
    const marks = marksOf(line)
    if (marks !== undefined) entry.metadata = marks
    return entry
  }
  const kept = restOfLine(line, entry, defaults)
  const keptOfMessage = restOfMessage(message, entry, type, spelling)
  if (keptOfMessage !== undefined) entry.metadata = keepMessage(kept, keptOfMessage)
  else if (kept !== undefined) entry.metadata = kept
  return entry
}

function userRole(line: JsonObject, blocks: readonly Block[], onlyResults: boolean): Role {
  if (onlyResults) return 'tool'
  return isInjected(line, blocks) ? 'system' : 'user'
}

/**
 * True for what Claude Code put in the user's place and no person typed: a compaction's summary, a reminder, the news that a task
 * is done, what a command of its own printed. `marks` is the line, or what an entry kept of it.
 */
export function isInjected(marks: JsonObject, blocks: readonly Block[]): boolean {
  const { isCompactSummary, isMeta, origin } = marks
  if (isCompactSummary === true || isMeta === true) return true
  if (isObject(origin) && origin['kind'] === 'task-notification') return true
  const [first] = blocks
  return first?.type === 'text' && typeof first.text === 'string' && first.text.startsWith(PRINTED)
}

const PRINTED = '<local-command-std'

/** A line of the system's that would be written back as the user's. */
function isInjectedLine(line: JsonObject): boolean {
  const { message } = line
  const content = isObject(message) ? message['content'] : undefined
  const first = isArray(content) ? content[0] : content
  const text = isObject(first) ? first['text'] : first
  return isInjected(line, typeof text === 'string' ? [{ type: 'text', text }] : [])
}

/** What the provider or the way to it answered instead of a message, which Claude Code writes as text. */
function toErrors(blocks: Block[], error: Json | undefined): void {
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at] as Block
    if (block.type !== 'text' || typeof block.text !== 'string') continue
    blocks[at] = { type: 'error', message: block.text, ...(typeof error === 'string' && { code: error }) }
  }
}

function asRole(role: Json | undefined): Role | undefined {
  return role === 'system' || role === 'user' || role === 'assistant' || role === 'tool' ? role : undefined
}

function takePlace(entry: LineEntry, line: JsonObject): void {
  const { parentUuid, timestamp } = line
  if (parentUuid === null || typeof parentUuid === 'string') entry.parent = parentUuid
  const at = typeof timestamp === 'string' ? fromTimestamp(timestamp) : undefined
  if (at !== undefined) entry.at = at
}

function takeCall(entry: LineEntry, line: JsonObject, message: JsonObject, exact: boolean): void {
  const { id, model, usage, stop_reason: stopReason } = message
  const { requestId } = line
  if (typeof model === 'string') entry.model = model
  // Claude Code writes a message's first lines, and in some versions all, before the provider's last word on usage is in. The
  // flat dialect never says how a message ended.
  if (isObject(usage)) {
    const isDone = typeof stopReason === 'string' || (stopReason === undefined && !exact)
    const quality = isDone ? 'reported' : 'partial'
    const billed = 'iterations' in usage ? iterated(usage, quality, typeof id === 'string') : undefined
    entry.usage = withoutZeros(billed ?? fromAnthropicUsage(usage, quality))
  }
  if (typeof stopReason === 'string') entry.stopReason = stopReason
  if (typeof id === 'string') {
    entry.call =
      typeof requestId === 'string'
        ? { provider: 'anthropic', requestId, messageId: id }
        : { provider: 'anthropic', messageId: id }
  } else if (typeof requestId === 'string') entry.call = { provider: 'anthropic', requestId }
}
