/** Anthropic's Messages API on disk: messages, requests and answers, batches of them, logs of calls. */
import type { Format } from './format.ts'
import { anthropicMessagesWriter } from './anthropic-messages-write.ts'
import { providerFormat } from './provider-file.ts'

export const anthropicMessages: Format = providerFormat({
  id: 'anthropic-messages',
  title: 'Anthropic Messages: messages, answers, batches',
  api: 'anthropic-messages',
  write: anthropicMessagesWriter,
})
