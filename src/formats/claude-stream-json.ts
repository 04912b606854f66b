/** Files of `claude -p --output-format stream-json`: what Claude Code printed while it ran. Its own log of the same session is claude-code's. */
import { counted } from '../transcript/counted.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { foldClaude } from './claude-stream-fold.ts'
import { vocabulary } from './drift.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { streamFormat } from './stream-file.ts'

export const claudeStreamJson: Format = streamFormat({
  id: 'claude-stream-json',
  words: `type subtype session_id uuid parent_tool_use_id timestamp message id role model content text thinking signature tool_use name input stop_reason
    usage tool_result tool_use_id is_error assistant user`,
  vocabulary: vocabulary({
    records: [
      `system: subtype cwd tools mcp_servers model permissionMode slash_commands apiKeySource claude_code_version output_style agents skills plugins
       uuid status compact_metadata hook_id hook_name hook_event stdout stderr exit_code outcome output fast_mode_state memory_paths analytics_disabled
       task_id tool_use_id description task_type usage last_tool_name summary output_file`,
      'assistant: message parent_tool_use_id uuid error request_id subagent_type task_description',
      `user: message parent_tool_use_id uuid isReplay isSynthetic tool_use_result timestamp origin file_attachments subagent_type task_description`,
      'stream_event: event parent_tool_use_id uuid ttft_ms',
      `result: subtype is_error duration_ms duration_api_ms num_turns result total_cost_usd usage modelUsage permission_denials uuid stop_reason errors
       structured_output fast_mode_state terminal_reason api_error_status ttft_ms`,
      'tool_progress: tool_use_id tool_name parent_tool_use_id elapsed_time_seconds uuid task_id',
      'auth_status: isAuthenticating output error uuid',
      'rate_limit_event: rate_limit_info uuid',
      'prompt_suggestion: suggestion uuid',
      'tool_use_summary: summary preceding_tool_use_ids uuid',
      'control_request: request request_id',
      'control_response: response',
    ],
    common: 'type session_id',
    blocks:
      'text thinking redacted_thinking tool_use tool_result image document server_tool_use web_search_tool_result fallback',
  }),
  watch(watch, line) {
    watch.record(asString(line['type']) ?? '', line)
    for (const block of (asArray(asObject(line['message'])?.['content']) ?? []).filter(isObject))
      watch.block(asString(block['type']) ?? '')
  },
  title: 'Claude Code: claude -p --output-format stream-json',
  agent: 'claude-code',
  begins: (line) => (isInit(line) ? asString(line['session_id']) : undefined),
  fold: foldClaude,
  look,
})

function look({ records, strange }: Head): Detection | undefined {
  const own = records.filter(isOwn).length
  if (own * 2 <= records.length + strange) return undefined
  const isSure = records.some(
    (record) => isInit(record) || isResult(record) || record['type'] === 'stream_event',
  )
  return { confidence: isSure ? 0.95 : 0.7, reason: `${counted(own, 'line')} of Claude Code's stream-json` }
}

const isInit = ({ type, subtype, session_id: id }: JsonObject): boolean =>
  type === 'system' && subtype === 'init' && typeof id === 'string'

const isResult = (line: JsonObject): boolean =>
  line['type'] === 'result' && 'session_id' in line && ('total_cost_usd' in line || 'num_turns' in line)

/** The log on disk has `parentUuid` and `sessionId` where these have `session_id` and `parent_tool_use_id`. */
function isOwn(line: JsonObject): boolean {
  const { type, message } = line
  if ('parentUuid' in line || typeof line['session_id'] !== 'string') return false
  if (type === 'assistant' || type === 'user') return isObject(message)
  return (
    type === 'system' ||
    type === 'result' ||
    type === 'stream_event' ||
    type === 'rate_limit_event' ||
    type === 'control_response'
  )
}
