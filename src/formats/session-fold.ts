/**
 * A file that is one session: what a fold makes of each record, the damage between them, and the session's facts at the beginning and at
 * the end. Every record is at least one entry; one that is too large is an event that says where it lies.
 */
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { readLineSteps, type FileStep } from './file-steps.ts'
import type { ReadItem } from './format.ts'
import { createPlacing, type Place, type Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'
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
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const toItems = (step: FileStep): readonly ReadItem[] => {
    if ('damage' in step) return [{ type: 'damage', damage: step.damage }]
    const { value, ...place } = step.record
    const at = { file: file.path, ...place }
    last = at
    const next = value === undefined ? [] : fold.next(value, place.number)
    const said = keeping !== undefined && isObject(value) ? keeping(value, next, () => fold.facts()) : next
    return (said.length === 0 ? [unknownSaid(value)] : said).map((one): ReadItem => ({
      type: 'entry',
      entry: placing(one, at),
    }))
  }
  for await (const some of steps) {
    const items = some.flatMap(toItems)
    if (items.length === 0) continue
    if (named === undefined) items.unshift(toSession())
    yield items
  }
  if (named === undefined) return
  const rest = last === undefined ? [] : (fold.end?.() ?? [])
  yield [...rest.map((one): ReadItem => ({ type: 'entry', entry: placing(one, last as Place) })), toSession()]
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
