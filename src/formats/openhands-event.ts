/**
 * One event of an OpenHands conversation as an entry, of all three generations: flat ones (0.9 and before), `action`/`observation` with
 * `args`/`extras` (V0), and the SDK's, which have a `kind` (V1).
 */
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromAnthropicContent } from '../wire/anthropic-blocks.ts'
import { toArguments } from '../wire/openai-parts.ts'
import { fromOpenAiUsage } from '../wire/openai-usage.ts'
import { isInstant, isText, takes, type Takes } from './left-over.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

/** Which call an action was, for observations that name only the action. */
export type Causes = Map<string, string>

export function fromEvent(event: Json, causes: Causes): Said {
  if (!isObject(event)) return unknownSaid(event)
  const said = typeof event['kind'] === 'string' ? fromKind(event) : fromOlder(event, causes)
  if (said === undefined) {
    const at = parseInstant(event['timestamp'])
    const id = idOf(event)
    const name = asString(event['kind']) ?? asString(event['action']) ?? asString(event['observation'])
    return { ...unknownSaid(event, name), ...(id !== undefined && { id }), ...(at !== undefined && { at }) }
  }
  return withUnsaid(said, event, TAKEN)
}

const WORDS = `content cache_prompt type text image image_urls thought role tool_call_id function_name model_response id object created
  model choices message index finish_reason tool_calls function name arguments usage total_calls_in_response assistant responses_item_id
  origin is_error tool_use completion user system kind observation command cause extras metadata exit_code code path signature thinking`

const TAKEN: Takes = takes({
  id: (value) => typeof value === 'string' || typeof value === 'number',
  timestamp: isInstant,
  source: inside('agent user environment hook'),
  action: inside('kind'),
  observation: inside(WORDS),
  kind: isText,
  content: inside(WORDS),
  thought: inside(WORDS),
  args: inside(WORDS),
  tool_call: inside(WORDS),
  tool_call_id: isText,
  tool_name: isText,
  tool_call_metadata: inside(WORDS),
  reasoning_content: isText,
  thinking_blocks: inside(WORDS),
  llm_message: inside(WORDS),
  llm_response_id: isText,
  command: inside(''),
  code: inside(''),
  cause: (value) => typeof value === 'number',
  error: isText,
})

function idOf({ id }: JsonObject): string | undefined {
  const number = asNumber(id)
  return asString(id) ?? (number === undefined ? undefined : String(number))
}

function headOf(event: JsonObject): Pick<Said, 'id' | 'at'> {
  const at = parseInstant(event['timestamp'])
  const id = idOf(event)
  return { ...(id !== undefined && { id }), ...(at !== undefined && { at }) }
}

const text = (value: Json | undefined): readonly Block[] =>
  typeof value === 'string'
    ? value === ''
      ? []
      : [{ type: 'text', text: value }]
    : fromAnthropicContent(value)

/** V1: what the SDK's events say. */
function fromKind(event: JsonObject): Said | undefined {
  const { kind, thought, action, observation } = event
  const head = headOf(event)
  const messageId = asString(event['llm_response_id'])
  const call = messageId === undefined ? {} : { call: { messageId } }
  const callId = asString(event['tool_call_id'])
  const name = asString(event['tool_name'])
  if (kind === 'ActionEvent') {
    const reasoning = asString(event['reasoning_content'])
    const given = asObject(event['tool_call'])?.['arguments']
    const input =
      typeof given === 'string' ? toArguments(given) : (given ?? (isObject(action) ? action : undefined))
    const blocks: Block[] = [
      ...(reasoning === undefined || reasoning === ''
        ? []
        : [{ type: 'thinking', text: reasoning } satisfies Block]),
      ...text(thought),
      {
        type: 'tool-call',
        ...(callId !== undefined && { callId }),
        name: name ?? 'action',
        ...(input !== undefined && { input }),
      },
    ]
    return { ...head, kind: 'message', role: 'assistant', blocks, ...call }
  }
  if (kind === 'ObservationEvent' || kind === 'AgentErrorEvent' || kind === 'UserRejectObservation') {
    const seen = asObject(observation) ?? {}
    const output = seen['content'] === undefined ? undefined : text(seen['content'])
    const error = asString(event['error'])
    const isError = seen['is_error'] === true || kind !== 'ObservationEvent'
    const more = rest(seen, new Set(['content', 'is_error', 'kind']))
    const block: Block = {
      type: 'tool-result',
      ...(callId !== undefined && { callId }),
      ...(name !== undefined && { name }),
      ...(output !== undefined && { output: plain(output) }),
      ...(error !== undefined && { error }),
      ...(isError && { isError }),
    }
    return {
      ...head,
      kind: 'message',
      role: 'tool',
      blocks: [block],
      ...(more !== undefined && { metadata: { seen: more } }),
    }
  }
  const message = asObject(event['llm_message'])
  if (kind === 'MessageEvent' && message !== undefined) {
    const role = event['source'] === 'agent' || message['role'] === 'assistant' ? 'assistant' : 'user'
    const thinking = asString(message['reasoning_content']) ?? ''
    const blocks = [
      ...(thinking === '' ? [] : [{ type: 'thinking', text: thinking } satisfies Block]),
      ...text(message['content']),
    ]
    return { ...head, kind: 'message', role, blocks, ...(role === 'assistant' && call) }
  }
  if (kind === 'SystemPromptEvent') {
    const prompt = event['system_prompt']
    const content = isObject(prompt) ? (prompt['text'] ?? prompt['content']) : prompt
    return { ...head, kind: 'message', role: 'system', blocks: text(content) }
  }
  return undefined
}

