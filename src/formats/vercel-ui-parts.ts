/** One message of the AI SDK's user interfaces as entries: a step's thinking, words and calls, then what each of its tools returned. */
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { splitPart as splitOpenAiPart } from '../wire/openai-parts.ts'
import { asId, type Said } from './placing.ts'

type Step = { readonly blocks: Block[]; readonly results: Block[]; readonly extras: (JsonObject | null)[] }

/** What stands beside the parts is `metadata.message`; what a part says beyond its block `metadata.extras`, by place. */
export function fromUiMessage(message: JsonObject): readonly Said[] {
  const id = asId(message['id'])
  const role = asString(message['role'])
  const about = asObject(message['metadata'])
  const at = parseInstant(message['createdAt']) ?? parseInstant(about?.['createdAt'])
  const model = asString(about?.['model']) ?? asString(about?.['modelId'])
  const usage = usageOf(about?.['usage'] ?? about?.['totalUsage'])
  const more = rest(message, TAKEN)
  const steps = stepsOf(message)
  const isAnswer = role === 'assistant'
  return steps.flatMap((step, index): readonly Said[] => {
    const isLast = index === steps.length - 1
    const metadata: JsonObject = {
      ...(index === 0 && more !== undefined && { message: more }),
      ...(step.extras.some((one) => one !== null) && { extras: step.extras }),
    }
    const said: Said = {
      ...(index === 0 && id !== undefined && { id }),
      kind: 'message',
      role: isAnswer ? 'assistant' : role === 'system' ? 'system' : 'user',
      ...(at !== undefined && { at }),
      blocks: step.blocks,
      ...(isAnswer && model !== undefined && { model }),
      // All steps together: the last of them has it.
      ...(isAnswer && isLast && usage !== undefined && { usage }),
      ...(isAnswer && id !== undefined && { call: { messageId: id } }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    }
    // When a tool returned is not said, only that it did.
    return [
      said,
      ...step.results.map((result): Said => ({ kind: 'message', role: 'tool', blocks: [result] })),
    ]
  })
}

const TAKEN: ReadonlySet<string> = new Set([
  'id',
  'role',
  'parts',
  'content',
  'toolInvocations',
  'createdAt',
  'reasoning',
])

function stepsOf(message: JsonObject): readonly Step[] {
  const parts = asArray(message['parts']) ?? olderParts(message)
  const steps: Step[] = []
  let open: Step | undefined
  for (const part of parts) {
    const isStart = asObject(part)?.['type'] === 'step-start'
    if (open === undefined || (isStart && open.blocks.length > 0)) {
      open = { blocks: [], results: [], extras: [] }
      steps.push(open)
    }
    if (!isStart) takePart(part, open)
  }
  return steps.length === 0 ? [{ blocks: [], results: [], extras: [] }] : steps
}

/** Version 4: text, reasoning and calls stand beside each other. */
function olderParts(message: JsonObject): readonly Json[] {
  const { content, reasoning } = message
  const calls = (asArray(message['toolInvocations']) ?? []).map((one): Json => {
    const { toolName, args, result, state, ...others } = asObject(one) ?? {}
    const isDone = state === 'result'
    return {
      ...others,
      type: 'dynamic-tool',
      toolName: toolName ?? '',
      ...(args !== undefined && { input: args }),
      state: isDone ? 'output-available' : 'input-available',
      ...(isDone && result !== undefined && { output: result }),
    }
  })
  return [
    ...(typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning', text: reasoning }] : []),
    ...(typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []),
    ...calls,
  ]
}

/** States that say no more than whether there is a result. */
const PLAIN: ReadonlySet<string> = new Set(['done', 'input-available', 'output-available', 'output-error'])
const TEXT: ReadonlySet<string> = new Set(['type', 'text'])
const FILE: ReadonlySet<string> = new Set(['type', 'url', 'mediaType'])
const TOOL: ReadonlySet<string> = new Set(['type', 'toolCallId', 'toolName', 'input', 'output', 'errorText'])

function takePart(part: Json, { blocks, results, extras }: Step): void {
  const { type, text } = asObject(part) ?? {}
  const push = (block: Block, known: ReadonlySet<string>): void => {
    blocks.push(block)
    const more = rest(part as JsonObject, known)
    const state = asString(more?.['state'])
    extras.push(
      (state !== undefined && PLAIN.has(state) ? rest(more ?? {}, new Set(['state'])) : more) ?? null,
    )
  }
  if (type === 'text' && typeof text === 'string') return push({ type: 'text', text }, TEXT)
  if (type === 'reasoning' && typeof text === 'string') return push({ type: 'thinking', text }, TEXT)
  const image = toImage(part)
  if (image !== undefined) return push(image, FILE)
  const name = toolName(part)
  if (name === undefined || !isObject(part)) {
    blocks.push({ type: 'unknown', raw: part })
    extras.push(null)
    return
  }
  const callId = asString(part['toolCallId'])
  const input = part['input']
  const named = { ...(callId !== undefined && { callId }), name }
  push({ type: 'tool-call', ...named, ...(input !== undefined && { input }) }, TOOL)
  const result = toResult(part)
  if (result !== undefined) results.push({ type: 'tool-result', ...named, ...result })
}

/** `tool-<name>`, or `dynamic-tool` with its name beside it. */
function toolName(part: Json): string | undefined {
  const { type, toolName: stated, toolCallId } = asObject(part) ?? {}
  if (typeof type !== 'string' || typeof toolCallId !== 'string') return undefined
  if (type === 'dynamic-tool') return asString(stated)
  return type.startsWith('tool-') ? type.slice('tool-'.length) : undefined
}

function toResult({
  state,
  output,
  errorText,
}: JsonObject): Partial<Extract<Block, { type: 'tool-result' }>> | undefined {
  if (state === 'output-available') return { output: toOutput(output ?? null) }
  if (state === 'output-error') return { error: asString(errorText) ?? '', isError: true }
  return state === 'output-denied' ? { error: 'denied', isError: true } : undefined
}

const toOutput = (output: Json): string | readonly Block[] =>
  typeof output === 'string' ? output : [{ type: 'unknown', raw: output }]

function toImage(part: Json): Block | undefined {
  const { type, url, mediaType } = asObject(part) ?? {}
  if (type !== 'file' || typeof url !== 'string' || asString(mediaType)?.startsWith('image/') !== true)
    return undefined
  const { block } = splitOpenAiPart({ type: 'image_url', image_url: { url } })
  return block.type === 'image' && typeof mediaType === 'string' ? { ...block, mediaType } : undefined
}

/** As the SDK counts: input includes what was cached, output includes reasoning. Programs put it there themselves, or not. */
function usageOf(raw: Json | undefined): Usage | undefined {
  const said = asObject(raw)
  if (said === undefined) return undefined
  const prompt = asCount(said['inputTokens']) ?? asCount(said['promptTokens'])
  const cacheRead =
    asCount(said['cachedInputTokens']) ?? asCount(asObject(said['inputTokenDetails'])?.['cacheReadTokens'])
  const output = asCount(said['outputTokens']) ?? asCount(said['completionTokens'])
  const reasoning =
    asCount(said['reasoningTokens']) ?? asCount(asObject(said['outputTokenDetails'])?.['reasoningTokens'])
  const usage: Usage = {
    ...(prompt !== undefined && { input: Math.max(0, prompt - (cacheRead ?? 0)) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: 'reported',
    raw: said,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw: said }
}
