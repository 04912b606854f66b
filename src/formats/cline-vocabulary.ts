/** The keys of the Cline family's messages, as seen up to Cline 3.5x and its CLI 3.x, and Roo Code 3.29. */
import { asArray, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { nameOf, requestOf } from './cline-ui.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const VOCABULARY = vocabulary({
  records: [
    // What was sent to the model.
    'history: id role content ts modelInfo metrics isSummary summary condenseId condenseParent truncationId truncationParent isTruncationMarker type encrypted_content reasoning_content reasoning_details',
    // What was shown.
    'ui: ts type ask say text reasoning images files partial modelInfo conversationHistoryIndex conversationHistoryDeletedRange lastCheckpointHash isCheckpointCheckedOut isOperationOutsideWorkspace commandCompleted multiCommandState contextCondense contextTruncation checkpoint progressStatus isProtected isAnswered apiProtocol metadata',
    // A message of the CLI, and the document around them.
    'message: id role content ts modelInfo metrics metadata',
    'document: version updated_at agent sessionId messages system_prompt',
    // Counts: of a request that was shown, of an answer in the history, of a message of the CLI.
    'request: request tokensIn tokensOut cacheWrites cacheReads cost cancelReason streamingFailedMessage apiProtocol retryStatus',
    'metrics: tokens cost inputTokens outputTokens cacheReadTokens cacheWriteTokens',
    'tokens: prompt completion cached',
  ],
  // Blocks of what was sent, and the kinds of what was shown.
  blocks: [
    'document: source title',
    'image: source',
    'reasoning: summary text',
    'redacted_thinking: data',
    'text: text',
    'thinking: signature thinking',
    'tool_result: content is_error name tool_use_id',
    'tool_use: id input name',
    ...`ask:followup ask:plan_mode_respond ask:act_mode_respond ask:command ask:command_output ask:completion_result ask:tool
    ask:api_req_failed ask:resume_task ask:resume_completed_task ask:mistake_limit_reached ask:auto_approval_max_req_reached
    ask:browser_action_launch ask:use_mcp_server ask:new_task ask:condense ask:summarize_task ask:report_bug
    ask:use_subagents say:task say:error say:error_retry say:api_req_started say:api_req_finished say:text say:reasoning
    say:completion_result say:generate_explanation say:user_feedback say:user_feedback_diff say:api_req_retried say:command
    say:command_output say:tool say:shell_integration_warning say:shell_integration_warning_with_suggestion
    say:browser_action_launch say:browser_action say:browser_action_result say:mcp_server_request_started
    say:mcp_server_response say:mcp_notification say:use_mcp_server say:diff_error say:deleted_api_reqs
    say:clineignore_error say:checkpoint_created say:load_mcp_documentation say:info say:task_progress say:hook_status
    say:hook_output_stream say:subagent say:use_subagents say:subagent_usage say:conditional_rules_applied
    say:command_permission_denied say:api_req_retry_delayed say:api_req_deleted say:checkpoint_saved say:rooignore_error
    say:condense_context say:condense_context_error say:sliding_window_truncation say:codebase_search_result
    say:user_edit_todos say:update_todo_list say:subtask_result say:image`.split(/\s+/),
  ],
})

export function watchMessage(
  watch: DriftWatch,
  record: 'history' | 'ui' | 'message',
  message: JsonObject,
  version?: string,
): void {
  watch.record(record, message, version)
  if (record === 'ui') return watchShown(watch, message, version)
  for (const part of asArray(message['content']) ?? [])
    if (isObject(part)) watch.block(asString(part['type']) ?? 'untyped', version, part)
  const { metrics } = message
  if (!isObject(metrics)) return
  watch.record('metrics', metrics, version)
  if (isObject(metrics['tokens'])) watch.record('tokens', metrics['tokens'], version)
}

function watchShown(watch: DriftWatch, message: JsonObject, version: string | undefined): void {
  const name = nameOf(message)
  watch.block(name, version)
  const request = name === 'say:api_req_started' ? requestOf(message) : undefined
  if (request !== undefined) watch.record('request', request, version)
}
