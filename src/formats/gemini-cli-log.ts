/**
 * Gemini CLI's event log as entries. A message stands where it was first written and says what was last written of it; its
 * earlier versions, patches and rewinds are events that hold their record. Every line is at least one entry, or damage.
 */
import type { Damage } from '../transcript/damage.ts'
import { parseInstant } from '../transcript/instant.ts'
import { isObject, rest, type Json, type JsonObject } from '../transcript/json.ts'
import { readRecords, type JsonRecord, type RecordBatch } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import { fromGeminiMessage, reportOf } from './gemini-cli-message.ts'
import { toGeminiRecord, type GeminiSurvey } from './gemini-cli-survey.ts'
import { watchRecord } from './gemini-cli-vocabulary.ts'
import { asId, type Place, type Placing, type Said } from './placing.ts'

/** What waits for its turn: an entry without its number, or damage. */
type Waiting = { readonly said: Said; readonly place: Place } | { readonly damage: Damage }

/** Undefined while the last version of the message is still to come. */
type Slot = { items: readonly Waiting[] | undefined; readonly id: string | undefined; readonly bytes: number }

/** How much is held back for a message's last version, in records and in bytes; past it, the message comes where it stands. */
const HELD_RECORDS = 1000
const HELD_BYTES = 32 * 1024 * 1024

export async function* readGeminiLog(
  file: SourceFile,
  survey: GeminiSurvey,
  placing: Placing,
  watch?: DriftWatch,
): AsyncGenerator<readonly ReadItem[]> {
  const queue = createQueue()
  const toItem = (one: Waiting): ReadItem =>
    'damage' in one
      ? { type: 'damage', damage: one.damage }
      : { type: 'entry', entry: placing(one.said, one.place) }
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const take = ({ records, damage }: RecordBatch): readonly ReadItem[] => {
    let damaged = 0
    const giveDamage = (before: number): void => {
      for (let next = damage[damaged]; next !== undefined; next = damage[damaged]) {
        const line = next.line ?? 0
        if (line > before) return
        damaged += 1
        if (line <= survey.lastRecord) queue.push(toWaiting(next, file.path), 0)
      }
    }
    for (const record of records) {
      giveDamage(record.number)
      if (record.number > survey.lastRecord) continue
      if (watch !== undefined) watchRecord(watch, record.value)
      queueRecord(record, file.path, survey, queue)
    }
    giveDamage(Number.POSITIVE_INFINITY)
    return queue.ready().map(toItem)
  }
  for await (const batch of readRecords(file)) {
    const ready = take(batch)
    if (ready.length > 0) yield ready
  }
  yield queue.end().map(toItem)
}

function queueRecord(record: JsonRecord, file: string, survey: GeminiSurvey, queue: Queue): void {
  const { value, number, byteOffset, byteLength } = record
  const place: Place = { file, number, byteOffset, byteLength }
  const event = (name: string, raw: Json = value): { readonly said: Said; readonly place: Place } => ({
    said: { kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record: name } },
    place,
  })
  const give = (message: JsonObject, index: number): void => {
    const id = asId(message['id'])
    if (survey.repeatsResults(message)) {
      // Since 0.61 a message of its own says them again; the entry keeps its place and what is new in it.
      if (index < 0) queue.push([event('results', rest(message, new Set(['content'])) ?? {})], byteLength)
      return
    }
    const items = toSaid(message, survey, { number, isListed: index >= 0 }).map((said) => ({ said, place }))
    const version = id === undefined ? undefined : survey.version(id)
    if (id === undefined || version === undefined) {
      // In a list, what no version speaks for restates what is there: the list's own event holds it.
      if (index < 0) queue.push(items, byteLength)
      return
    }
    const isLast = version.byteOffset === byteOffset && version.index === index
    if (isLast) {
      queue.fill(id, items, byteLength)
      return
    }
    const isEarlier =
      byteOffset < version.byteOffset || (byteOffset === version.byteOffset && index < version.index)
    if (isEarlier) queue.reserve(id, byteLength)
    const report = version.isCounted ? undefined : reportOf(message, survey.facts.sessionId)
    if (index < 0 || report !== undefined) {
      const { said } = event('snapshot', message)
      queue.push([{ said: { ...said, ...report }, place }], byteLength)
    }
  }
  const known = toGeminiRecord(value)
  if (known.type === 'message') give(known.message, -1)
  else if (known.type === 'unknown') queue.push([event('unknown')], byteLength)
  else if (known.type === 'rewind') queue.push([event('rewind')], byteLength)
  else {
    queue.push([event(known.messages === undefined ? known.type : 'checkpoint')], byteLength)
    for (const [index, message] of (known.messages ?? []).entries())
      if (isObject(message)) give(message, index)
  }
}

