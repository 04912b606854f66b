/** A session of Cline's CLI: `<id>.messages.json` with its messages, and `<id>.json`, which says what it is and how it ended. */
import { uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session, Status } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { titleOf } from './cline-facts.ts'
import { fromHistoryMessage, modelOf } from './cline-history.ts'
import { ID, wholeOf } from './cline-task.ts'
import { metricsUsage } from './cline-usage.ts'
import { watchMessage } from './cline-vocabulary.ts'
import type { Document } from './document.ts'
import { costOf, toDollars } from './dollars.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import { readListDocument } from './list-document.ts'
import type { ListElement } from './list-salvage.ts'
import { asId, createPlacing, type Place, type Placing, type Said } from './placing.ts'

export type Manifest = { readonly path: string; readonly document: Document }

export type SessionOptions = {
  readonly watch: DriftWatch | undefined
  /** What `<id>.json` says, by the session's id. */
  readonly manifestOf: (sessionId: string | undefined) => Manifest | undefined
  readonly open: (session: Omit<Session, 'id' | 'native'>, sessionId: string | undefined) => ReadItem
}

export async function* readMessages(
  file: SourceFile,
  { watch, manifestOf, open }: SessionOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const { members, elements, damage, sizeBytes } = await readListDocument(file, 'messages')
  const sessionId = asId(members['sessionId'])
  const manifest = manifestOf(sessionId)
  yield [open(factsOf(await sumOf(elements()), manifest?.document.raw, members), sessionId)]
  yield damage.map((one): ReadItem => ({ type: 'damage', damage: one }))
  const placing = createPlacing(ID)
  const toItem = (one: Said, place: Place): ReadItem => ({ type: 'entry', entry: placing(one, place) })
  if (manifest !== undefined) yield [manifestItem(manifest, placing)]
  const { system_prompt: prompt, ...header } = members
  const around = { file: file.path, number: 0, byteOffset: 0, byteLength: sizeBytes }
  watch?.record('document', members)
  yield [
    toItem(
      { kind: 'event', blocks: [{ type: 'unknown', raw: header }], metadata: { record: 'header' } },
      around,
    ),
    ...(prompt === undefined ? [] : [toItem(fromPrompt(prompt), around)]),
  ]
  let number = 0
  for await (const some of elements()) {
    yield some.map(({ value, byteOffset, byteLength }) => {
      number += 1
      if (isObject(value) && watch !== undefined) watchMessage(watch, 'message', value)
      const place = { file: file.path, number, byteOffset, byteLength }
      return toItem(value === undefined ? TOO_LARGE : fromMessage(value), place)
    })
  }
}

/** `<id>.json` without its messages. */
export function* readManifest(
  manifest: Manifest,
  { open }: Pick<SessionOptions, 'open'>,
): Generator<ReadItem[]> {
  const { raw, damage } = manifest.document
  yield [open(factsOf(NO_MESSAGES, raw, {}), sessionIdOf(raw))]
  yield damage === undefined ? [manifestItem(manifest, createPlacing(ID))] : [{ type: 'damage', damage }]
}

export function sessionIdOf(raw: Json): string | undefined {
  return isObject(raw) ? asId(either(raw, 'session_id', 'sessionId')) : undefined
}

const TOO_LARGE: Said = {
  kind: 'event',
  blocks: [{ type: 'unknown', raw: null, reason: 'a message over the limit, left where it is' }],
}

function manifestItem({ path, document }: Manifest, placing: Placing): ReadItem {
  const said: Said = {
    kind: 'event',
    blocks: [{ type: 'unknown', raw: document.raw }],
    metadata: { record: 'session' },
  }
  return { type: 'entry', entry: placing(said, wholeOf(path, document)) }
}

function fromPrompt(prompt: Json): Said {
  return typeof prompt === 'string'
    ? { kind: 'message', role: 'system', blocks: [{ type: 'text', text: prompt }] }
    : { kind: 'event', blocks: [{ type: 'unknown', raw: prompt }] }
}

