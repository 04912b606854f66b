/**
 * Anthropic Messages: the whole message, and the same message out of its stream. Both are read by one function, so that they
 * cannot differ: a stream is first put together to the JSON that the provider would have sent at once.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject, rest } from '../transcript/json.ts'
import { createBlockDraft, type BlockDraft } from './anthropic-draft.ts'
import { splitAnthropicBlock } from './anthropic-blocks.ts'
import { anthropicIterations, fromAnthropicUsage } from './anthropic-usage.ts'
import { BLOCK_LIMIT, createBudget } from './limits.ts'
import type { Alternative, Outcome, Reassembly, WireError, WireMessage, WireOptions } from './message.ts'
import { eventValue, keepUnknown, saidFields, toOutcome, toWireError } from './message.ts'
import { toBlocks } from './split.ts'

/** A response body that came whole. */
export function parseAnthropicMessage(body: Json, { requestId }: WireOptions = {}): WireMessage {
  const raw = asObject(body)
  const isError = raw?.['type'] === 'error' || (raw !== undefined && isObject(raw['error']))
  const error = isError ? toWireError(body) : undefined
  return toMessage(isError ? {} : (raw ?? {}), {
    requestId: asString(raw?.['request_id']) ?? requestId,
    error,
    complete: raw !== undefined && !isError,
    isReported: true,
    alternatives: [],
    unknown: raw === undefined ? [body] : [],
    dropped: 0,
  })
}

export function createAnthropicReassembly({ requestId, limit, shelf }: WireOptions = {}): Reassembly {
  const budget = createBudget(limit, shelf)
  const unknown: Json[] = []
  const alternatives: Alternative[] = []
  let message: JsonObject = {}
  let drafts = new Map<number, BlockDraft>()
  let usage: JsonObject | undefined
  let isReported = false
  let isEnded = false
  let error: WireError | undefined
  let errorRequestId: string | undefined

  const content = (): Json[] =>
    [...drafts.entries()].sort(([a], [b]) => a - b).map(([, draft]) => draft.toRaw())

  const start = (event: JsonObject): void => {
    // A gateway that retries begins again in the same stream: what came before is another answer, not a part of this one.
    if (drafts.size > 0) alternatives.push(toAlternative(message, content(), usage, isReported && isEnded))
    message = asObject(event['message']) ?? {}
    usage = saidFields(asObject(message['usage']))
    drafts = new Map()
    isReported = false
    isEnded = false
    for (const [index, block] of (asArray(message['content']) ?? []).entries()) startBlock(index, block)
  }

  const startBlock = (index: number | undefined, block: Json): boolean => {
    if (index === undefined || !isObject(block) || (!drafts.has(index) && drafts.size >= BLOCK_LIMIT))
      return false
    const replaced = drafts.get(index)
    if (replaced !== undefined) unknown.push(replaced.toRaw())
    drafts.set(index, createBlockDraft(block, budget))
    return true
  }

  const addDelta = (index: number | undefined, delta: Json | undefined): boolean => {
    if (index === undefined || !isObject(delta)) return false
    const draft = drafts.get(index)
    if (draft !== undefined) return draft.add(delta)
    if (drafts.size >= BLOCK_LIMIT) return false
    // Its beginning was lost: what the delta is part of can still be told from its kind.
    const orphan = createBlockDraft(undefined, budget)
    if (!orphan.add(delta)) return false
    drafts.set(index, orphan)
    return true
  }

  const changeMessage = (event: JsonObject): void => {
    const { usage: _, ...others } = message
    const changed = saidFields(others, asObject(event['delta']), rest(event, DELTA_FIELDS))
    message = changed ?? {}
    const reported = asObject(event['usage'])
    // Cumulative: overwritten, never added. The split of cache writes is in `message_start` alone and so survives.
    usage = saidFields(usage, reported)
    if (asCount(reported?.['output_tokens']) !== undefined) isReported = true
  }

  const take = (event: JsonObject, type: string): boolean => {
    switch (type) {
      case 'ping':
      case 'content_block_stop':
        return true
      case 'message_start':
        start(event)
        return true
      case 'content_block_start':
        return startBlock(asCount(event['index']), event['content_block'] ?? null)
      case 'content_block_delta':
        return addDelta(asCount(event['index']), event['delta'])
      case 'message_delta':
        changeMessage(event)
        return true
      case 'message_stop':
        isEnded = true
        return rest(event, STOP_FIELDS) === undefined
      case 'error':
        error = toWireError(event)
        errorRequestId = asString(event['request_id'])
        return true
      default:
        return false
    }
  }

  return {
    push(event) {
      if (event.oversize !== undefined) budget.drop(event.oversize)
      const value = eventValue(event)
      if (value === undefined) return
      const type = asString(asObject(value)?.['type']) ?? event.event ?? ''
      // These are held as they came; deltas count for what they add.
      if (type.endsWith('_start') && !budget.take(event.data.length)) return
      const isTaken = isObject(value) && take(value, type)
      if (!isTaken) keepUnknown(unknown, budget, event, value)
    },
    end() {
      const stated = { ...message, content: content(), ...(usage !== undefined && { usage }) }
      const stopReason = asString(message['stop_reason'])
      return toMessage(stated, {
        requestId: requestId ?? errorRequestId,
        error,
        complete: isEnded && error === undefined && budget.dropped() === 0,
        isReported: isReported && (isEnded || stopReason !== undefined),
        alternatives,
        unknown: [...unknown],
        dropped: budget.dropped(),
      })
    },
  }
}

