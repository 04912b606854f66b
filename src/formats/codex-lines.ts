/**
 * One line of a Codex rollout as one entry, and back. A conversation's items are messages; every other line, known or not, is an
 * event that holds it whole. What the entry does not say of an item's line stands in the entry's metadata under its own names.
 */
import type { Block, ErrorBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asObject, asString, isObject, rest, type Json, type JsonObject } from '../transcript/json.ts'
import { fromTimestamp } from './claude-time.ts'
import { fromItem, toItem, type SaidItem, type Spelling } from './codex-items.ts'
import { EXACT } from './exact-numbers.ts'
import { ABSENT, keptFields, putBack } from './kept-fields.ts'

/** `envelope`: `{timestamp, type, payload}`. `bare`: the item alone, before autumn 2025. `exec`: what `codex exec --json` prints. */
type Layout = 'envelope' | 'bare' | 'exec'

/** What a line says by itself. Whoever reads the file adds id, source, sequence and origin. */
export type LineEntry = {
  -readonly [K in keyof Omit<Entry, 'id' | 'source' | 'sequence' | 'origin'>]: Entry[K]
}

/** What the lines around it say of an entry: copied, taken back, not the user's, the event with its edits, the session it started, and the call that asked for it. */
const MARKS: readonly string[] = [
  'replayed',
  'rolledBack',
  'injected',
  'edits',
  'spawned',
  'spawnedBy',
  EXACT,
]

/** Names in an entry's metadata that are not the line's. A line that has one of them at its top is kept whole. */
const OURS: readonly string[] = ['record', 'layout', 'command', ABSENT, ...MARKS]

const NOT_KEPT: ReadonlySet<string> = new Set(['record', 'layout', 'command', ...MARKS])

export function fromCodexLine(line: Json): LineEntry {
  if (!isObject(line)) return { kind: 'event', blocks: [{ type: 'unknown', raw: line }] }
  const at = typeof line['timestamp'] === 'string' ? fromTimestamp(line['timestamp']) : undefined
  const message = fromMessageLine(line, at) ?? fromErrorLine(line, at)
  if (message !== undefined) return message
  const record = recordName(line)
  return {
    kind: 'event',
    ...(at !== undefined && { at }),
    blocks: [{ type: 'unknown', raw: line }],
    ...(record !== undefined && { metadata: { record } }),
  }
}

/** The line that an entry was read from. For entries of this format only. */
export function toOwnLine({ blocks, kind, role, at, metadata = {} }: Entry): Json {
  const [first] = blocks
  if (kind === 'event') return first?.type === 'unknown' ? first.raw : null
  const { layout, command } = metadata
  const kept = rest(metadata, NOT_KEPT) ?? {}
  if (first?.type === 'error') return putBack(toErrorLine(first, at), kept)
  const of = layout === 'bare' || layout === 'exec' ? layout : 'envelope'
  const type = asString(itemIn(kept, of)?.['type'])
  const known = asObject(command)
  const spelling = { ...(type !== undefined && { type }), ...(known !== undefined && { command: known }) }
  return putBack(toBase({ role, blocks }, of, at, spelling), kept)
}

/** The line of an item as new versions write them. */
export function toItemLine(item: JsonObject, timestamp: string | undefined): JsonObject {
  return { ...(timestamp !== undefined && { timestamp }), type: 'response_item', payload: item }
}

/** What a line is called: an event's own type, else the line's. */
export function recordName(line: JsonObject): string | undefined {
  const { type, payload, record_type: old } = line
  if (type === 'event_msg' || type === 'response_item') {
    return asString(asObject(payload)?.['type']) ?? type
  }
  return asString(type) ?? asString(old) ?? (isLegacyHeader(line) ? 'session_meta' : undefined)
}

/** The first line of rollouts before autumn 2025: `{id, timestamp, instructions, git?}`. */
export function isLegacyHeader(line: JsonObject): boolean {
  const { id, timestamp } = line
  const isHeader = typeof id === 'string' && typeof timestamp === 'string' && 'instructions' in line
  return isHeader && !('type' in line) && !('payload' in line)
}

