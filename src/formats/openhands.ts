/**
 * OpenHands, read: the `output.jsonl` of its evaluations (a session on each line), a conversation's events as JSON Lines or as one list, and
 * the folder of a conversation with a file for each event. Counts that grow over the conversation are taken apart, call by call.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { fromOpenAiUsage } from '../wire/openai-usage.ts'
import { costOf, toDollars } from './dollars.ts'
import { readDocument } from './document.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import type { Head } from './head-records.ts'
import { fromEvent, withDetails, type Causes } from './openhands-event.ts'
import { PLACES } from './places.ts'
import type { Place, Said } from './placing.ts'
import { createTelling, tellLines, tellList, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'openhands'

const single = fileFormat({
  id: ID,
  title: 'OpenHands: output.jsonl, events of a conversation',
  look: lookAtOpenHands,
  vocabulary: vocabulary({
    records: [
      `result: instance_id instance instruction history metadata metrics test_result git_patch base_commit issue issue_type error success
       comment_success result_explanation attempt llm_completions`,
      'event: id timestamp source message action observation args extras content cause tool_call_metadata llm_metrics tool_result',
      'kind.ActionEvent: thought reasoning_content thinking_blocks responses_reasoning_item action tool_name tool_call_id tool_call llm_response_id security_risk critic_result summary',
      'kind.ObservationEvent: tool_name tool_call_id observation action_id',
      'kind.MessageEvent: llm_message llm_response_id activated_skills activated_microagents extended_content sender critic_result reasoning_content',
      'kind.SystemPromptEvent: system_prompt tools dynamic_context',
      'kind.ConversationStateUpdateEvent: key value',
      'kind.AgentErrorEvent: tool_name tool_call_id error',
      'kind.Condensation: forgotten_event_ids summary summary_offset llm_response_id',
      'kind.PauseEvent:',
    ],
    common: 'id timestamp source kind',
  }),
  read: readOne,
  places: PLACES.openhands,
  unit: ({ path }) => path.replace(EVENT_FILE, '').replace(/\/(base_state|metadata)\.json$/, '') || '.',
})

export const openhands: Format = {
  ...single,
  async *read(source, options) {
    // Listed once: another list is of other objects, and so is a list that lies on disk each time it is gone through.
    const files = await source.list()
    const isEvent = new Uint8Array(files.length)
    const events = source.kind === 'folder' ? await conversationsOf(files) : new Map<string, number[]>()
    const taken = new Set<string>()
    for (const [folder, numbers] of events) {
      for (const number of numbers) isEvent[number] = 1
      yield* readConversation(folder, inOrder(files, numbers), source, taken)
    }
    const others = files.filter((_, number) => isEvent[number] === 0)
    yield* single.read({ ...source, list: async () => others }, options)
  },
}

/** `events/event-00012-<uuid>.json` of the SDK's, `events/12.json` of V0's. */
const EVENT_FILE = /(?:^|\/)events\/(?:event-)?\d+[^/]*\.json$/

function lookAtOpenHands(head: Head): Detection | undefined {
  const document = documentOf(head)
  const elements = asArray(document)
  const records = elements ?? (head.records.length > 0 ? head.records : [document ?? null])
  const objects = records.filter(isObject).slice(0, 50)
  if (elements === undefined && objects.some(isResult))
    return { confidence: 0.9, reason: "an evaluation's results with histories" }
  const kinds = objects.filter(
    (one) => typeof one['kind'] === 'string' && KINDS.test(one['kind']) && 'source' in one,
  ).length
  const older = objects.filter(isOlder).length
  if (kinds * 2 > objects.length)
    return { confidence: 0.9, reason: `${counted(kinds, 'event')} of the SDK's kinds` }
  if (older * 2 > objects.length) return { confidence: 0.85, reason: `${older} actions and observations` }
  return undefined
}

const KINDS = /(Event|Observation|Condensation|CondensationRequest)$/

function isResult({ history, instance_id, metrics, instruction, issue }: JsonObject): boolean {
  const isTask = typeof instance_id === 'string' || isObject(issue) || typeof instruction === 'string'
  return (
    isTask &&
    (Array.isArray(history) || history === null) &&
    (isObject(metrics) || metrics === null || isEvents(history))
  )
}

