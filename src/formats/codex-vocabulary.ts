/**
 * The words of Codex's rollouts that were seen so far, of versions 0.2 to 0.166: lines, what they carry by its type, and the kinds of
 * content. Also those of rollouts without envelopes and of what `codex exec --json` prints. Anything else is drift.
 */
import { asArray, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { isLegacyHeader } from './codex-lines.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

const USAGE =
  'cache_write_input_tokens cached_input_tokens input_tokens output_tokens reasoning_output_tokens total_tokens'

export const VOCABULARY = vocabulary({
  common: 'timestamp ordinal type payload metadata internal_chat_message_metadata_passthrough',
  blocks: [
    'encrypted_content: encrypted_content',
    'input_audio: audio_url data format',
    'input_image: detail image_url',
    'input_text: text',
    'output_text: annotations logprobs text',
    'reasoning_text: text',
    'refusal: refusal',
    'summary_text: text',
    'text: text',
  ],
  records: [
    'compacted: compaction_response_id first_window_id latest_token_usage_record message previous_window_id replacement_history replacement_history_metadata resume_metadata retained_context window_id window_number',
    'error: message',
    'event_msg',
    'event_msg/account/rateLimits/updated: rate_limits',
    'event_msg/agent_message: memory_citation message phase',
    'event_msg/agent_reasoning: text',
    'event_msg/agent_reasoning_raw_content: text',
    'event_msg/agent_reasoning_section_break: item_id summary_index',
    'event_msg/collab_agent_interaction_end: call_id prompt receiver_agent_nickname receiver_agent_role receiver_thread_id sender_thread_id status',
    'event_msg/collab_agent_spawn_end: call_id completed_at_ms model new_agent_nickname new_agent_role new_thread_id prompt reasoning_effort sender_thread_id status',
    'event_msg/collab_close_end: call_id receiver_agent_nickname receiver_agent_role receiver_thread_id sender_thread_id status',
    'event_msg/collab_waiting_end: agent_statuses call_id sender_thread_id statuses',
    'event_msg/context_compacted',
    'event_msg/dynamic_tool_call_request: arguments callId namespace tool turnId',
    'event_msg/dynamic_tool_call_response: arguments call_id content_items duration error namespace success tool turn_id',
    'event_msg/entered_review_mode: item_id prompt target turn_id user_facing_hint',
    'event_msg/error: codex_error_info error message',
    'event_msg/exec_command_end: aggregated_output call_id command cwd duration exit_code formatted_output parsed_cmd process_id source status stderr stdout turn_id',
    'event_msg/exited_review_mode: item_id review_output turn_id',
    'event_msg/guardian_assessment: action decision_source id rationale risk_level status target_item_id turn_id user_authorization',
    'event_msg/image_generation_end: call_id result revised_prompt saved_path status',
    'event_msg/item_completed: completed_at_ms item started_at_ms thread_id turn_id',
    'event_msg/mcp_tool_call_end: action_name app_name call_id connector_id duration invocation link_id plugin_id read_only_hint result',
    'event_msg/patch_apply_end: call_id changes status stderr stdout success turn_id',
    'event_msg/stream_error: additional_details codex_error_info message',
    'event_msg/sub_agent_activity: agent_path agent_thread_id event_id kind occurred_at_ms',
    'event_msg/task_complete: completed_at duration_ms error last_agent_message root_turn_id started_at time_to_first_token_ms turn_id',
    'event_msg/task_started: collaboration_mode_kind model_context_window root_turn_id started_at turn_attribution turn_id',
    'event_msg/thread_goal_updated: goal threadId turnId',
    'event_msg/thread_name_updated: thread_id thread_name',
    'event_msg/thread_rolled_back: num_turns',
    'event_msg/thread_settings_applied: thread_id thread_settings',
    'event_msg/token_count: context info rate_limits',
    'event_msg/turn_aborted: completed_at duration_ms reason started_at turn_id',
    'event_msg/turn_complete: completed_at duration_ms error last_agent_message started_at time_to_first_token_ms turn_id',
    'event_msg/turn_started: collaboration_mode_kind model_context_window started_at turn_id',
    'event_msg/undo_completed: message success',
    'event_msg/user_message: audio client_id images kind local_audio local_images message text_elements',
    'event_msg/view_image_tool_call: call_id path',
    'event_msg/warning: message',
    'event_msg/web_search_end: action call_id query results',
    'header: git id instructions',
    'inter_agent_communication: author content other_recipients recipient trigger_turn',
    'inter_agent_communication_metadata: trigger_turn',
    'item.completed: item',
    'item.started: item',
    'item.updated: item',
    'response_item',
    'response_item/agent_message: author content id recipient',
    'response_item/compaction: encrypted_content id summary',
    'response_item/context_compaction: encrypted_content id summary',
    'response_item/custom_tool_call: call_id id input name namespace status',
    'response_item/custom_tool_call_output: call_id id name output',
    'response_item/function_call: arguments call_id id name namespace status',
    'response_item/function_call_output: call_id id output',
    'response_item/ghost_snapshot: ghost_commit',
    'response_item/image_generation_call: id result revised_prompt status',
    'response_item/local_shell_call: action call_id id status',
    'response_item/message: content end_turn id phase role status',
    'response_item/other',
    'response_item/reasoning: content encrypted_content id summary',
    'response_item/tool_call: arguments function',
    'response_item/tool_result: name result',
    'response_item/tool_search_call: arguments call_id execution id status',
    'response_item/tool_search_output: call_id execution id status tools',
    'response_item/untyped: content role',
    'response_item/web_search_call: action id status',
    'security_risk_score: score',
    'session_meta: account_scoped agent_nickname agent_path agent_role base_instructions cli_version context_window cwd dynamic_tools forked_from_id forked_from_ordinal_exclusive git history_base history_mode id instructions memory_mode model_provider multi_agent_version originator parent_thread_id runtime_workspace_roots session_id source subagent_history_start_ordinal thread_source',
    'state: record_type',
    'thread.started: thread_id',
    `token_usage: ${USAGE}`,
    'token_usage_record: response_id root_turn_id session_id thread_id thread_token_usage turn_id turn_token_usage usage',
    'turn.completed: usage',
    'turn.failed: error',
    'turn.started',
    'turn_context: active_permission_profile approval_policy approvals_reviewer base_instructions collaboration_mode comp_hash current_date cwd developer_instructions disabled_plugin_ids effort file_system_sandbox_policy final_output_json_schema model model_provider multi_agent_mode multi_agent_version network permission_profile personality realtime_active root_turn_id sandbox_policy summary timezone truncation_policy turn_id user_instructions workspace_roots',
    'world_state: full state',
  ],
})

/** A line's words and those of what it carries. What commands, tools and patches return is not Codex's. */
export function watchLine(watch: DriftWatch, line: JsonObject, version: string | undefined): void {
  const { payload, type, record_type: old } = line
  if (isLegacyHeader(line)) return watch.record('header', line, version)
  if (type === undefined && old !== undefined) return watch.record(asString(old) ?? 'untyped', line, version)
  const name = asString(type) ?? 'untyped'
  if (!isObject(payload)) {
    // Before envelopes, an item was a line.
    const isBare = VOCABULARY.records.has(`response_item/${name}`)
    return isBare ? watchItem(watch, name, line, version) : watch.record(name, line, version)
  }
  watch.record(name, { ...line, ...(isCarrier(name) ? {} : payload) }, version)
  const kind = asString(payload['type']) ?? 'untyped'
  if (name === 'response_item') watchItem(watch, kind, payload, version)
  else if (name === 'event_msg') watch.record(`event_msg/${kind}`, payload, version)
  const info = asObject(payload['info'])
  for (const counts of [info?.['total_token_usage'], info?.['last_token_usage'], payload['usage']])
    if (isObject(counts)) watch.record('token_usage', counts, version)
}

/** Lines that carry things of many types, each with keys of its own. */
const isCarrier = (name: string): boolean => name === 'response_item' || name === 'event_msg'

function watchItem(watch: DriftWatch, kind: string, item: JsonObject, version: string | undefined): void {
  watch.record(`response_item/${kind}`, item, version)
  for (const parts of [item['content'], item['summary'], item['output']])
    for (const part of asArray(parts) ?? [])
      if (isObject(part)) watch.block(asString(part['type']) ?? 'untyped', version, part)
}
