/**
 * One session of the Agent Client Protocol, told line by line: messages put together from their pieces, calls from what is said of them,
 * and the facts that come with them.
 */
import type { Json, JsonObject } from '../../transcript/json.ts'
import { asArray, asObject, asString, rest } from '../../transcript/json.ts'
import { createGathering, type StreamEnd } from '../../formats/stream-session.ts'
import type { Recorder } from '../record.ts'
import { isOver, textOf, toBlock, toResult } from './acp-content.ts'
import { costIn, modelIn, turnUsage } from './acp-facts.ts'
import { finish } from './stream.ts'

/** Calls that are not over. */
const MOST_OPEN = 10_000

export type AcpSession = {
  prompt(params: JsonObject): void
  update(update: JsonObject, line: JsonObject): void
  answered(line: JsonObject): void
  learn(said: JsonObject): void
  event(record: string, raw: Json): void
  end(): ReturnType<typeof finish>
}

export function createAcpSession(recorder: Recorder): AcpSession {
  const gathering = createGathering()
  /** Calls that are not over, as far as they are told. */
  const called = new Map<string, JsonObject>()
  let message: string | undefined
  let cost = 0
  let prompts = 0
  let last: StreamEnd = { status: 'completed' }

  /** What is said of a call replaces what was said before, field by field: its end may have nothing but its end. */
  const grown = (update: JsonObject): JsonObject => {
    const callId = asString(update['toolCallId'])
    if (callId === undefined) return update
    const said = rest(update, new Set(['sessionUpdate'])) ?? {}
    const known = Object.entries(said).filter(([, value]) => value !== null)
    const whole = { ...called.get(callId), ...Object.fromEntries(known) }
    called.delete(callId)
    if (!isOver(whole)) called.set(callId, whole)
    if (called.size > MOST_OPEN) called.delete(called.keys().next().value as string)
    return whole
  }

  const callTool = (update: JsonObject): void => {
    const whole = grown(update)
    const callId = asString(whole['toolCallId'])
    const name = asString(whole['title']) || asString(whole['kind']) || 'tool'
    const { kind, locations, rawInput } = whole
    recorder.toolCall({
      name,
      input: rawInput ?? {},
      ...(callId !== undefined && { callId }),
      metadata: { ...(kind !== undefined && { kind }), ...(locations !== undefined && { locations }) },
    })
    // Some are done when they are first told of.
    if (isOver(whole)) recorder.toolResult(toResult(whole))
  }

  const growTool = (update: JsonObject, line: JsonObject): void => {
    const callId = asString(update['toolCallId'])
    const before = callId === undefined ? undefined : called.get(callId)
    // Told of by its end alone.
    if (before === undefined && isOver(update)) return callTool(update)
    const whole = grown(update)
    if (!isOver(whole)) return recorder.event('tool_call_update', line)
    const result = toResult(whole)
    const { rawInput, title } = whole
    // What it was called with may be known when it has begun.
    const isLate = before !== undefined && (update['rawInput'] ?? update['title']) !== undefined
    recorder.toolResult(
      isLate
        ? {
            ...result,
            metadata: {
              ...result.metadata,
              ...(rawInput !== undefined && { rawInput }),
              ...(title !== undefined && { title }),
            },
          }
        : result,
    )
  }

  /** Facts that updates, answers and settings tell. */
  const learn = (said: JsonObject): void => {
    const model = modelIn(said)
    const title = said['sessionUpdate'] === 'session_info_update' ? asString(said['title']) : undefined
    if (model !== undefined || title !== undefined)
      recorder.update({ ...(model !== undefined && { model }), ...(title !== undefined && { title }) })
    const sum = said['sessionUpdate'] === 'usage_update' ? costIn(said) : undefined
    if (sum === undefined || sum <= cost) return
    recorder.addCost(sum - cost)
    cost = sum
  }

  return {
    prompt(params) {
      gathering.flush()
      prompts += 1
      recorder.user((asArray(params['prompt']) ?? []).map(toBlock))
    },
    update(update, line) {
      const kind = asString(update['sessionUpdate'])
      const text = textOf(asObject(update['content']))
      const said = kind === undefined ? undefined : CHUNKS.get(kind)
      const id = asString(update['messageId'])
      if (id !== undefined && id !== message) gathering.flush()
      message = id ?? message
      if (said !== undefined && text !== undefined) return gathering.add(recorder, said, text, {})
      gathering.flush()
      if (said !== undefined) {
        const blocks = [toBlock(update['content'] ?? null)]
        return said === 'user' ? recorder.user(blocks) : recorder.assistant(blocks)
      }
      if (kind === 'tool_call') return callTool(update)
      if (kind === 'tool_call_update') return growTool(update, line)
      learn(update)
      recorder.event(kind ?? 'session/update', line)
    },
    answered(line) {
      gathering.flush()
      prompts -= 1
      const stopReason = asString(asObject(line['result'])?.['stopReason'])
      const usage = turnUsage(asObject(line['result'])?.['usage'])
      const { model } = recorder.session()
      recorder.event('session/prompt answered', line, {
        ...(stopReason !== undefined && { stopReason }),
        ...(usage && { usage }),
        ...(usage && model !== undefined && { model }),
      })
      const error = asString(asObject(line['error'])?.['message'])
      const isError = line['error'] !== undefined
      last = {
        status: isError ? 'failed' : stopReason === 'cancelled' ? 'canceled' : 'completed',
        ...(isError && { error: error ?? 'the agent answered with an error' }),
        ...(stopReason !== undefined && { stopReason }),
      }
    },
    learn,
    event(record, raw) {
      gathering.flush()
      recorder.event(record, raw)
    },
    end() {
      gathering.flush()
      return finish(
        recorder,
        prompts > 0
          ? { status: 'interrupted', error: 'the stream ended before the prompt was answered' }
          : last,
      )
    },
  }
}

const CHUNKS: ReadonlyMap<string, 'text' | 'thinking' | 'user'> = new Map([
  ['agent_message_chunk', 'text'],
  ['agent_thought_chunk', 'thinking'],
  ['user_message_chunk', 'user'],
])
