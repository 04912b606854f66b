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
import type { Format, ReadItem, Writer } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { createPlacing, type Placing, type Said } from './placing.ts'
import { detectProvider } from './provider-detect.ts'
import { LISTS, fromRequest, fromRequestMessage, fromResponse } from './provider-entries.ts'
import { toUnit, type ProviderUnit } from './provider-shapes.ts'
import { createKeeping } from './unsaid.ts'
import { layoutOf, readLineSteps, readListSteps, type FileRecord, type FileStep } from './file-steps.ts'
import { unknownSaid } from './unknown.ts'

type Options = { readonly id: string; readonly title: string; readonly api: WireApi; readonly write?: Writer }

export function providerFormat({ id, title, api, write }: Options): Format {
  return {
    id,
    title,
    detect: (source) => detectAmong(source, async (file) => detectProvider(await readHead(file), api)),
    async *read(source) {
      for (const file of await source.list()) {
        const head = await readFurther(file)
        if (source.kind === 'folder' && detectProvider(head, api) === undefined) continue
        yield* readProviderFile(file, head, { id, api })
      }
    },
    ...(write !== undefined && { write }),
  }
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
  const document = await readListDocument(file, LISTS[api], { isForLines: true })
  if (document.isLines) return yield* readLineSteps(file)
  yield* readListSteps(document)
}

/** Names of fields in the four APIs, and values that entries say in their own way. */
const WORDS = `id type object role content text name model created created_at system user assistant tool developer function tool_calls function_call
  arguments tool_call_id input output messages contents parts choices index message finish_reason status completed usage response body request
  custom_id method url POST status_code request_id result custom image_url image source media_type data base64 thinking signature
  redacted_thinking tool_use tool_result tool_use_id is_error input_text output_text reasoning summary summary_text encrypted_content
  function_call_output call_id refusal chat.completion functionCall functionResponse args response inlineData mimeType thought candidates
  finishReason usageMetadata responseId modelVersion stop_reason stop_sequence params annotations logprobs`

type Sessions = {
  take(record: FileRecord): readonly ReadItem[]
  damage(damage: Extract<FileStep, { readonly damage: unknown }>['damage']): readonly ReadItem[]
  /** `isAny`: the file is not empty. */
  end(isAny: boolean): readonly ReadItem[]
}

type Open = { session: Session; readonly placing: Placing; readonly said: string[] }

function createSessions(file: string, id: string, api: WireApi): Sessions {
  const taken = new Set<string>()
  const keeping = createKeeping(WORDS)
  const kept = (value: Json | undefined, said: readonly Said[]): readonly Said[] =>
    isObject(value) ? keeping(value, said, () => open?.session ?? {}) : said
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
    const learned = learn(all, unit)
    // Of a request that goes on, what was said before is no news: only its answer is looked at.
    const isAll = goesOn === undefined || goesOn === 0
    const whole = isAll ? kept(record.value, all) : [...isNew, ...kept(unit.response, answered)]
    return [...opened, ...toItems(whole.length === 0 ? all : whole, record), learned]
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
      return [...opened, ...toItems(kept(value, said), record)]
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
