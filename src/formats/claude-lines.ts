/**
 * One line of a Claude-style log (Claude Code's own, or the flat dialect of forgeflare's `full.jsonl`) as one entry. Nothing in
 * a line is lost: what the model has no field for stands in the entry's metadata at the same place and under the same name as
 * in the line, and a record that is no message is an event that holds the record whole. This is the hot path of reading: no
 * regular expression, no schema, and hardly an object that the entry does not keep.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { fromTimestamp, toTimestamp } from './claude-time.ts'

/** What every line of a session repeats. A line that says otherwise keeps its own word in its metadata. */
export type LineDefaults = {
  readonly sessionId: string | undefined
  readonly cwd: string | undefined
  readonly version: string | undefined
  readonly gitBranch: string | undefined
}

/** What a line says by itself. Whoever reads the file adds id, source, sequence and origin. */
export type LineEntry = {
  -readonly [K in keyof Omit<Entry, 'id' | 'source' | 'sequence' | 'origin' | 'metadata'>]: Entry[K]
} & { metadata?: Record<string, Json> }

/** The model that Claude Code names on messages that no provider sent: API errors, interruptions. Its zeros are no usage. */
export const SYNTHETIC = '<synthetic>'

/** The type of our own lines for events that other formats told us of. Readers of Claude's lines pass over it. */
export const EVENT_LINE = 'event'

type MessageType = 'user' | 'assistant' | 'system' | typeof EVENT_LINE

/** The entry that a line says, whatever it is: a message, or else an event with the whole record inside. */
export function fromClaudeLine(value: Json, defaults: LineDefaults): LineEntry {
  if (!isObject(value)) return { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  const { message, type } = value
  if (isMessageType(type) && isObject(message)) {
    const { content } = message
    if (typeof content === 'string' || isArray(content))
      return fromMessage(value, message, type, content, defaults)
  }
  const entry: LineEntry = { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  takePlace(entry, value)
  if (typeof type === 'string') entry.metadata = { record: type }
  return entry
}

/** True when a message of these blocks has a plain string for content unless it says otherwise, as the seed's prompts have. */
export function isPlainText(role: Role | undefined, blocks: readonly Block[]): boolean {
  return (role === 'user' || role === 'system') && blocks.length === 1 && blocks[0]?.type === 'text'
}

/** The subagent a line says it is of, in the versions that name them. */
export function agentOf({ isSidechain, agentId }: JsonObject): string | undefined {
  return isSidechain === true && typeof agentId === 'string' && agentId !== '' ? agentId : undefined
}

function isMessageType(type: Json | undefined): type is MessageType {
  return type === 'assistant' || type === 'user' || type === 'system' || type === EVENT_LINE
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
  const onlyResults = results > 0 && results === blocks.length
  const role = type === EVENT_LINE ? asRole(message['role']) : type === 'user' && onlyResults ? 'tool' : type
  const isText = typeof content === 'string'
  if (isText !== isPlainText(role, blocks)) spelling ??= isText ? 'string' : 'blocks'

  const entry: LineEntry = { kind: type === EVENT_LINE ? 'event' : 'message', blocks }
  if (role !== undefined) entry.role = role
  takePlace(entry, line)
  if (typeof line['durationMs'] === 'number') entry.durationMs = line['durationMs']
  if (type === 'assistant' && message['model'] !== SYNTHETIC) takeCall(entry, line, message)
  const kept = restOfLine(line, entry, defaults)
  const keptOfMessage = restOfMessage(message, entry, type, spelling)
  if (keptOfMessage !== undefined) entry.metadata = keepMessage(kept, keptOfMessage)
  else if (kept !== undefined) entry.metadata = kept
  return entry
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

function takeCall(entry: LineEntry, line: JsonObject, message: JsonObject): void {
  const { id, model, usage, stop_reason: stopReason } = message
  const { requestId } = line
  if (typeof model === 'string') entry.model = model
  // Claude Code writes a message's first lines, and in some versions all, before the provider's last word on usage is in.
  if (isObject(usage)) entry.usage = fromAnthropicUsage(usage, stopReason === null ? 'partial' : 'reported')
  if (typeof stopReason === 'string') entry.stopReason = stopReason
  if (typeof id === 'string') {
    entry.call =
      typeof requestId === 'string'
        ? { provider: 'anthropic', requestId, messageId: id }
        : { provider: 'anthropic', messageId: id }
  } else if (typeof requestId === 'string') entry.call = { provider: 'anthropic', requestId }
}

function restOfLine(
  line: JsonObject,
  entry: LineEntry,
  defaults: LineDefaults,
): Record<string, Json> | undefined {
  let kept: Record<string, Json> | undefined
  for (const key in line) {
    const value = line[key] as Json
    if (isSaidOfLine(key, value, line, entry, defaults)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = value
  }
  return kept
}

/** True when the entry or the session says it already. */
function isSaidOfLine(
  key: string,
  value: Json,
  line: JsonObject,
  entry: LineEntry,
  defaults: LineDefaults,
): boolean {
  switch (key) {
    case 'type':
    case 'message':
      return true
    case 'uuid':
      return typeof value === 'string' && value !== ''
    case 'parentUuid':
      return entry.parent !== undefined
    case 'timestamp':
      return (
        entry.at !== undefined &&
        (value === entry.at ? !entry.at.endsWith('.000Z') : toTimestamp(entry.at) === value)
      )
    case 'requestId':
      return entry.call?.requestId !== undefined
    case 'durationMs':
      return entry.durationMs !== undefined
    // A subagent that names itself is the entry's source; whether it says so is decided in one place.
    case 'isSidechain':
    case 'agentId':
      return agentOf(line) !== undefined
    case 'sessionId':
      return value === defaults.sessionId
    case 'cwd':
      // What our writer puts where nobody knows the folder.
      return value === defaults.cwd || (value === '' && defaults.cwd === undefined)
    case 'version':
      return value === defaults.version
    case 'gitBranch':
      return value === defaults.gitBranch
    default:
      return false
  }
}

function restOfMessage(
  message: JsonObject,
  entry: LineEntry,
  type: MessageType,
  spelling: Json | undefined,
): Record<string, Json> | undefined {
  let kept: Record<string, Json> | undefined
  for (const key in message) {
    const value = key === 'content' ? spelling : (message[key] as Json)
    if (value === undefined || isSaidOfMessage(key, value, entry, type)) continue
    kept ??= Object.create(null) as Record<string, Json>
    kept[key] = value
  }
  return kept
}

function isSaidOfMessage(key: string, value: Json, entry: LineEntry, type: MessageType): boolean {
  switch (key) {
    case 'role':
      return type === EVENT_LINE ? value === entry.role : value === type
    case 'usage':
      return entry.usage !== undefined
    case 'model':
      return entry.model !== undefined
    case 'id':
      return entry.call?.messageId !== undefined
    case 'stop_reason':
      return entry.stopReason !== undefined || (value === null && entry.usage?.quality === 'partial')
    default:
      return false
  }
}

function keepMessage(
  kept: Record<string, Json> | undefined,
  message: Record<string, Json>,
): Record<string, Json> {
  if (kept === undefined) return { message }
  kept['message'] = message
  return kept
}