const isEvents = (history: Json | undefined): boolean =>
  (asArray(history) ?? []).slice(0, 5).some((one) => isObject(one) && isOlder(one))

function isOlder(event: JsonObject): boolean {
  const isNamed = typeof event['action'] === 'string' || typeof event['observation'] === 'string'
  return (
    isNamed &&
    ('args' in event ||
      'extras' in event ||
      'cause' in event ||
      'action_risk' in event ||
      'tool_call_metadata' in event)
  )
}

async function* readOne(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  if (asArray(documentOf(head)) !== undefined) {
    const telling = open()
    const events = createEvents(telling, watch)
    yield* tellList(file, undefined, telling, { element: events.next, end: events.end })
    return
  }
  const telling = open()
  const events = createEvents(telling, watch)
  let told: readonly ReadItem[] = []
  let results = 0
  for await (const items of tellLines(
    file,
    telling,
    (value, place) => {
      if (isObject(value) && isResult(value)) {
        results += 1
        told = [...told, ...readResult(value, place, open(results), watch)]
      } else events.next(value, place)
    },
    events.end,
  )) {
    yield told
    told = []
    yield items
  }
}

/** A line of an evaluation: the history's events are all of one record, in their order. */
function readResult(
  result: JsonObject,
  place: Place,
  telling: Telling,
  watch: DriftWatch | undefined,
): readonly ReadItem[] {
  const { history, ...around } = result
  const metrics = asObject(result['metrics'])
  const instance = asString(result['instance_id']) || undefined
  const title = asString(asObject(result['issue'])?.['title']) ?? instance
  const begun = firstTime(history)
  const error = asString(result['error'])
  watch?.record('result', result)
  telling.know({
    // An instance is what was asked, in any number of runs: only with what is a run's own does it name one.
    ...(instance !== undefined && begun !== undefined && { sessionId: `${instance}/${begun}` }),
    ...(title !== undefined && { title }),
    ...(error !== undefined && error !== '' && { status: 'failed', error }),
    ...reportedOf(metrics),
  })
  telling.say(unknownSaid(around, 'result'), place)
  const events = createEvents(telling, watch)
  // Once a history was pairs of an action and what came of it.
  for (const one of asArray(history) ?? [])
    for (const event of asArray(one) ?? [one]) events.next(event, place)
  events.end()
  return telling.end()
}

function firstTime(history: Json | undefined): string | undefined {
  const [first] = asArray(history) ?? []
  const [event] = asArray(first) ?? [first]
  return asString(asObject(event)?.['timestamp']) || undefined
}

function reportedOf(metrics: JsonObject | undefined): {
  readonly reportedCost?: string
  readonly reportedUsage?: Usage
} {
  const cost = costOf(metrics?.['accumulated_cost'])
  const sum = asObject(metrics?.['accumulated_token_usage'])
  const usage = sum && fromOpenAiUsage(withDetails(sum))
  return {
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    ...(usage !== undefined && hasCounts(usage) && { reportedUsage: usage }),
  }
}

type Events = { readonly next: (value: Json, place: Place) => void; readonly end: () => void }

/** A conversation's events in order. A report of counts is held until the answer it comes before is known. */
function createEvents(telling: Telling, watch: DriftWatch | undefined): Events {
  const causes: Causes = new Map()
  const totals = new Map<string, JsonObject>()
  let held: { said: Said; place: Place } | undefined
  const give = (messageId?: string): void => {
    if (held !== undefined)
      telling.say(messageId === undefined ? held.said : { ...held.said, call: { messageId } }, held.place)
    held = undefined
  }
  return {
    next(value, place) {
      const said = fromEvent(value, causes)
      if (isObject(value)) watchEvent(watch, value)
      const stats = isObject(value) && value['key'] === 'stats' ? asObject(value['value']) : undefined
      const older =
        isObject(value) && said.usage === undefined
          ? asObject(asObject(value['llm_metrics'])?.['accumulated_token_usage'])
          : undefined
      give(said.call?.messageId)
      if (stats !== undefined) {
        const grown = grownBy(asObject(stats['usage_to_metrics']) ?? {}, totals)
        const [first, ...others] = grown
        for (const one of others)
          telling.say({ kind: 'event', blocks: [], ...one, metadata: { record: 'stats' } }, place)
        held = { said: { ...said, ...first }, place }
        return
      }
      if (older === undefined || said.call !== undefined || said.role !== 'assistant')
        return telling.say(said, place)
      const [grown] = grownBy({ llm: { accumulated_token_usage: older } }, totals)
      telling.say({ ...said, ...grown }, place)
    },
    end: () => give(),
  }
}

