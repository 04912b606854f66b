/** The parts of a Codex message's or result's content: text and images; whatever else comes is kept as it is. */
import { contentText, type Block, type ImageBlock } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import { isObject, toJson, type Json } from '../transcript/json.ts'

const TEXTS: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text'])

export function fromPart(part: Json): Block {
  if (isObject(part)) {
    const { type, text, image_url: url } = part
    if (typeof type === 'string' && TEXTS.has(type) && typeof text === 'string') return { type: 'text', text }
    if (type === 'input_image' && typeof url === 'string') return fromImage(url)
  }
  return { type: 'unknown', raw: part }
}

export function toPart(block: Block, role?: Role): Json {
  if (block.type === 'unknown') return block.raw
  if (block.type === 'image') return { type: 'input_image', image_url: toImageUrl(block) }
  const text = block.type === 'text' || block.type === 'thinking' ? contentText(block.text) : messageOf(block)
  return { type: role === 'assistant' ? 'output_text' : 'input_text', text }
}

const messageOf = (block: Block): string => (block.type === 'error' ? block.message : toJson(block))

const BASE64 = ';base64'

/** A `data:` URL is content in place; any other is shown and never fetched. */
function fromImage(url: string): Block {
  const comma = url.indexOf(',')
  const head = comma > 256 ? '' : url.slice(0, Math.max(comma, 0))
  if (!head.startsWith('data:') || !head.endsWith(BASE64)) return { type: 'image', url }
  const mediaType = head.slice('data:'.length, -BASE64.length)
  return { type: 'image', ...(mediaType !== '' && { mediaType }), data: url.slice(comma + 1) }
}

function toImageUrl({ url, data, mediaType = '' }: ImageBlock): string {
  return data === undefined ? (url ?? '') : `data:${mediaType}${BASE64},${contentText(data)}`
}
