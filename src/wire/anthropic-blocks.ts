/**
 * Anthropic's content blocks, in and out. What a block of ours cannot hold (`cache_control`, `citations`, `caller`, …) is not
 * lost: it comes beside the block as extras, and `toAnthropicBlock(block, extras)` gives back the provider's own value.
 */
import type { Block, ImageBlock, ToolResultBlock } from '../transcript/block.ts'
import { contentText, isBlobRef } from '../transcript/block.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asBoolean, asObject, asString, isObject, rest } from '../transcript/json.ts'
import type { SplitBlock } from './split.ts'

/** The block, without its extras. A type or shape we do not know is an `unknown` block, verbatim. */
export function fromAnthropicBlock(raw: Json): Block {
  return splitAnthropicBlock(raw).block
}

/** What `fromAnthropicBlock` leaves out of a block; undefined when it says everything. */
export function extrasOf(raw: Json): JsonObject | undefined {
  return splitAnthropicBlock(raw).extras
}

/** Both at once, for readers that keep every field. */
export function splitAnthropicBlock(raw: Json): SplitBlock {
  return split(raw, 0)
}

/** `content` as messages state it: a text, or blocks. A string is one text block. */
export function fromAnthropicContent(content: Json | undefined): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === undefined || content === null) return []
  return (asArray(content) ?? [content]).map(fromAnthropicBlock)
}

/**
 * The provider's value for a block. Content by reference is written as a note of what is there: resolve blobs first.
 * Anthropic has no place for an error block (it becomes text), for a result's `name`, or for a result's `error` beside its
 * `output`: a writer that must not lose these says so itself.
 */
export function toAnthropicBlock(block: Block, extras?: JsonObject): Json {
  const raw = toRaw(block, extras)
  if (extras === undefined || !isObject(raw)) return raw
  // Extras of nested blocks have been put back already, each in its place.
  return { ...(block.type === 'tool-result' ? rest(extras, NESTED) : extras), ...raw }
}

const NESTED: ReadonlySet<string> = new Set(['content'])

/** Blocks in blocks beyond this are kept whole as one unknown: the API nests once, and a hostile file must not end the stack. */
const DEPTH_LIMIT = 16

function split(raw: Json, depth: number): SplitBlock {
  const splitter = isObject(raw) ? SPLITTERS.get(asString(raw['type']) ?? '') : undefined
  const found = isObject(raw) && depth < DEPTH_LIMIT ? splitter?.(raw, depth) : undefined
  return found ?? { block: { type: 'unknown', raw } }
}

type Splitter = (raw: JsonObject, depth: number) => SplitBlock | undefined

const SPLITTERS: ReadonlyMap<string, Splitter> = new Map<string, Splitter>([
  ['text', splitText],
  ['thinking', splitThinking],
  ['redacted_thinking', splitRedacted],
  ['tool_use', splitToolUse],
  ['tool_result', splitToolResult],
  ['image', splitImage],
])

function splitText(raw: JsonObject): SplitBlock | undefined {
  const text = asString(raw['text'])
  return text === undefined ? undefined : withExtras({ type: 'text', text }, raw, ['text'])
}

function splitThinking(raw: JsonObject): SplitBlock | undefined {
  const text = asString(raw['thinking'])
  if (text === undefined) return undefined
  const signature = asString(raw['signature'])
  if (signature === undefined) return withExtras({ type: 'thinking', text }, raw, ['thinking'])
  return withExtras({ type: 'thinking', text, signature }, raw, ['thinking', 'signature'])
}

function splitRedacted(raw: JsonObject): SplitBlock | undefined {
  const redacted = asString(raw['data'])
  if (redacted === undefined) return undefined
  return withExtras({ type: 'thinking', text: '', redacted }, raw, ['data'])
}

function splitToolUse(raw: JsonObject): SplitBlock | undefined {
  const name = asString(raw['name'])
  if (name === undefined) return undefined
  const callId = asString(raw['id'])
  const input = raw['input']
  return withExtras(
    {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name,
      ...(input !== undefined && { input }),
    },
    raw,
    callId === undefined ? ['name', 'input'] : ['id', 'name', 'input'],
  )
}

