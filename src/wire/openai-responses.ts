/**
 * OpenAI Responses: the whole response, and the same out of its stream. The stream's last event holds the whole response and
 * is preferred; deltas are what is left when it never came, or came without its output.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject, rest } from '../transcript/json.ts'
import { BLOCK_LIMIT, createBudget } from './limits.ts'
import type { Outcome, Reassembly, WireError, WireMessage, WireOptions } from './message.ts'
import { eventValue, isStreamEnd, keepUnknown, saidFields, toOutcome, toWireError } from './message.ts'
import { splitItem } from './openai-items.ts'
import { createItemDraft, type ItemDraft } from './openai-item-draft.ts'
import { fromOpenAiUsage } from './openai-usage.ts'
import { toBlocks } from './split.ts'

/** A response body that came whole. */
export function parseOpenAiResponse(body: Json, { requestId }: WireOptions = {}): WireMessage {
  const raw = asObject(body)
  const error = toWireError(raw?.['error'] ?? undefined)
  return toMessage(raw ?? {}, {
    requestId,
    error,
    complete: raw !== undefined && error === undefined && isEnd(raw['status']),
    unknown: raw === undefined ? [body] : [],
    dropped: 0,
  })
}

export function createOpenAiResponsesReassembly({ requestId, limit, shelf }: WireOptions = {}): Reassembly {
  const budget = createBudget(limit, shelf)
  const unknown: Json[] = []
  const drafts = new Map<number, ItemDraft>()
  /** The response as last stated, and whether that was the last word on it. */
  let response: JsonObject = {}
  let isEnded = false
  let error: WireError | undefined

  const takeItem = (event: JsonObject, type: string): boolean => {
    const index = asCount(event['output_index'])
    if (index === undefined || (!drafts.has(index) && drafts.size >= BLOCK_LIMIT)) return false
    const draft = drafts.get(index) ?? createItemDraft(budget)
    if (!draft.take(event, type)) return false
    drafts.set(index, draft)
    return true
  }

  const take = (event: JsonObject, type: string): boolean => {
    if (type === 'error') {
      error = toWireError(event)
      return true
    }
    const stated = asObject(event['response'])
    if (stated !== undefined && WHOLE.has(type)) {
      response = stated
      isEnded = isEnd(type.slice('response.'.length))
      error = toWireError(stated['error'] ?? undefined) ?? error
      return true
    }
    return PROGRESS.test(type) || takeItem(event, type)
  }

  return {
    push(event) {
      if (event.oversize !== undefined) budget.drop(event.oversize)
      const value = eventValue(event)
      if (value === undefined || isStreamEnd(event)) return
      const type = asString(asObject(value)?.['type']) ?? event.event ?? ''
      if (type.includes('output_item') && !budget.take(event.data.length)) return
      if (!isObject(value) || !take(value, type)) keepUnknown(unknown, budget, event, value)
    },
    end() {
      const streamed = [...drafts.entries()].sort(([a], [b]) => a - b).map(([, draft]) => draft.toRaw())
      const isMissing = (asArray(response['output']) ?? []).length === 0
      const isWhole = isEnded && (budget.dropped() === 0 || !isMissing)
      return toMessage(isMissing ? { ...response, output: streamed } : response, {
        requestId,
        error,
        complete: isWhole && error === undefined,
        unknown: [
          ...unknown,
          ...(isMissing ? [...drafts.values()].flatMap((draft) => draft.unplaced()) : []),
        ],
        dropped: budget.dropped(),
      })
    },
  }
}

/** Events that state the whole response. */
const WHOLE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Events about the progress of what an item will say whole: server tools at work, parts opening, images half drawn. */
const PROGRESS =
  /^response\.(?:[a-z_]+\.(?:in_progress|searching|interpreting|generating|completed|failed|partial_image)|output_text\.annotation\.added|(?:content_part|reasoning_summary_part)\.(?:added|done))$/

const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'status',
  'model',
  'output',
  'usage',
  'service_tier',
  'error',
])

/** `failed` is an end as well: its error then says that the answer is not complete. */
function isEnd(status: Json | undefined): boolean {
  return status === undefined || status === 'completed' || status === 'incomplete' || status === 'failed'
}

function toMessage(raw: JsonObject, known: Outcome): WireMessage {
  const messageId = asString(raw['id'])
  const model = asString(raw['model'])
  const serviceTier = asString(raw['service_tier'])
  const stopReason = asString(asObject(raw['incomplete_details'])?.['reason']) ?? asString(raw['status'])
  const answer = toBlocks((asArray(raw['output']) ?? []).flatMap(splitItem))
  const isOnlyError = known.error !== undefined && answer.blocks.length === 0 && !isObject(raw['usage'])
  const fields = saidFields(rest(raw, RESPONSE_FIELDS))
  return {
    provider: 'openai',
    ...(messageId !== undefined && { messageId }),
    ...(model !== undefined && { model }),
    role: 'assistant',
    ...answer,
    ...(!isOnlyError && {
      usage: fromOpenAiUsage(raw['usage'], known.complete || known.error ? 'reported' : 'partial'),
    }),
    ...(stopReason !== undefined && { stopReason }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(fields !== undefined && { fields }),
    ...toOutcome(known),
  }
}
