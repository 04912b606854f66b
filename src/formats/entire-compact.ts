/**
 * Entire's compact `transcript.jsonl` ("Entire Transcript Format v1"): fragments of a message are merged and each tool call carries
 * its result, so one line is a message and then a result for each answered call. What else a line says stays in `metadata.compact`.
 */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asCount, asObject, asString, rest, type Json, type JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'

export type CompactEntry = Omit<Entry, 'id' | 'source' | 'sequence' | 'origin'>

export function isCompactLine(line: JsonObject): boolean {
  const { v, type, content } = line
  return typeof v === 'number' && (type === 'user' || type === 'assistant') && Array.isArray(content)
}

/** The entries of a line, or undefined when it is none of this format's. */
export function fromCompactLine(line: JsonObject): CompactEntry[] | undefined {
  if (!isCompactLine(line)) return undefined
  const role = line['type'] === 'user' ? 'user' : 'assistant'
  const at = parseInstant(line['ts'])
  const results: ToolResultBlock[] = []
  const extras = Object.create(null) as Record<string, Json>
  const blocks = (asArray(line['content']) ?? []).map((raw, index): Block => {
    const { block, kept, result } = fromCompactBlock(raw)
    if (result !== undefined) results.push(result)
    if (kept !== undefined) extras[index] = kept
    return block
  })
  const compact = { ...rest(line, SAID), ...(Object.keys(extras).length > 0 && { content: extras }) }
  const messageId = role === 'assistant' ? asString(line['id']) : undefined
  const usage = toUsage(line)
  const message: CompactEntry = {
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks,
    ...(usage !== undefined && { usage }),
    ...(messageId !== undefined && { call: { messageId } }),
    ...(Object.keys(compact).length > 0 && { metadata: { compact } }),
  }
  const answers = results.map((result): CompactEntry => ({
    kind: 'message',
    role: 'tool',
    ...(at !== undefined && { at }),
    blocks: [result],
  }))
  return [message, ...answers]
}

const SAID: ReadonlySet<string> = new Set(['type', 'ts', 'content', 'id', 'input_tokens', 'output_tokens'])

type CompactBlock = {
  readonly block: Block
  readonly kept?: JsonObject
  readonly result?: ToolResultBlock
}

function fromCompactBlock(raw: Json): CompactBlock {
  const object = asObject(raw)
  if (object === undefined) return { block: { type: 'unknown', raw } }
  const { text } = object
  // A prompt's text has no type of its own.
  if (!('type' in object) && typeof text === 'string') {
    const kept = rest(object, PROMPT)
    return { block: { type: 'text', text }, ...(kept && { kept }) }
  }
  const { block, extras } = splitAnthropicBlock(rest(object, RESULT) ?? {})
  const inlined = block.type === 'tool-call' ? asObject(object['result']) : undefined
  if (inlined === undefined)
    return {
      block: block.type === 'unknown' ? { type: 'unknown', raw } : block,
      ...(extras && { kept: extras }),
    }
  const output = asString(inlined['output'])
  const beyond = rest(inlined, output === undefined ? STATUS : OUTPUT)
  const kept = { ...extras, ...(beyond && { result: beyond }) }
  const result: ToolResultBlock = {
    type: 'tool-result',
    ...(block.type === 'tool-call' && block.callId !== undefined && { callId: block.callId }),
    ...(block.type === 'tool-call' && { name: block.name }),
    ...(output !== undefined && { output }),
    ...(inlined['status'] === 'error' && { isError: true }),
  }
  return { block, result, ...(Object.keys(kept).length > 0 && { kept }) }
}

const PROMPT: ReadonlySet<string> = new Set(['text'])
const RESULT: ReadonlySet<string> = new Set(['result'])
const STATUS: ReadonlySet<string> = new Set(['status'])
const OUTPUT: ReadonlySet<string> = new Set(['output', 'status'])

/** Cache counts are not kept in this format: what it calls input may be a small part of what was read. */
function toUsage(line: JsonObject): Usage | undefined {
  const input = asCount(line['input_tokens'])
  const output = asCount(line['output_tokens'])
  if (input === undefined && output === undefined) return undefined
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    quality: 'partial',
  }
}
