/**
 * The words of Gemini CLI's sessions that were seen so far, documents and logs: the header, messages by their type, calls, thoughts,
 * counts, the kinds of parts. Anything else is drift. What tools show and return is not Gemini CLI's.
 */
import { asArray, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { toGeminiRecord } from './gemini-cli-survey.ts'

export const VOCABULARY = vocabulary({
  common: 'id timestamp type',
  blocks: [
    'codeExecutionResult: outcome output',
    'executableCode: code language',
    'fileData: fileUri mimeType',
    'functionCall: args id name',
    'functionResponse: id name response',
    'inlineData: data mimeType',
    'text',
    'thought',
    'thoughtSignature',
    'videoMetadata: endOffset startOffset',
  ],
  records: [
    'error: content displayContent',
    'gemini: content displayContent model parts thoughts tokens toolCalls',
    'header: directories kind lastUpdated memoryScratchpad messages meta projectHash sessionId startTime summary',
    'info: content displayContent',
    'model: content displayContent model parts thoughts tokens toolCalls',
    'rewind: $rewindTo',
    'thought: description subject',
    'tokens: cached input output thoughts tool total',
    'toolCall: agentId args description displayName name parentCallId renderOutputAsMarkdown result resultDisplay status tailToolCallRequest',
    'user: content displayContent parts',
    'warning: content displayContent',
  ],
})

/** A record of the log, or what stands around a document's list, as the header. */
export function watchRecord(watch: DriftWatch, value: Json): void {
  if (!isObject(value)) return
  const known = toGeminiRecord(value)
  if (known.type === 'message') return watchMessage(watch, known.message)
  if (known.type === 'rewind') return watch.record('rewind', value)
  if (known.type === 'unknown') return watch.record(asString(value['type']) ?? 'untyped', value)
  watch.record('header', known.said)
  for (const message of known.messages ?? []) if (isObject(message)) watchMessage(watch, message)
}

export function watchMessage(watch: DriftWatch, message: JsonObject): void {
  const { tokens, thoughts, toolCalls, content, parts } = message
  watch.record(asString(message['type']) ?? 'untyped', message)
  if (isObject(tokens)) watch.record('tokens', tokens)
  for (const thought of asArray(thoughts) ?? []) if (isObject(thought)) watch.record('thought', thought)
  for (const call of asArray(toolCalls) ?? []) if (isObject(call)) watch.record('toolCall', call)
  // A part has no type: its key is what it is.
  for (const part of [...(asArray(content) ?? []), ...(asArray(parts) ?? [])])
    if (isObject(part))
      for (const [key, value] of Object.entries(part))
        watch.block(key, undefined, isObject(value) ? value : undefined)
}
