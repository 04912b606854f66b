/** OpenAI's Responses API on disk: items, requests and responses, batches of them. */
import type { Format } from './format.ts'
import { providerFormat } from './provider-file.ts'

export const openAiResponses: Format = providerFormat({
  id: 'openai-responses',
  title: 'OpenAI Responses: items, responses, batches',
  api: 'openai-responses',
})
