/** LangChain's messages in our words: by what they hold, so that none of its packages is needed to read them. */
import type { Block } from '../../transcript/block.ts'
import type { Role } from '../../transcript/entry.ts'
import { asCount, isObject } from '../../transcript/json.ts'
import { hasCounts, type Usage } from '../../transcript/usage.ts'
import { fromAnthropicUsage } from '../../wire/anthropic-usage.ts'
import type { WireMessage } from '../../wire/message.ts'
import { fromOpenAiUsage } from '../../wire/openai-usage.ts'
import type { RequestMessage } from '../../wire/request.ts'
import { field, list, text, toFileBlock, toInput, toPlain, toolResult } from './foreign.ts'

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['human', 'user'],
  ['user', 'user'],
  ['ai', 'assistant'],
  ['assistant', 'assistant'],
  ['AIMessageChunk', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
  ['function', 'tool'],
])

export function fromLangChain(message: unknown): RequestMessage {
  const role = ROLES.get(typeOf(message)) ?? 'user'
  if (role !== 'tool') return { role, blocks: toBlocks(message) }
  const output = field(message, 'content')
  const blocks = typeof output === 'string' ? output : list(output).map(toBlock)
  const isError = field(message, 'status') === 'error'
  return {
    role,
    blocks: [toolResult(field(message, 'tool_call_id'), field(message, 'name'), blocks, isError)],
  }
}

/** What `handleLLMEnd` is given: the first answer to the first prompt, with its counts. */
export function toAnswer(result: unknown): WireMessage {
  const generation = list(list(field(result, 'generations'))[0])[0]
  const message = field(generation, 'message')
  const about = field(message, 'response_metadata')
  const output = field(result, 'llmOutput')
  const plain = text(field(generation, 'text'))
  const blocks: readonly Block[] =
    message === undefined ? (plain === undefined ? [] : [{ type: 'text', text: plain }]) : toBlocks(message)
  const model =
    text(field(about, 'model_name')) ?? text(field(about, 'model')) ?? text(field(output, 'model_name'))
  const messageId = text(field(about, 'id')) ?? ownId(field(message, 'id'))
  const stopReason =
    text(field(about, 'stop_reason')) ??
    text(field(about, 'finish_reason')) ??
    text(field(field(generation, 'generationInfo'), 'finish_reason'))
  return {
    provider: toProvider(field(about, 'model_provider'), messageId, model),
    role: 'assistant',
    blocks,
    ...(messageId !== undefined && { messageId }),
    ...(model !== undefined && { model }),
    ...(stopReason !== undefined && { stopReason }),
    usage: toUsage(message, about, output),
    complete: true,
    unknown: [],
  }
}

function typeOf(message: unknown): string {
  const type = text(field(message, 'type')) ?? text(field(message, 'role'))
  if (type !== undefined) return type
  const get = field(message, '_getType')
  const said: unknown = typeof get === 'function' ? get.call(message) : undefined
  return text(said) ?? 'human'
}

function toBlocks(message: unknown): readonly Block[] {
  const content = field(message, 'content')
  const calls = list(field(message, 'tool_calls'))
  const said: readonly Block[] =
    typeof content === 'string'
      ? content === ''
        ? []
        : [{ type: 'text', text: content }]
      : list(content)
          // The same calls as below, in the provider's words.
          .filter((part) => calls.length === 0 || !CALLS.has(text(field(part, 'type')) ?? ''))
          .map(toBlock)
  return [
    ...said,
    ...calls.map((call): Block => {
      const callId = text(field(call, 'id'))
      return {
        type: 'tool-call',
        ...(callId !== undefined && { callId }),
        name: text(field(call, 'name')) ?? 'unknown',
        input: toInput(field(call, 'args')),
      }
    }),
  ]
}

const CALLS: ReadonlySet<string> = new Set([
  'tool_use',
  'tool_call',
  'function_call',
  'functionCall',
  'input_json_delta',
])

function toBlock(part: unknown): Block {
  if (typeof part === 'string') return { type: 'text', text: part }
  switch (field(part, 'type')) {
    case 'text':
    case 'output_text':
      return { type: 'text', text: text(field(part, 'text')) ?? '' }
    case 'thinking':
    case 'reasoning': {
      const signature = text(field(part, 'signature'))
      return {
        type: 'thinking',
        text: text(field(part, 'thinking')) ?? text(field(part, 'reasoning')) ?? '',
        ...(signature !== undefined && { signature }),
      }
    }
    case 'image_url': {
      const url = field(part, 'image_url')
      return toFileBlock(undefined, field(url, 'url') ?? url)
    }
    case 'image':
      return toFileBlock(
        field(part, 'mime_type') ?? field(part, 'mimeType'),
        field(part, 'data') ?? field(part, 'url'),
      )
    default:
      return { type: 'unknown', raw: toPlain(part) }
  }
}

/** Where the provider gave none, LangChain makes one of its own. */
function ownId(id: unknown): string | undefined {
  const said = text(id)
  return said === undefined || /^(run-|lc_|[0-9a-f]{8}-[0-9a-f-]{27}$)/.test(said) ? undefined : said
}

function toProvider(said: unknown, id: string | undefined, model: string | undefined): string {
  const name = text(said)
  if (name !== undefined) return name
  if (id?.startsWith('msg_') || model?.startsWith('claude')) return 'anthropic'
  if (id?.startsWith('chatcmpl') || id?.startsWith('resp_') || model?.startsWith('gpt')) return 'openai'
  return model?.startsWith('gemini') ? 'google' : 'unknown'
}

/** The provider's own counts first; LangChain's include what was cached. */
function toUsage(message: unknown, about: unknown, output: unknown): Usage {
  const own = toPlain(field(about, 'usage'))
  if (isObject(own)) {
    const isAnthropic = 'cache_read_input_tokens' in own || 'cache_creation_input_tokens' in own
    const usage = isAnthropic ? fromAnthropicUsage(own) : fromOpenAiUsage(own)
    if (hasCounts(usage)) return usage
  }
  const said = field(message, 'usage_metadata')
  const inputs = field(said, 'input_token_details')
  const tokens = field(about, 'tokenUsage') ?? field(output, 'tokenUsage')
  const raw = toPlain(said ?? tokens)
  const usage = fromOpenAiUsage(
    toPlain({
      input_tokens: asCount(field(said, 'input_tokens')) ?? asCount(field(tokens, 'promptTokens')),
      output_tokens: asCount(field(said, 'output_tokens')) ?? asCount(field(tokens, 'completionTokens')),
      input_tokens_details: {
        cached_tokens: field(inputs, 'cache_read'),
        cache_write_tokens: field(inputs, 'cache_creation'),
      },
      output_tokens_details: { reasoning_tokens: field(field(said, 'output_token_details'), 'reasoning') },
    }),
  )
  return hasCounts(usage) ? { ...usage, raw } : { quality: 'unavailable' }
}
