/**
 * The words of pi's lines that were seen so far, of versions 1 to 3 of its files: types with their keys, messages by their role, the
 * kinds of their parts. Anything else is drift. What tools and extensions put in `details` and `data` is not pi's.
 */
import { asArray, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const VOCABULARY = vocabulary({
  common: 'type id parentId timestamp',
  blocks: [
    'image: data mimeType',
    'text: text textSignature',
    'thinking: redacted thinking thinkingSignature',
    'toolCall: arguments id name namespace partialJson thoughtSignature',
  ],
  records: [
    'branch_summary: details fromHook fromId summary usage',
    'compact: agent note',
    'compaction: details firstKeptEntryId firstKeptEntryIndex fromHook summary systemMessage tokensBefore usage',
    'context_edit: replacement targetId',
    'custom: customType data',
    'custom_message: content customType details display',
    'label: label targetId',
    'message: message',
    'message/assistant: api content deferred diagnostics endTurn errorMessage model provider providerThinkingLevel rawStopReason responseId responseModel role stopReason usage',
    'message/bashExecution: cancelled command excludeFromContext exitCode fullOutputPath output role truncated',
    'message/branchSummary: fromId role summary',
    'message/compactionSummary: role summary tokensBefore',
    'message/custom: content customType details display role',
    'message/system: content role sections toolsAdded toolsRemoved',
    'message/toolResult: content details isError role toolCallId toolName usage',
    'message/user: attachments content role',
    'model_change: model modelId provider role',
    'session: branchedFrom cwd modelId parentSession provider thinkingLevel title titleSource version',
    'session_info: name',
    'thinking_level_change: thinkingLevel',
    'usage: kind model note provider usage',
    // What a usage holds, wherever it stands.
    'counts: cacheRead cacheWrite cacheWrite1h cost input output premiumRequests reasoning totalTokens',
    'counts/cost: cacheRead cacheWrite input output total',
  ],
})

export function watchLine(watch: DriftWatch, line: JsonObject, version: string | undefined): void {
  const { message, usage = isObject(message) ? message['usage'] : undefined } = line
  watch.record(asString(line['type']) ?? 'untyped', line, version)
  if (isObject(usage)) {
    watch.record('counts', usage, version)
    if (isObject(usage['cost'])) watch.record('counts/cost', usage['cost'], version)
  }
  if (!isObject(message)) return
  watch.record(`message/${asString(message['role']) ?? 'untyped'}`, message, version)
  const { content } = message
  for (const part of asArray(content) ?? [])
    if (isObject(part)) watch.block(asString(part['type']) ?? 'untyped', version, part)
}
