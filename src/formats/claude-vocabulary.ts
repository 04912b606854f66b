/**
 * The words of Claude Code's lines that were seen so far, of versions 1.0 to 2.1: record types with their keys, kinds of
 * `system`, `attachment` and `progress` records, the message's envelope and its usage, block types. Anything else is drift.
 */
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { EVENT_LINE } from './claude-lines.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const VOCABULARY = vocabulary({
  common:
    'parentUuid isSidechain userType cwd sessionId version gitBranch type uuid timestamp slug entrypoint agentId session_id sessionKind isMeta teamName promptId forkedFrom',
  blocks: [
    'document: source title',
    'fallback: from to',
    'image: source',
    'redacted_thinking: data',
    'server_tool_use: id input name',
    'text: citations text',
    'thinking: signature thinking',
    'tool_reference: tool_name',
    'tool_result: content is_error tool_use_id',
    'tool_use: caller id input name',
    'web_search_tool_result: content tool_use_id',
  ],
  records: [
    'agent-name: agentName',
    'ai-title: aiTitle',
    'assistant: apiErrorStatus attributionAgent attributionMcpServer attributionMcpTool attributionPlugin attributionSkill effort error errorDetails isAbortedMidStream isApiErrorMessage message requestId supersedesUuids',
    'atis-latch: atis',
    'attachment: attachment',
    'attachment/agent_listing_delta: addedLines addedTypes isInitial removedTypes showConcurrencyNote',
    'attachment/auto_mode: autoModeConsentFlow bashFirst bypass steerOnly',
    'attachment/batching_reminder_sent: model text',
    'attachment/budget_usd: remaining total used',
    'attachment/command_permissions: allowedTools',
    'attachment/compact_file_reference: displayPath filename',
    'attachment/date_change: newDate',
    'attachment/deferred_tools_delta: addedLines addedNames needsAuthMcpServers pendingMcpServers readdedNames removedNames',
    'attachment/dynamic_skill: displayPath skillDir skillNames',
    'attachment/edited_text_file: filename snippet',
    'attachment/file: content displayPath filename',
    'attachment/hook_additional_context: content hookEvent hookName toolUseID',
    'attachment/hook_blocking_error: blockingError hookEvent hookName toolUseID',
    'attachment/hook_cancelled: command durationMs hookEvent hookName toolUseID',
    'attachment/hook_non_blocking_error: command durationMs exitCode hookEvent hookName stderr stdout toolUseID',
    'attachment/hook_success: command content durationMs exitCode hookEvent hookName stderr stdout toolUseID',
    'attachment/hook_system_message: content hookEvent hookName toolUseID',
    'attachment/invoked_skills: skills',
    'attachment/mcp_instructions_delta: addedBlocks addedNames removedNames',
    'attachment/nested_memory: content displayPath path',
    'attachment/plan_mode: isSubAgent planExists planFilePath reminderType',
    'attachment/plan_mode_exit: planExists planFilePath',
    'attachment/queued_command: commandMode origin prompt source_uuid',
    'attachment/read_truncation_notice: banner toolUseID',
    'attachment/silent_turn_reminder: text',
    'attachment/skill_listing: content isInitial names skillCount',
    'attachment/task_reminder: content itemCount',
    'attachment/task_status: deltaSummary description outputFilePath status taskId taskType',
    'attachment/todo_reminder: content itemCount',
    'attachment/total_tokens_reminder: text',
    'attachment/ultra_effort_enter: reminderType',
    'attachment/ultra_effort_exit',
    'bridge-session: bridgeSessionId lastSequenceNum ownerAccountUuid ownerOrganizationUuid',
    'custom-title: customTitle',
    'file-history-delta: delta isSnapshotUpdate messageId snapshot',
    'file-history-snapshot: isSnapshotUpdate messageId snapshot',
    'frame-link: frameUrl path title',
    'last-prompt: lastPrompt leafUuid',
    'message: container content context_management diagnostics id model role stop_details stop_reason stop_sequence usage',
    'mode: mode',
    'permission-mode: permissionMode',
    'pr-link: prNumber prRepository prUrl',
    'progress: data parentToolUseID toolUseID',
    'progress/agent_progress: message normalizedMessages prompt resume',
    'progress/bash_progress: elapsedTimeSeconds fullOutput output taskId timeoutMs totalBytes totalLines',
    'progress/hook_progress: command hookEvent hookName',
    'progress/mcp_progress: elapsedTimeMs progress progressMessage serverName status toolName total',
    'progress/query_update: query',
    'progress/search_results_received: query resultCount',
    'progress/waiting_for_task: taskDescription taskType',
    'queue-operation: content operation',
    'relocated: relocatedCwd',
    'result: key result',
    'started: key',
    'summary: leafUuid summary',
    'system: apiRefusalCategory apiRefusalExplanation cause compactMetadata content direction durationMs error fallbackModel hasOutput hookAdditionalContext hookCount hookErrors hookInfos level logicalParentUuid maxRetries messageCount microcompactMetadata originalModel pendingBackgroundAgentCount preventedContinuation refusedUserMessageUuid requestId retractedMessageUuids retryAttempt retryInMs scope source stopReason subtype toolUseID trigger',
    'system/api_error',
    'system/api_refusal',
    'system/away_summary',
    'system/compact_boundary',
    'system/error',
    'system/local_command',
    'system/microcompact_boundary',
    'system/model_refusal_fallback',
    'system/session_start',
    'system/stop_hook_summary',
    'system/turn_duration',
    'usage: cache_creation cache_creation_input_tokens cache_read_input_tokens inference_geo input_tokens iterations output_tokens output_tokens_details server_tool_use service_tier speed',
    'usage/cache_creation: ephemeral_1h_input_tokens ephemeral_5m_input_tokens',
    'usage/iteration: cache_creation cache_creation_input_tokens cache_read_input_tokens input_tokens model output_tokens type',
    'usage/output_tokens_details: thinking_tokens',
    'usage/server_tool_use: web_fetch_requests web_search_requests',
    'user: classifierMetaLines imagePasteIds interruptedByShutdown interruptedMessageId isCompactSummary isVisibleInTranscriptOnly mcpMeta message origin permissionMode planContent promptSource sourceToolAssistantUUID sourceToolUseID thinkingMetadata todos toolDenialKind toolEndsTurn toolUseResult turnCompanion',
    'worktree-state: worktreeSession',
  ],
})

