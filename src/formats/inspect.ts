/**
 * Inspect's logs, read: `.eval` files (a zip with a header and a file for each sample), the same as one JSON document, and files of events.
 * Each sample is a session of the evaluation's run; the evaluation itself is one that holds its header.
 */
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { readDocument } from './document.ts'
import { createDriftWatch, vocabulary, type DriftWatch } from './drift.ts'
import type { Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead } from './head-records.ts'
import { lookAtInspect } from './inspect-look.ts'
import { createSample } from './inspect-sample.ts'
import { readListDocument } from './list-document.ts'
import { asId, type Place } from './placing.ts'
import { createTelling, tellList, type Facts, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'inspect'

export const inspect: Format = {
  id: ID,
  title: 'Inspect: .eval and .json logs, files of events',
  detect: (source) =>
    detectAmong(
      source,
      async (file) => lookAtInspect(await readHead(file)),
      ({ path }) => path.endsWith('.json'),
    ),
  // A log's samples are read with its header.
  unit: ({ path }) => (PART.test(path) ? path.replace(PART, '').replace(/\/$/, '') || '.' : path),
  async *read(source, options) {
    const shared: Shared = {
      headers: new Map(),
      taken: new Set(),
      watch: createDriftWatch(VOCABULARY, options),
      source,
    }
    const files = await source.list()
    for (const file of files) {
      const look = lookAtInspect(await readFurther(file))
      const kind = look?.kind ?? (source.kind === 'file' ? 'log' : undefined)
      if (kind === 'log') yield* readLog(file, shared)
      else if (kind === 'sample') yield* readSample(file, await headerOf(file.path, shared), shared)
      else if (kind === 'events') yield* readEvents(file, shared)
      else if (kind === 'header' && isOwnHeader(file.path, files)) yield* readHeader(file, shared)
      else if (kind === 'about' && source.kind === 'file') yield* readAbout(file, shared)
    }
  },
}

/** What a log's zip holds. */
const PART = /(?:samples\/[^/]*|_journal\/.*|header\.json|summaries\.json|reductions\.json)$/

const VOCABULARY = vocabulary({
  records: [
    'log: version status eval plan results stats error samples reductions location invalidated tags metadata log_updates etag',
    `sample: id epoch input choices target sandbox files setup messages output scores metadata store events transcript attachments model_usage
     role_usage started_at completed_at total_time working_time uuid error error_retries limit invalidation events_data message_pool`,
    `model: event model role input input_refs tools tool_choice config output error traceback traceback_ansi retries cache call call_refs completed
     working_time`,
    'tool: event id type function arguments internal view result truncated error events completed working_time agent failed message_id agent_span_id',
    'span_begin: event id type name parent_id',
    'span_end: event id',
    'step: event action type name',
    'state: event changes',
    'store: event changes',
    'sample_init: event sample state',
    'score: event score target intermediate model_usage role_usage',
    'info: event source data',
    'logger: event message',
    'sandbox: event action cmd options file input result output completed',
    'sample_limit: event type message limit',
    'input: event input input_ansi',
    'subtask: event name type input result events completed working_time',
    'approval: event message call view approver decision modified explanation',
    'compaction: event type tokens_before tokens_after source metadata',
    'error: event error',
  ],
  common: 'uuid span_id timestamp working_start pending metadata',
})

type Shared = {
  readonly taken: Set<string>
  readonly watch: DriftWatch | undefined
  readonly source: Source
  /** What each log says of its evaluation, by its folder. */
  readonly headers: Map<string, JsonObject | undefined>
}

/** `header.json` comes last; of an evaluation that crashed there is only how it began. */
function isOwnHeader(path: string, files: readonly SourceFile[]): boolean {
  const folder = path.replace(/_journal\/start\.json$/, '')
  return folder === path || !files.some((file) => file.path === `${folder}header.json`)
}

async function headerOf(path: string, { source, headers }: Shared): Promise<JsonObject | undefined> {
  if (source.kind !== 'folder' || !path.includes('samples/')) return undefined
  const folder = path.slice(0, path.lastIndexOf('samples/'))
  if (headers.has(folder)) return headers.get(folder)
  const file =
    (await source.find(`${folder}header.json`)) ?? (await source.find(`${folder}_journal/start.json`))
  const document = file === undefined ? undefined : await readDocument(file)
  const evaluation = asObject(asObject(document?.raw)?.['eval'])
  headers.set(folder, evaluation)
  return evaluation
}

const openTelling = ({ taken }: Shared, path: string): Telling => createTelling(ID, path, taken)

async function* readHeader(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const { raw, bytes, damage } = await readDocument(file)
  const telling = openTelling(shared, file.path)
  if (damage !== undefined) telling.damage(damage)
  const place = { file: file.path, number: 1, byteOffset: 0, byteLength: bytes }
  tellHeader(asObject(raw) ?? {}, place, telling, shared)
  const folder = file.path.replace(/(?:_journal\/start|header)\.json$/, '')
  for (const name of shared.source.kind === 'folder' ? ABOUT : []) {
    const beside = await shared.source.find(`${folder}${name}`)
    if (beside !== undefined) await tellAbout(beside, telling)
  }
  yield telling.end()
}

/** The journal has pieces of the first, which it is made of. */
const ABOUT = ['summaries.json', 'reductions.json']

async function tellAbout(file: SourceFile, telling: Telling): Promise<void> {
  const { raw, bytes, damage } = await readDocument(file)
  if (damage !== undefined) telling.damage(damage)
  const name = file.path.slice(file.path.lastIndexOf('/') + 1).replace(/\.json$/, '')
  const place = { file: file.path, number: 1, byteOffset: 0, byteLength: bytes }
  if (raw !== undefined) telling.say(unknownSaid(raw, name), place)
}

/** One that was named alone. */
async function* readAbout(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const telling = openTelling(shared, file.path)
  await tellAbout(file, telling)
  yield telling.end()
}

function tellHeader(log: JsonObject, place: Place, telling: Telling, { watch }: Shared): void {
  watch?.record('log', log)
  telling.know(factsOf(log))
  telling.say(unknownSaid(log, 'evaluation'), place)
}

/** One JSON document: what stands around the samples, then each of them. */
async function* readLog(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const { members, damage, elements, sizeBytes } = await readListDocument(file, 'samples')
  const whole = { file: file.path, number: 0, byteOffset: 0, byteLength: sizeBytes }
  const telling = openTelling(shared, file.path)
  tellHeader(members, { ...whole, number: 1 }, telling, shared)
  for (const one of damage) telling.damage(one)
  yield telling.end()
  const evaluation = asObject(members['eval'])
  let number = 0
  for await (const some of elements()) {
    for (const { value, byteOffset, byteLength } of some) {
      number += 1
      const place = { file: file.path, number, byteOffset, byteLength }
      const own = openTelling(shared, `${file.path}#${number}`)
      if (isObject(value)) {
        const reading = createSample(value, evaluation, own, shared.watch)
        for (const event of asArray(value['events']) ?? []) reading.event(event, place)
        reading.end(place)
      } else own.say(unknownSaid(value ?? null), place)
      yield own.end()
    }
  }
}

async function* readSample(
  file: SourceFile,
  evaluation: JsonObject | undefined,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = openTelling(shared, file.path)
  let reading: ReturnType<typeof createSample> | undefined
  let around: Place = { file: file.path, number: 1, byteOffset: 0, byteLength: 0 }
  yield* tellList(file, 'events', telling, {
    header(members, place) {
      around = place
      reading = createSample(members, evaluation, telling, shared.watch)
    },
    element: (value, place) => reading?.event(value, place),
    end: () => reading?.end(around),
  })
}

/** Events that somebody put into a file of their own. */
async function* readEvents(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const telling = openTelling(shared, file.path)
  let reading: ReturnType<typeof createSample> | undefined
  yield* tellList(file, 'events', telling, {
    header(members, place) {
      telling.say(unknownSaid(members, 'document'), place)
      reading = createSample({}, undefined, telling, shared.watch)
    },
    element: (value, place) => reading?.event(value, place),
  })
}

const STATUSES = new Map([
  ['started', 'running'],
  ['cancelled', 'canceled'],
  ['error', 'failed'],
] as const)

function factsOf(log: JsonObject): Facts {
  const evaluation = asObject(log['eval'])
  const stats = asObject(log['stats'])
  const sessionId = asId(evaluation?.['eval_id']) ?? asId(evaluation?.['task_id'])
  const task = asString(evaluation?.['task'])
  const run = asString(evaluation?.['run_id'])
  const status = STATUSES.get((asString(log['status']) ?? '') as 'started')
  const error = asString(asObject(log['error'])?.['message'])
  const started = asString(stats?.['started_at']) ?? asString(evaluation?.['created'])
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(task !== undefined && { title: task }),
    ...(run !== undefined && { run: { id: run, ...(task !== undefined && { flow: task }) } }),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...timesOf(started, asString(stats?.['completed_at'])),
  }
}

function timesOf(
  started: string | undefined,
  ended: string | undefined,
): Pick<Facts, 'startedAt' | 'endedAt'> {
  const startedAt = parseInstant(started)
  const endedAt = parseInstant(ended)
  return { ...(startedAt !== undefined && { startedAt }), ...(endedAt !== undefined && { endedAt }) }
}
