/** OpenAI's Chat Completions on disk: messages, requests and completions, batches of them, and the sets that models are trained with. */
import type { Format } from './format.ts'
import { openAiChatWriter } from './openai-chat-write.ts'
import { providerFormat } from './provider-file.ts'

export const openAiChat: Format = providerFormat({
  id: 'openai-chat',
  title: 'OpenAI Chat Completions: messages, batches, training sets',
  api: 'openai-chat',
  write: openAiChatWriter,
})