function fromMessageLine(line: JsonObject, at: string | undefined): LineEntry | undefined {
  const layout = layoutOf(line)
  if (layout === undefined || OURS.some((name) => Object.hasOwn(line, name))) return undefined
  const item = itemIn(line, layout)
  const said = item && (layout === 'exec' ? fromExecItem(item) : fromItem(item))
  if (item === undefined || said === undefined) return undefined
  const { role, blocks, durationMs, command } = said
  const type = asString(item['type'])
  const spelling = { ...(type !== undefined && { type }), ...(command !== undefined && { command }) }
  const kept = keptFields(line, toBase(said, layout, at, spelling))
  if (kept === undefined) return undefined
  const metadata: JsonObject = {
    ...kept,
    ...(layout !== 'envelope' && { layout }),
    ...(command !== undefined && { command }),
  }
  return {
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks,
    ...(durationMs !== undefined && { durationMs }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

/** What went wrong, as Codex tells its user: the one event that is part of what was said. */
function fromErrorLine(line: JsonObject, at: string | undefined): LineEntry | undefined {
  const payload = line['type'] === 'event_msg' ? asObject(line['payload']) : undefined
  const message = payload?.['type'] === ERROR ? asString(payload['message']) : undefined
  if (message === undefined || OURS.some((name) => Object.hasOwn(line, name))) return undefined
  const code = asString(payload?.['codex_error_info'])
  const block: ErrorBlock = { type: 'error', message, ...(code !== undefined && { code }) }
  const kept = keptFields(line, toErrorLine(block, at))
  if (kept === undefined) return undefined
  return {
    kind: 'message',
    ...(at !== undefined && { at }),
    blocks: [block],
    metadata: { ...kept, record: ERROR },
  }
}

const ERROR = 'error'

function toErrorLine({ message, code }: ErrorBlock, timestamp: string | undefined): JsonObject {
  const payload = { type: ERROR, message, ...(code !== undefined && { codex_error_info: code }) }
  return { ...(timestamp !== undefined && { timestamp }), type: 'event_msg', payload }
}

function layoutOf({ type, payload, item }: JsonObject): Layout | undefined {
  if (type === 'response_item') return isObject(payload) ? 'envelope' : undefined
  if (type === 'item.completed') return isObject(item) ? 'exec' : undefined
  return typeof type === 'string' && payload === undefined ? 'bare' : undefined
}

/** The item in a line, or what is kept of it in metadata. */
function itemIn(line: JsonObject, layout: Layout): JsonObject | undefined {
  if (layout === 'bare') return line
  return asObject(line[layout === 'exec' ? 'item' : 'payload'])
}

type Said = Pick<SaidItem, 'blocks'> & { readonly role: Entry['role'] }

/** The line as we would write it: what is kept of the real one is the difference to this. */
function toBase(
  { role, blocks }: Said,
  layout: Layout,
  at: string | undefined,
  spelling: Spelling,
): JsonObject {
  if (layout === 'exec') return { type: 'item.completed', item: toExecItem(blocks) }
  const item = toItem(role, blocks, spelling)
  return layout === 'bare' ? item : toItemLine(item, at)
}

/** Of what `codex exec --json` prints, what the model said; commands and edits are events. */
function fromExecItem({ type, text }: JsonObject): SaidItem | undefined {
  if (typeof text !== 'string') return undefined
  if (type === 'agent_message') return { role: 'assistant', blocks: [{ type: 'text', text }] }
  return type === 'reasoning' ? { role: 'assistant', blocks: [{ type: 'thinking', text }] } : undefined
}

function toExecItem([block]: readonly Block[]): JsonObject {
  if (block?.type === 'thinking') return { type: 'reasoning', text: asString(block.text) ?? '' }
  return { type: 'agent_message', text: block?.type === 'text' ? (asString(block.text) ?? '') : '' }
}
