/**
 * Bedrock in Anthropic's words, so that one reader takes both. `invoke` wraps Anthropic's own JSON; `converse` says the same of any
 * model in words of its own, which are translated block by block. What has no place there is kept under its own name.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  parseJson,
  rest,
  toJson,
} from '../transcript/json.ts'
import { createEventStreamParser, type EventFrame } from './event-stream.ts'
import type { SseEvent, SseParser } from './sse.ts'

/** What a body says, as Anthropic's API would have it. */
export function fromConverseRequest(body: Json): Json {
  if (!isObject(body)) return body
  const { messages, system, inferenceConfig, toolConfig, ...others } = body
  const config = asObject(inferenceConfig) ?? {}
  const tools = asArray(asObject(toolConfig)?.['tools'])
  return {
    ...others,
    ...(system !== undefined && { system: (asArray(system) ?? []).map(fromConverseBlock) }),
    messages: (asArray(messages) ?? []).map((message) =>
      isObject(message)
        ? { ...message, content: (asArray(message['content']) ?? []).map(fromConverseBlock) }
        : message,
    ),
    ...config,
    ...(tools !== undefined && {
      tools: tools.map((tool) => asObject(asObject(tool)?.['toolSpec']) ?? tool),
    }),
  }
}

/** A whole answer. */
export function fromConverseResponse(body: Json): Json {
  if (!isObject(body)) return body
  const message = asObject(asObject(body['output'])?.['message'])
  if (message === undefined) return asString(body['message']) === undefined ? body : { error: body }
  return {
    ...rest(body, new Set(['output', 'usage', 'stopReason'])),
    type: 'message',
    role: 'assistant',
    content: (asArray(message['content']) ?? []).map(fromConverseBlock),
    ...(body['stopReason'] !== undefined && { stop_reason: body['stopReason'] }),
    ...(isObject(body['usage']) && { usage: fromConverseUsage(body['usage']) }),
  }
}

/** Frames as the events that Anthropic's stream has. */
export function createBedrockParser(kind: 'invoke' | 'converse'): SseParser {
  const frames = createEventStreamParser()
  const translate = kind === 'invoke' ? fromInvokeFrame : createConverseFold()
  const events = (all: readonly EventFrame[]): SseEvent[] =>
    all.flatMap((frame) => fromException(frame) ?? translate(frame)).map(toEvent)
  return {
    push: (chunk) => events(frames.push(chunk)),
    end() {
      const problem = frames.end()
      return problem === undefined
        ? []
        : [toEvent({ type: 'error', error: { type: 'damage', message: problem } })]
    },
  }
}

function toEvent(value: JsonObject): SseEvent {
  const type = asString(value['type'])
  return { ...(type !== undefined && { event: type }), data: toJson(value), complete: true }
}

/** Throttling, and what goes wrong in the middle, come as frames too. */
function fromException({ headers, payload }: EventFrame): JsonObject[] | undefined {
  const kind = headers.get(':message-type')
  if (kind !== 'exception' && kind !== 'error') return undefined
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'exception'
  const said = asObject(parseJson(payload.toString()))
  const message = asString(said?.['message']) ?? headers.get(':error-message') ?? payload.toString()
  return [{ type: 'error', error: { type: String(type), message: String(message) } }]
}

function fromInvokeFrame({ payload }: EventFrame): JsonObject[] {
  const packed = asString(asObject(parseJson(payload.toString()))?.['bytes'])
  if (packed === undefined) return []
  const value = asObject(parseJson(Buffer.from(packed, 'base64').toString()))
  // What says nothing of its kind keeps the connection alive.
  return value?.['type'] === undefined ? [] : [value]
}

