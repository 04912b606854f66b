/**
 * `codex exec --json`: Codex's items as they begin and end. A command, an edit or a tool is a call when it begins and a result when it
 * ends. It counts its tokens for a turn, as the thread's sum until then; which model answered it does not say.
 */
import { createTokenFold } from './codex-usage.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asNumber, asObject, asString, rest, toJson } from '../transcript/json.ts'
import {
  atOf,
  type Fold,
  type StreamDetails,
  type StreamEnd,
  type StreamResult,
  type StreamSession,
} from './stream-session.ts'

/** Items that are under way at once. */
const MOST_OPEN = 10_000

export function foldCodex(session: StreamSession): Fold {
  const tokens = createTokenFold({ continues: () => false })
  const begun = new Set<string>()
  let thread: string | undefined
  let turn = 0
  let ended: StreamEnd | undefined

  /** Each run of a thread prints it anew: only with the run's own name is a turn told from that of another. */
  const call = (): StreamDetails => ({
    call: { provider: 'openai', messageId: `${thread ?? 'thread'}/${session.id}/${turn}` },
  })

  const begin = (item: JsonObject, id: string): void => {
    begun.add(id)
    if (begun.size > MOST_OPEN) begun.delete(begun.values().next().value as string)
    const { name, input } = toCall(item)
    session.toolCall({ name, input, callId: id, ...call() })
  }

  const complete = (item: JsonObject, line: JsonObject): void => {
    const id = asString(item['id'])
    const text = asString(item['text'])
    const details = { ...atOf(line), ...call() }
    if (item['type'] === 'agent_message' && text !== undefined) return session.assistant(text, details)
    if (item['type'] === 'reasoning' && text !== undefined)
      return session.assistant([{ type: 'thinking', text }], details)
    if (item['type'] === 'error')
      return session.error(asString(item['message']) ?? 'an error that says nothing', atOf(line))
    if (id === undefined || !TOOLS.has(asString(item['type']) ?? ''))
      return session.event(`item/${kindOf(item)}`, line)
    if (!begun.has(id)) begin(item, id)
    begun.delete(id)
    session.toolResult({ callId: id, ...atOf(line), ...toResult(item) })
  }

  const take = (line: JsonObject): void => {
    const item = asObject(line['item'])
    switch (asString(line['type']) ?? '') {
      case 'thread.started':
        thread = asString(line['thread_id'])
        return session.event('thread.started', line)
      case 'turn.started':
        turn += 1
        // What has begun again has not ended.
        ended = undefined
        return session.event('turn.started', line)
      case 'item.started': {
        const id = asString(item?.['id'])
        if (item === undefined || id === undefined || !TOOLS.has(asString(item['type']) ?? ''))
          return session.event('item.started', line)
        return begin(item, id)
      }
      case 'item.completed':
        return item === undefined ? session.event('item.completed', line) : complete(item, line)
      case 'turn.completed': {
        const used = tokens.total(line['usage'] ?? null)
        // The thread's sum: where it was resumed, some of it was used before.
        const usage = used?.quality === 'reported' ? { ...used, quality: 'estimated' as const } : used
        session.event('turn.completed', line, { ...call(), ...(usage && { usage }) })
        ended = { status: 'completed' }
        return
      }
      case 'turn.failed': {
        const error = messageIn(line['error']) ?? 'the turn failed'
        session.error(error, atOf(line))
        ended = { status: 'failed', error }
        return
      }
      case 'error':
        // It may try again; a turn that gives up says so itself.
        return session.error(asString(line['message']) ?? 'an error that says nothing', atOf(line))
      default:
        return session.event(asString(line['type']) ?? 'unknown', line)
    }
  }
  return {
    take,
    holds: () => false,
    end: () => ended ?? { status: 'interrupted', error: 'the stream ended before its turn' },
  }
}

const TOOLS: ReadonlySet<string> = new Set([
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'collab_tool_call',
  'web_search',
])
const OUTPUT: ReadonlySet<string> = new Set([
  'id',
  'type',
  'status',
  'aggregated_output',
  'exit_code',
  'result',
  'error',
])

const kindOf = (item: JsonObject): string => asString(item['type']) ?? 'unknown'

function toCall(item: JsonObject): { readonly name: string; readonly input: Json } {
  if (item['type'] !== 'mcp_tool_call') return { name: kindOf(item), input: rest(item, OUTPUT) ?? {} }
  const names = [asString(item['server']), asString(item['tool'])].filter((name) => name !== undefined)
  return { name: `mcp__${names.join('__')}`, input: item['arguments'] ?? {} }
}

function toResult(item: JsonObject): StreamResult {
  const exit = asNumber(item['exit_code'])
  const error = messageIn(item['error'])
  const output = asString(item['aggregated_output']) ?? textOf(item['result'])
  const isFailed = item['status'] === 'failed' || item['status'] === 'declined'
  return {
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...((isFailed || (exit !== undefined && exit !== 0) || error !== undefined) && { isError: true }),
    metadata: { item },
  }
}

function messageIn(error: Json | undefined): string | undefined {
  return asString(error) ?? asString(asObject(error)?.['message'])
}

function textOf(result: Json | undefined): string | undefined {
  if (result === undefined || result === null) return undefined
  return typeof result === 'string' ? result : toJson(result)
}
