/**
 * OpenAI Chat Completions: the whole completion, and the same out of its stream. The first choice is the message, the others
 * are alternatives. Usage comes only when the request asked for it, in a last chunk without choices; else it is unavailable.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject, rest, toJson } from '../transcript/json.ts'
import { CHOICE_LIMIT, createBudget } from './limits.ts'
import type { Alternative, Outcome, Reassembly, WireError, WireMessage, WireOptions } from './message.ts'
import { eventValue, isStreamEnd, keepUnknown, saidFields, toOutcome, toWireError } from './message.ts'
import { toBlocks } from './split.ts'
import { chatMessageRest, splitChatMessage } from './openai-chat-blocks.ts'
import { createChoiceDraft, type ChoiceDraft } from './openai-chat-draft.ts'
import { fromOpenAiUsage } from './openai-usage.ts'

/** A response body that came whole. */
export function parseOpenAiChatCompletion(body: Json, { requestId }: WireOptions = {}): WireMessage {
  const raw = asObject(body)
  const isError = raw !== undefined && (isObject(raw['error']) || typeof raw['error'] === 'string')
  return toMessage(raw ?? {}, asArray(raw?.['choices']) ?? [], {
    requestId,
    error: isError ? toWireError(body) : undefined,
    complete: raw !== undefined && !isError,
    unknown: raw === undefined ? [body] : [],
    dropped: 0,
  })
}

export function createOpenAiChatReassembly({ requestId, limit, shelf }: WireOptions = {}): Reassembly {
  const budget = createBudget(limit, shelf)
  const unknown: Json[] = []
  const choices = new Map<number, ChoiceDraft>()
  /** The last value of each field that is not part of a choice. */
  let stated: JsonObject = {}
  let error: WireError | undefined
  let isDone = false

  const takeChoice = (raw: Json): boolean => {
    const index = isObject(raw) ? (raw['index'] === undefined ? 0 : asCount(raw['index'])) : undefined
    if (!isObject(raw) || index === undefined || index >= CHOICE_LIMIT) return false
    const draft = choices.get(index) ?? createChoiceDraft(index, budget)
    choices.set(index, draft)
    for (const kept of draft.take(raw)) if (budget.take(toJson(kept).length)) unknown.push(kept)
    return true
  }

  const take = (chunk: JsonObject): boolean => {
    if (isObject(chunk['error']) || typeof chunk['error'] === 'string') {
      error = toWireError(chunk)
      return true
    }
    const list = asArray(chunk['choices'])
    if (list === undefined && !isObject(chunk['usage'])) return false
    // Azure opens with empty strings for id and model; null means "not in this chunk".
    const { id, model, ...others } = rest(chunk, NOT_STATED) ?? {}
    stated = {
      ...stated,
      ...saidFields(others),
      ...(typeof id === 'string' && id !== '' && { id }),
      ...(typeof model === 'string' && model !== '' && { model }),
    }
    return (list ?? []).map(takeChoice).every(Boolean)
  }

  return {
    push(event) {
      if (event.oversize !== undefined) budget.drop(event.oversize)
      if (isStreamEnd(event)) {
        isDone = true
        return
      }
      const value = eventValue(event)
      if (value === undefined) return
      if (!isObject(value) || !take(value)) keepUnknown(unknown, budget, event, value)
    },
    end() {
      const drafts = [...choices.entries()].sort(([a], [b]) => a - b).map(([, draft]) => draft)
      const isFinished = drafts.length > 0 && drafts.every((draft) => draft.isFinished())
      const whole = drafts.map((draft) => draft.toRaw())
      // Behind what was said: some of it may not be there any more.
      const complete = (isDone || isFinished) && error === undefined && budget.dropped() === 0
      const dropped = budget.dropped()
      return toMessage(stated, whole, { requestId, error, complete, unknown: [...unknown], dropped })
    },
  }
}

/** Not kept from a chunk: its choices go to their drafts, and `obfuscation` is random padding against eavesdroppers. */
const NOT_STATED: ReadonlySet<string> = new Set(['choices', 'obfuscation'])
const COMPLETION_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'model',
  'choices',
  'usage',
  'service_tier',
  'error',
])
const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'message', 'finish_reason'])

function toMessage(raw: JsonObject, choices: readonly Json[], known: Outcome): WireMessage {
  const messageId = asString(raw['id'])
  const model = asString(raw['model'])
  const serviceTier = asString(raw['service_tier'])
  const [first, ...others] = choices.slice(0, CHOICE_LIMIT).map(toAlternative)
  const firstChoice = asObject(choices[0])
  const fields = saidFields(
    rest(raw, COMPLETION_FIELDS),
    firstChoice && rest(firstChoice, CHOICE_FIELDS),
    chatMessageRest(asObject(firstChoice?.['message']) ?? {}),
  )
  const isOnlyError = known.error !== undefined && first === undefined && !isObject(raw['usage'])
  return {
    provider: 'openai',
    ...(messageId !== undefined && { messageId }),
    ...(model !== undefined && { model }),
    role: 'assistant',
    ...(first ?? { blocks: [] }),
    ...(!isOnlyError && { usage: fromOpenAiUsage(raw['usage'], known.complete ? 'reported' : 'partial') }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(others.length > 0 && { alternatives: others }),
    ...(fields !== undefined && { fields }),
    ...toOutcome(known),
  }
}

function toAlternative(choice: Json): Alternative {
  const stopReason = asString(asObject(choice)?.['finish_reason'])
  const message = asObject(asObject(choice)?.['message'])
  return {
    ...toBlocks(
      message === undefined ? [{ block: { type: 'unknown', raw: choice } }] : splitChatMessage(message),
    ),
    ...(stopReason !== undefined && { stopReason }),
  }
}
