/** What OpenAI's two APIs share: content parts, and arguments that are JSON in a string. */
import type { Block, ImageBlock } from '../transcript/block.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asObject, asString, isObject, parseJson, rest } from '../transcript/json.ts'
import { saidFields } from './message.ts'
import type { SplitBlock } from './split.ts'

/** The arguments of a call. None at all is `{}`; what is not JSON stays the model's own text. */
export function toArguments(text: string): Json {
  return text.trim() === '' ? {} : (parseJson(text) ?? text)
}

/** A message's `content`: text, or parts. An empty text says nothing and is no block. */
export function splitContent(content: Json | undefined): SplitBlock[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ block: { type: 'text', text: content } }]
  return (asArray(content) ?? [content]).map(splitPart)
}

/** One part of either API. A refusal is text that the model said; `extras.type` tells it apart. */
export function splitPart(raw: Json): SplitBlock {
  if (typeof raw === 'string') return { block: { type: 'text', text: raw } }
  const split = isObject(raw) ? PARTS.get(asString(raw['type']) ?? '')?.(raw) : undefined
  return split ?? { block: { type: 'unknown', raw } }
}

/** Extras without what is empty: `annotations: []` says nothing. */
export function withExtras(block: Block, ...extras: readonly (JsonObject | undefined)[]): SplitBlock {
  const said = saidFields(...extras)
  const kept = said === undefined ? [] : Object.keys(said).filter((key) => !isEmptyList(said[key]))
  if (said === undefined || kept.length === 0) return { block }
  const dropped = new Set(Object.keys(said).filter((key) => !kept.includes(key)))
  return { block, extras: rest(said, dropped) ?? {} }
}

const PARTS: ReadonlyMap<string, (raw: JsonObject) => SplitBlock | undefined> = new Map([
  ['text', splitText],
  ['input_text', splitText],
  ['output_text', splitText],
  ['summary_text', splitText],
  ['reasoning_text', splitText],
  ['refusal', splitRefusal],
  ['image_url', splitImage],
  ['input_image', splitImage],
])

const TEXT: ReadonlySet<string> = new Set(['type', 'text'])
const REFUSAL: ReadonlySet<string> = new Set(['refusal'])
const IMAGE: ReadonlySet<string> = new Set(['type', 'image_url'])

function splitText(raw: JsonObject): SplitBlock | undefined {
  const text = asString(raw['text'])
  return text === undefined ? undefined : withExtras({ type: 'text', text }, rest(raw, TEXT))
}

function splitRefusal(raw: JsonObject): SplitBlock | undefined {
  const text = asString(raw['refusal'])
  return text === undefined ? undefined : withExtras({ type: 'text', text }, rest(raw, REFUSAL))
}

/** Chat says `{image_url: {url, detail}}`, Responses `{image_url: 'url', detail}`. */
function splitImage(raw: JsonObject): SplitBlock | undefined {
  const nested = asObject(raw['image_url'])
  const url = asString(nested?.['url']) ?? asString(raw['image_url'])
  if (url === undefined) return undefined
  return withExtras(toImage(url), rest(raw, IMAGE), nested && rest(nested, new Set(['url'])))
}

/** A `data:` URL is content in place; any other is shown and never fetched. */
function toImage(url: string): ImageBlock {
  const comma = url.indexOf(',')
  const head = url.slice(0, Math.min(comma, 256))
  if (!url.startsWith('data:') || comma === -1 || !head.endsWith(';base64')) return { type: 'image', url }
  const mediaType = head.slice('data:'.length, -';base64'.length)
  return { type: 'image', ...(mediaType !== '' && { mediaType }), data: url.slice(comma + 1) }
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}
