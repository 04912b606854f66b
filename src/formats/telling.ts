/**
 * A session as its file tells it, record by record: entries with their places, damage, and what is known of the session so far, which opens
 * it and is said again at the end. Shared by the formats that read each file alone.
 */
import type { Damage } from '../transcript/damage.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { toDollars } from './dollars.ts'
import type { ReadItem } from './format.ts'
import { readLineSteps, type FileRecord, type FileStep } from './file-steps.ts'
import { createIdSet } from './id-set.ts'
import { readListDocument, readBareList } from './list-document.ts'
import { createPlacing, type Place, type Said } from './placing.ts'
import { createSpan } from './span.ts'
import { unknownSaid } from './unknown.ts'

/** `sessionId` is what the agent calls it; `native` where another program's session was written down. Nothing that a file does not say is in here. */
export type Facts = Partial<Omit<Session, 'id'>> & { readonly sessionId?: string }

export type Telling = {
  /** What else the file says of the session. A later word stands for an earlier one. */
  know(facts: Facts): void
  /** In billionths of a dollar: costs that records state add up to what the session states. */
  spend(billionths: number | undefined): void
  /** There is a session, though nothing is in it. */
  begin(): void
  say(said: Said, place: Place): void
  damage(damage: Damage): void
  /** What was told since the last time; the session first, once there is anything. */
  take(): readonly ReadItem[]
  /** The rest, and the session as it is known now. */
  end(): readonly ReadItem[]
  /** The session's id here: what a subagent's session names as its parent. Fixed from when it is asked for. */
  id(): string
}

/** The ids of sessions given out so far: a set of texts, or the same in a few bytes each. */
export type Taken = { has(id: string): boolean; add(id: string): unknown; readonly size: number }

export function createTaken(): Taken {
  const ids = createIdSet()
  let size = 0
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id)
      size += 1
    },
    get size() {
      return size
    },
  }
}

/** `path` tells sessions without a name apart; `taken` are the ids given out so far by one reading. */
export function createTelling(format: string, path: string, taken: Taken): Telling {
  const placing = createPlacing(format)
  let items: ReadItem[] = []
  let facts: Facts = {}
  let named: Pick<Session, 'id' | 'native'> | undefined
  let isOpen = false
  let isBegun = false
  let model: string | undefined
  const span = createSpan()
  let cost: number | undefined

  const name = (): Pick<Session, 'id' | 'native'> => {
    if (named !== undefined) return named
    const { sessionId } = facts
    const usual = uuidFrom(format, sessionId ?? '', ...(sessionId === undefined ? [path] : []))
    // Another file of the same session is another recording of it.
    const id = taken.has(usual) ? uuidFrom(format, sessionId ?? '', path, String(taken.size)) : usual
    taken.add(id)
    const native = facts.native ?? (sessionId === undefined ? undefined : { agent: format, sessionId })
    named = { id, ...(native !== undefined && { native }) }
    return named
  }
  const session = (): ReadItem => {
    const { sessionId: _, native: _native, ...own } = facts
    const ended = {
      ...(model !== undefined && { model }),
      ...span.facts(),
      ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    }
    // A log has no last word: one that stopped reads like one that is done.
    return { type: 'session', session: { ...name(), agent: format, status: 'completed', ...ended, ...own } }
  }
  const take = (): readonly ReadItem[] => {
    const isFirst = !isOpen && (items.length > 0 || isBegun)
    const told = isFirst ? [session(), ...items] : items
    isOpen ||= told.length > 0
    items = []
    return told
  }
  return {
    know: (more) => void (facts = { ...facts, ...more }),
    spend(billionths) {
      if (billionths !== undefined) cost = (cost ?? 0) + billionths
    },
    say(said, place) {
      span.see(said.at)
      model ??= said.model
      items.push({ type: 'entry', entry: placing(said, place) })
    },
    begin: () => void (isBegun = true),
    damage: (damage) => void items.push({ type: 'damage', damage }),
    take,
    end: () => (isOpen || isBegun || items.length > 0 ? [...take(), session()] : []),
    id: () => name().id,
  }
}

/** Each record of a JSON Lines file; `end` when they are through. */
export async function* tellLines(
  file: SourceFile,
  telling: Telling,
  next: (value: Json, place: Place) => void,
  end?: () => void,
): AsyncGenerator<readonly ReadItem[]> {
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const tell = (step: FileStep): void => {
    if ('damage' in step) telling.damage(step.damage)
    else tellRecord(file, telling, step.record, next)
  }
  for await (const steps of readLineSteps(file)) {
    steps.forEach(tell)
    yield telling.take()
  }
  end?.()
  yield telling.end()
}

export type ListReader = {
  /** What stands around the list, before its elements. */
  readonly header?: (members: JsonObject, place: Place) => void
  readonly element: (value: Json, place: Place) => void
  readonly end?: () => void
  /** Members of a large document that are passed over, for they are read by themselves. */
  readonly without?: ReadonlySet<string>
}

/** Each element of the list that a JSON document is around, or is when `list` is absent. However large, a few of them at a time. */
export async function* tellList(
  file: SourceFile,
  list: string | undefined,
  telling: Telling,
  { header, element, end, without }: ListReader,
): AsyncGenerator<readonly ReadItem[]> {
  const read =
    list === undefined
      ? await readBareList(file)
      : await readListDocument(file, list, { ...(without !== undefined && { without }) })
  const { members, damage, sizeBytes, count = 0, elements } = read
  // Where there is no element, what stands around is the only record.
  header?.(members, { file: file.path, number: count === 0 ? 1 : 0, byteOffset: 0, byteLength: sizeBytes })
  for (const one of damage) telling.damage(one)
  yield telling.take()
  let number = 0
  for await (const some of elements()) {
    // Not in this frame: see above.
    some.forEach((one) => {
      number += 1
      tellRecord(file, telling, { number, ...one }, element)
    })
    yield telling.take()
  }
  end?.()
  yield telling.end()
}

function tellRecord(
  file: SourceFile,
  telling: Telling,
  { value, ...place }: FileRecord,
  next: (value: Json, place: Place) => void,
): void {
  const at = { file: file.path, ...place }
  if (value === undefined) telling.say(unknownSaid(undefined), at)
  else next(value, at)
}
