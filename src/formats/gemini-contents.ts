/** Gemini's API on disk: contents, requests and answers of `generateContent`, batches of them. */
import type { Format } from './format.ts'
import { providerFormat } from './provider-file.ts'

export const geminiContents: Format = providerFormat({
  id: 'gemini-contents',
  title: "Gemini's generateContent: contents, answers, batches",
  api: 'gemini',
})
