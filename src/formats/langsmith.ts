/**
 * LangSmith's runs, read: exports as a list, as JSON Lines or below `runs`, and what its SDK sends (`post` and `patch`, put together). The
 * traces of one thread are one session. Only a model's own run is billed: what stands at its parents are sums.
 */
import { counted } from '../transcript/counted.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { keepLast } from './keep-last.ts'
import { fromRun } from './langsmith-run.ts'
import { passing } from './let-go.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { asId, type Place } from './placing.ts'
import { readInOrder } from './in-order.ts'
import type { Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { createToldMessages, withoutLong, type ToldMessages } from './told-messages.ts'

export const langsmith = fileFormat({
  id: 'langsmith',
  title: 'LangSmith: exported runs, and what its SDK sends',
  look: lookAtRuns,
  vocabulary: vocabulary({
    records: [
      `run: id trace_id parent_run_id parent_run_ids dotted_order name run_type start_time end_time inputs outputs extra error tags session_id
       session_name serialized events attachments child_run_ids child_runs status reference_example_id feedback_stats app_path manifest_id
       prompt_tokens completion_tokens total_tokens prompt_cost completion_cost total_cost first_token_time in_dataset share_token
       prompt_token_details completion_token_details prompt_cost_details completion_cost_details inputs_preview outputs_preview
       last_queued_at thread_id trace_first_received_at trace_max_start_time trace_min_start_time trace_tier trace_upgrade ttl_seconds
       execution_order messages price_model_id direct_child_run_ids manifest_s3_id inputs_s3_urls outputs_s3_urls s3_urls`,
    ],
  }),
  read: readRuns,
})

function lookAtRuns(head: Head): Detection | undefined {
  const document = documentOf(head)
  const sent = isObject(document)
    ? [...(asArray(document['post']) ?? []), ...(asArray(document['patch']) ?? [])]
    : []
  const listed = asArray(document) ?? (isObject(document) ? asArray(document['runs']) : undefined)
  const runs = (sent.length > 0 ? sent : (listed ?? head.records)).filter(isObject).slice(0, 50)
  const own = runs.filter(isRun).length
  if (own === 0 || own * 2 < runs.length) return undefined
  return { confidence: 0.95, reason: `${counted(own, 'run')} with their order` }
}

function isRun({ run_type, dotted_order, trace_id, id }: JsonObject): boolean {
  if (typeof dotted_order === 'string' && typeof trace_id === 'string') return true
  return typeof run_type === 'string' && typeof id === 'string' && typeof trace_id === 'string'
}

type Held = { readonly run: JsonObject; readonly place: Place }

/** Up to here runs are put into their order, whichever the file has; a larger file is read as it comes. */
const HELD_BYTES = 24 * 1024 * 1024
/** The same for a file of tiny ones. */
const HELD_RUNS = 50_000

async function* readRuns(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const sessions = createSessions(open, watch)
  const document = documentOf(head)
  const isSent = isObject(document) && ('post' in document || 'patch' in document)
  const held: Held[] = []
  /** What is compressed may be any number of times its size. */
  let heldBytes = 0
  let isHeld = file.sizeBytes <= HELD_BYTES
  const tellHeld = function* (): Generator<readonly ReadItem[]> {
    for (const [index, { run, place }] of held.sort(byOrder).entries()) {
      sessions.run(run, place)
      if (index % AT_A_TIME === AT_A_TIME - 1) yield sessions.take()
    }
    held.length = 0
  }
  // Not in the frame that waits for the next: it would hold on to the last piece meanwhile.
  const take = (piece: Piece): void => {
    if ('damage' in piece) sessions.damage(piece)
    else if (!isObject(piece.value)) sessions.other(piece.value, piece.place)
    else if (isHeld) {
      held.push({ run: piece.value, place: piece.place })
      heldBytes += piece.place.byteLength
    } else sessions.run(piece.value, piece.place)
  }
  for await (const pieces of isSent ? readSent(file) : readListed(file, document)) {
    for (let from = 0; from < pieces.length; from += AT_A_TIME) {
      pieces.slice(from, from + AT_A_TIME).forEach(take)
      yield sessions.take()
    }
    if (held.length <= HELD_RUNS && heldBytes <= HELD_BYTES) continue
    yield* tellHeld()
    isHeld = false
  }
  yield* tellHeld()
  yield sessions.end()
}

const AT_A_TIME = 256

const orderOf = ({ dotted_order, start_time }: JsonObject): string =>
  asString(dotted_order) ?? asString(start_time) ?? ''
const byOrder = (a: Held, b: Held): number => {
  const [one, other] = [orderOf(a.run), orderOf(b.run)]
  return one < other ? -1 : one > other ? 1 : 0
}

type Piece = { readonly value: Json; readonly place: Place } | Extract<ReadItem, { type: 'damage' }>

async function* readListed(file: SourceFile, document: Json | undefined): AsyncGenerator<readonly Piece[]> {
  if (document === undefined) return yield* readLines(file)
  const isOne = isObject(document) && !('runs' in document)
  const read = Array.isArray(document)
    ? await readBareList(file)
    : await readListDocument(file, 'runs', { isForLines: true })
  // A line may be longer than what is looked at to tell them apart.
  if (read.isLines) return yield* readLines(file)
  yield read.damage.map((damage) => ({ type: 'damage', damage }) as const)
  const whole = { file: file.path, number: 1, byteOffset: 0, byteLength: read.sizeBytes }
  if (isOne) yield [{ value: read.members, place: whole }]
  let number = 0
  for await (const some of read.elements()) {
    yield* passing(
      some.map(({ value, byteOffset, byteLength }) => {
        number += 1
        return { value: value ?? null, place: { file: file.path, number, byteOffset, byteLength } }
      }),
    )
  }
}

async function* readLines(file: SourceFile): AsyncGenerator<readonly Piece[]> {
  for await (const steps of readInOrder(file)) {
    yield* passing(
      steps.map((step): Piece => {
        if ('damage' in step) return { type: 'damage', damage: step.damage }
        const { value, number, byteOffset, byteLength } = step.record
        return { value, place: { file: file.path, number, byteOffset, byteLength } }
      }),
    )
  }
}

/** What was sent when a run began, with what was sent when it ended. The second may name it only by its order. */
async function* readSent(file: SourceFile): AsyncGenerator<readonly Piece[]> {
  const { members, damage, elements, sizeBytes } = await readListDocument(file, 'post')
  yield damage.map((one) => ({ type: 'damage', damage: one }) as const)
  const place = { file: file.path, number: 1, byteOffset: 0, byteLength: sizeBytes }
  const { patch, ...around } = members
  if (Object.keys(around).length > 0) yield [{ value: toJsonList(around), place }]
  const patches = new Map<string, JsonObject>()
  const odd: Json[] = []
  for (const one of asArray(patch) ?? (patch === undefined ? [] : [patch])) {
    const key = isObject(one) ? (asString(one['dotted_order']) ?? asString(one['id'])) : undefined
    if (isObject(one) && key !== undefined) patches.set(key, { ...patches.get(key), ...one })
    else odd.push(one)
  }
  for await (const some of elements()) {
    yield some.map(({ value, byteOffset, byteLength }) => {
      const key = isObject(value)
        ? ([value['dotted_order'], value['id']].find((one) => typeof one === 'string' && patches.has(one)) as
            | string
            | undefined)
        : undefined
      const later = key === undefined ? undefined : patches.get(key)
      if (key !== undefined) patches.delete(key)
      const whole = isObject(value) && later !== undefined ? merged(value, later) : (value ?? null)
      return { value: whole, place: { file: file.path, number: 1, byteOffset, byteLength } }
    })
  }
  yield [...patches.values(), ...odd].map((value) => ({ value, place }))
}

const toJsonList = (around: JsonObject): Json => [around]

/** What was said later stands; what was said otherwise before is kept. */
function merged(before: JsonObject, later: JsonObject): JsonObject {
  const changed = Object.entries(before).filter(([key, value]) => {
    const now = later[key]
    if (now === undefined || now === null) return false
    const before = toJson(withoutLong(value))
    return toJson(withoutLong(now)) !== before && before !== '{}'
  })
  const kept = Object.fromEntries(changed)
  return { ...before, ...later, ...(changed.length > 0 && { posted: kept }) }
}

type Sessions = {
  run(run: JsonObject, place: Place): void
  other(value: Json, place: Place): void
  damage(item: Extract<ReadItem, { type: 'damage' }>): void
  take(): readonly ReadItem[]
  end(): readonly ReadItem[]
}

type Thread = { readonly telling: Telling; readonly told: ToldMessages }

function createSessions(open: FileReading['open'], watch: DriftWatch | undefined): Sessions {
  const threads = new Map<string, Thread>()
  let current: Thread | undefined
  let items: ReadItem[] = []
  const use = (name: string): Thread => {
    const thread = threads.get(name) ?? { telling: open(name), told: createToldMessages() }
    if (current !== undefined && current !== thread) items.push(...current.telling.end())
    // Entries belong to the session that was said last.
    if (threads.has(name) && current !== thread) items.push(...thread.telling.end())
    if (current !== thread) keepLast(threads, name, thread)
    current = thread
    return thread
  }
  return {
    run(run, place) {
      const meta = asObject(asObject(run['extra'])?.['metadata'])
      const thread =
        asId(meta?.['thread_id']) ?? asId(meta?.['session_id']) ?? asId(meta?.['conversation_id'])
      const sessionId = thread ?? asId(run['trace_id']) ?? asId(run['id'])
      const { telling, told } = use(sessionId ?? '')
      watch?.record('run', run)
      const name = asString(run['name'])
      const isRoot = run['parent_run_id'] === undefined || run['parent_run_id'] === null
      telling.know({
        ...(sessionId !== undefined && { sessionId }),
        ...(isRoot && name !== undefined && { title: name }),
      })
      for (const said of fromRun(run, told)) telling.say(said, place)
    },
    other: (value, place) => (current ?? use('')).telling.say(unknownSaid(value), place),
    damage: (item) => (current ?? use('')).telling.damage(item.damage),
    take() {
      const told = [...items, ...(current?.telling.take() ?? [])]
      items = []
      return told
    },
    end() {
      const told = [...items, ...(current?.telling.end() ?? [])]
      items = []
      return told
    },
  }
}
