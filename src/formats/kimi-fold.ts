/**
 * The lines of a Kimi wire as entries. What a person said is in `context.append_message`, everything else in `context.append_loop_event`;
 * prompts beside them say the same again and are events. A step's usage is told twice, and counted once.
 */
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Block } from '../transcript/block.ts'
import { fromCliLine } from './kimi-cli-lines.ts'
import { toBlock, usageOf } from './kimi-parts.ts'
import { asId, type Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

export const ID = 'kimi'

export type KimiPlace = {
  readonly sessionId?: string
  readonly parent?: string
  readonly state?: JsonObject
}

export function createKimiFold({ sessionId, parent, state }: KimiPlace): SessionFold {
  const span = createSpan()
  /** The models behind the names that they have here. */
  const models = new Map<string, string>()
  let model: string | undefined
  let provider: string | undefined
  let cwd: string | undefined
  let title: string | undefined
  let isCounted = false

  const learn = (line: JsonObject): void => {
    const alias = asString(line['modelAlias'])
    const named = line['type'] === 'llm.request' ? asString(line['model']) : undefined
    if (named !== undefined) {
      model = named
      provider = asString(line['provider']) ?? provider
      if (alias !== undefined && models.size < MOST_MODELS) models.set(alias, named)
    }
    cwd =
      asString(line['cwd']) ??
      asString(asObject(line['environmentDisclosure'])?.['cwd']) ??
      asString(line['workDir']) ??
      cwd
    // The state lies beside the wire; read as a file of its own it has the same facts.
    if (isObject(line['agents'])) title = asString(line['title']) || title
  }
  const step = (event: JsonObject, line: JsonObject): Said => {
    const usage = usageOf(event['usage'])
    const stopReason = asString(event['finishReason'])
    if (usage !== undefined) isCounted = true
    return {
      ...unknownSaid(line, asString(event['type'])),
      ...callOf(event['uuid']),
      ...(usage !== undefined && { usage, ...(model !== undefined && { model }) }),
      ...(stopReason !== undefined && { stopReason }),
    }
  }
  const callOf = (uuid: Json | undefined): Partial<Said> => {
    const messageId = asId(uuid)
    return messageId === undefined ? {} : { call: { ...(provider !== undefined && { provider }), messageId } }
  }
  const loop = (event: JsonObject, line: JsonObject): Said => {
    const metadata = { record: asString(event['type']) ?? 'unknown' }
    const answer = {
      kind: 'message',
      role: 'assistant',
      ...(model !== undefined && { model }),
      ...callOf(event['stepUuid']),
    } as const
    const part = asObject(event['part'])
    const name = asString(event['name'])
    switch (metadata.record) {
      case 'content.part':
        return part === undefined
          ? unknownSaid(line, metadata.record)
          : { ...answer, blocks: [toBlock(part)], metadata }
      case 'tool.call': {
        const callId = asString(event['toolCallId'])
        if (name === undefined) return unknownSaid(line, metadata.record)
        const call: Block = {
          type: 'tool-call',
          ...(callId !== undefined && { callId }),
          name,
          input: event['args'] ?? {},
        }
        return { ...answer, blocks: [call], metadata: { ...metadata, event } }
      }
      case 'tool.result':
        return { kind: 'message', role: 'tool', blocks: [toResult(event)], metadata: { ...metadata, event } }
      default:
        return step(event, line)
    }
  }
  const usageRecord = (line: JsonObject): Said => {
    const usage = usageOf(line['usage'])
    const alias = asString(line['model'])
    const said = unknownSaid(line, 'usage.record')
    // The step that just ended has said it.
    if (usage === undefined || isCounted) {
      isCounted = false
      return said
    }
    const named = alias === undefined ? model : (models.get(alias) ?? alias)
    return { ...said, usage, ...(named !== undefined && { model: named }) }
  }
  const fromLine = (line: JsonObject): readonly Said[] => {
    const event = asObject(line['event'])
    const message = asObject(line['message'])
    const type = asString(line['type'])
    if (type === 'context.append_loop_event' && event !== undefined) return [loop(event, line)]
    if (type === 'context.append_message' && message !== undefined) return [fromMessage(message, line)]
    if (type === 'usage.record') return [usageRecord(line)]
    return fromCliLine(line) ?? [unknownSaid(line, type ?? 'state')]
  }
  if (state !== undefined) learn(state)
  return {
    next(value) {
      if (!isObject(value)) return []
      learn(value)
      const at = fromMillis(asNumber(value['time']) ?? asNumber(value['created_at']) ?? Number.NaN)
      return fromLine(value).map((said) => {
        const own = said.at ?? at
        span.see(own)
        return own === undefined ? said : { ...said, at: own }
      })
    },
    facts: () => ({
      agent: ID,
      ...(sessionId !== undefined && { sessionId }),
      ...(parent !== undefined && { parent: { session: parent, relation: 'subagent' } }),
      ...(model !== undefined && { model }),
      ...(cwd !== undefined && { cwd }),
      ...(title !== undefined && { title }),
      ...span.facts(),
      ...(state !== undefined && { metadata: { [ID]: { state } } }),
    }),
  }
}

const MOST_MODELS = 1000

function fromMessage(message: JsonObject, line: JsonObject): Said {
  const role = asString(message['role'])
  const content = message['content']
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
  if (parts === undefined || (role !== 'user' && role !== 'assistant' && role !== 'system'))
    return unknownSaid(line, 'context.append_message')
  const { origin } = message
  const calls = asArray(message['toolCalls']) ?? []
  return {
    kind: 'message',
    role,
    blocks: [...parts.map((part) => toBlock(part)), ...calls.map((raw): Block => ({ type: 'unknown', raw }))],
    ...(origin !== undefined && { metadata: { origin } }),
  }
}

function toResult({ toolCallId, result }: JsonObject): Block {
  const said = asObject(result)
  const output = said?.['output'] ?? (said === undefined ? result : undefined)
  const parts = asArray(output)?.map((part) => toBlock(part))
  const text =
    typeof output === 'string' || output === undefined || output === null ? output : (parts ?? toJson(output))
  const isError = said?.['isError'] === true || said?.['is_error'] === true
  return {
    type: 'tool-result',
    ...(typeof toolCallId === 'string' && { callId: toolCallId }),
    ...(text !== undefined && text !== null && { output: text }),
    ...(isError && { isError }),
  }
}
