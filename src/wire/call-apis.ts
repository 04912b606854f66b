/** The APIs that a call may speak: those of `src/wire`, and Bedrock's envelopes around Anthropic's. */
import type { Json } from '../transcript/json.ts'
import { createBedrockParser, fromConverseRequest, fromConverseResponse } from './bedrock.ts'
import type { WireApi } from './message.ts'
import { createSseParser, type SseParser } from './sse.ts'

export type CallApi = WireApi | 'bedrock-invoke' | 'bedrock-converse'

type Envelope = {
  readonly api: WireApi
  readonly request: (body: Json) => Json
  readonly response: (body: Json) => Json
  readonly events: () => SseParser
}

const asIs = (body: Json): Json => body

const BEDROCK: Readonly<Record<Exclude<CallApi, WireApi>, Envelope>> = {
  'bedrock-invoke': {
    api: 'anthropic-messages',
    request: asIs,
    response: asIs,
    events: () => createBedrockParser('invoke'),
  },
  'bedrock-converse': {
    api: 'anthropic-messages',
    request: fromConverseRequest,
    response: fromConverseResponse,
    events: () => createBedrockParser('converse'),
  },
}

/** How what an API says becomes what `src/wire` reads. */
export function envelopeOf(api: CallApi): Envelope {
  if (api === 'bedrock-invoke' || api === 'bedrock-converse') return BEDROCK[api]
  return { api, request: asIs, response: asIs, events: createSseParser }
}
