/** The parts of a pi message as blocks, and back. What a part says beyond its block is kept beside the entry. */
import { contentText, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { asObject, asString, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'

export function fromPart(part: Json): Block {
  if (!isObject(part)) return { type: 'unknown', raw: part }
  const type = asString(part['type']) ?? ''
  return PARTS.get(type)?.(part) ?? { type: 'unknown', raw: part }
}

/** Undefined for a block that has no part here: errors stand beside the content, results in messages of their own. */
export function toPart(block: Block): Json | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: contentText(block.text) }
    case 'thinking': {
      const signature = block.redacted ?? block.signature
      return {
        type: 'thinking',
        thinking: contentText(block.text),
        ...(signature !== undefined && { thinkingSignature: signature }),
        ...(block.redacted !== undefined && { redacted: true }),
      }
    }
    case 'tool-call': {
      const { callId, name, input, inputBlob } = block
      const given = inputBlob === undefined ? input : contentText(inputBlob)
      return {
        type: 'toolCall',
        ...(callId !== undefined && { id: callId }),
        name,
        ...(given !== undefined && { arguments: given }),
      }
    }
    case 'image': {
      const { data, mediaType, url } = block
      return {
        type: 'image',
        ...(data !== undefined && { data: contentText(data) }),
        ...(url !== undefined && { url }),
        ...(mediaType !== undefined && { mimeType: mediaType }),
      }
    }
    case 'unknown':
      return block.raw
    case 'error':
    case 'tool-result':
      return undefined
  }
}

/** What a tool returned: one text as it is, nothing as nothing, and else its parts. */
export function fromResultContent(content: readonly Json[]): Pick<ToolResultBlock, 'output'> {
  const [only] = content
  if (only === undefined) return {}
  const text = content.length === 1 ? fromPart(only) : undefined
  if (text?.type === 'text') return { output: text.text }
  return { output: content.map((part) => fromPart(part)) }
}

export function toResultContent({ output, error }: ToolResultBlock): Json[] {
  if (output === undefined) return error === undefined ? [] : [{ type: 'text', text: error }]
  if (Array.isArray(output)) {
    return (output as readonly Block[]).map((block) => toPart(block) ?? { type: 'text', text: toJson(block) })
  }
  return [{ type: 'text', text: contentText(output as string) }]
}

const PARTS: ReadonlyMap<string, (part: JsonObject) => Block | undefined> = new Map([
  ['text', fromText],
  ['thinking', fromThinking],
  ['toolCall', fromCall],
  ['image', fromImage],
])

function fromText({ text }: JsonObject): Block | undefined {
  return typeof text === 'string' ? { type: 'text', text } : undefined
}

/** What the provider hides is in the signature. */
function fromThinking(part: JsonObject): Block | undefined {
  const text = asString(part['thinking'])
  const signature = asString(part['thinkingSignature'])
  if (text === undefined) return undefined
  if (signature === undefined) return { type: 'thinking', text }
  return part['redacted'] === true
    ? { type: 'thinking', text, redacted: signature }
    : { type: 'thinking', text, signature }
}

function fromCall(part: JsonObject): Block | undefined {
  const callId = asString(part['id'])
  const name = asString(part['name'])
  const input = part['arguments']
  if (name === undefined) return undefined
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

function fromImage(part: JsonObject): Block | undefined {
  const data = asString(part['data'])
  const url = asString(part['url'])
  const mediaType = asString(part['mimeType'])
  if (data === undefined && url === undefined) return undefined
  return {
    type: 'image',
    ...(mediaType !== undefined && { mediaType }),
    ...(data !== undefined && { data }),
    ...(url !== undefined && { url }),
  }
}

export const partsOf = (blocks: readonly Block[]): Json[] => blocks.flatMap((block) => toPart(block) ?? [])

/** The counts' own object of a message, where it has one. */
export const usageOf = (message: JsonObject): JsonObject | undefined => asObject(message['usage'])