function toSaid(
  message: JsonObject,
  survey: GeminiSurvey,
  { number, isListed }: { readonly number: number; readonly isListed: boolean },
): readonly Said[] {
  const place = { session: survey.facts.sessionId, number }
  const id = asId(message['id'])
  const first = id === undefined ? undefined : survey.version(id)?.at
  const dated = parseInstant(first) === undefined ? message : { ...message, timestamp: first ?? null }
  const said = fromGeminiMessage(dated, place) ?? [unknownMessage(message)]
  const marks = {
    ...(id !== undefined && survey.isRewound(id) && { rewound: true }),
    ...(isListed && { checkpoint: true }),
  }
  if (Object.keys(marks).length === 0) return said
  return said.map((one) => ({ ...one, metadata: { ...one.metadata, ...marks } }))
}

/** A message of a type that came after this was written. */
export function unknownMessage(message: JsonObject): Said {
  const id = asId(message['id'])
  const { type } = message
  return {
    ...(id !== undefined && { id }),
    kind: 'event',
    blocks: [{ type: 'unknown', raw: message }],
    ...(typeof type === 'string' && { metadata: { record: type } }),
  }
}

/** A line over the limit is told of twice: what happened, and where its bytes are. */
function toWaiting(damage: Damage, file: string): readonly Waiting[] {
  if (damage.kind !== 'too-large') return [{ damage }]
  const { line = 1, byteOffset, byteLength, reason } = damage
  const said: Said = { kind: 'event', blocks: [{ type: 'unknown', raw: null, reason }] }
  return [{ damage }, { said, place: { file, number: line, byteOffset, byteLength } }]
}

type Queue = {
  push(items: readonly Waiting[], bytes: number): void
  /** Keeps the place of a message whose last version is still to come. */
  reserve(id: string, bytes: number): void
  /** Gives the message its place: the one kept for it, or here. */
  fill(id: string, items: readonly Waiting[], bytes: number): void
  /** What nothing is waited for any more, in order. */
  ready(): Waiting[]
  end(): Waiting[]
}

function createQueue(): Queue {
  let slots: Slot[] = []
  let bytes = 0
  const reserved = new Map<string, Slot>()
  const add = (slot: Slot): void => {
    slots.push(slot)
    bytes += slot.bytes
  }
  const take = (isDone: (slot: Slot, held: number) => boolean): Waiting[] => {
    const given: Waiting[] = []
    let at = 0
    for (let slot = slots[at]; slot !== undefined && isDone(slot, slots.length - at); slot = slots[at]) {
      for (const item of slot.items ?? []) given.push(item)
      if (slot.id !== undefined) reserved.delete(slot.id)
      bytes -= slot.bytes
      at += 1
    }
    slots = slots.slice(at)
    return given
  }
  return {
    push: (items, size) => add({ items, id: undefined, bytes: size }),
    reserve(id, size) {
      if (reserved.has(id)) return
      const slot: Slot = { items: undefined, id, bytes: size }
      reserved.set(id, slot)
      add(slot)
    },
    fill(id, items, size) {
      const slot = reserved.get(id)
      if (slot === undefined) add({ items, id: undefined, bytes: size })
      else slot.items = items
    },
    ready: () => take(({ items }, held) => items !== undefined || held > HELD_RECORDS || bytes > HELD_BYTES),
    end: () => take(() => true),
  }
}