const plain = (blocks: readonly Block[]): string | readonly Block[] =>
  blocks.length === 1 && blocks[0]?.type === 'text' && typeof blocks[0].text === 'string'
    ? blocks[0].text
    : blocks

/** Actions that are the program's own: nothing that a model or a person said. */
const OWN_ACTIONS: ReadonlySet<string> = new Set(['change_agent_state', 'recall', 'null', 'condensation'])
const OWN_OBSERVATIONS: ReadonlySet<string> = new Set([
  'agent_state_changed',
  'recall',
  'null',
  'loop_detection',
  'condense',
])

function fromOlder(event: JsonObject, causes: Causes): Said | undefined {
  const { action, observation, source } = event
  if (typeof action === 'string' && !OWN_ACTIONS.has(action)) return fromAction(event, action, causes)
  if (typeof observation !== 'string' || OWN_OBSERVATIONS.has(observation)) return undefined
  const asked = asObject(event['tool_call_metadata'])
  const by = asNumber(event['cause'])
  const cause = by === undefined ? undefined : causes.get(String(by))
  const callId = asString(asked?.['tool_call_id']) ?? cause
  // What a person typed into the terminal is no tool's answer.
  if (source === 'user' && callId === undefined) return undefined
  const output = asString(event['content'])
  const block: Block = {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    name: asString(asked?.['function_name']) ?? observation,
    ...(output !== undefined && { output }),
    ...(observation === 'error' && { isError: true }),
  }
  return { ...headOf(event), kind: 'message', role: 'tool', blocks: [block] }
}

function fromAction(event: JsonObject, action: string, causes: Causes): Said {
  const { source } = event
  const head = headOf(event)
  const args = asObject(event['args']) ?? rest(event, ENVELOPE) ?? {}
  const isAgent = source !== 'user' && source !== 'environment'
  if (action === 'message' || action === 'system') {
    // The first message of a flat history is the task; it has no source.
    const role = action === 'system' ? 'system' : source === 'agent' ? 'assistant' : 'user'
    const images = asArray(args['image_urls'] ?? args['images_urls']) ?? []
    const blocks: Block[] = [
      ...text(args['content']),
      ...images.flatMap((url) => (typeof url === 'string' ? [{ type: 'image', url } satisfies Block] : [])),
    ]
    return { ...head, kind: 'message', role, blocks, ...(role === 'assistant' && answerOf(event)) }
  }
  const asked = asObject(event['tool_call_metadata'])
  const thought = asString(args['thought']) ?? ''
  const callId = asString(asked?.['tool_call_id'])
  if (callId !== undefined && head.id !== undefined) causes.set(head.id, callId)
  const blocks: Block[] = [
    ...(thought === '' ? [] : [{ type: 'text', text: thought } satisfies Block]),
    {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name: asString(asked?.['function_name']) ?? action,
      input: rest(args, THOUGHT) ?? {},
    },
  ]
  return {
    ...head,
    kind: 'message',
    role: isAgent ? 'assistant' : 'user',
    blocks,
    ...(isAgent && answerOf(event)),
  }
}

const THOUGHT: ReadonlySet<string> = new Set(['thought'])
const ENVELOPE: ReadonlySet<string> = new Set([
  'id',
  'timestamp',
  'source',
  'action',
  'message',
  'tool_call_metadata',
  'llm_metrics',
])

/** Several actions may come of one answer: they share its id, and are one call. */
function answerOf(event: JsonObject): Pick<Said, 'model' | 'usage' | 'call' | 'stopReason'> {
  const response = asObject(asObject(event['tool_call_metadata'])?.['model_response'])
  if (response === undefined) return {}
  const messageId = asString(response['id'])
  const model = asString(response['model'])
  const [choice] = asArray(response['choices']) ?? []
  const stopReason = asString(asObject(choice)?.['finish_reason'])
  return {
    ...(model !== undefined && { model }),
    ...(isObject(response['usage']) && { usage: fromOpenAiUsage(withDetails(response['usage'])) }),
    ...(stopReason !== undefined && { stopReason }),
    ...(messageId !== undefined && { call: { messageId } }),
  }
}

/** litellm says beside OpenAI's counts what Anthropic wrote to its cache: inside of the prompt, as it says all counts. */
export function withDetails(usage: JsonObject): JsonObject {
  const written = usage['cache_creation_input_tokens'] ?? usage['cache_write_tokens']
  const read = usage['cache_read_input_tokens'] ?? usage['cache_read_tokens']
  const details = asObject(usage['prompt_tokens_details'])
  if (written === undefined && read === undefined) return usage
  return {
    ...usage,
    prompt_tokens_details: {
      ...(read !== undefined && { cached_tokens: read }),
      ...details,
      ...(written !== undefined && { cache_write_tokens: written }),
    },
  }
}
