/** What LiteLLM gives its callbacks (`StandardLoggingPayload`), as the call that it tells of. It is hostile, like all that comes in. */
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../../transcript/json.ts'
import { hasCounts } from '../../transcript/usage.ts'
import { parseMessage } from '../../wire/apis.ts'
import type { WireApi, WireMessage } from '../../wire/message.ts'
import { fromOpenAiUsage } from '../../wire/openai-usage.ts'
import { parseRequest } from '../../wire/request.ts'
import { toPlain } from './foreign.ts'
import type { WrapLog } from './wrap-log.ts'

/** One call, or several: LiteLLM's generic callback sends them in batches. */
export function recordPayload(payload: unknown, log: WrapLog): void {
  log.report.guard('a call', () => {
    const plain = toPlain(payload)
    for (const one of Array.isArray(plain) ? plain : [plain]) if (isObject(one)) take(one, log)
  })()
}

function take(payload: JsonObject, log: WrapLog): void {
  const response = asObject(payload['response']) ?? parsed(payload['response'])
  const api = apiOf(response, asString(payload['call_type']))
  const { model, messages } = payload
  const request = parseRequest(api, {
    ...asObject(payload['model_parameters']),
    ...(model !== undefined && { model }),
    ...(api === 'openai-responses' ? { input: messages ?? [] } : { messages: asMessages(messages) }),
  })
  const trace = asString(payload['trace_id'])
  const metadata = asObject(payload['metadata'])
  const session = asString(metadata?.['session_id']) ?? asString(payload['session_id'])
  const provider = asString(payload['custom_llm_provider'])
  const call = log.ask({
    request,
    client: { agent: 'litellm' },
    groups: [
      ...(trace === undefined ? [] : [`litellm trace ${trace}`]),
      ...(session === undefined ? [] : [`litellm session ${session}`]),
    ],
    about: {
      api: 'litellm',
      ...(provider !== undefined && { upstream: provider }),
      ...(typeof model === 'string' && { model }),
      ...(typeof payload['stream'] === 'boolean' && { stream: payload['stream'] }),
    },
  })
  const began = asNumber(payload['startTime'])
  const ended = asNumber(payload['endTime'])
  const cost = asNumber(payload['response_cost'])
  const details = {
    ...(began !== undefined && ended !== undefined && { durationMs: Math.round((ended - began) * 1000) }),
    ...(cost !== undefined && cost > 0 && { costUsd: cost }),
    ...(payload['cache_hit'] === true && { metadata: { cacheHit: true } }),
  }
  const error = asString(payload['error_str'])
  if (response === undefined || payload['status'] === 'failure')
    call.broken('upstream', error || 'no answer', details)
  else call.answered(withCounts(parseMessage(api, response), payload, provider), details)
}

/** By what it is: LiteLLM answers in the API that it was asked in. */
function apiOf(response: JsonObject | undefined, callType: string | undefined): WireApi {
  if (response !== undefined && 'choices' in response) return 'openai-chat'
  if (response !== undefined && 'output' in response) return 'openai-responses'
  if (response !== undefined && response['type'] === 'message') return 'anthropic-messages'
  if (callType?.includes('responses')) return 'openai-responses'
  return callType?.includes('anthropic_messages') ? 'anthropic-messages' : 'openai-chat'
}

function asMessages(messages: Json | undefined): Json {
  return typeof messages === 'string' ? [{ role: 'user', content: messages }] : (messages ?? [])
}

function parsed(response: Json | undefined): JsonObject | undefined {
  return typeof response === 'string' && response !== ''
    ? { choices: [{ message: { role: 'assistant', content: response } }] }
    : undefined
}

/** The payload's own counts, where the answer has none. */
function withCounts(message: WireMessage, payload: JsonObject, provider: string | undefined): WireMessage {
  const named = provider === undefined ? message : { ...message, provider }
  if (message.usage !== undefined && hasCounts(message.usage)) return named
  const usage = fromOpenAiUsage({
    prompt_tokens: payload['prompt_tokens'] ?? null,
    completion_tokens: payload['completion_tokens'] ?? null,
  })
  return hasCounts(usage) ? { ...named, usage } : named
}
