/** A `TranscriptEntry` as the entry it says: a message, one tool call, or one result with its tool's name. */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { asArray, asNumber, asString, rest, type JsonObject } from '../transcript/json.ts'
import { fromCreatedAt, type TranscriptEntry } from './weakincentives-entry.ts'
import { SAID, callIn, fromRaw, usageIn } from './weakincentives-metadata.ts'

/** What a line says; whoever reads the file adds sequence and origin. */
export function fromTranscriptEntry(line: TranscriptEntry): Omit<Entry, 'id' | 'sequence' | 'origin'> {
  const metadata = line.metadata ?? {}
  const at = fromCreatedAt(line.created_at)
  const usage = usageIn(metadata)
  const model = asString(metadata['model'])
  const stopReason = asString(metadata['stop_reason'])
  const durationMs = asNumber(metadata['duration_ms'])
  const parent = asString(metadata['parent'])
  const call = callIn(metadata['call'])
  const others = rest(metadata, SAID)
  const isRoleless = metadata['roleless'] === true
  return {
    source: line.source === 'main' ? PRIMARY : line.source,
    kind: metadata['kind'] === 'event' ? 'event' : 'message',
    ...(!isRoleless && { role: line.role }),
    ...(parent !== undefined && { parent }),
    ...(at !== undefined && { at }),
    blocks: blocksOf(line, metadata),
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(durationMs !== undefined && { durationMs }),
    ...(call !== undefined && { call }),
    ...(others !== undefined && { metadata: others }),
  }
}

function blocksOf(line: TranscriptEntry, metadata: JsonObject): Block[] {
  const stated = asArray(metadata['blocks'])
  if (stated !== undefined) return stated.map(fromRaw)
  if (line.role === 'tool') return [resultOf(line, metadata)]
  if (line.role === 'assistant' && line.tool_name !== null) {
    const input = metadata['raw_input'] === true ? line.tool_input?.['raw'] : line.tool_input
    return [
      {
        type: 'tool-call',
        ...(line.tool_call_id !== null && { callId: line.tool_call_id }),
        name: line.tool_name,
        ...(input !== null && input !== undefined && { input }),
      },
    ]
  }
  return [{ type: 'text', text: line.content }]
}

function resultOf(line: TranscriptEntry, metadata: JsonObject): ToolResultBlock {
  const { success, error, output } = metadata
  const structured = asArray(output)?.map(fromRaw)
  const text = output === null ? undefined : line.content
  return {
    type: 'tool-result',
    ...(line.tool_call_id !== null && { callId: line.tool_call_id }),
    ...(line.tool_name !== null && { name: line.tool_name }),
    ...(structured !== undefined ? { output: structured } : text !== undefined && { output: text }),
    ...(typeof error === 'string' && { error }),
    ...(typeof success === 'boolean' && { isError: !success }),
  }
}
