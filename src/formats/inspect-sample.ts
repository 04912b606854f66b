/**
 * A sample of an Inspect evaluation as a session: its events in order, of which each model call tells what was new in its input and what was
 * answered; then what only the sample's own messages say. Agents inside of agents, and the scorers, are sources of their own.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { hasCounts } from '../transcript/usage.ts'
import type { DriftWatch } from './drift.ts'
import { answersOf, fromTool, inputOf } from './inspect-event.ts'
import { createAside, fromMessage, usageOf } from './inspect-message.ts'
import { asId, type Place, type Said } from './placing.ts'
import type { Facts, Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { createToldMessages } from './told-messages.ts'

export type SampleReading = {
  readonly event: (value: Json, place: Place) => void
  /** What the sample says beside its events. */
  readonly end: (place: Place) => void
}

const BESIDE: ReadonlySet<string> = new Set([
  'messages',
  'events',
  'attachments',
  'transcript',
  'events_data',
  'message_pool',
])

export function createSample(
  sample: JsonObject,
  evaluation: JsonObject | undefined,
  telling: Telling,
  watch: DriftWatch | undefined,
): SampleReading {
  const older = asObject(sample['transcript'])
  const aside = createAside(sample['attachments'] ?? older?.['content'])
  const pool = asArray(asObject(sample['events_data'])?.['messages']) ?? asArray(sample['message_pool']) ?? []
  const sources = createSpans()
  const lanes = new Map<string, ReturnType<typeof createToldMessages>>()
  const calls = new Set<string>()
  let hasAnswers = false
  const laneOf = (source: string): ReturnType<typeof createToldMessages> => {
    const lane = lanes.get(source) ?? createToldMessages()
    lanes.set(source, lane)
    return lane
  }
  watch?.record('sample', sample)
  telling.know(factsOf(sample, evaluation))

  const tell = (value: Json, place: Place, within: string | undefined, depth: number): void => {
    if (!isObject(value)) return telling.say(unknownSaid(value), place)
    const kind = asString(value['event']) ?? 'unknown'
    watch?.record(kind, value)
    const source = within ?? sources.sourceOf(value)
    const at = parseInstant(value['timestamp'])
    const where = { ...(source !== PRIMARY && { source }), ...(at !== undefined && { at }) }
    const say = (said: Said): void => telling.say({ ...said, ...where }, place)
    if (kind === 'model') {
      const lane = laneOf(source)
      const input = inputOf(value, pool).map((one) => fromMessage(aside.restored(one)))
      for (const message of lane.news(input)) say(message)
      for (const answer of answersOf(value, aside)) {
        for (const block of answer.blocks)
          if (block.type === 'tool-call' && block.callId !== undefined) calls.add(block.callId)
        if (answer.role === 'assistant') {
          lane.tell(answer)
          hasAnswers ||= source === PRIMARY
        }
        say(answer)
      }
      return
    }
    if (kind === 'tool') {
      const id = asString(value['id'])
      const called = fromTool(value, aside)
      if (id === undefined || !calls.has(id)) say(called.call)
      say(called.result)
      laneOf(source).tell(called.result)
      // Once a tool's own events were inside of it.
      const inner = asArray(value['events']) ?? []
      for (const one of inner) if (depth < DEPTH) tell(one, place, `subagent:${id ?? 'tool'}`, depth + 1)
      return
    }
    say(unknownSaid(kind === 'span_begin' || kind === 'span_end' ? value : aside.restored(value), kind))
  }

  return {
    event: (value, place) => tell(value, place, undefined, 0),
    end(place) {
      for (const event of asArray(older?.['events']) ?? []) tell(event, place, undefined, 0)
      const messages = (asArray(sample['messages']) ?? []).map((one) => fromMessage(aside.restored(one)))
      const last = messages.findLastIndex(({ role }) => role === 'assistant')
      const counts = asObject(asObject(sample['output'])?.['usage'])
      const news = new Set(laneOf(PRIMARY).news(messages))
      for (const [index, message] of messages.entries()) {
        if (!news.has(message)) continue
        // Without events, the last answer is the one whose counts the sample has.
        const isCounted = index === last && !hasAnswers && counts !== undefined
        telling.say(isCounted ? { ...message, usage: usageOf(counts) } : message, place)
      }
      const about = Object.create(null) as Record<string, Json>
      for (const [key, value] of Object.entries(rest(sample, BESIDE) ?? {}))
        about[key] = aside.restored(value)
      const left = aside.left()
      // What is no list here is not what a list would be.
      for (const key of ['messages', 'events']) {
        const odd = sample[key]
        if (odd !== undefined && odd !== null && !Array.isArray(odd)) about[key] = odd
      }
      if (left !== undefined) about['attachments'] = left
      telling.say(unknownSaid(about, 'sample'), place)
    },
  }
}

const DEPTH = 8

function factsOf(sample: JsonObject, evaluation: JsonObject | undefined): Facts {
  const name = [sample['id'], sample['epoch']]
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .join('/')
  const run = asString(evaluation?.['run_id']) ?? asString(evaluation?.['eval_id'])
  const task = asString(evaluation?.['task'])
  const uuid = asId(sample['uuid'])
  // A run has several tasks, whose samples have the same numbers.
  const owner = run === undefined || task === undefined ? run : `${run}/${task}`
  const sessionId = uuid ?? (owner === undefined || name === '' ? undefined : `${owner}/${name}`)
  const sums = Object.values(asObject(sample['model_usage']) ?? {}).filter(isObject)
  const [sum] = sums
  const error = asString(asObject(sample['error'])?.['message'])
  const limit = asString(asObject(sample['limit'])?.['type'])
  const model = asString(evaluation?.['model'])
  const usage = sum !== undefined && sums.length === 1 ? usageOf(sum) : undefined
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(task !== undefined && { title: name === '' ? task : `${task} ${name}` }),
    ...(model !== undefined && { model }),
    ...((run !== undefined || task !== undefined) && {
      run: {
        ...(run !== undefined && { id: run }),
        ...(task !== undefined && { flow: task }),
        ...(name !== '' && { step: name }),
      },
    }),
    ...(error !== undefined && { status: 'failed', error }),
    ...(limit !== undefined && { stopReason: limit }),
    ...(usage !== undefined && hasCounts(usage) && { reportedUsage: usage }),
  }
}

type Spans = { readonly sourceOf: (event: JsonObject) => string }

/** Which agent an event is of, by the spans around it. The first agent is the sample's own. */
function createSpans(): Spans {
  const spans = new Map<string, { readonly source: string; readonly hasAgent: boolean }>()
  return {
    sourceOf(event) {
      const id = asId(event['id'])
      const own = event['event'] === 'span_begin' && id !== undefined
      const around = spans.get(asId(own ? event['parent_id'] : event['span_id']) ?? '')
      if (!own) return around?.source ?? PRIMARY
      const { type, name } = event
      const isAgent = type === 'agent'
      const isScoring = type === 'scorers' || name === 'scorers' || name === 'scoring'
      const isInner = isAgent && around?.hasAgent === true
      const source = isInner
        ? `subagent:${id}`
        : isScoring && around === undefined
          ? 'subagent:scorers'
          : (around?.source ?? PRIMARY)
      spans.set(id, { source, hasAgent: isAgent || around?.hasAgent === true })
      return source
    },
  }
}
