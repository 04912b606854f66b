/**
 * Bedrock's answers: Anthropic's own in its envelope (`invoke`), or the words that Bedrock has for any model (`converse`), whole and as the
 * frames of its event stream.
 */
import { asObject, asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { toEventFrame } from '../wire/event-stream.ts'
import { anthropicEvents, anthropicMessage } from './regenerate-anthropic.ts'
import type { NamedAnswer } from './regenerate.ts'

/** `invoke` says what the model's own maker says: of others than Anthropic's nothing is known here. */
export function isInvokable(model: string): boolean {
  return /anthropic|claude|^arn:/.test(model)
}

export function invokeFrames(answer: NamedAnswer): readonly Buffer[] {
  return anthropicEvents(answer).map(([, data]) =>
    eventFrame('chunk', { bytes: Buffer.from(toJson(data)).toString('base64') }),
  )
}

export function converseMessage(answer: NamedAnswer): JsonObject {
  return {
    output: { message: { role: 'assistant', content: rawBlocks(answer).map(toConverseBlock) } },
    stopReason: stopOf(answer),
    usage: usageOf(answer),
    metrics: { latencyMs: 0 },
  }
}

export function converseFrames(answer: NamedAnswer): readonly Buffer[] {
  const blocks = rawBlocks(answer).flatMap((raw, contentBlockIndex) => {
    const { start, deltas } = cut(raw)
    return [
      ...(start === undefined ? [] : [eventFrame('contentBlockStart', { start, contentBlockIndex })]),
      ...deltas.map((delta) => eventFrame('contentBlockDelta', { delta, contentBlockIndex })),
      eventFrame('contentBlockStop', { contentBlockIndex }),
    ]
  })
  return [
    eventFrame('messageStart', { role: 'assistant' }),
    ...blocks,
    eventFrame('messageStop', { stopReason: stopOf(answer) }),
    eventFrame('metadata', { usage: usageOf(answer), metrics: { latencyMs: 0 } }),
  ]
}

function eventFrame(type: string, payload: JsonObject): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return toEventFrame(headers, Buffer.from(toJson(payload)))
}

/** As Anthropic has them, which Bedrock's are near to. */
function rawBlocks(answer: NamedAnswer): readonly JsonObject[] {
  return ((anthropicMessage(answer)['content'] ?? []) as readonly Json[]).map((raw) => asObject(raw) ?? {})
}

function toConverseBlock(raw: JsonObject): JsonObject {
  switch (asString(raw['type']) ?? '') {
    case 'text':
      return { text: raw['text'] ?? '' }
    case 'tool_use':
      return {
        toolUse: { toolUseId: raw['id'] ?? '', name: raw['name'] ?? '', input: raw['input'] ?? {} },
      }
    case 'thinking':
      return {
        reasoningContent: {
          reasoningText: {
            text: raw['thinking'] ?? '',
            ...(raw['signature'] !== undefined && { signature: raw['signature'] }),
          },
        },
      }
    default:
      return raw
  }
}

/** Only tools are begun; words just come. */
function cut(raw: JsonObject): { readonly start?: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (asString(raw['type']) ?? '') {
    case 'text':
      return { deltas: [{ text: raw['text'] ?? '' }] }
    case 'tool_use': {
      const input = raw['input'] ?? {}
      return {
        start: { toolUse: { toolUseId: raw['id'] ?? '', name: raw['name'] ?? '' } },
        deltas: [{ toolUse: { input: typeof input === 'string' ? input : toJson(input) } }],
      }
    }
    case 'thinking':
      return {
        deltas: [
          { reasoningContent: { text: raw['thinking'] ?? '' } },
          ...(raw['signature'] === undefined ? [] : [{ reasoningContent: { signature: raw['signature'] } }]),
        ],
      }
    default:
      return { deltas: [raw] }
  }
}

function stopOf(answer: NamedAnswer): string {
  return asString(anthropicMessage(answer)['stop_reason']) ?? 'end_turn'
}

function usageOf({ usage }: NamedAnswer): JsonObject {
  const [input, output] = [usage?.input ?? 0, usage?.output ?? 0]
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    ...(usage?.cacheRead !== undefined && { cacheReadInputTokens: usage.cacheRead }),
    ...(usage?.cacheWrite5m !== undefined && {
      cacheWriteInputTokens: usage.cacheWrite5m + (usage.cacheWrite1h ?? 0),
    }),
  }
}
