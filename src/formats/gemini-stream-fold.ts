/**
 * `gemini --output-format stream-json`: Gemini CLI's messages in pieces, its tools, and at the end what the whole used, by model. Its
 * counts are sums of all calls: one entry has them, and says nothing of single calls.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asCount, asObject, asString } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { always, isFlag, isInstant, isText, leftOver, takes } from './left-over.ts'
import {
  atOf,
  createGathering,
  type Fold,
  type StreamDetails,
  type StreamEnd,
  type StreamSession,
} from './stream-session.ts'

const MESSAGE = takes({
  type: always,
  role: always,
  content: isText,
  delta: isFlag,
  timestamp: isInstant,
})

export function foldGemini(session: StreamSession): Fold {
  const gathering = createGathering()
  let ended: StreamEnd | undefined
  let pieces: { readonly role: string; readonly said: JsonObject[] } | undefined
  const call: StreamDetails = { call: { provider: 'google', messageId: `${session.id}/all` } }

  const message = (line: JsonObject): void => {
    const text = asString(line['content'])
    const role = asString(line['role'])
    if (text === undefined || (role !== 'user' && role !== 'assistant')) {
      gathering.flush()
      return session.event('message', line, atOf(line))
    }
    const details = { ...atOf(line), ...(role === 'assistant' && call) }
    const odd = leftOver(line, MESSAGE)
    const goesOn = gathering.isOpen() && pieces?.role === role && pieces.said.length > 0
    if (line['delta'] !== true || (odd !== undefined && !goesOn)) gathering.flush()
    if (!gathering.isOpen()) pieces = { role, said: [] }
    // What pieces say beyond their text is said of their message, in their order.
    if (odd !== undefined) pieces?.said.push(odd)
    const metadata = odd !== undefined && !goesOn ? { metadata: { pieces: pieces?.said ?? [] } } : {}
    gathering.add(session, role === 'user' ? 'user' : 'text', text, { ...details, ...metadata })
    if (line['delta'] !== true) gathering.flush()
  }

  const toolResult = (line: JsonObject): void => {
    const callId = asString(line['tool_id'])
    const output = asString(line['output'])
    const error = asString(asObject(line['error'])?.['message'])
    session.toolResult({
      ...atOf(line),
      ...(callId !== undefined && { callId }),
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
      ...((line['status'] === 'error' || error !== undefined) && { isError: true }),
      ...(output === undefined && error === undefined && { metadata: { line } }),
    })
  }

  const result = (line: JsonObject): void => {
    const used = usedIn(asObject(line['stats']))
    const [first, ...others] = used
    session.event('result', line, { ...atOf(line), ...first, ...(first && call) })
    for (const more of others) session.event('usage', more.usage?.raw ?? null, more)
    const isError = line['status'] === 'error'
    const error = asString(asObject(line['error'])?.['message']) ?? 'the run failed'
    ended = isError ? { status: 'failed', error } : { status: 'completed' }
  }

  return {
    take(line) {
      const type = asString(line['type'])
      if (type === 'message') return message(line)
      gathering.flush()
      switch (type ?? '') {
        case 'init': {
          const model = asString(line['model'])
          if (model !== undefined) session.update({ model })
          return session.event('init', line, atOf(line))
        }
        case 'tool_use': {
          const callId = asString(line['tool_id'])
          const name = asString(line['tool_name']) ?? 'unknown'
          const input = line['parameters'] ?? {}
          session.toolCall({ ...atOf(line), ...call, name, input, ...(callId !== undefined && { callId }) })
          return
        }
        case 'tool_result':
          return toolResult(line)
        case 'error':
          return session.error(asString(line['message']) ?? 'an error that says nothing', atOf(line))
        case 'result':
          return result(line)
        default:
          return session.event(type ?? 'unknown', line, atOf(line))
      }
    },
    holds: () => gathering.isOpen(),
    end() {
      gathering.flush()
      return ended ?? { status: 'interrupted', error: 'the stream ended before its result' }
    },
  }
}

/** By model where it says so; else of all. */
function usedIn(stats: JsonObject | undefined): readonly StreamDetails[] {
  const models = Object.entries(asObject(stats?.['models']) ?? {}).flatMap(([model, said]) => {
    const usage = toUsage(asObject(said))
    return usage === undefined ? [] : [{ model, usage }]
  })
  if (models.length > 0) return models
  const usage = toUsage(stats)
  return usage === undefined ? [] : [{ usage }]
}

/** Its input includes what was read from a cache. Thoughts are in the total alone: what it has beyond the prompt is taken for output. */
function toUsage(said: JsonObject | undefined): Usage | undefined {
  const prompt = asCount(said?.['input_tokens'])
  const total = asCount(said?.['total_tokens'])
  const visible = asCount(said?.['output_tokens'])
  const cacheRead = asCount(said?.['cached'])
  if (prompt === undefined && visible === undefined) return undefined
  const beyond = total === undefined || prompt === undefined ? undefined : total - prompt
  const output = beyond === undefined ? visible : Math.max(visible ?? 0, beyond)
  const raw: Json | undefined = said
  return {
    ...(prompt !== undefined && { input: Math.max(0, prompt - (cacheRead ?? 0)) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(output !== undefined && { output }),
    quality: output === visible ? 'reported' : 'estimated',
    ...(raw !== undefined && { raw }),
  }
}
