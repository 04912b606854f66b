/** LangChain's messages, in the three ways it writes them down, as OpenAI's chat messages: the one shape that everything else reads. */
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'

const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['humanmessage', 'user'],
  ['ai', 'assistant'],
  ['aimessage', 'assistant'],
  ['aimessagechunk', 'assistant'],
  ['system', 'system'],
  ['systemmessage', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
  ['toolmessage', 'tool'],
  ['function', 'tool'],
  ['functionmessage', 'tool'],
])

/** `{lc, id: [..., 'AIMessage'], kwargs}`, `{type: 'ai', data}`, `{type: 'ai', content}`, or a chat message already. */
export function toChatMessage(value: Json): Json {
  if (!isObject(value)) return value
  const kwargs = asObject(value['kwargs'])
  const data = asObject(value['data'])
  const className = asString(asArray(value['id'])?.at(-1))
  if (kwargs !== undefined && className !== undefined) return toChat(className, kwargs) ?? value
  const type = asString(value['type'])
  if (data !== undefined && type !== undefined) return toChat(type, data) ?? value
  if (typeof value['role'] === 'string') return value
  return (type !== undefined && 'content' in value ? toChat(type, value) : undefined) ?? value
}

function toChat(type: string, message: JsonObject): JsonObject | undefined {
  const role = ROLES.get(type.toLowerCase())
  if (role === undefined) return undefined
  const calls = asArray(message['tool_calls'])
  const more = asObject(message['additional_kwargs'])
  // What was said twice, once in the provider's words.
  const stated = asArray(more?.['tool_calls'])
  return {
    ...rest(message, SHAPE),
    role,
    ...(calls !== undefined && calls.length > 0 && { tool_calls: calls.map(toCall) }),
    ...((calls === undefined || calls.length === 0) && stated !== undefined && { tool_calls: stated }),
    ...(more !== undefined &&
      Object.keys(more).some((key) => key !== 'tool_calls') && { additional_kwargs: more }),
  }
}

const SHAPE: ReadonlySet<string> = new Set(['type', 'tool_calls', 'additional_kwargs'])

function toCall(call: Json): Json {
  if (!isObject(call) || typeof call['name'] !== 'string') return call
  const { name, args, type: _, ...others } = call
  return { ...others, type: 'function', function: { name, ...(args !== undefined && { arguments: args }) } }
}

/** `input_tokens` include what was cached, as OpenAI's do: said in OpenAI's words. */
export function toOpenAiUsage(usage: JsonObject): JsonObject {
  const input = asObject(usage['input_token_details']) ?? asObject(usage['input_tokens_details'])
  const output = asObject(usage['output_token_details']) ?? asObject(usage['output_tokens_details'])
  const details = {
    ...(input?.['cache_read'] !== undefined && { cached_tokens: input['cache_read'] }),
    ...(input?.['cache_creation'] !== undefined && { cache_write_tokens: input['cache_creation'] }),
  }
  return {
    ...usage,
    ...(Object.keys(details).length > 0 && { prompt_tokens_details: details }),
    ...(output?.['reasoning'] !== undefined && {
      completion_tokens_details: { reasoning_tokens: output['reasoning'] },
    }),
  }
}

/** What a tool or a chain gave, as text. */
export const asText = (value: Json): string => (typeof value === 'string' ? value : toJson(value))