function createConverseFold(): (frame: EventFrame) => JsonObject[] {
  const begun = new Set<number>()
  return ({ headers, payload }) => {
    const said = asObject(parseJson(payload.toString())) ?? {}
    const index = asCount(said['contentBlockIndex']) ?? 0
    switch (String(headers.get(':event-type'))) {
      case 'messageStart':
        return [
          {
            type: 'message_start',
            message: { type: 'message', role: said['role'] ?? 'assistant', content: [] },
          },
        ]
      case 'contentBlockStart':
        begun.add(index)
        return [
          { type: 'content_block_start', index, content_block: fromStart(asObject(said['start']) ?? {}) },
        ]
      case 'contentBlockDelta': {
        const delta = asObject(said['delta']) ?? {}
        const event: JsonObject = { type: 'content_block_delta', index, delta: fromDelta(delta) }
        // Only tools are begun; words just come.
        if (begun.has(index)) return [event]
        begun.add(index)
        return [{ type: 'content_block_start', index, content_block: beginningOf(delta) }, event]
      }
      case 'contentBlockStop':
        return [{ type: 'content_block_stop', index }]
      case 'messageStop':
        return [{ type: 'message_delta', delta: { stop_reason: said['stopReason'] ?? null } }]
      case 'metadata':
        return [
          {
            type: 'message_delta',
            delta: {},
            ...(isObject(said['usage']) && { usage: fromConverseUsage(said['usage']) }),
          },
          { type: 'message_stop' },
        ]
      default:
        return [said]
    }
  }
}

function fromStart(start: JsonObject): JsonObject {
  const tool = asObject(start['toolUse'])
  return tool === undefined
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: tool['toolUseId'] ?? null, name: tool['name'] ?? null, input: {} }
}

function beginningOf(delta: JsonObject): JsonObject {
  return delta['reasoningContent'] === undefined
    ? { type: 'text', text: '' }
    : { type: 'thinking', thinking: '' }
}

function fromDelta(delta: JsonObject): JsonObject {
  const text = delta['text']
  if (text !== undefined) return { type: 'text_delta', text }
  const input = asObject(delta['toolUse'])?.['input']
  if (input !== undefined) return { type: 'input_json_delta', partial_json: input }
  const reasoning = asObject(delta['reasoningContent'])
  if (reasoning?.['text'] !== undefined) return { type: 'thinking_delta', thinking: reasoning['text'] }
  if (reasoning?.['signature'] !== undefined)
    return { type: 'signature_delta', signature: reasoning['signature'] }
  return delta
}

/** Each block is an object with one key, which says what it is. */
function fromConverseBlock(raw: Json): Json {
  if (!isObject(raw)) return raw
  if (typeof raw['text'] === 'string') return { type: 'text', text: raw['text'] }
  const use = asObject(raw['toolUse'])
  if (use !== undefined)
    return {
      type: 'tool_use',
      id: use['toolUseId'] ?? null,
      name: use['name'] ?? null,
      input: use['input'] ?? {},
    }
  const result = asObject(raw['toolResult'])
  if (result !== undefined)
    return {
      type: 'tool_result',
      tool_use_id: result['toolUseId'] ?? null,
      content: (asArray(result['content']) ?? []).map(fromResultPart),
      ...(result['status'] === 'error' && { is_error: true }),
    }
  const reasoning = asObject(asObject(raw['reasoningContent'])?.['reasoningText'])
  if (reasoning !== undefined)
    return {
      type: 'thinking',
      thinking: reasoning['text'] ?? '',
      ...(reasoning['signature'] !== undefined && { signature: reasoning['signature'] }),
    }
  const image = asObject(raw['image'])
  const bytes = asObject(image?.['source'])?.['bytes']
  if (image !== undefined && typeof bytes === 'string')
    return {
      type: 'image',
      source: { type: 'base64', media_type: `image/${asString(image['format']) ?? 'png'}`, data: bytes },
    }
  return raw
}

/** A tool may return JSON itself. */
function fromResultPart(raw: Json): Json {
  const value = asObject(raw)?.['json']
  return value === undefined ? fromConverseBlock(raw) : { type: 'text', text: toJson(value) }
}

function fromConverseUsage(usage: JsonObject): JsonObject {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens, ...others } = usage
  return {
    ...others,
    ...(inputTokens !== undefined && { input_tokens: inputTokens }),
    ...(outputTokens !== undefined && { output_tokens: outputTokens }),
    ...(cacheReadInputTokens !== undefined && { cache_read_input_tokens: cacheReadInputTokens }),
    ...(cacheWriteInputTokens !== undefined && { cache_creation_input_tokens: cacheWriteInputTokens }),
  }
}
