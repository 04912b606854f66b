/**
 * Files of one provider's API, of whatever layout: a list of messages, a request or an answer, lines of them, batches, training sets, logs
 * of calls. A list of messages is one session; so is each line that stands alone. In a log each request repeats what was said before:
 * one that goes on with the one before belongs to the same session and adds only what is new.
 */
import { isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { sha256 } from '../transcript/sha256.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { WireApi } from '../wire/message.ts'
import { detectAmong } from './candidates.ts'
import type { Detection, Format, ReadItem, Writer } from './format.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { createPlacing, type Placing, type Said } from './placing.ts'
import { LISTS, fromRequest, fromRequestMessage, fromResponse } from './provider-entries.ts'
import { toUnit, type ProviderUnit } from './provider-shapes.ts'
import { isPlainMessage, messagesApi } from './provider-vote.ts'
import {
  layoutOf,
  readLineSteps,
  readListSteps,
  unknownSaid,
  type FileRecord,
  type FileStep,
} from './session-fold.ts'

type Options = { readonly id: string; readonly title: string; readonly api: WireApi; readonly write?: Writer }

export function providerFormat({ id, title, api, write }: Options): Format {
  return {
    id,
    title,
    detect: (source) => detectAmong(source, async (file) => detectProvider(await readHead(file), api)),
    async *read(source) {
      for (const file of await source.list()) {
        const head = await readHead(file)
        if (source.kind === 'folder' && detectProvider(head, api) === undefined) continue
        yield* readProviderFile(file, head, { id, api })
      }
    },
    ...(write !== undefined && { write }),
  }
}

/** Records that are looked at. */
const LOOKED_AT = 50

/** How sure the beginning of a file makes us that it is of this API. */
export function detectProvider(head: Head, api: WireApi): Detection | undefined {
  const values = valuesOf(head).slice(0, LOOKED_AT)
  const units = values.map((value) => toUnit(value))
  const isMessages = units.some((unit) => unit?.message !== undefined)
  const own = isMessages
    ? ofMessages(values, api)
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

/** Messages decide together: a plain text is the same in all APIs, and one call of a tool says whose they are. */
function ofMessages(values: readonly Json[], api: WireApi): readonly ProviderUnit[] {
  const units = values.map((value) => toUnit(value))
  const certain = units.find(
    (unit) => unit?.message !== undefined && (unit.api === 'gemini' || unit.api === 'openai-responses'),
  )
  const vote = certain ?? messagesApi(values, {})
  const taken = vote && asOwn(vote, api)
  if (taken === undefined) return []
  const isPlain = values.every((value) => !isObject(value) || isPlainMessage(value, api))
  return units.flatMap((unit) =>
    unit?.message === undefined ? [] : [{ ...unit, api, confidence: isPlain ? taken.confidence : 0.35 }],
  )
}

type Reading = { readonly id: string; readonly api: WireApi }

async function* readProviderFile(
  file: SourceFile,
  head: Head,
  { id, api }: Reading,
): AsyncGenerator<readonly ReadItem[]> {
  const sessions = createSessions(file.path, id, api)
  for await (const steps of stepsOf(file, head, api)) {
    const items = steps.flatMap((step): readonly ReadItem[] =>
      'damage' in step ? sessions.damage(step.damage) : sessions.take(step.record),
    )
    if (items.length > 0) yield items
  }
  // A list with nothing in it is a session in which nothing was said.
  yield sessions.end(head.text.trim() !== '')
}

async function* stepsOf(file: SourceFile, head: Head, api: WireApi): AsyncGenerator<readonly FileStep[]> {
  const layout = layoutOf(head)
  if (layout === 'list') return yield* readListSteps(await readBareList(file))
  if (layout === 'lines') return yield* readLineSteps(file)
  const document = await readListDocument(file, LISTS[api])
  if (document.isLines) return yield* readLineSteps(file)
  yield* readListSteps(document)
}

type Sessions = {
  take(record: FileRecord): readonly ReadItem[]
  damage(damage: Extract<FileStep, { readonly damage: unknown }>['damage']): readonly ReadItem[]
  /** `isAny`: the file is not empty. */
  end(isAny: boolean): readonly ReadItem[]
}

type Open = { session: Session; readonly placing: Placing; readonly said: string[] }

function createSessions(file: string, id: string, api: WireApi): Sessions {
  const taken = new Set<string>()
  let open: Open | undefined
  let isList = false

  const toItems = (
    said: readonly Said[],
    { number, byteOffset, byteLength }: FileRecord,
  ): readonly ReadItem[] => {
    const { placing } = open as Open
    return said.map((one) => ({
      type: 'entry',
      entry: placing(one, { file, number, byteOffset, byteLength }),
    }))
  }
  const start = (name: string | undefined, number: number, facts: Partial<Session> = {}): ReadItem => {
    const own = uuidFrom(id, file, ...(name === undefined ? (number <= 1 ? [] : [String(number)]) : [name]))
    const sessionId = taken.has(own) ? uuidFrom(id, file, name ?? '', String(number)) : own
    taken.add(sessionId)
    open = { session: { id: sessionId, status: 'completed', ...facts }, placing: createPlacing(id), said: [] }
    return { type: 'session', session: open.session }
  }
  /** What a unit says together about its session. */
  const learn = (said: readonly Said[], unit: ProviderUnit): ReadItem => {
    const one = open as Open
    one.session = { ...one.session, ...factsOf(said, unit, id) }
    return { type: 'session', session: one.session }
  }
  const takeUnit = (unit: ProviderUnit, record: FileRecord): readonly ReadItem[] => {
    const of = unit.confidence > 0.5 ? unit.api : api
    const asked = unit.request === undefined ? [] : fromRequest(of, unit.request)
    const answered = unit.response === undefined ? [] : [fromResponse(of, unit.response)]
    const isCall = unit.name === undefined && (unit.request === undefined || 'model' in unit.request)
    const goesOn = isCall && open !== undefined && !isList ? countKnown(asked, open.said) : undefined
    const opened = goesOn === undefined ? [start(unit.name, record.number)] : []
    // The event that says what was asked for beside the messages is said of each request.
    const isNew = asked.filter((one, index) => one.kind === 'event' || index - offset(asked) >= (goesOn ?? 0))
    const said = [...isNew, ...answered]
    const { said: known } = open as Open
    known.push(...[...isNew.filter(({ kind }) => kind === 'message'), ...answered].map(markOf))
    const all = said.length === 0 ? [unknownSaid(record.value)] : said
    return [...opened, ...toItems(all, record), learn(all, unit)]
  }
  return {
    take(record) {
      const { value, number } = record
      const isListed = number > 0 && isList
      const unit =
        isListed || value === undefined ? undefined : number === 0 ? around(value, api) : toUnit(value)
      if (unit !== undefined && unit.message === undefined) {
        const items = takeUnit(unit, record)
        isList = number === 0 && unit.response === undefined
        return items
      }
      // Messages, and what stands among them.
      const opened = open === undefined ? [start(undefined, 0)] : []
      isList = true
      const said = isObject(value) ? fromRequestMessage(api, value) : [unknownSaid(value)]
      return [...opened, ...toItems(said, record)]
    },
    damage: (damage) => [...(open === undefined ? [start(undefined, 0)] : []), { type: 'damage', damage }],
    end(isAny) {
      if (open !== undefined) return [{ type: 'session', session: open.session }]
      return isAny ? [start(undefined, 0)] : []
    },
  }
}

/** What stands around a document's list, as the request or answer that it is. */
function around(value: Json, api: WireApi): ProviderUnit | undefined {
  const unit = toUnit(value)
  if (unit !== undefined || !isObject(value)) return unit
  return { api, request: value, confidence: 1 }
}

/** Events stand before the first message. */
const offset = (said: readonly Said[]): number => said.filter(({ kind }) => kind === 'event').length

/** How many of the messages are known: all that were said before, which the request must begin with; undefined when it does not. */
function countKnown(asked: readonly Said[], known: readonly string[]): number | undefined {
  const marks = asked.filter(({ kind }) => kind === 'message').map(markOf)
  if (marks.length === 0) return 0
  if (known.length === 0 || marks.length < known.length) return undefined
  return known.every((mark, index) => mark === marks[index]) ? known.length : undefined
}

/** By what it says: ids, counts and what the next request adds to an earlier message are not part of it. */
const markOf = ({ role, blocks }: Said): string => sha256(toJson([role, blocks])).toString('base64', 0, 12)

function factsOf(
  said: readonly Said[],
  { name, around, others, request }: ProviderUnit,
  id: string,
): Partial<Session> {
  const answer = said.findLast(({ call }) => call !== undefined)
  const model = answer?.model ?? (typeof request?.['model'] === 'string' ? request['model'] : undefined)
  const error = answer?.blocks.find((block) => block.type === 'error')
  const kept: JsonObject = {
    ...(name !== undefined && { name }),
    ...(around !== undefined && { around }),
    ...(others !== undefined && { others }),
  }
  return {
    ...(model !== undefined && { model }),
    ...(answer?.at !== undefined && { startedAt: answer.at }),
    ...(error !== undefined && { status: 'failed', error: error.message }),
    ...(Object.keys(kept).length > 0 && { metadata: { [id]: kept } }),
  }
}
