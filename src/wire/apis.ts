/** The four APIs by name, for whoever learns at run time which one is spoken. */
import type { Json } from '../transcript/json.ts'
import { createAnthropicReassembly, parseAnthropicMessage } from './anthropic.ts'
import { createGeminiReassembly, parseGeminiResponse } from './gemini.ts'
import type { Reassembly, WireApi, WireMessage, WireOptions } from './message.ts'
import { createOpenAiChatReassembly, parseOpenAiChatCompletion } from './openai-chat.ts'
import { createOpenAiResponsesReassembly, parseOpenAiResponse } from './openai-responses.ts'

type Api = {
  readonly parse: (body: Json, options?: WireOptions) => WireMessage
  readonly create: (options?: WireOptions) => Reassembly
}

const APIS: Readonly<Record<WireApi, Api>> = {
  'anthropic-messages': { parse: parseAnthropicMessage, create: createAnthropicReassembly },
  'openai-chat': { parse: parseOpenAiChatCompletion, create: createOpenAiChatReassembly },
  'openai-responses': { parse: parseOpenAiResponse, create: createOpenAiResponsesReassembly },
  gemini: { parse: parseGeminiResponse, create: createGeminiReassembly },
}

/** A response body that came whole. */
export function parseMessage(api: WireApi, body: Json, options?: WireOptions): WireMessage {
  return APIS[api].parse(body, options)
}

/** A response that streams: push its events, ask for the message at the end. */
export function createReassembly(api: WireApi, options?: WireOptions): Reassembly {
  return APIS[api].create(options)
}
