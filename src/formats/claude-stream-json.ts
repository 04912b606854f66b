/** Files of `claude -p --output-format stream-json`: what Claude Code printed while it ran. Its own log of the same session is claude-code's. */
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import { foldClaude } from './claude-stream-fold.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { streamFormat } from './stream-file.ts'

export const claudeStreamJson: Format = streamFormat({
  id: 'claude-stream-json',
  words: `type subtype session_id uuid parent_tool_use_id timestamp message id role model content text thinking signature tool_use name input stop_reason
    usage tool_result tool_use_id is_error assistant user`,
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
  return { confidence: isSure ? 0.95 : 0.7, reason: `${own} lines of Claude Code's stream-json` }
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
