/** What a path asks for, whoever is asked: which API, and which model where the path names it. */
import type { CallApi } from './call-apis.ts'

export type CallPath = {
  /** Absent for what is no call: lists of models, counts of tokens (`isInquiry`). */
  readonly api?: CallApi
  /** Where the path names it, as Gemini's and Bedrock's do. */
  readonly model?: string
}

/** Which API a path speaks, whoever is asked. `path`: without its query. */
export function toApi(path: string): CallPath {
  const spoken = SPOKEN.find(({ path: shape }) => shape.test(path))
  const model = spoken?.path.exec(path)?.groups?.['model']
  return {
    ...(spoken?.api && { api: spoken.api }),
    ...(model !== undefined && { model: decoded(model) }),
  }
}

/** Whose path it is, by name, where only one provider has such paths. */
export function spokenBy(path: string): string | undefined {
  return SPOKEN.find(({ path: shape }) => shape.test(path))?.upstream
}

/** Whether it asks about models or tokens: no model says anything, and what is answered may well change what an agent does next. */
export function isInquiry(method: string, path: string): boolean {
  return INQUIRIES.some((one) => one.method === method && one.path.test(path))
}

const INQUIRIES: readonly { readonly method: 'GET' | 'POST'; readonly path: RegExp }[] = [
  { method: 'POST', path: /\/v1\/messages\/count_tokens$/ },
  { method: 'POST', path: /\/models\/count-tokens:rawPredict$/ },
  { method: 'POST', path: /:countTokens$/ },
  { method: 'POST', path: /\/responses\/input_tokens$/ },
  { method: 'POST', path: /\/model\/[^/]+\/count-tokens$/ },
  { method: 'GET', path: /\/models(\/[^/]+){0,2}$/ },
]

type Spoken = { readonly path: RegExp; readonly api?: CallApi; readonly upstream: string }

const SPOKEN: readonly Spoken[] = [
  {
    path: /\/models\/(?!count-tokens:)(?<model>[^/:]+):(raw|streamRaw)Predict$/,
    api: 'anthropic-messages',
    upstream: 'vertex',
  },
  { path: /\/v1\/messages$/, api: 'anthropic-messages', upstream: 'anthropic' },
  { path: /\/v1\/messages\//, upstream: 'anthropic' },
  { path: /\/chat\/completions$/, api: 'openai-chat', upstream: 'openai' },
  { path: /\/responses$/, api: 'openai-responses', upstream: 'openai' },
  { path: /\/models\/(?<model>[^/:]+):generateContent$/, api: 'gemini', upstream: 'google' },
  { path: /\/models\/(?<model>[^/:]+):streamGenerateContent$/, api: 'gemini', upstream: 'google' },
  { path: /:(generateContent|streamGenerateContent)$/, api: 'gemini', upstream: 'google' },
  { path: /\/model\/(?<model>[^/]+)\/invoke$/, api: 'bedrock-invoke', upstream: 'bedrock' },
  {
    path: /\/model\/(?<model>[^/]+)\/invoke-with-response-stream$/,
    api: 'bedrock-invoke',
    upstream: 'bedrock',
  },
  { path: /\/model\/(?<model>[^/]+)\/converse(-stream)?$/, api: 'bedrock-converse', upstream: 'bedrock' },
]

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
