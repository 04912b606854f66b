/**
 * Entries as `TranscriptEntry` lines. A line holds one thing: the text of a message, one tool call, or one result; so an entry with
 * several becomes several lines, in the order of its blocks. What the fields cannot say stands in `metadata`.
 */
import { contentText, isBlobRef, outputText, textOf, type Block } from '../transcript/block.ts'
import type { ToolCallBlock, ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asObject, isObject, rest, toJson, type JsonObject } from '../transcript/json.ts'
import { fromAnthropicUsage, toAnthropicUsage } from '../wire/anthropic-usage.ts'
import { FIELDS, toCreatedAt, type TranscriptEntry } from './weakincentives-entry.ts'
import { SAID, toCallMetadata, toRaw } from './weakincentives-metadata.ts'

/** One line of an entry before it has its id, time and number. */
export type Part = Omit<TranscriptEntry, 'created_at' | 'entry_id' | 'source' | 'sequence'>

/** Where an entry keeps those fields of its line that we would write differently: writing it again gives the same line. */
export const OWN = 'weakincentives'

/** The lines an entry becomes. `nameOf` finds the tool that a nameless result answers. */
export function toParts(entry: Entry, nameOf: (result: ToolResultBlock) => string | undefined): Part[] {
  const parts: Part[] = []
  let together: Block[] = []
  const close = (): void => {
    if (together.length > 0) parts.push(toMessage(together, entry))
    together = []
  }
  for (const block of entry.blocks) {
    if (block.type !== 'tool-call' && block.type !== 'tool-result') together.push(block)
    else {
      close()
      parts.push(block.type === 'tool-call' ? toCall(block) : toResult(block, nameOf(block)))
    }
  }
  close()
  if (parts.length === 0) parts.push(toMessage([], entry))
  return parts.map((part, index) => {
    const metadata = { ...part.metadata, ...entryMetadata(entry, index === parts.length - 1) }
    return { ...part, metadata: Object.keys(metadata).length === 0 ? null : metadata }
  })
}

/** The line of a part, with what its place gives it. */
export function toLine(
  part: Part,
  place: { readonly at: string; readonly id: string; readonly source: string; readonly sequence: number },
): TranscriptEntry {
  return {
    role: part.role,
    content: part.content,
    created_at: toCreatedAt(place.at),
    tool_name: part.tool_name,
    tool_call_id: part.tool_call_id,
    tool_input: part.tool_input,
    metadata: part.metadata,
    entry_id: place.id,
    source: place.source,
    sequence: place.sequence,
  }
}

/** The line that an entry was read from, as it was; undefined for an entry that comes from no such line. */
export function lineOf(entry: Entry): TranscriptEntry | undefined {
  if (entry.origin?.format !== OWN || entry.role === undefined) return undefined
  const [part] = toParts(entry, (result) => result.name)
  if (part === undefined) return undefined
  const { at = '1970-01-01T00:00:00.000Z', id, source, sequence } = entry
  const own = asObject(entry.metadata?.[OWN]) as Partial<TranscriptEntry> | undefined
  return { ...toLine(part, { at, id, source, sequence }), ...own }
}

/** The fields of a line that differ from those we would write for its entry, and those that are not of the format. */
export function ownFields(line: JsonObject, written: TranscriptEntry): JsonObject | undefined {
  const own = rest(line, KNOWN_FIELDS)
  const differing = FIELDS.filter(
    (field) => !isLeftOut(line, field) && toJson(line[field] ?? null) !== toJson(written[field]),
  )
  if (differing.length === 0) return own
  return { ...own, ...Object.fromEntries(differing.map((field) => [field, line[field] ?? null])) }
}

/** Written in full where the line leaves it to its default, which is not null. */
function isLeftOut(line: JsonObject, field: keyof TranscriptEntry): boolean {
  const hasDefault = field === 'source' || field === 'sequence' || field === 'entry_id'
  return hasDefault && (line[field] ?? null) === null
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(FIELDS)

function toMessage(blocks: readonly Block[], { role }: Entry): Part {
  const [only] = blocks
  const isText = blocks.length === 1 && only?.type === 'text' && !isBlobRef(only.text) && role !== 'tool'
  return {
    role: role ?? 'system',
    content: messageText(blocks),
    ...NO_TOOL,
    metadata: isText ? null : { blocks: blocks.map(toRaw) },
  }
}

const NO_TOOL = { tool_name: null, tool_call_id: null, tool_input: null } as const

/** What people read. Thinking is shown only where there is nothing else. */
function messageText(blocks: readonly Block[]): string {
  const said = blocks.filter((block) => block.type !== 'thinking')
  return (said.length === 0 ? blocks : said)
    .map((block) => {
      if (block.type === 'thinking') return contentText(block.text)
      if (block.type === 'error') return block.message
      if (block.type === 'image') return `[image ${block.mediaType ?? block.url ?? ''}]`
      return block.type === 'unknown' ? toJson(block.raw) : textOf([block])
    })
    .join('\n')
}

function toCall({ name, callId, input, inputBlob }: ToolCallBlock): Part {
  const isDict = isObject(input)
  const shown = inputBlob === undefined ? input : contentText(inputBlob)
  return {
    role: 'assistant',
    content: shown === undefined ? '' : typeof shown === 'string' ? shown : toJson(shown, 2),
    tool_name: name,
    tool_call_id: callId ?? null,
    tool_input: input === undefined ? null : isDict ? input : { raw: input },
    // The seed's field holds a dict: other arguments go in one, with a note that they do.
    metadata: input === undefined || isDict ? null : { raw_input: true },
  }
}

function toResult(result: ToolResultBlock, name: string | undefined): Part {
  const { output, isError, error, callId } = result
  const metadata = {
    ...(isError !== undefined && { success: !isError }),
    ...(error !== undefined && { error }),
    ...(output === undefined && { output: null }),
    ...(Array.isArray(output) && { output: output.map(toRaw) }),
  }
  return {
    role: 'tool',
    content: outputText(result),
    tool_name: name ?? null,
    tool_call_id: callId ?? null,
    tool_input: null,
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
  }
}

/** Usage, stop reason and duration stand on the last line of an entry: said once, they are counted once. */
function entryMetadata(entry: Entry, isLast: boolean): JsonObject {
  const { kind, role, model, usage, stopReason, durationMs, call, parent, metadata } = entry
  const { [OWN]: _, ...others } = metadata ?? {}
  const clash = Object.keys(others).some((key) => SAID.has(key))
  const counts = usage === undefined || !isLast ? undefined : toAnthropicUsage(usage)
  const isPlain = counts === undefined || fromAnthropicUsage(counts).quality === usage?.quality
  return {
    ...(clash ? { metadata: others } : others),
    ...(model !== undefined && { model }),
    ...(counts !== undefined && { usage: counts }),
    ...(!isPlain && usage !== undefined && { usage_quality: usage.quality }),
    ...(isLast && stopReason !== undefined && { stop_reason: stopReason }),
    ...(isLast && durationMs !== undefined && { duration_ms: durationMs }),
    ...(call !== undefined && { call: toCallMetadata(call) }),
    ...(typeof parent === 'string' && { parent }),
    ...(kind === 'event' && { kind: 'event' }),
    ...(role === undefined && { roleless: true }),
  }
}
