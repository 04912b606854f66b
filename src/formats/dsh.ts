/**
 * DeepSeek Harness's own sessions: a header like pi's with `createdAt`, then numbered events. What was said is in `user/message`,
 * `assistant/message` and `tool/result`; the pieces that it came in, and calls told again, are events.
 */
import type { Block } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import { uuidFrom } from '../transcript/ids.ts'
import {
  asArray,
  asCount,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { hasCounts, type Quality, type Usage } from '../transcript/usage.ts'
import { splitPart, toArguments } from '../wire/openai-parts.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Format } from './format.ts'
import { asId, type Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'dsh'

export const dsh: Format = foldedFormat({
  id: ID,
  title: 'DeepSeek Harness: session.jsonl',
  words: `type seq time seq0 time0 data content text role id source kind user model turn message reasoning tool-call name arguments usage tool-result
    toolCallId isError user/message assistant/message tool/result`,
  look: (head) => vote(head, isLine, { what: 'line', of: "DeepSeek Harness's session" }),
  fold: createDshFold,
  vocabulary: vocabulary({
    records:
      `session permission/preset sandbox/mode approval/policy command/run command/done goal/change agent/inbox/spliced turn/start turn/end
      step/start step/end user/message assistant/message assistant/chunk reasoning-chunks text-chunks tool-call-chunks tool/call tool/result
      request/header request/context session/title subagent/descriptor`
        .split(/\s+/)
        .map((type) => `${type}:`),
    common:
      'type seq time seq0 time0 data surfaceOp sourceEventSeqs version id createdAt cwd parentSession origin delegationDepth',
  }),
  watch: (watch, line) => watch.record(asString(line['type']) ?? '', line),
})

/** pi's header has a `timestamp`. */
function isLine({ type, createdAt, seq, seq0, time, time0, data }: JsonObject): boolean {
  if (type === 'session') return asNumber(createdAt) !== undefined
  if (typeof type !== 'string' || !isObject(data)) return false
  return asNumber(seq ?? seq0) !== undefined && asNumber(time ?? time0) !== undefined
}

function createDshFold(): SessionFold {
  const span = createSpan()
  let header: JsonObject | undefined
  let title: string | undefined
  let model: string | undefined
  let ended: JsonObject | undefined
  /** What a step used, until a message says it. */
  let counted: Json | undefined

  const answer = (data: JsonObject, message: JsonObject): Said => {
    const source = asObject(message['source'])
    const named = asString(source?.['model'])
    const provider = asString(source?.['provider'])
    const messageId = asId(message['id'])
    model = named ?? model
    counted = undefined
    return {
      ...toSaid('assistant', message),
      ...(named !== undefined && { model: named }),
      ...(data['usage'] !== undefined && { usage: toUsage(data['usage'], 'reported') }),
      call: { ...(provider !== undefined && { provider }), ...(messageId !== undefined && { messageId }) },
    }
  }
  const fromLine = (line: JsonObject, type: string): Said => {
    const data = asObject(line['data']) ?? {}
    const message = asObject(data['message'])
    if (type === 'user/message') return toSaid('user', data)
    if (type === 'assistant/message' && message !== undefined) return answer(data, message)
    if (type === 'tool/result' && message !== undefined) return toSaid('tool', message)
    const event = unknownSaid(line, type)
    const used = type === 'assistant/chunk' ? asObject(data['chunk'])?.['usage'] : undefined
    if (used !== undefined) counted = used
    if (counted === undefined || (type !== 'step/end' && type !== 'turn/end')) return event
    // The step ended before its message: it used what it had said until then.
    const usage = toUsage(counted, 'partial')
    counted = undefined
    return { ...event, usage, ...(model !== undefined && { model }) }
  }
  return {
    next(value) {
      const type = isObject(value) ? asString(value['type']) : undefined
      if (!isObject(value) || type === undefined) return []
      const data = asObject(value['data'])
      if (type === 'session') header ??= value
      if (type === 'session/title') title = asString(data?.['title']) ?? title
      if (type === 'request/context') model = asString(data?.['model']) ?? model
      if (type === 'turn/end') ended = asObject(data?.['reason'])
      const at = fromMillis(asNumber(value['time'] ?? value['time0'] ?? value['createdAt']) ?? Number.NaN)
      span.see(at)
      return [{ ...fromLine(value, type), ...(at !== undefined && { at }) }]
    },
    facts() {
      const sessionId = asId(header?.['id'])
      const parent = asId(header?.['parentSession'])
      const cwd = asString(header?.['cwd'])
      const reason = asString(ended?.['kind'])
      return {
        agent: ID,
        ...(sessionId !== undefined && { sessionId }),
        ...(parent !== undefined && {
          parent: {
            session: uuidFrom(ID, parent),
            ...(header?.['origin'] === 'subagent' && { relation: 'subagent' as const }),
          },
        }),
        ...(cwd !== undefined && { cwd }),
        ...(title !== undefined && { title }),
        ...(model !== undefined && { model }),
        ...(reason !== undefined && { stopReason: reason }),
        ...(reason === 'error' && { status: 'failed' as const }),
        ...span.facts(),
      }
    },
  }
}

const TAKEN: ReadonlySet<string> = new Set(['content', 'role', 'id'])

function toSaid(role: 'user' | 'assistant' | 'tool', message: JsonObject): Said {
  const id = asId(message['id'])
  const { content } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (asArray(content) ?? [])
  const metadata = rest(message, TAKEN)
  return {
    ...(id !== undefined && { id }),
    kind: 'message',
    role,
    blocks: parts.map(toBlock),
    ...(metadata !== undefined && { metadata }),
  }
}

function toBlock(part: Json): Block {
  const { type, text, id, name, arguments: stated, toolCallId, content, isError } = asObject(part) ?? {}
  if (type === 'reasoning' && typeof text === 'string') return { type: 'thinking', text }
  if (type === 'tool-call' && typeof name === 'string') {
    const input = typeof stated === 'string' ? toArguments(stated) : stated
    return {
      type: 'tool-call',
      ...(typeof id === 'string' && { callId: id }),
      name,
      ...(input !== undefined && { input }),
    }
  }
  if (type !== 'tool-result') return splitPart(part).block
  const inner = asArray(content)?.map(toBlock)
  const [only] = inner ?? []
  const output =
    inner?.length === 1 && only?.type === 'text'
      ? only.text
      : (inner ?? (content === undefined ? undefined : toJson(content)))
  return {
    type: 'tool-result',
    ...(typeof toolCallId === 'string' && { callId: toolCallId }),
    ...(output !== undefined && { output }),
    ...(isError === true && { isError }),
  }
}

/** Input excludes what was read from a cache; reasoning is a part of the output. */
function toUsage(raw: Json, quality: Quality): Usage {
  const said = asObject(raw)
  const input = asCount(said?.['inputTokens'])
  const cacheRead = asCount(said?.['cacheReadTokens'])
  const cacheWrite5m = asCount(said?.['cacheWriteTokens'])
  const output = asCount(said?.['outputTokens'])
  const reasoning = asCount(said?.['reasoningTokens'])
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality,
    raw,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw }
}
