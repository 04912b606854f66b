import { isObject, toJson, type Json, type JsonObject } from './json.ts'
import type { Way } from './tool-files.ts'

/** Content kept elsewhere because it is large: a file in the archive, named by the SHA-256 of its bytes. */
export type BlobRef = {
  /** `sha256:<64 hex digits>` */
  readonly blob: string
  readonly bytes: number
  readonly mediaType: string
}

/** Text in place, or by reference. */
export type Content = string | BlobRef

/**
 * Fields that were too large for where they stand, each as JSON in a blob. In place is the beginning of a text, and nothing of
 * anything else.
 */
export type Apart = { readonly [field: string]: BlobRef }

export type TextBlock = { readonly type: 'text'; readonly text: Content; readonly apart?: Apart }

/** `text` is empty where the provider hides it; `signature` or `redacted` is then all there is. */
export type ThinkingBlock = {
  readonly type: 'thinking'
  readonly text: Content
  readonly signature?: string
  /** The provider's encrypted thinking, verbatim. */
  readonly redacted?: string
  readonly apart?: Apart
}

export type ToolCallBlock = {
  readonly type: 'tool-call'
  /** Absent where the format has none; calls and results are then paired by position. */
  readonly callId?: string
  readonly name: string
  /** The arguments. A string when the model's text was not JSON. Absent when `inputBlob` holds them. */
  readonly input?: Json
  readonly inputBlob?: BlobRef
  readonly apart?: Apart
  /** What facts are told by, where only these were asked for and the arguments were not read. */
  readonly [TOLD]?: ToldCall
}

/** No word of a file's: nobody but a reader of ours can have told it. */
export const TOLD: unique symbol = Symbol('told')

/** What a call's arguments say of it: which call it is (call-hash.ts), the files they name and what it does to them (tool-files.ts). */
export type ToldCall = {
  readonly hash: number
  readonly files: readonly string[]
  readonly way: Way
}

export type ToolResultBlock = {
  readonly type: 'tool-result'
  readonly callId?: string
  readonly name?: string
  /** Text, or blocks where the tool returned images or structure. Absent when the tool returned nothing or only an error. */
  readonly output?: Content | readonly Block[]
  readonly error?: string
  readonly isError?: boolean
  readonly apart?: Apart
}

export type ImageBlock = {
  readonly type: 'image'
  readonly mediaType?: string
  /** Base64 in place, a blob, or a URL that is shown and never fetched. */
  readonly data?: Content
  readonly url?: string
  readonly apart?: Apart
}

export type ErrorBlock = {
  readonly type: 'error'
  readonly message: string
  readonly code?: string
  readonly apart?: Apart
}

/** What a reader did not understand, whole. `reason` is set when the bytes could not be taken in (too large, withheld). */
export type UnknownBlock = {
  readonly type: 'unknown'
  readonly raw: Json
  readonly reason?: string
  readonly apart?: Apart
}

export type Block =
  | TextBlock
  | ThinkingBlock
  | ToolCallBlock
  | ToolResultBlock
  | ImageBlock
  | ErrorBlock
  | UnknownBlock

export function isBlobRef(content: unknown): content is BlobRef {
  if (!isObject(content)) return false
  const { blob, bytes, mediaType } = content
  return typeof blob === 'string' && typeof bytes === 'number' && typeof mediaType === 'string'
}

/** Results inside results deeper than this are not looked into. A line of a journal has no room for more. */
const NESTING_LIMIT = 100

/**
 * What someone calls a block, as one: itself when it is as the types above say, else an unknown block with it inside. Never
 * throws, so that whoever goes through blocks by their type meets none that is not there.
 */
export function asBlock(value: unknown, depth: number = NESTING_LIMIT): Block {
  try {
    if (isBlock(value)) return withParts(value, depth)
  } catch {
    // A getter or a proxy that throws: what it holds cannot be had.
    return { type: 'unknown', raw: null, reason: 'not readable' }
  }
  // What JSON cannot say is the writer's to find.
  return { type: 'unknown', raw: (value ?? null) as Json }
}

