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
import { always, isCount, isInstant, isText, leftOver, takes, type Takes } from './left-over.ts'

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
  const compact = {
    ...leftOver(line, role === 'user' ? ASKED : SAID),
    ...(Object.keys(extras).length > 0 && { content: extras }),
  }
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

const ASKED = takes({
  type: always,
  ts: isInstant,
  content: always,
  input_tokens: isCount,
  output_tokens: isCount,
})
const SAID: Takes = new Map([...ASKED, ['id', isText]])

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
  const given = block.type === 'tool-call' ? object['result'] : undefined
  if (given === undefined || given === null)
    return {
      block: block.type === 'unknown' ? { type: 'unknown', raw } : block,
      ...(extras && { kept: extras }),
    }
  const { output, beyond } = outcomeOf(given)
  const status = asObject(given)?.['status']
  const kept = { ...extras, ...(beyond && { result: beyond }) }
  const result: ToolResultBlock = {
    type: 'tool-result',
    ...(block.type === 'tool-call' && block.callId !== undefined && { callId: block.callId }),
    ...(block.type === 'tool-call' && { name: block.name }),
    ...(output !== undefined && { output }),
    ...(status === 'error' && { isError: true }),
  }
  return { block, result, ...(Object.keys(kept).length > 0 && { kept }) }
}

/** What a tool gave back. Only that it worked goes without saying: any other status than an error's is kept by its name. */
function outcomeOf(given: Json): Pick<ToolResultBlock, 'output'> & { readonly beyond?: JsonObject } {
  if (typeof given === 'string') return { output: given }
  const inlined = asObject(given)
  if (inlined === undefined) return { output: [{ type: 'unknown', raw: given }] }
  const output = asString(inlined['output'])
  const beyond = leftOver(inlined, OUTCOME)
  return { ...(output !== undefined && { output }), ...(beyond && { beyond }) }
}

const PROMPT: ReadonlySet<string> = new Set(['text'])
const RESULT: ReadonlySet<string> = new Set(['result'])
const OUTCOME = takes({ output: isText, status: (status) => status === 'success' || status === 'error' })

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
