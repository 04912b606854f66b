/** Blocks as the parts of OpenTelemetry's GenAI messages. What these have no part for is not in them. */
import { contentText, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson, type Json, type JsonObject } from '../transcript/json.ts'

/** Undefined for what is no message. An answer has the reason that it ended for. */
export function toMessage({ kind, role, blocks }: Entry, finishReason?: string): JsonObject | undefined {
  if (kind !== 'message' || role === undefined) return undefined
  const parts = blocks.flatMap(toPart)
  return { role, parts, ...(finishReason !== undefined && { finish_reason: finishReason }) }
}

function toPart(block: Block): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', content: contentText(block.text) }]
    case 'error':
      return [{ type: 'text', content: block.message }]
    case 'thinking':
      return [{ type: 'reasoning', content: contentText(block.text) }]
    case 'tool-call':
      return [
        {
          type: 'tool_call',
          ...(block.callId !== undefined && { id: block.callId }),
          name: block.name,
          arguments: block.input ?? {},
        },
      ]
    case 'tool-result':
      return [
        {
          type: 'tool_call_response',
          ...(block.callId !== undefined && { id: block.callId }),
          response: toResponse(block),
        },
      ]
    case 'image':
      return toImage(block)
    case 'unknown':
      return []
  }
}

function toImage({
  mediaType,
  data,
  url,
}: Extract<Block, { readonly type: 'image' }>): readonly JsonObject[] {
  const type = mediaType === undefined ? {} : { mime_type: mediaType }
  if (data !== undefined && !isBlobRef(data))
    return [{ type: 'blob', modality: 'image', ...type, content: data }]
  // What stands in its own address is no reference: the conventions ask for it as data.
  const own = url === undefined ? null : /^data:([^;,]*);base64,/.exec(url)
  if (own !== null && url !== undefined)
    return [
      {
        type: 'blob',
        modality: 'image',
        ...(own[1] === '' || own[1] === undefined ? type : { mime_type: own[1] }),
        content: url.slice(own[0].length),
      },
    ]
  return url === undefined ? [] : [{ type: 'uri', modality: 'image', ...type, uri: url }]
}

export function toResponse({ output, error }: ToolResultBlock): Json {
  if (output === undefined) return error ?? ''
  if (typeof output === 'string' || isBlobRef(output)) return contentText(output)
  return output.map((block): Json =>
    block.type === 'text'
      ? { type: 'text', content: contentText(block.text) }
      : (toPart(block)[0] ?? toJson(block)),
  )
}