const DELTA_FIELDS: ReadonlySet<string> = new Set(['type', 'delta', 'usage'])
const STOP_FIELDS: ReadonlySet<string> = new Set(['type', 'amazon-bedrock-invocationMetrics'])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'usage',
])

type Known = Outcome & {
  /** Whether the usage is the provider's last word. */
  readonly isReported: boolean
  readonly alternatives: readonly Alternative[]
}

function toMessage(raw: JsonObject, known: Known): WireMessage {
  const messageId = asString(raw['id'])
  const model = asString(raw['model'])
  const stopReason = asString(raw['stop_reason'])
  const rawUsage = raw['usage']
  const serviceTier = asString(asObject(rawUsage)?.['service_tier'])
  const iterations = anthropicIterations(rawUsage)
  const fields = saidFields(rest(raw, MESSAGE_FIELDS))
  const answer = toBlocks((asArray(raw['content']) ?? []).map(splitAnthropicBlock))
  const isOnlyError = known.error !== undefined && rawUsage === undefined && answer.blocks.length === 0
  return {
    provider: 'anthropic',
    ...(messageId !== undefined && { messageId }),
    ...(model !== undefined && { model }),
    role: 'assistant',
    ...answer,
    ...(!isOnlyError && {
      usage: fromAnthropicUsage(rawUsage ?? null, known.isReported ? 'reported' : 'partial'),
    }),
    ...(iterations !== undefined && { iterations }),
    ...(stopReason !== undefined && { stopReason }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(known.alternatives.length > 0 && { alternatives: known.alternatives }),
    ...(fields !== undefined && { fields }),
    ...toOutcome(known),
  }
}

function toAlternative(
  message: JsonObject,
  content: readonly Json[],
  usage: JsonObject | undefined,
  isReported: boolean,
): Alternative {
  const messageId = asString(message['id'])
  const stopReason = asString(message['stop_reason'])
  return {
    ...(messageId !== undefined && { messageId }),
    ...toBlocks(content.map(splitAnthropicBlock)),
    ...(stopReason !== undefined && { stopReason }),
    ...(usage !== undefined && { usage: fromAnthropicUsage(usage, isReported ? 'reported' : 'partial') }),
  }
}