function splitToolResult(raw: JsonObject, depth: number): SplitBlock | undefined {
  const content = raw['content']
  const parts = asArray(content)?.map((part) => split(part, depth + 1))
  if (content !== undefined && typeof content !== 'string' && parts === undefined) return undefined
  const callId = asString(raw['tool_use_id'])
  const isError = asBoolean(raw['is_error'])
  const output = parts === undefined ? asString(content) : parts.map(({ block }) => block)
  const known = ['content']
  if (callId !== undefined) known.push('tool_use_id')
  if (isError !== undefined) known.push('is_error')
  const block: ToolResultBlock = {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(output !== undefined && { output }),
    ...(isError !== undefined && { isError }),
  }
  const own = withExtras(block, raw, known)
  if (parts?.some(({ extras }) => extras !== undefined) !== true) return own
  return { block, extras: { ...own.extras, content: parts.map(({ extras }) => extras ?? null) } }
}

/** Base64 and URL sources; a source of another kind, or with more to say, leaves the whole block unknown. */
function splitImage(raw: JsonObject): SplitBlock | undefined {
  const source = asObject(raw['source'])
  if (source === undefined) return undefined
  const data = asString(source['data'])
  const url = asString(source['url'])
  const mediaType = asString(source['media_type'])
  if (source['type'] === 'base64' && data !== undefined && onlyHas(source, BASE64)) {
    if (mediaType === undefined && 'media_type' in source) return undefined
    return withExtras({ type: 'image', ...(mediaType !== undefined && { mediaType }), data }, raw, ['source'])
  }
  if (source['type'] === 'url' && url !== undefined && onlyHas(source, URL_SOURCE)) {
    return withExtras({ type: 'image', url }, raw, ['source'])
  }
  return undefined
}

const BASE64: ReadonlySet<string> = new Set(['type', 'media_type', 'data'])
const URL_SOURCE: ReadonlySet<string> = new Set(['type', 'url'])

function onlyHas(object: JsonObject, known: ReadonlySet<string>): boolean {
  return Object.keys(object).every((key) => known.has(key))
}

function withExtras(block: Block, raw: JsonObject, known: readonly string[]): SplitBlock {
  const isKnown = (key: string): boolean => key === 'type' || known.includes(key)
  // Nearly all blocks of a long log are plain: they must not pay for a set each.
  if (Object.keys(raw).every(isKnown)) return { block }
  return { block, extras: rest(raw, new Set(['type', ...known])) ?? {} }
}

function toRaw(block: Block, extras: JsonObject | undefined): Json {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: contentText(block.text) }
    case 'thinking': {
      const text = contentText(block.text)
      const hidden = text === '' && block.signature === undefined
      if (block.redacted !== undefined && hidden) return { type: 'redacted_thinking', data: block.redacted }
      return {
        type: 'thinking',
        thinking: text,
        ...(block.signature !== undefined && { signature: block.signature }),
      }
    }
    case 'tool-call':
      return {
        type: 'tool_use',
        ...(block.callId !== undefined && { id: block.callId }),
        name: block.name,
        ...(block.input !== undefined && { input: block.input }),
        ...(block.inputBlob !== undefined && { input: contentText(block.inputBlob) }),
      }
    case 'tool-result':
      return toToolResult(block, asArray(extras?.['content']))
    case 'image':
      return toImage(block)
    case 'error':
      return { type: 'text', text: block.message }
    case 'unknown':
      return block.raw
  }
}

function toToolResult(block: ToolResultBlock, nested: readonly Json[] | undefined): JsonObject {
  const isError = block.isError ?? (block.error === undefined ? undefined : true)
  const content = toContent(block.output ?? block.error, nested)
  return {
    type: 'tool_result',
    ...(block.callId !== undefined && { tool_use_id: block.callId }),
    ...(content !== undefined && { content }),
    ...(isError !== undefined && { is_error: isError }),
  }
}

function toContent(output: ToolResultBlock['output'], nested: readonly Json[] | undefined): Json | undefined {
  if (output === undefined) return undefined
  if (typeof output === 'string' || isBlobRef(output)) return contentText(output)
  return output.map((part, index) => toAnthropicBlock(part, asObject(nested?.[index])))
}

function toImage({ mediaType, data, url }: ImageBlock): JsonObject {
  if (data === undefined) return { type: 'image', ...(url !== undefined && { source: { type: 'url', url } }) }
  return {
    type: 'image',
    source: {
      type: 'base64',
      ...(mediaType !== undefined && { media_type: mediaType }),
      data: contentText(data),
    },
  }
}
