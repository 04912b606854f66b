/**
 * The lines of a Kimi wire as entries. What a person said is in `context.append_message`, everything else in `context.append_loop_event`;
 * lines beside them that repeat it are events without blocks, so that no text is found twice. A step's usage is stated twice and counted once.
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
import type { Steps } from './kimi-steps.ts'
import { createLastTurn } from './last-turn.ts'
import { asId, type Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

export const ID = 'kimi'

export type KimiPlace = {
  readonly sessionId?: string
  readonly parent?: string
  readonly state?: JsonObject
  /** The agent's session that a subagent's name stands for: its id here. */
  readonly toSubagent?: (agent: string) => string
}

export function createKimiFold(
  { sessionId, parent, state, toSubagent }: KimiPlace,
  steps: Steps,
): SessionFold {
  const span = createSpan()
  const lastTurn = createLastTurn()
  /** The models behind the names that they have here. */
  const models = new Map<string, string>()
  let model: string | undefined
  let provider: string | undefined
  let cwd: string | undefined
  let title: string | undefined
  let isCanceled = false
  /** Why the last step stopped, for ends of turns that do not say it. */
  let interrupted: string | undefined

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
    steps.observe(event)
    return {
      ...unknownSaid(line, asString(event['type'])),
      ...callOf(event['uuid']),
      ...(usage !== undefined && { usage, ...(model !== undefined && { model }) }),
      ...(stopReason !== undefined && { stopReason }),
    }
  }
  /** What the provider named is the same call for everybody who saw it, whatever the provider is called here. */
  const callOf = (uuid: Json | undefined): Partial<Said> => {
    const messageId = steps.idOf(uuid)
    if (messageId === undefined) return {}
    return { call: { ...(provider !== undefined && messageId === uuid && { provider }), messageId } }
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
    const step = steps.stepOf(line)
    if (usage === undefined || step === 'repeated') return said
    const named = alias === undefined ? model : (models.get(alias) ?? alias)
    return { ...said, ...callOf(step?.uuid), usage, ...(named !== undefined && { model: named }) }
  }
  const turnEnded = (line: JsonObject): Said => {
    const error = asObject(line['error'])
    const code = asString(error?.['code'])
    const stopReason = asString(line['reason'])
    const message = asString(error?.['message']) ?? (stopReason === 'failed' ? interrupted : undefined)
    isCanceled = stopReason === 'cancelled'
    interrupted = undefined
    if (message === undefined && stopReason !== 'failed')
      return { ...repeated('turn.ended'), ...(stopReason !== undefined && { stopReason }) }
    return errorSaid('turn.ended', message ?? 'the turn failed', { code, stopReason })
  }
  const spawned = (line: JsonObject): Said => {
    const agent = asId(line['subagentId'])
    const callId = asId(line['parentToolCallId'])
    const child = agent === undefined ? undefined : toSubagent?.(agent)
    const said = repeated('subagent.spawned')
    if (child === undefined || callId === undefined) return said
    return { ...said, metadata: { ...said.metadata, spawned: child, spawnedBy: callId } }
  }
  const fromLine = (line: JsonObject): readonly Said[] => {
    const event = asObject(line['event'])
    const message = asObject(line['message'])
    const type = asString(line['type'])
    if (type === 'context.append_loop_event' && event !== undefined) return [loop(event, line)]
    if (type === 'context.append_message' && message !== undefined) return [fromMessage(message, line)]
    if (type === 'usage.record') return [usageRecord(line)]
    if (type === 'turn.ended') return [turnEnded(line)]
    if (type === 'turn.step.interrupted') interrupted = asString(line['message'])
    if (type === 'turn.step.retrying')
      return [
        errorSaid(type, asString(line['errorMessage']) ?? 'the step failed', {
          code: asString(line['errorName']),
        }),
      ]
    if (type === 'subagent.spawned') return [spawned(line)]
    if (type !== undefined && REPEATING.has(type)) return [repeated(type)]
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
        lastTurn.see(said)
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
      ...(isCanceled ? { status: 'canceled' as const } : lastTurn.facts()),
      ...(state !== undefined && { metadata: { [ID]: { state } } }),
    }),
  }
}

const MOST_MODELS = 1000

/** Lines whose texts other lines have said. */
const REPEATING: ReadonlySet<string> = new Set([
  'turn.prompt',
  'turn.steer',
  'turn.step.interrupted',
  'prompt.steered',
  'subagent.completed',
  'agent.message.appended',
  'human.agent.message.appended',
])

/** What it says is kept as metadata. */
const repeated = (record: string): Said => ({ kind: 'event', blocks: [], metadata: { record } })

function errorSaid(
  record: string,
  message: string,
  { code, stopReason }: { readonly code?: string | undefined; readonly stopReason?: string | undefined },
): Said {
  return {
    ...repeated(record),
    blocks: [{ type: 'error', message, ...(code !== undefined && { code }) }],
    ...(stopReason !== undefined && { stopReason }),
  }
}

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
