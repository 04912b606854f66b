/** Errors as each provider says them, so that a client reads what went wrong instead of failing over its shape. */
import type { JsonObject } from '../transcript/json.ts'
import type { CallApi } from '../wire/call-apis.ts'

export type ProviderError = {
  readonly status: number
  readonly message: string
  /** In the provider's words where it is one of theirs. */
  readonly code?: string
}

export function toErrorBody(api: CallApi | undefined, { status, message, code }: ProviderError): JsonObject {
  switch (api) {
    case 'anthropic-messages':
    case undefined:
      return { type: 'error', error: { type: code ?? anthropicType(status), message } }
    case 'bedrock-invoke':
    case 'bedrock-converse':
      return { message, __type: code ?? 'ValidationException' }
    case 'openai-chat':
    case 'openai-responses':
      return { error: { message, type: 'invalid_request_error', param: null, code: code ?? null } }
    case 'gemini':
      return { error: { code: status, message, status: code ?? 'INVALID_ARGUMENT' } }
  }
}

function anthropicType(status: number): string {
  if (status === 404) return 'not_found_error'
  if (status === 429) return 'rate_limit_error'
  if (status === 529) return 'overloaded_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}