type Grown = { readonly usage: Usage; readonly model?: string }

/** What each purpose's counts grew by since the last report. Fallen ones began anew. */
function grownBy(metrics: JsonObject, totals: Map<string, JsonObject>): readonly Grown[] {
  return Object.keys(metrics)
    .slice(0, 100)
    .flatMap((purpose) => {
      const stated = asObject(metrics[purpose])
      const total = asObject(stated?.['accumulated_token_usage'])
      if (total === undefined) return []
      const before = totals.get(purpose) ?? {}
      totals.set(purpose, total)
      const counts = COUNTED.map(
        (name) => [name, Number(total[name] ?? 0), Number(before[name] ?? 0)] as const,
      )
      const isAnew = counts.some(([, now, then]) => now < then)
      const grown = Object.fromEntries(counts.map(([name, now, then]) => [name, isAnew ? now : now - then]))
      if (!Object.values(grown).some((count) => count > 0)) return []
      const model = asString(stated?.['model_name']) ?? asString(total['model'])
      return [
        { usage: fromOpenAiUsage(withDetails(grown)), ...(model !== undefined && model !== '' && { model }) },
      ]
    })
}

const COUNTED = ['prompt_tokens', 'completion_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const

function watchEvent(watch: DriftWatch | undefined, event: JsonObject): void {
  const kind = asString(event['kind'])
  if (kind !== undefined) watch?.record(`kind.${kind}`, event)
  else if ('args' in event || 'extras' in event) watch?.record('event', event)
}

const folderOf = (path: string): string => path.replace(EVENT_FILE, '')

/** The events of each, by their numbers in the list of files: there may be a million. */
async function conversationsOf(files: readonly SourceFile[]): Promise<ReadonlyMap<string, number[]>> {
  const found = new Map<string, number[]>()
  let number = -1
  for (const file of files) {
    number += 1
    if (!EVENT_FILE.test(file.path) || lookAtOpenHands(await readFurther(file)) === undefined) continue
    const numbers = found.get(folderOf(file.path))
    if (numbers === undefined) found.set(folderOf(file.path), [number])
    else numbers.push(number)
  }
  return found
}

/** A file for each event, by their numbers. */
function* inOrder(files: readonly SourceFile[], numbers: readonly number[]): Generator<SourceFile> {
  const fileAt = (at: number): SourceFile => files[numbers[at] as number] as SourceFile
  const keys = Float64Array.from(numbers, (_, at) => numberOf(fileAt(at).path))
  const order = Uint32Array.from(numbers.keys()).sort((a, b) => (keys[a] as number) - (keys[b] as number))
  for (const at of order) yield fileAt(at)
}

async function* readConversation(
  folder: string,
  files: Iterable<SourceFile>,
  source: Source,
  taken: Set<string>,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = createTelling(ID, folder, taken)
  const events = createEvents(telling, undefined)
  const sessionId = `${source.path}/${folder}`.split(/[/\\]/).findLast((name) => name !== '' && name !== '.')
  telling.know({ ...(sessionId !== undefined && { sessionId }) })
  for (const file of files) {
    const { raw, damage, bytes } = await readDocument(file)
    if (damage !== undefined) telling.damage(damage)
    else events.next(raw, { file: file.path, number: 1, byteOffset: 0, byteLength: bytes })
    yield telling.take()
  }
  events.end()
  yield telling.end()
}

const numberOf = (path: string): number =>
  Number(/(\d+)[^/]*\.json$/.exec(path.slice(path.lastIndexOf('/')))?.[1] ?? 0)
