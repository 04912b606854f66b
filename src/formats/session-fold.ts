/**
 * A file that is one session: what a fold makes of each record, the damage between them, and the session's facts at the beginning and at
 * the end. Every record is at least one entry; one that is too large is an event that says where it lies.
 */
import type { Damage } from '../transcript/damage.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { Head } from './head-records.ts'
import type { ReadItem } from './format.ts'
import { readInOrder } from './in-order.ts'
import type { ListDocument } from './list-document.ts'
import { createPlacing, type Place, type Said } from './placing.ts'
import type { Keeping } from './unsaid.ts'

/** `sessionId` is the agent's own. Without a status the file has no last word: one that stopped reads like one that is done. */
export type SessionFacts = Partial<Omit<Session, 'id' | 'native'>> & { readonly sessionId?: string }

export type SessionFold = {
  /** What one record says; nothing at all makes it an unknown event. */
  next(value: Json, number: number): readonly Said[]
  /** What is only known at the end; it stands where the last record does. */
  end?(): readonly Said[]
  /** As far as they are known. */
  facts(): SessionFacts
}

/** `value` is undefined where the record is over the limit. `number` is 0 for what stands around a document's list. */
export type FileRecord = Omit<Place, 'file'> & { readonly value: Json | undefined }
export type FileStep = { readonly record: FileRecord } | { readonly damage: Damage }

export type FoldOptions = {
  readonly format: string
  /** Session ids given out so far: another recording of the same session gets its own. */
  readonly taken: Set<string>
  /** Whose sessions the names are; the format's where it is an agent's. */
  readonly agent?: string
  readonly steps?: AsyncIterable<readonly FileStep[]>
  /** Keeps what the fold did not say of a record. */
  readonly keeping?: Keeping
}

export async function* readFold(
  file: SourceFile,
  fold: SessionFold,
  { format, taken, agent = format, steps = readLineSteps(file), keeping }: FoldOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const placing = createPlacing(format)
  let named: Pick<Session, 'id' | 'native'> | undefined
  let last: Place | undefined
  const toSession = (): ReadItem => {
    const { sessionId, ...facts } = fold.facts()
    named ??= nameSession({ format, agent, file: file.path, sessionId }, taken)
    return { type: 'session', session: { ...named, status: 'completed', ...facts } }
  }
  for await (const some of steps) {
    const items: ReadItem[] = []
    for (const step of some) {
      if ('damage' in step) {
        items.push({ type: 'damage', damage: step.damage })
        continue
      }
      const { value, ...place } = step.record
      last = { file: file.path, ...place }
      const next = value === undefined ? [] : fold.next(value, place.number)
      const said = keeping !== undefined && isObject(value) ? keeping(value, next, () => fold.facts()) : next
      for (const one of said.length === 0 ? [unknownSaid(value)] : said)
        items.push({ type: 'entry', entry: placing(one, last) })
    }
    if (items.length > 0) yield named === undefined ? [toSession(), ...items] : items
  }
  if (named === undefined) return
  const rest = last === undefined ? [] : (fold.end?.() ?? [])
  yield [...rest.map((one): ReadItem => ({ type: 'entry', entry: placing(one, last as Place) })), toSession()]
}

/** A record that nothing is known of. */
export function unknownSaid(value: Json | undefined, record?: string): Said {
  const reason = value === undefined && { reason: 'a record over the limit, left where it is' }
  return {
    kind: 'event',
    blocks: [{ type: 'unknown', raw: value ?? null, ...reason }],
    ...(record !== undefined && { metadata: { record } }),
  }
}

type Named = {
  readonly format: string
  readonly agent: string
  readonly file: string
  readonly sessionId: string | undefined
}

/** A later file of the same session, and one of another format, is another recording of it: its own id, the same native name. */
export function nameSession(
  { format, agent, file, sessionId }: Named,
  taken: Set<string>,
): Pick<Session, 'id' | 'native'> {
  const own = uuidFrom(format, sessionId ?? file)
  const id = taken.has(own) ? uuidFrom(format, sessionId ?? '', file) : own
  taken.add(id)
  return { id, ...(sessionId !== undefined && { native: { agent, sessionId } }) }
}

/** The lines of a file; one over the limit is damage and a record. */
export async function* readLineSteps(file: SourceFile): AsyncGenerator<readonly FileStep[]> {
  for await (const steps of readInOrder(file)) {
    yield steps.flatMap((step): readonly FileStep[] => {
      if ('record' in step || step.damage.kind !== 'too-large') return [step]
      const { line = 1, byteOffset, byteLength } = step.damage
      return [step, { record: { number: line, byteOffset, byteLength, value: undefined } }]
    })
  }
}

/** The elements of a document's list, from 1, after the members around it. */
export async function* readListSteps({
  members,
  damage,
  sizeBytes,
  elements,
}: ListDocument): AsyncGenerator<readonly FileStep[]> {
  yield damage.map((one) => ({ damage: one }))
  if (Object.keys(members).length > 0)
    yield [{ record: { number: 0, byteOffset: 0, byteLength: sizeBytes, value: members } }]
  let number = 0
  for await (const some of elements()) {
    yield some.map((element) => {
      number += 1
      return { record: { number, ...element } }
    })
  }
}

/** How the records lie in a file, by how it begins: a line each, the elements of one list, or a single object. */
export function layoutOf({ records, document, peeked, text }: Head): 'lines' | 'list' | 'object' {
  // One line that goes on past the head is a document until another stands behind it.
  const whole = document ?? peeked
  if (whole !== undefined) return Array.isArray(whole) ? 'list' : 'object'
  if (records.length > 0) return 'lines'
  if (/^\uFEFF?\s*\[/.test(text)) return 'list'
  return /^\uFEFF?\s*\{/.test(text) ? 'object' : 'lines'
}

export type Span = {
  see(at: string | undefined): void
  facts(): Pick<Session, 'startedAt' | 'endedAt'>
}

/** The first and the last instant that records state, in whatever order they come. */
export function createSpan(): Span {
  let startedAt: string | undefined
  let endedAt: string | undefined
  return {
    see(at) {
      if (at === undefined) return
      if (startedAt === undefined || at < startedAt) startedAt = at
      if (endedAt === undefined || at > endedAt) endedAt = at
    },
    facts: () => ({
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
    }),
  }
}
