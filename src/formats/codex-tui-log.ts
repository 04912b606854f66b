/**
 * The debug log of Codex's terminal (`CODEX_TUI_RECORD_SESSION`): what the core told the screen and what the person did, with every key and
 * every redraw. What was said is in the core's events; the rest are events too. A thread's own log is codex's.
 */
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { splitPart } from '../wire/openai-parts.ts'
import { createTokenFold } from './codex-usage.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Format } from './format.ts'
import type { Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'codex-tui-log'

export const codexTuiLog: Format = foldedFormat({
  id: ID,
  title: "Codex's terminal: its debug log",
  words: `ts dir kind payload id msg type items text to_tui from_tui codex_event op user_input call_id command cwd stdout stderr exit_code message
    exec_command_begin exec_command_end agent_message`,
  look: (head) => vote(head, isLine, { what: 'line', of: "the log of Codex's terminal" }),
  agent: 'codex',
  fold: createTuiFold,
  vocabulary: vocabulary({
    records: [
      'session_start: cwd model model_provider_id model_provider_name',
      'session_end:',
      'key_event: event',
      'app_event: variant',
      'insert_history: lines',
      'log_line: line',
      'op: payload',
      'codex_event: payload',
    ],
    common: 'ts dir kind',
    blocks: `session_configured task_started task_complete agent_message agent_message_delta agent_reasoning agent_reasoning_delta
      agent_reasoning_raw_content agent_reasoning_raw_content_delta agent_reasoning_section_break exec_command_begin exec_command_output_delta
      exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin mcp_tool_call_end token_count turn_diff plan_update error
      background_event stream_error exec_approval_request apply_patch_approval_request shutdown_complete turn_aborted`,
  }),
  watch(watch, line) {
    watch.record(asString(line['kind']) ?? '', line)
    const type = asString(asObject(asObject(line['payload'])?.['msg'])?.['type'])
    if (type !== undefined) watch.block(type)
  },
})

const isLine = ({ ts, dir, kind }: JsonObject): boolean =>
  typeof ts === 'string' &&
  (dir === 'meta' || dir === 'to_tui' || dir === 'from_tui') &&
  typeof kind === 'string'

function createTuiFold(): SessionFold {
  const span = createSpan()
  const tokens = createTokenFold({ continues: () => false })
  let facts: { [key: string]: string } = {}
  let call = 0

  const learn = (line: JsonObject): void => {
    const message = asObject(asObject(line['payload'])?.['msg'])
    const { cwd, model } = line
    const isConfigured = message?.['type'] === 'session_configured'
    const known = {
      ...(line['kind'] === 'session_start' && { cwd, model }),
      ...(isConfigured && { sessionId: message['session_id'], model: message['model'] }),
    }
    for (const [key, value] of Object.entries(known))
      if (typeof value === 'string' && value !== '') facts = { ...facts, [key]: value }
  }
  const fromEvent = (message: JsonObject): Said | undefined => {
    const type = asString(message['type'])
    const text = asString(message['message']) ?? asString(message['text'])
    const metadata = { record: `codex_event/${type ?? ''}` }
    if (type === 'agent_message' && text !== undefined)
      return { kind: 'message', role: 'assistant', blocks: [{ type: 'text', text }], metadata }
    if (type === 'user_message' && text !== undefined)
      return { kind: 'message', role: 'user', blocks: [{ type: 'text', text }], metadata }
    if ((type === 'agent_reasoning' || type === 'agent_reasoning_raw_content') && text !== undefined)
      return { kind: 'message', role: 'assistant', blocks: [{ type: 'thinking', text }], metadata }
    if (type === 'error' && text !== undefined)
      return { kind: 'message', blocks: [{ type: 'error', message: text }], metadata }
    const callId = asString(message['call_id'])
    if (callId === undefined) return undefined
    if (type === 'exec_command_begin' || type === 'mcp_tool_call_begin' || type === 'patch_apply_begin')
      return { kind: 'message', role: 'assistant', blocks: [toCall(type, callId, message)], metadata }
    if (type !== 'exec_command_end' && type !== 'mcp_tool_call_end' && type !== 'patch_apply_end')
      return undefined
    return {
      kind: 'message',
      role: 'tool',
      blocks: [toResult(callId, message)],
      metadata: { ...metadata, message },
    }
  }
  const usageOf = (message: JsonObject): Partial<Said> => {
    if (message['type'] !== 'token_count') return {}
    // Older versions state the counts themselves, newer ones below `info`.
    const usage = message['info'] === undefined ? tokens.total(message) : tokens.add(message['info'])
    if (usage === undefined) return {}
    call += 1
    const { model } = facts
    return {
      usage,
      call: { provider: 'openai', messageId: `${facts['sessionId'] ?? ID}/${call}` },
      ...(model !== undefined && { model }),
    }
  }
  const fromLine = (line: JsonObject): Said => {
    const payload = asObject(line['payload'])
    const message = asObject(payload?.['msg'])
    const kind = asString(line['kind']) as string
    const record = message === undefined ? kind : `${kind}/${asString(message['type']) ?? ''}`
    if (message !== undefined)
      return fromEvent(message) ?? { ...unknownSaid(line, record), ...usageOf(message) }
    const items = kind === 'op' && payload?.['type'] === 'user_input' ? asArray(payload['items']) : undefined
    if (items === undefined) return unknownSaid(line, record)
    return {
      kind: 'message',
      role: 'user',
      blocks: items.map((item) => splitPart(item).block),
      metadata: { record: 'op/user_input' },
    }
  }
  return {
    next(value) {
      if (!isObject(value) || !isLine(value)) return []
      learn(value)
      const at = parseInstant(value['ts'])
      span.see(at)
      return [{ ...fromLine(value), ...(at !== undefined && { at }) }]
    },
    facts: () => ({ agent: 'codex', ...facts, ...span.facts() }),
  }
}

function toCall(type: string, callId: string, message: JsonObject): Block {
  const invocation = asObject(message['invocation'])
  const name =
    asString(invocation?.['tool']) ?? (type === 'patch_apply_begin' ? 'apply_patch' : 'exec_command')
  const input = invocation?.['arguments'] ?? rest(message, new Set(['type', 'call_id'])) ?? {}
  return { type: 'tool-call', callId, name, input }
}

function toResult(callId: string, message: JsonObject): Block {
  const { stdout, stderr, aggregated_output: all, exit_code: exit, result, success } = message
  const output =
    asString(all) ?? ([asString(stdout), asString(stderr)].filter(Boolean).join('\n') || toText(result))
  const isError = (asNumber(exit) ?? 0) !== 0 || success === false
  return { type: 'tool-result', callId, ...(output !== undefined && { output }), ...(isError && { isError }) }
}

const toText = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'string' ? value : toJson(value)
