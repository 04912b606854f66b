/**
 * Gemini's generateContent: the whole answer, and the same out of its stream, whether that came as events (`alt=sse`) or as
 * the elements of a JSON array (`createJsonArrayParser`). The first candidate is the message, the others are alternatives.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject, rest, toJson } from '../transcript/json.ts'
import { createCandidateDraft, type CandidateDraft } from './gemini-draft.ts'
import { splitParts } from './gemini-parts.ts'
import { fromGeminiUsage } from './gemini-usage.ts'
import { CHOICE_LIMIT, createBudget } from './limits.ts'
import type { Alternative, Outcome, Reassembly, WireError, WireMessage, WireOptions } from './message.ts'
import { eventValue, keepUnknown, saidFields, toOutcome, toWireError } from './message.ts'
import { toBlocks } from './split.ts'

/** A response body that came whole. An array is a stream that came whole. */
export function parseGeminiResponse(body: Json, options: WireOptions = {}): WireMessage {
  if (Array.isArray(body)) return parseStream(body, options)
  const raw = unwrap(asObject(body) ?? {})
  const error = toWireError(raw['error'] ?? undefined)
  return toMessage(raw, {
    requestId: options.requestId,
    error,
    complete: isObject(body) && error === undefined,
    unknown: isObject(body) ? [] : [body],
    dropped: 0,
  })
}

export function createGeminiReassembly({ requestId, limit, shelf }: WireOptions = {}): Reassembly {
  const budget = createBudget(limit, shelf)
  const unknown: Json[] = []
  const drafts = new Map<number, CandidateDraft>()
  /** The last value of each field: usage is running, the last report wins. */
  let stated: JsonObject = {}
  let error: WireError | undefined

  const takeCandidate = (raw: Json): boolean => {
    const index = isObject(raw) ? (raw['index'] === undefined ? 0 : asCount(raw['index'])) : undefined
    if (!isObject(raw) || index === undefined || index >= CHOICE_LIMIT) return false
    const draft = drafts.get(index) ?? createCandidateDraft(budget)
    drafts.set(index, draft)
    draft.take(raw)
    return true
  }

  const take = (event: JsonObject): boolean => {
    const chunk = unwrap(event)
    if (chunk['error'] !== undefined) {
      error = toWireError(chunk)
      return true
    }
    const isOurs = CHUNK.some((field) => chunk[field] !== undefined)
    if (!isOurs) return false
    stated = { ...stated, ...saidFields(rest(chunk, new Set(['candidates']))) }
    return (asArray(chunk['candidates']) ?? []).map(takeCandidate).every(Boolean)
  }

  return {
    push(event) {
      if (event.oversize !== undefined) budget.drop(event.oversize)
      const value = eventValue(event)
      if (value === undefined) return
      if (!isObject(value) || !take(value)) keepUnknown(unknown, budget, event, value)
    },
    end() {
      const candidates = [...drafts.entries()].sort(([a], [b]) => a - b).map(([, draft]) => draft)
      const isFinished = candidates.length > 0 && candidates.every((draft) => draft.isFinished())
      const isBlocked = candidates.length === 0 && blockReason(stated) !== undefined
      return toMessage(
        { ...stated, candidates: candidates.map((draft) => draft.toRaw()) },
        {
          requestId,
          error,
          complete: (isFinished || isBlocked) && error === undefined && budget.dropped() === 0,
          unknown: [...unknown],
          dropped: budget.dropped(),
        },
      )
    },
  }
}

/** Any of these makes an object a chunk of an answer. */
const CHUNK = ['candidates', 'usageMetadata', 'promptFeedback', 'responseId', 'modelVersion'] as const
const ANSWER_FIELDS: ReadonlySet<string> = new Set([
  'candidates',
  'usageMetadata',
  'responseId',
  'modelVersion',
  'error',
])
const CANDIDATE_FIELDS: ReadonlySet<string> = new Set(['content', 'finishReason', 'index'])

function parseStream(body: readonly Json[], options: WireOptions): WireMessage {
  const reassembly = createGeminiReassembly(options)
  for (const chunk of body) reassembly.push({ data: toJson(chunk), complete: true })
  return reassembly.end()
}

/** Gemini CLI's own endpoint puts the answer under `response`, with a `traceId` beside it. */
function unwrap(raw: JsonObject): JsonObject {
  const inner = asObject(raw['response'])
  if (inner === undefined || raw['candidates'] !== undefined) return raw
  return { ...rest(raw, new Set(['response'])), ...inner }
}

function blockReason(raw: JsonObject): string | undefined {
  return asString(asObject(raw['promptFeedback'])?.['blockReason'])
}

function toMessage(raw: JsonObject, known: Outcome): WireMessage {
  const candidates = asArray(raw['candidates']) ?? []
  const [first, ...others] = candidates.slice(0, CHOICE_LIMIT).map(toAlternative)
  const messageId = asString(raw['responseId'])
  const model = asString(raw['modelVersion'])
  const stopReason = first?.stopReason ?? blockReason(raw)
  const serviceTier = asString(asObject(raw['usageMetadata'])?.['serviceTier'])
  const firstRaw = asObject(candidates[0])
  const fields = saidFields(rest(raw, ANSWER_FIELDS), firstRaw && rest(firstRaw, CANDIDATE_FIELDS))
  const isOnlyError = known.error !== undefined && first === undefined && !isObject(raw['usageMetadata'])
  return {
    provider: 'google',
    ...(messageId !== undefined && { messageId }),
    ...(model !== undefined && { model }),
    role: 'assistant',
    ...(first ?? { blocks: [] }),
    ...(!isOnlyError && {
      usage: fromGeminiUsage(raw['usageMetadata'], known.complete ? 'reported' : 'partial'),
    }),
    ...(stopReason !== undefined && { stopReason }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(others.length > 0 && { alternatives: others }),
    ...(fields !== undefined && { fields }),
    ...toOutcome(known),
  }
}

function toAlternative(candidate: Json): Alternative {
  const raw = asObject(candidate)
  const stopReason = asString(raw?.['finishReason'])
  const split = raw === undefined ? [{ block: { type: 'unknown' as const, raw: candidate } }] : undefined
  return {
    ...toBlocks(split ?? splitParts(asObject(raw?.['content'])?.['parts'])),
    ...(stopReason !== undefined && { stopReason }),
  }
}