function fromMessage(value: Json): Said {
  const said = isObject(value) ? fromHistoryMessage(value) : undefined
  if (!isObject(value) || said === undefined)
    return { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  const metrics = asObject(value['metrics'])
  const usage = metrics && metricsUsage(metrics)
  const provider = asString(asObject(value['modelInfo'])?.['provider'])
  const messageId = callId(value)
  const call = {
    ...(provider !== undefined && { provider }),
    ...(messageId !== undefined && { messageId }),
  }
  const isAnswer = said.role === 'assistant'
  return {
    ...said,
    ...(isAnswer && usage !== undefined && { usage }),
    ...(isAnswer && Object.keys(call).length > 0 && { call }),
  }
}

/** A message's id is short, and a fork keeps it: with its millisecond it is the same call in every copy. */
function callId({ id, ts }: JsonObject): string | undefined {
  const own = asId(id)
  const when = asNumber(ts)
  return own === undefined || when === undefined ? undefined : `cline:${own}/${when}`
}

type Sum = {
  readonly model: string | undefined
  readonly firstMs: number | undefined
  readonly lastMs: number | undefined
  /** In billionths of a dollar; undefined where no message says what it cost. */
  readonly cost: number | undefined
}

const NO_MESSAGES: Sum = { model: undefined, firstMs: undefined, lastMs: undefined, cost: undefined }

async function sumOf(elements: AsyncIterable<readonly ListElement[]>): Promise<Sum> {
  let { model, firstMs, lastMs, cost } = NO_MESSAGES
  const take = ({ value }: ListElement): void => {
    if (!isObject(value)) return
    const ts = asNumber(value['ts'])
    const own = costOf(asObject(value['metrics'])?.['cost'])
    model = modelOf(value) ?? model
    firstMs ??= ts
    lastMs = ts ?? lastMs
    if (own !== undefined) cost = (cost ?? 0) + own
  }
  // Not in this frame: it would hold on to the last of them while the next are read.
  for await (const some of elements) some.forEach(take)
  return { model, firstMs, lastMs, cost }
}

/**
 * Sums of the session's own messages. What the manifest calls `aggregateUsage` has its subagents' in it, which are sessions of
 * their own, and counts for nothing here.
 */
function factsOf(
  { model: named, firstMs, lastMs, cost }: Sum,
  manifest: Json | undefined,
  { updated_at }: JsonObject,
): Omit<Session, 'id' | 'native'> {
  const said = isObject(manifest) ? manifest : {}
  const more = asObject(said['metadata'])
  const text = (...names: readonly string[]): string | undefined =>
    names.map((name) => asString(said[name])).find((value) => value !== undefined && value !== '')
  const title = asString(more?.['title']) ?? titleOf(text('title', 'prompt'))
  const cwd = text('cwd', 'workspace_root', 'workspaceRoot')
  const model = named ?? text('model')
  const startedAt = parseInstant(text('started_at', 'startedAt')) ?? parseInstant(firstMs)
  const endedAt =
    parseInstant(text('ended_at', 'endedAt')) ?? parseInstant(lastMs) ?? parseInstant(updated_at)
  const parent = asId(either(said, 'parent_session_id', 'parentSessionId'))
  return {
    agent: ID,
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    status: STATUSES.get(text('status') ?? '') ?? 'completed',
    ...(parent !== undefined && { parent: { session: uuidFrom(ID, parent), relation: 'subagent' } }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
  }
}

/** What is not listed is said by nobody: a log has no last word. */
const STATUSES: ReadonlyMap<string, Status> = new Map([
  ['running', 'running'],
  ['failed', 'failed'],
  ['error', 'failed'],
  ['cancelled', 'canceled'],
  ['canceled', 'canceled'],
  ['aborted', 'canceled'],
])

function either(object: JsonObject, ...names: readonly string[]): Json | undefined {
  return names.map((name) => object[name]).find((value) => value !== undefined)
}
