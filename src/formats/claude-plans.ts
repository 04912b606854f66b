/** What facts need of a line that is told by its shape, as places among its values: learnt from one line, and good for all like it. */
import { hashSteps, mixedFirst, type HashStep, type Mixed } from '../transcript/call-hash.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { filesIn, wayOf, type Way } from '../transcript/tool-files.ts'
import { DEFAULT_NAMES, firstSaid, type DefaultName } from './claude-facts.ts'
import { SYNTHETIC } from './claude-lines.ts'
import { isOwnLine } from './claude-own.ts'
import { SPAWNING } from './claude-spawns.ts'

/** Numbers are places among the line's values. */
export type ClaudePlan = {
  readonly uuid: number
  readonly timestamp: number
  /** What the session's first lines say for all. */
  readonly defaults: ReadonlyMap<DefaultName, number>
  /** What the line that was learnt from said for all, as `firstSaid` has it. */
  readonly said: JsonObject
  /** It was Claude Code's own: so is any other, unless its session is called as others call theirs. */
  readonly isOwn: boolean
  /** Whose line it is, for a subagent's. */
  readonly agent: number | undefined
  readonly answer: AnswerPlan | undefined
  readonly blocks: readonly BlockPlan[]
  /** Milliseconds, where the line says them. */
  readonly took: number | undefined
}

export type AnswerPlan = {
  readonly model: string
  readonly id: number
  readonly isDone: boolean
  readonly usage: UsagePlan
}

export type UsagePlan = {
  /** The provider's own object without its counts. */
  readonly words: JsonObject
  /** Those of the object itself, and those of the objects in it. */
  readonly counts: readonly (readonly [path: readonly string[], place: number])[]
  /** Where all that is usually said is said: input, read, written, of that for 5 minutes and for an hour, output. */
  readonly usual: readonly number[] | undefined
}

export type BlockPlan =
  | { readonly type: 'text' | 'thinking' }
  | { readonly type: 'tool-result'; readonly callId: number; readonly isError: boolean | undefined }
  | CallPlan

export type CallPlan = {
  readonly type: 'tool-call'
  readonly callId: number
  readonly name: string
  readonly way: Way
  /** What the tool was told to do, where that decides what it does. */
  readonly command: number | undefined
  readonly files: readonly number[]
  readonly mixed: Mixed
  /** Places of texts and numbers, and what stands between them. */
  readonly steps: readonly CallStep[]
}

export type CallStep = { readonly step: HashStep } | { readonly place: number; readonly isText: boolean }

/** Blocks of a message, and of a result, at most; and members of an object that a tool was given. */
export const MOST_BLOCKS = 4

/** By path. */
type Places = ReadonlyMap<string, number>

/** Of a line that looks ordinary; undefined where it says something unusual after all. */
export function planOf(line: JsonObject, places: Places): ClaudePlan | undefined {
  const [uuid, timestamp, agent] = ['uuid', 'timestamp', 'agentId'].map((name) => textAt(line, places, name))
  const { isSidechain, type } = line
  if (uuid === undefined || timestamp === undefined) return undefined
  if (isSidechain === true && agent === undefined) return undefined
  // What `isOrdinary` has seen.
  const message = line['message'] as JsonObject
  const content = message['content'] as readonly Json[]
  const blocks: BlockPlan[] = []
  for (const [nth, raw] of content.entries()) {
    const block = isObject(raw) ? blockPlan(type === 'assistant', raw, nth, places) : undefined
    if (block === undefined) return undefined
    blocks.push(block)
  }
  const answer = type === 'assistant' ? answerPlan(message, places) : undefined
  if (type === 'assistant' && answer === undefined) return undefined
  const { toolUseResult } = line
  // It names a subagent.
  if (isObject(toolUseResult) && Object.hasOwn(toolUseResult, 'agentId')) return undefined
  return {
    uuid,
    timestamp,
    defaults: new Map(
      DEFAULT_NAMES.flatMap((name) => {
        const place = textAt(line, places, name)
        return place === undefined ? [] : [[name, place] as const]
      }),
    ),
    said: firstSaid(line),
    isOwn: isOwnLine(line),
    agent: isSidechain === true ? agent : undefined,
    answer,
    blocks,
    took:
      numberAt(toolUseResult, places, 'toolUseResult.totalDurationMs') ??
      numberAt(toolUseResult, places, 'toolUseResult.durationMs') ??
      numberAt(line, places, 'durationMs'),
  }
}

function textAt(object: JsonObject, places: Places, path: string): number | undefined {
  return typeof object[path.slice(path.lastIndexOf('.') + 1)] === 'string' ? places.get(path) : undefined
}