function isBlock(value: unknown): value is Block {
  if (!isObject(value) || !(value['apart'] === undefined || isApart(value['apart']))) return false
  const type: unknown = value['type']
  switch (type) {
    case 'text':
      return isContent(value['text'])
    case 'thinking':
      return isContent(value['text']) && areStrings(value, 'signature', 'redacted')
    case 'tool-call':
      return (
        typeof value['name'] === 'string' &&
        areStrings(value, 'callId') &&
        (value['inputBlob'] === undefined || isBlobRef(value['inputBlob']))
      )
    case 'tool-result': {
      const { output, isError } = value
      return (
        (output === undefined || isContent(output) || Array.isArray(output)) &&
        (isError === undefined || typeof isError === 'boolean') &&
        areStrings(value, 'callId', 'name', 'error')
      )
    }
    case 'image':
      return (
        (value['data'] === undefined || isContent(value['data'])) && areStrings(value, 'mediaType', 'url')
      )
    case 'error':
      return typeof value['message'] === 'string' && areStrings(value, 'code')
    case 'unknown':
      return value['raw'] !== undefined && areStrings(value, 'reason')
    default:
      return false
  }
}

/** The blocks that a tool returned are blocks as well. */
function withParts(block: Block, depth: number): Block {
  if (block.type !== 'tool-result' || !Array.isArray(block.output)) return block
  const parts: readonly unknown[] = block.output
  if (depth === 0 && parts.length > 0) return { type: 'unknown', raw: block as unknown as Json }
  const output = parts.map((part) => asBlock(part, depth - 1))
  return output.every((part, index) => part === parts[index]) ? block : { ...block, output }
}

function isContent(value: unknown): value is Content {
  return typeof value === 'string' || isBlobRef(value)
}

export function isApart(value: unknown): value is Apart {
  return isObject(value) && Object.values(value).every(isBlobRef)
}

/** Each of the fields is text or absent. */
function areStrings(object: JsonObject, ...keys: readonly string[]): boolean {
  return keys.every((key) => object[key] === undefined || typeof object[key] === 'string')
}

/** True when part of the block is kept elsewhere. */
export function hasBlob(block: Block): boolean {
  if (block.apart !== undefined) return true
  switch (block.type) {
    case 'text':
    case 'thinking':
      return isBlobRef(block.text)
    case 'image':
      return isBlobRef(block.data)
    case 'tool-call':
      return block.inputBlob !== undefined
    case 'tool-result':
      return Array.isArray(block.output) ? block.output.some(hasBlob) : isBlobRef(block.output)
    case 'unknown':
    case 'error':
      return false
  }
}

/** Text in place; for content by reference, a note of what is there. Callers that need it whole resolve blobs first. */
export function contentText(content: Content): string {
  return typeof content === 'string'
    ? content
    : `[${content.bytes} bytes of ${content.mediaType}: ${content.blob}]`
}

/** The beginning of a text, and a sign that it is one. No character is cut in two. */
export function cutText(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)}…`
}

/** The text of all text blocks, joined by newlines. Empty when there is none. */
export function textOf(blocks: readonly Block[]): string {
  return blocks
    .filter((block) => block.type === 'text')
    .map((block) => contentText(block.text))
    .join('\n')
}

/** True for a tool that failed, also for a command that exited with another code than 0: what lists, statistics and searches count. */
export function hasFailed({ isError, error }: ToolResultBlock): boolean {
  return isError === true || error !== undefined
}

/** What a tool returned, as text: its output, or else its error. Empty when it returned nothing. */
export function outputText(result: ToolResultBlock): string {
  if (result.output === undefined) return result.error ?? ''
  if (typeof result.output === 'string' || isBlobRef(result.output)) return contentText(result.output)
  return result.output.map(blockText).join('\n')
}

function blockText(block: Block): string {
  if (block.type === 'text' || block.type === 'thinking') return contentText(block.text)
  if (block.type === 'image') return `[image ${block.mediaType ?? block.url ?? ''}]`
  if (block.type === 'error') return block.message
  if (block.type === 'tool-result') return outputText(block)
  return toJson(block.type === 'unknown' ? block.raw : block)
}

/** The block with its text changed, or the input of a call that is not whole. */
export function changeText(block: Block, change: (text: string) => string): Block {
  if ((block.type === 'text' || block.type === 'thinking') && typeof block.text === 'string')
    return { ...block, text: change(block.text) }
  if (block.type === 'tool-call' && typeof block.input === 'string')
    return { ...block, input: change(block.input) }
  return block
}
