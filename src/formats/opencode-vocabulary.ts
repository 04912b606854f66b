/** What has been seen of OpenCode's records so far, up to 1.18, and of Kilo's up to 7.7: others are told of as drift. */
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const OPENCODE_VOCABULARY = vocabulary({
  records: [
    `session: directory forkedFrom parentID projectID workspaceID slug summary title version permission revert share share_url agent model
     summary_additions summary_deletions summary_files summary_diffs cost tokens_input tokens_output tokens_reasoning
     tokens_cache_read tokens_cache_write path metadata`,
    'message.user: agent model summary system tools variant format text files agents metadata',
    `message.assistant: agent cost error finish mode model modelID parentID path providerID summary tokens variant system
     structured snapshot metadata`,
    'export: info messages',
    'export.message: info parts',
    'tokens: input output reasoning total cache',
    'cache: read write',
    'state: status input output title metadata time error attachments raw',
    'part.text: metadata synthetic ignored text',
    'part.reasoning: metadata text providerMetadata',
    'part.tool: callID metadata state tool provider',
    'part.file: filename mime source url',
    'part.patch: files hash',
    'part.snapshot: snapshot',
    'part.step-start: snapshot',
    'part.step-finish: cost reason snapshot tokens metrics',
    'part.compaction: auto overflow tail_start_id',
    'part.agent: name source',
    'part.subtask: prompt description agent command model',
    'part.retry: attempt error',
  ],
  common: 'id sessionID messageID type role time',
  // How a call stands.
  blocks: 'status:pending status:running status:completed status:error',
})

export function watchInfo(watch: DriftWatch, info: JsonObject, version: string | undefined): void {
  watch.record(`message.${asString(info['role']) ?? 'unknown'}`, info, version)
  watchTokens(watch, info['tokens'], version)
}

export function watchPart(watch: DriftWatch, part: JsonObject, version: string | undefined): void {
  watch.record(`part.${asString(part['type']) ?? 'unknown'}`, part, version)
  watchTokens(watch, part['tokens'], version)
  const state = part['type'] === 'tool' ? asObject(part['state']) : undefined
  if (state === undefined) return
  watch.record('state', state, version)
  watch.block(`status:${asString(state['status']) ?? ''}`, version)
  for (const file of asArray(state['attachments']) ?? [])
    if (isObject(file)) watch.record('part.file', file, version)
}

/** Where the money is. */
function watchTokens(watch: DriftWatch, tokens: Json | undefined, version: string | undefined): void {
  if (!isObject(tokens)) return
  watch.record('tokens', tokens, version)
  if (isObject(tokens['cache'])) watch.record('cache', tokens['cache'], version)
}
