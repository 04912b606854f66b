/** Whose API a file is of, by its first records: messages decide together, everything else by itself. */
import { isObject, type Json } from '../transcript/json.ts'
import type { WireApi } from '../wire/message.ts'
import type { Detection } from './format.ts'
import type { Head } from './head-records.ts'
import { toUnit, type ProviderUnit } from './provider-shapes.ts'
import { isPlainMessage, messagesApi, type Vote } from './provider-vote.ts'
import { layoutOf } from './file-steps.ts'

/** Messages with keys that no API knows: somebody's own, which a reader of anybody's messages takes as well. */
const STRANGE = 0.15

/** Records that are looked at. */
const LOOKED_AT = 50

/** How sure the beginning of a file makes us that it is of this API. */
export function detectProvider(head: Head, api: WireApi): Detection | undefined {
  const looks = looksOf(head)
  const { values, units } = looks
  const isMessages = units.some((unit) => unit?.message !== undefined)
  const own = isMessages
    ? ofMessages(looks, api)
    : units.flatMap((unit) => (unit === undefined ? [] : (asOwn(unit, api) ?? [])))
  const [first] = own
  const strange = layoutOf(head) === 'lines' ? head.strange : 0
  if (first === undefined || own.length * 2 <= values.length + strange) return undefined
  const least = Math.min(...own.map(({ confidence }) => confidence))
  const most = Math.max(...own.map(({ confidence }) => confidence))
  const confidence = own.length < values.length ? Math.min(most, 0.6) : isMessages ? least : most
  return { confidence, reason: `${own.length} ${kindOf(first)} of ${NAMES[api]}` }
}

/** Text alone is said alike in Chat and in Messages: taken for the one, it may be the other. */
function asOwn(unit: ProviderUnit, api: WireApi): ProviderUnit | undefined {
  if (unit.api === api) return unit
  const isGuess = unit.api === 'openai-chat' && unit.confidence <= 0.5
  return isGuess && api === 'anthropic-messages'
    ? { ...unit, api, confidence: unit.confidence - 0.1 }
    : undefined
}

const NAMES: Readonly<Record<WireApi, string>> = {
  'anthropic-messages': "Anthropic's Messages",
  'openai-chat': "OpenAI's Chat Completions",
  'openai-responses': "OpenAI's Responses",
  gemini: "Gemini's generateContent",
}

function kindOf({ message, request, response }: ProviderUnit): string {
  if (message !== undefined) return 'messages'
  return request === undefined ? 'answers' : response === undefined ? 'requests' : 'calls'
}

/** The objects of the head: lines, elements of a list, or the one that the file is. */
function valuesOf(head: Head): readonly Json[] {
  if (layoutOf(head) === 'lines') return head.records
  const document = head.document ?? head.peeked ?? head.records[0]
  if (document === undefined) return []
  return Array.isArray(document) ? (document as readonly Json[]) : [document]
}

type Looks = {
  readonly values: readonly Json[]
  readonly units: readonly (ProviderUnit | undefined)[]
  readonly vote: Vote | undefined
}

/** The same for each of the four APIs. */
const known = new WeakMap<Head, Looks>()

function looksOf(head: Head): Looks {
  const before = known.get(head)
  if (before !== undefined) return before
  const values = valuesOf(head).slice(0, LOOKED_AT)
  const units = values.map((value) => toUnit(value))
  const certain = units.find(
    (unit) => unit?.message !== undefined && (unit.api === 'gemini' || unit.api === 'openai-responses'),
  )
  const vote = certain ?? messagesApi(values, {})
  const found = { values, units, vote }
  known.set(head, found)
  return found
}

/** Messages decide together: a plain text is the same in all APIs, and one call of a tool says whose they are. */
function ofMessages({ values, units, vote }: Looks, api: WireApi): readonly ProviderUnit[] {
  const taken = vote && asOwn(vote, api)
  if (taken === undefined) return []
  const isPlain = values.every((value) => !isObject(value) || isPlainMessage(value, api))
  return units.flatMap((unit) =>
    unit?.message === undefined ? [] : [{ ...unit, api, confidence: isPlain ? taken.confidence : STRANGE }],
  )
}
