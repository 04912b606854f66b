/**
 * weakincentives: the transcript slice as JSON Lines of `TranscriptEntry`, read and written. A file is one session, its entries in
 * the order of their numbers within each source.
 */
import { counted } from '../transcript/counted.ts'
import { createSequence, type Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import { readRecords, type JsonRecord } from '../transcript/records.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { createRecentIds, type IdSet } from './id-set.ts'
import { oversizedEntry, unknownEntry } from './unknown.ts'
import { TYPE_KEY, asTranscriptEntry, fromCreatedAt, hasOnlyFields } from './weakincentives-entry.ts'
import { readOrder, sortRecords } from './weakincentives-order.ts'
import { fromTranscriptEntry } from './weakincentives-parse.ts'
import { OWN, lineOf, ownFields } from './weakincentives-parts.ts'
import { weakincentivesWriter } from './weakincentives-write.ts'
import { PLACES } from './places.ts'

const ID = 'weakincentives'

export const weakincentives: Format = {
  id: ID,
  title: 'weakincentives: the TranscriptEntry slice as JSON Lines',
  async detect(source) {
    let best: Detection | undefined
    for (const file of (await logsOf(source)).slice(0, LOOKED_AT)) {
      const found = detectHead(await readHead(file))
      if (found !== undefined && found.confidence > (best?.confidence ?? 0)) best = found
    }
    return best
  },
  async *read(source) {
    for (const file of await logsOf(source)) {
      const isSlice = source.kind === 'file' || detectHead(await readFurther(file)) !== undefined
      if (isSlice) yield* readSlice(file)
    }
  },
  write: weakincentivesWriter,
  // The seed's examples: a program chooses its own base directory, and without one uses a temporary folder.
  places: PLACES.weakincentives,
}

/** Files of a folder looked at to tell whose it is. */
const LOOKED_AT = 20

/** A slice out of order is sorted in memory up to this size; a larger one is read as it lies, and said to be out of order. */
const SORT_LIMIT = 256 * 1024 * 1024

async function logsOf(source: Source): Promise<readonly SourceFile[]> {
  const files = await source.list()
  return source.kind === 'file' ? files : files.filter(({ path }) => path.endsWith('.jsonl'))
}

function detectHead({ records, strange }: Head): Detection | undefined {
  const own = records.filter(isSliceLine).length
  if (own === 0 || own * 2 <= records.length + strange) return undefined
  return { confidence: 0.95, reason: counted(own, 'TranscriptEntry line') }
}

/** Fields that are null or at their default may be left out, but others are those of another format. */
function isSliceLine(line: JsonObject): boolean {
  const entry = asTranscriptEntry(line)
  if (entry === undefined) return false
  const type = line[TYPE_KEY]
  return (
    ('entry_id' in line && 'tool_call_id' in line) ||
    (typeof type === 'string' && type.endsWith('TranscriptEntry')) ||
    (hasOnlyFields(line) && fromCreatedAt(entry.created_at) !== undefined)
  )
}

async function* readSlice(file: SourceFile): AsyncGenerator<readonly ReadItem[]> {
  const order = await readOrder(file)
  const reading = createReading(file)
  const isHeld = !order.isSorted && file.sizeBytes <= SORT_LIMIT
  const held: JsonRecord[] = []
  for await (const { records, damage } of readRecords(file)) {
    yield reading.damage(damage)
    // One by one: a chunk may hold more of them than a call can have arguments.
    if (isHeld) for (const record of records) held.push(record)
    else yield records.flatMap((record) => reading.record(record))
  }
  if (isHeld) yield sortRecords(held).flatMap((record) => reading.record(record))
  if (!order.isSorted && !isHeld) {
    const place = { file: file.path, byteOffset: 0, byteLength: file.sizeBytes }
    const reason = 'entries out of order, in a file too large to sort'
    yield [{ type: 'damage', damage: { kind: 'chain', ...place, reason } }]
  }
  yield reading.damage(order.damage)
  yield reading.end()
}

function createReading(file: SourceFile) {
  const nextSequence = createSequence()
  const seen = createRecentIds()
  /** Damage from before the first entry, which belongs to the session that the entry opens. */
  const early: ReadItem[] = []
  let id: string | undefined
  let model: string | undefined
  let startedAt: string | undefined
  let endedAt: string | undefined

  const toSession = (): Session => ({
    id: id ?? uuidFrom(ID, file.path),
    ...(model !== undefined && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    status: 'completed',
  })
  /** The session is named after its first entry: files of this format all have the same name. */
  const open = (name: string): ReadItem[] => {
    if (id !== undefined) return []
    id = uuidFrom(ID, name)
    return [{ type: 'session', session: toSession() }, ...early.splice(0)]
  }
  const observe = (entry: Entry): void => {
    model ??= entry.model
    if (entry.at === undefined) return
    if (startedAt === undefined || entry.at < startedAt) startedAt = entry.at
    if (endedAt === undefined || entry.at > endedAt) endedAt = entry.at
  }

  return {
    record(record: JsonRecord): ReadItem[] {
      const entry = toEntry(record, file.path, nextSequence, seen)
      seen.add(entry.id)
      const line = isObject(record.value) ? record.value['entry_id'] : undefined
      observe(entry)
      return [...open(typeof line === 'string' ? line : file.path), { type: 'entry', entry }]
    },
    damage(damage: readonly Extract<ReadItem, { type: 'damage' }>['damage'][]): ReadItem[] {
      return damage.flatMap((one): ReadItem[] => {
        if (one.kind !== 'too-large') {
          if (id === undefined) early.push({ type: 'damage', damage: one })
          return id === undefined ? [] : [{ type: 'damage', damage: one }]
        }
        const source = 'primary'
        const entry = oversizedEntry(one, {
          format: ID,
          file: file.path,
          source,
          sequence: nextSequence(source),
        })
        return [...open(file.path), { type: 'damage', damage: one }, { type: 'entry', entry }]
      })
    },
    end: (): ReadItem[] => (id === undefined ? early : [{ type: 'session', session: toSession() }]),
  }
}

function toEntry(
  record: JsonRecord,
  file: string,
  nextSequence: (source: string) => number,
  seen: Pick<IdSet, 'has'>,
): Entry {
  const { value, number, byteOffset, byteLength } = record
  const line = asTranscriptEntry(value)
  if (line === undefined || !isObject(value)) {
    const source = 'primary'
    return unknownEntry(value, { format: ID, file, source, sequence: nextSequence(source) }, record)
  }
  const said = fromTranscriptEntry(line)
  const sequence = nextSequence(said.source)
  const isFree = line.entry_id !== '' && !seen.has(line.entry_id)
  const id = isFree ? line.entry_id : `${said.source}/${sequence}`
  const origin = { format: ID, file, record: number, byteOffset, byteLength }
  const entry: Entry = { id, ...said, sequence, origin }
  const written = lineOf(entry)
  const own = written === undefined ? undefined : ownFields(value, written)
  return own === undefined ? entry : { ...entry, metadata: { ...entry.metadata, [OWN]: own } }
}
