/**
 * `claude -p --output-format stream-json --verbose`: Claude Code's messages as they come. A provider's message is several lines, which
 * share its id; their counts are those of its beginning, unless partial messages are printed too. The last line says what the
 * whole used: what no message has said is recorded with it, so that the sum is right.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import {
  asArray,
  asBoolean,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  toJson,
} from '../transcript/json.ts'
import { createAnthropicReassembly } from '../wire/anthropic.ts'
import { fromAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import type { Reassembly } from '../wire/message.ts'
import { sayFlatContent } from './claude-flat-content.ts'
import { createUsed } from './claude-stream-used.ts'
import {
  atOf,
  toSourceId,
  type Fold,
  type StreamDetails,
  type StreamEnd,
  type StreamSession,
  type StreamSource,
} from './stream-session.ts'

const LINE: ReadonlySet<string> = new Set([
  'type',
  'message',
  'session_id',
  'uuid',
  'timestamp',
  'parent_tool_use_id',
])
/** Tool calls that are remembered for the subagents that they start. */
const MOST_CALLS = 10_000

export type ClaudeFold = Fold & {
  /** Takes a flat line, as weakincentives' specification has them, and says what its converter says. */
  takeFlat(line: JsonObject): void
}

export function foldClaude(session: StreamSession): ClaudeFold {
  const used = createUsed()
  /** Whose call started a subagent. */
  const callers = new Map<string, StreamSource>()
  const partial = new Map<StreamSource, { readonly message: Reassembly; readonly said: Set<string> }>()
  let cost = 0
  let ended: StreamEnd | undefined

  const sourceOf = (line: JsonObject): StreamSource => {
    const call = asString(line['parent_tool_use_id'])
    if (call === undefined || call === '') return session
    return (callers.get(call) ?? session).subagent(toSourceId(call))
  }

  const startedBy = (call: string, source: StreamSource): void => {
    callers.set(call, source)
    if (callers.size > MOST_CALLS) callers.delete(callers.keys().next().value as string)
  }

  const system = (line: JsonObject): void => {
    const subtype = asString(line['subtype'])
    if (subtype === 'init') {
      const model = asString(line['model'])
      const version = asString(line['claude_code_version'])
      session.update({ ...(model !== undefined && { model }), ...(version !== undefined && { version }) })
    }
    sourceOf(line).event(subtype === undefined ? 'system' : `system/${subtype}`, line, detailsOf(line))
  }

  const assistant = (line: JsonObject, message: JsonObject): void => {
    const source = sourceOf(line)
    const content = asArray(message['content']) ?? []
    for (const block of content) {
      const id = asString(asObject(block)?.['id'])
      if (id === undefined || asObject(block)?.['type'] !== 'tool_use') continue
      startedBy(id, source)
    }
    const messageId = asString(message['id'])
    const model = asString(message['model'])
    const stopReason = asString(message['stop_reason'])
    // What the client says in the model's place costs nothing, and nobody was asked.
    const isSynthetic = model === '<synthetic>'
    // Until it says why it stopped, the output is what there was at its beginning.
    const usage =
      isSynthetic || message['usage'] === undefined
        ? undefined
        : fromAnthropicUsage(message['usage'], stopReason === undefined ? 'partial' : 'reported')
    if (usage !== undefined && messageId !== undefined) used.report(messageId, model, usage)
    if (messageId !== undefined) partial.get(source)?.said.add(messageId)
    source.assistant(toContent(content), {
      ...detailsOf(line),
      ...(messageId !== undefined && !isSynthetic && { call: { provider: 'anthropic', messageId } }),
      ...(model !== undefined && { model }),
      ...(usage && { usage }),
      ...(stopReason !== undefined && { stopReason }),
    })
  }

  const user = (line: JsonObject, message: JsonObject): void => {
    const source = sourceOf(line)
    const { content } = message
    const details = detailsOf(line)
    const results = (asArray(content) ?? []).filter((block) => asObject(block)?.['type'] === 'tool_result')
    const others = asArray(content)?.filter((block) => !results.includes(block))
    for (const [at, raw] of results.entries()) {
      const block = fromAnthropicBlock(raw)
      if (block.type !== 'tool-result') {
        source.message('tool', [block], withoutId(details))
        continue
      }
      const { callId, name, output, error, isError } = block
      source.toolResult({
        ...(at === 0 ? details : withoutId(details)),
        ...(callId !== undefined && { callId }),
        ...(name !== undefined && { name }),
        ...(output !== undefined && (typeof output === 'string' || Array.isArray(output)) && { output }),
        ...(error !== undefined && { error }),
        ...(isError !== undefined && { isError }),
      })
    }
    if (typeof content === 'string') source.user(content, details)
    else if (others !== undefined && others.length > 0)
      source.user(toContent(others), results.length === 0 ? details : withoutId(details))
    else if (results.length === 0) source.event('user', line, details)
  }

  /** With `--include-partial-messages`: each event of the provider's stream, from which a message's last count is known. */
  const event = (line: JsonObject): void => {
    const source = sourceOf(line)
    const said = asObject(line['event'])
    if (said === undefined) return source.event('stream_event', line)
    const type = asString(said['type'])
    if (type === 'message_start' || !partial.has(source)) {
      partial.set(source, { message: createAnthropicReassembly(), said: new Set() })
      if (partial.size > MOST_CALLS) partial.delete(partial.keys().next().value as StreamSource)
    }
    const open = partial.get(source)
    open?.message.push({ data: toJson(said), complete: true })
    if (type !== 'message_stop' || open === undefined) return
    partial.delete(source)
    const { messageId, model, usage, stopReason, unknown } = open.message.end()
    if (unknown.length > 0) source.event('stream_event', unknown)
    if (messageId === undefined || usage === undefined) return
    used.report(messageId, model, usage)
    source.event('message_stop', said, {
      call: { provider: 'anthropic', messageId },
      ...(model !== undefined && { model }),
      usage,
      ...(stopReason !== undefined && { stopReason }),
    })
  }

  const result = (line: JsonObject): void => {
    const subtype = asString(line['subtype']) ?? 'result'
    const missing = used.missing(asObject(line['modelUsage']))
    const [first, ...others] = missing
    session.event(`result/${subtype}`, line, { ...detailsOf(line), ...first })
    for (const more of others) session.event('usage', more.usage?.raw ?? null, more)
    // What it says has grown since the last time, in a session of several prompts.
    const total = asNumber(line['total_cost_usd'])
    if (total !== undefined && total > cost) {
      session.addCost(Number((total - cost).toFixed(12)))
      cost = total
    }
    const isError = asBoolean(line['is_error']) ?? subtype !== 'success'
    const stopReason = asString(line['stop_reason']) ?? (subtype === 'success' ? undefined : subtype)
    ended = {
      status: isError ? 'failed' : 'completed',
      ...(isError && { error: errorOf(line, subtype) }),
      ...(stopReason !== undefined && { stopReason }),
    }
  }

  return {
    takeFlat: (line) => sayFlatContent(line, sourceOf(line), startedBy),
    take(line) {
      const message = asObject(line['message'])
      switch (asString(line['type']) ?? '') {
        case 'system':
          return system(line)
        case 'assistant':
          return message === undefined ? session.event('assistant', line) : assistant(line, message)
        case 'user':
          return message === undefined ? session.event('user', line) : user(line, message)
        case 'stream_event':
          return event(line)
        case 'result':
          return result(line)
        default:
          return sourceOf(line).event(asString(line['type']) ?? 'unknown', line, detailsOf(line))
      }
    },
    holds: () => partial.size > 0,
    end() {
      for (const [source, { message, said }] of partial) {
        const answer = message.end()
        // Whole blocks of it have lines of their own; what was under way has not.
        if (answer.blocks.length > 0 && !(answer.messageId !== undefined && said.has(answer.messageId)))
          source.answer(answer)
      }
      return ended ?? { status: 'interrupted', error: 'the stream ended before its result' }
    },
  }
}

/** Our blocks: what the client's say beyond them goes with the entry's line. */
function toContent(content: readonly Json[]): ReturnType<typeof fromAnthropicBlock>[] {
  return content.map((block) => fromAnthropicBlock(block))
}

function detailsOf(line: JsonObject): StreamDetails {
  const id = asString(line['uuid'])
  const more = isMessage(line) ? rest(line, LINE) : undefined
  return {
    ...atOf(line),
    ...(id !== undefined && id !== '' && { id }),
    ...(more && { metadata: more }),
  }
}

/** An event holds its whole line; a message only what its content does not say. */
const isMessage = ({ type, message }: JsonObject): boolean =>
  (type === 'assistant' || type === 'user') && isObject(message)

/** An id names one entry: of several out of one line, the first. */
function withoutId(details: StreamDetails): StreamDetails {
  const { id: _, ...others } = details
  return others
}

function errorOf(line: JsonObject, subtype: string): string {
  const errors = (asArray(line['errors']) ?? []).filter((error) => typeof error === 'string')
  return asString(line['result']) || errors.join('; ') || subtype
}
