/** Gemini's API, as far as `@google/genai` needs it: text and function calls, with running usage on each chunk. */
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../../src/transcript/json.ts'
import { PLAY, type Conversation } from './play.ts'
import type { Answer, Api, Asked } from './provider.ts'

export const gemini: Api = { name: 'gemini', ends: ':generateContent', conversation, answer }
export const geminiStream: Api = { ...gemini, ends: ':streamGenerateContent' }

function conversation(body: JsonObject): Conversation {
  const contents = (asArray(body['contents']) ?? []).filter((one) => isObject(one))
  const at = contents.findLastIndex((one) => one['role'] !== 'model' && PLAY.test(textOf(one['parts'])))
  const since = contents.slice(at + 1)
  const tools = (asArray(body['tools']) ?? []).flatMap(
    (tool) => asArray(asObject(tool)?.['functionDeclarations']) ?? [],
  )
  return {
    prompt: at < 0 ? '' : textOf(contents[at]?.['parts']),
    answers: since.filter((one) => one['role'] === 'model').length,
    lastResult: JSON.stringify(contents.at(-1) ?? {}),
    model: 'gemini-test',
    tools: tools.flatMap((tool) => asString(asObject(tool)?.['name']) ?? []),
  }
}

function textOf(parts: Json | undefined): string {
  return (asArray(parts) ?? []).flatMap((part) => asString(asObject(part)?.['text']) ?? []).join('\n')
}

function answer({ serial, step, uses }: Asked): Answer {
  const id = `gemini-clients-${serial}`
  const usage = {
    promptTokenCount: 3000 + 11 * serial,
    cachedContentTokenCount: 700 + 13 * serial,
    candidatesTokenCount: 60 + 17 * serial,
    thoughtsTokenCount: 20 + serial,
    totalTokenCount: 3080 + 29 * serial,
  }
  const parts: JsonObject[] = [
    ...(step.say === undefined ? [] : [{ text: step.say }]),
    ...uses.map(({ use, input }, at) => ({
      functionCall: { id: `fc_clients_${serial}_${at}`, name: use.tool, args: input },
    })),
  ]
  const response = (content: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    responseId: id,
    modelVersion: 'gemini-test',
    candidates: [{ index: 0, content: { role: 'model', parts: content }, ...more }],
    usageMetadata: usage,
  })
  return {
    id,
    usage,
    toldAtCut: usage,
    body: response(parts, { finishReason: 'STOP' }),
    events: [
      ...parts.map((part) => ({ name: '', data: response([part]) })),
      { name: '', data: response([], { finishReason: 'STOP' }) },
    ],
    beforeCut: 1,
  }
}