/** A line's words, its own and those of the objects in it that have kinds of their own. What tools return is not Claude Code's. */
export function watchLine(watch: DriftWatch, line: JsonObject): void {
  const { type, subtype, attachment, data, message } = line
  const version = typeof line['version'] === 'string' ? line['version'] : undefined
  const kindOf = (value: unknown): string => (typeof value === 'string' ? value : 'untyped')
  const name = kindOf(type)
  // Lines of our own writer, with other agents' records inside.
  if (name === EVENT_LINE) return
  watch.record(name, line, version)
  if (name === 'system' && subtype !== undefined) watch.record(`system/${kindOf(subtype)}`, {}, version)
  if (name === 'attachment' && isObject(attachment)) {
    watch.record(`attachment/${kindOf(attachment['type'])}`, attachment, version)
  }
  if (name === 'progress' && isObject(data)) watch.record(`progress/${kindOf(data['type'])}`, data, version)
  if (!isObject(message)) return
  watch.record('message', message, version)
  const { usage, content } = message
  if (isObject(usage)) watchUsage(watch, usage, version)
  if (Array.isArray(content)) watchBlocks(watch, content, version)
}

/** Where the money is: a bucket that nobody knows is one that nobody prices. */
function watchUsage(watch: DriftWatch, usage: JsonObject, version: string | undefined): void {
  watch.record('usage', usage, version)
  const {
    cache_creation: buckets,
    server_tool_use: tools,
    output_tokens_details: details,
    iterations,
  } = usage
  if (isObject(buckets)) watch.record('usage/cache_creation', buckets, version)
  if (isObject(tools)) watch.record('usage/server_tool_use', tools, version)
  if (isObject(details)) watch.record('usage/output_tokens_details', details, version)
  if (!Array.isArray(iterations)) return
  for (const one of iterations) {
    if (!isObject(one)) continue
    watch.record('usage/iteration', one, version)
    const { cache_creation: own } = one
    if (isObject(own)) watch.record('usage/cache_creation', own, version)
  }
}

/** A result's blocks too; what a tool was given and what it returned as text is not Claude Code's. */
function watchBlocks(watch: DriftWatch, blocks: readonly Json[], version: string | undefined): void {
  for (const block of blocks) {
    if (!isObject(block)) continue
    const { type, content } = block
    watch.block(typeof type === 'string' ? type : 'untyped', version, block)
    if (type === 'tool_result' && Array.isArray(content)) watchBlocks(watch, content, version)
  }
}
