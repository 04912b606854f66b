/** One run of LangSmith's as entries: a model's call tells what was new in its input and what it answered, a tool what it returned. */
import type { Block } from '../transcript/block.ts'
import { millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { fromOpenAiUsage } from '../wire/openai-usage.ts'
import { asText, toChatMessage, toOpenAiUsage } from './langchain-message.ts'
import { isInstant, takes } from './left-over.ts'
import type { Said } from './placing.ts'
import { fromResponse } from './provider-entries.ts'
import { toUnit } from './provider-shapes.ts'
import { unknownSaid } from './unknown.ts'
import type { ToldMessages } from './told-messages.ts'
import { inside, unsaid } from './unsaid.ts'
import { fromWireMessage } from './wire-said.ts'

export function fromRun(run: JsonObject, told: ToldMessages): readonly Said[] {
  const at = parseInstant(run['start_time'])
  const ended = parseInstant(run['end_time'])
  const durationMs = millisBetween(at, ended)
  const timed = { ...(durationMs !== undefined && durationMs >= 0 && { durationMs }) }
  const stamp = (said: Said, when = at): Said => ({ ...said, ...(when !== undefined && { at: when }) })
  const error = asString(run['error'])
  const errors: readonly Block[] =
    error === undefined || error === '' ? [] : [{ type: 'error', message: error }]
  if (run['run_type'] === 'tool') {
    const result = fromTool(run)
    told.tell(result)
    return [stamp({ ...result, ...timed })]
  }
  if (run['run_type'] !== 'llm')
    return [stamp({ ...unknownSaid(run, asString(run['run_type']) ?? 'run'), ...timed })]
  const asked = messagesOf(asObject(run['inputs']) ?? {}).map((one) =>
    fromWireMessage('openai-chat', toChatMessage(one)),
  )
  const answer = answerOf(run)
  const news = told.news(asked).map((one) => stamp(one))
  const whole = {
    ...answer,
    metadata: {
      ...answer.metadata,
      asked: asked.map(({ blocks, metadata }) => ({
        blocks,
        ...(metadata !== undefined && { metadata }),
      })) as unknown as Json,
    },
  }
  const left = unsaid(run, RUN, whole)
  told.tell(answer)
  return [
    ...news,
    stamp(
      {
        ...answer,
        ...timed,
        blocks: [...answer.blocks, ...errors],
        metadata: { ...answer.metadata, ...left },
      },
      ended ?? at,
    ),
  ]
}

const MESSAGE = `messages role content user assistant system tool human ai type data kwargs lc id text constructor langchain langchain_core schema
  messages HumanMessage AIMessage SystemMessage ToolMessage name tool_calls args function arguments tool_call_id generations message
  llm_output choices index finish_reason model usage usage_metadata object created completion chat.completion ChatGeneration
  schema output prompts stop length refusal additional_kwargs response_metadata`
const RUN = takes({
  start_time: isInstant,
  end_time: isInstant,
  inputs: inside(MESSAGE),
  outputs: inside(MESSAGE),
  error: inside(''),
  run_type: inside('llm'),
})

/** The first of LangChain's batches: it writes a list for each prompt. */
function messagesOf(inputs: JsonObject): readonly Json[] {
  const list = asArray(inputs['messages']) ?? asArray(inputs['input'])
  if (list !== undefined) return Array.isArray(list[0]) ? (list[0] as readonly Json[]) : list
  const prompts = (asArray(inputs['prompts']) ?? [inputs['prompt'] ?? inputs['input'] ?? null]).filter(
    (one) => typeof one === 'string',
  )
  return prompts.map((content) => ({ role: 'user', content }))
}

function answerOf(run: JsonObject): Said {
  const outputs = asObject(run['outputs']) ?? {}
  const meta = asObject(asObject(run['extra'])?.['metadata'])
  const unit = toUnit(outputs)
  const generation = asObject(
    asArray(asArray(outputs['generations'])?.[0])?.[0] ?? asArray(outputs['generations'])?.[0],
  )
  const stated =
    generation?.['message'] ?? outputs['output'] ?? asArray(outputs['messages'])?.at(-1) ?? outputs['message']
  const content =
    generation?.['text'] ??
    outputs['content'] ??
    outputs['text'] ??
    (typeof stated === 'string' ? stated : undefined)
  const message: Json = isObject(stated)
    ? toChatMessage(stated)
    : {
        role: 'assistant',
        ...(content !== undefined && { content }),
        ...(outputs['tool_calls'] !== undefined && { tool_calls: outputs['tool_calls'] }),
      }
  const { usage: own, ...read } =
    unit?.response === undefined
      ? fromWireMessage('openai-chat', message)
      : fromResponse(unit.api, unit.response)
  const usage =
    usageOf(run, outputs, generation, meta) ?? (own !== undefined && hasCounts(own) ? own : undefined)
  const model =
    read.model ??
    asString(outputs['model']) ??
    asString(asObject(outputs['llm_output'])?.['model_name']) ??
    asString(meta?.['ls_model_name'])
  const provider = asString(meta?.['ls_provider'])
  const messageId = read.call?.messageId ?? asString(outputs['id']) ?? asString(run['id'])
  return {
    ...read,
    kind: 'message',
    role: 'assistant',
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    call: { ...(provider !== undefined && { provider }), ...(messageId !== undefined && { messageId }) },
  }
}

/** Where counts stand depends on who wrote the run. Those of a parent are its children's, and are never looked at. */
function usageOf(
  run: JsonObject,
  outputs: JsonObject,
  generation: JsonObject | undefined,
  meta: JsonObject | undefined,
): Usage | undefined {
  const message = asObject(generation?.['message'])
  const within = asObject(message?.['kwargs']) ?? asObject(message?.['data']) ?? message
  const llm = asObject(outputs['llm_output'])
  const stated =
    asObject(outputs['usage_metadata']) ??
    asObject(within?.['usage_metadata']) ??
    asObject(asObject(outputs['output'])?.['usage_metadata']) ??
    asObject(meta?.['usage_metadata']) ??
    asObject(llm?.['token_usage'])
  if (stated !== undefined) {
    const usage = fromOpenAiUsage(toOpenAiUsage(stated))
    return hasCounts(usage) ? { ...usage, raw: stated } : undefined
  }
  const prompt = asCount(run['prompt_tokens'])
  const completion = asCount(run['completion_tokens'])
  if (prompt === undefined && completion === undefined) return undefined
  const raw = {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
  }
  // LangSmith's own sums do not say what was cached.
  return fromOpenAiUsage(raw, 'estimated')
}

const TOOL = takes({
  start_time: isInstant,
  end_time: isInstant,
  run_type: inside('tool'),
  outputs: inside('output type tool content tool_call_id data kwargs id lc constructor'),
  name: inside(''),
  error: inside(''),
})

function fromTool(run: JsonObject): Said {
  const outputs = run['outputs'] ?? null
  const given =
    isObject(outputs) && Object.keys(outputs).length === 1 ? (outputs['output'] ?? outputs) : outputs
  const message = toChatMessage(given)
  const isMessage = isObject(message) && message['role'] === 'tool'
  const callId = isMessage ? asString(message['tool_call_id']) : undefined
  const name = asString(run['name'])
  const error = asString(run['error'])
  const output = isMessage ? asText(message['content'] ?? '') : given === null ? undefined : asText(given)
  const said: Said = {
    kind: 'message',
    role: 'tool',
    blocks: [
      {
        type: 'tool-result',
        ...(callId !== undefined && { callId }),
        ...(name !== undefined && { name }),
        ...(output !== undefined && { output }),
        ...(error !== undefined && error !== '' && { error, isError: true }),
      },
    ],
  }
  // What is no message was taken whole, as text.
  const left = unsaid(run, TOOL, isMessage ? said : { ...said, metadata: { given } })
  return left === undefined ? said : { ...said, metadata: left }
}