function numberAt(object: Json | undefined, places: Places, path: string): number | undefined {
  const name = path.slice(path.lastIndexOf('.') + 1)
  return isObject(object) && typeof object[name] === 'number' ? places.get(path) : undefined
}

function blockPlan(isAnswer: boolean, raw: JsonObject, nth: number, places: Places): BlockPlan | undefined {
  const path = `message.content.${nth}`
  const { type } = raw
  if (!isAnswer) {
    const callId = type === 'tool_result' ? textAt(raw, places, `${path}.tool_use_id`) : undefined
    const { content, is_error: isError } = raw
    if (callId === undefined || !(isError === undefined || typeof isError === 'boolean')) return undefined
    return isPlainOutput(content) ? { type: 'tool-result', callId, isError } : undefined
  }
  if (type === 'text' && typeof raw['text'] === 'string') return { type: 'text' }
  if (type === 'thinking' && typeof raw['thinking'] === 'string') return { type: 'thinking' }
  if (type === 'redacted_thinking' && typeof raw['data'] === 'string') return { type: 'thinking' }
  return type === 'tool_use' ? callPlan(raw, path, places) : undefined
}

/** Text, or texts. */
function isPlainOutput(content: Json | undefined): boolean {
  if (content === undefined || typeof content === 'string') return true
  if (!Array.isArray(content) || content.length > MOST_BLOCKS) return false
  return content.every(
    (one: Json) => isObject(one) && one['type'] === 'text' && typeof one['text'] === 'string',
  )
}

/** In place of a value that is another in each line. */
const SLOT = '\u0001'
const TEXT_SLOT = `${SLOT}t`

function callPlan(raw: JsonObject, path: string, places: Places): CallPlan | undefined {
  const { name, input } = raw
  const callId = textAt(raw, places, `${path}.id`)
  if (callId === undefined || typeof name !== 'string' || SPAWNING.has(name) || !isObject(input))
    return undefined
  const slots = withSlots(input, `${path}.input`, places)
  const steps = hashSteps(slots).map((step): CallStep => {
    if (typeof step === 'number' || !step.startsWith(SLOT)) return { step }
    return { place: Number(step.slice(2)), isText: step.startsWith(TEXT_SLOT) }
  })
  const first = steps.findIndex((one) => 'place' in one)
  const begun = first === -1 ? steps.length : first
  return {
    type: 'tool-call',
    callId,
    name,
    way: wayOf(name, {}),
    command: textAt(input, places, `${path}.input.command`),
    files: filesIn(slots).flatMap((file) => (file.startsWith(TEXT_SLOT) ? [Number(file.slice(2))] : [])),
    mixed: mixedFirst(
      name,
      steps.slice(0, begun).flatMap((one) => ('step' in one ? [one.step] : [])),
    ),
    steps: steps.slice(begun),
  }
}

/** The value with the places of its texts and numbers instead of these. */
function withSlots(value: Json, path: string, places: Places): Json {
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, withSlots(one, `${path}.${name}`, places)]),
    )
  const place = places.get(path)
  return place === undefined ? value : `${SLOT}${typeof value === 'string' ? 't' : 'n'}${place}`
}

const USUAL = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'output_tokens',
]

function answerPlan(message: JsonObject, places: Places): AnswerPlan | undefined {
  const { model, usage, stop_reason: stopReason } = message
  const id = textAt(message, places, 'message.id')
  if (typeof model !== 'string' || model === SYNTHETIC || id === undefined || !isObject(usage))
    return undefined
  const counts = [...places]
    .filter(([path]) => path.startsWith('message.usage.'))
    .map(([path, place]) => [path.split('.').slice(2), place] as const)
  if (!counts.every(([path]) => typeof valueIn(usage, path) === 'number')) return undefined
  const usual = USUAL.map((name) => places.get(`message.usage.${name}`))
  const isUsual =
    usual.every((place) => place !== undefined) && !Object.hasOwn(usage, 'output_tokens_details')
  return {
    model,
    id,
    isDone: typeof stopReason === 'string',
    usage: {
      words: withoutCounts(usage, 'message.usage', places),
      counts,
      usual: isUsual ? usual : undefined,
    },
  }
}

function valueIn(object: JsonObject, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((one, name) => (isObject(one) ? one[name] : undefined), object)
}

function withoutCounts(object: JsonObject, path: string, places: Places): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, one]) => {
      const own = `${path}.${name}`
      if (places.has(own)) return []
      return [[name, isObject(one) ? withoutCounts(one, own, places) : one]]
    }),
  )
}
