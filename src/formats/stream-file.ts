/**
 * What an agent printed, kept in a file: read by the fold that takes it live. A file may hold several runs, one after the other; each
 * that names another session is one of its own. Lines that are told together are one entry, whose origin is all of them.
 */
import { uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { createDriftWatch, type DriftWatch, type Vocabulary } from './drift.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { createPlacing, type Place, type Said } from './placing.ts'
import { nameSession } from './session-fold.ts'
import { readLineSteps, type FileStep } from './file-steps.ts'
import { unknownSaid } from './unknown.ts'
import type { Fold, StreamSession } from './stream-session.ts'
import { createSink } from './stream-sink.ts'
import { createKeeping } from './unsaid.ts'

export type StreamFormat = {
  readonly id: string
  readonly title: string
  /** Whose sessions these are: its own log may hold the same ones. */
  readonly agent: string
  /** The session that a line begins, where it begins one. */
  readonly begins: (line: JsonObject) => string | undefined
  readonly fold: (session: StreamSession) => Fold
  readonly look: (head: Head) => Detection | undefined
  /** Names of fields, and values that entries say in their own way: what else a line says is kept with its entry. */
  readonly words: string
  readonly vocabulary: Vocabulary
  /** What the vocabulary calls a line. */
  readonly watch: (watch: DriftWatch, line: JsonObject) => void
}

export function streamFormat(options: StreamFormat): Format {
  const { id, title, look } = options
  return {
    id,
    title,
    detect: (source) => detectAmong(source, async (file) => look(await readHead(file))),
    async *read(source, readOptions) {
      const drift = createDriftWatch(options.vocabulary, readOptions)
      const taken = new Set<string>()
      for (const file of await source.list()) {
        if (source.kind === 'folder' && look(await readFurther(file)) === undefined) continue
        yield* readStream(file, options, taken, drift)
      }
    },
  }
}

type Extent = Omit<Place, 'file'>

async function* readStream(
  file: SourceFile,
  options: StreamFormat,
  taken: Set<string>,
  drift: DriftWatch | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  let run: Run | undefined
  let runs = 0
  const open = (sessionId: string | undefined): Run => {
    runs += 1
    return createRun(file.path, options, { sessionId, number: runs, taken })
  }
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const take = (steps: readonly FileStep[]): ReadItem[] => {
    /** Of each run that has something in them. Not put together as arguments: there may be more than a call can have. */
    const all: (readonly ReadItem[])[] = []
    let items: ReadItem[] = []
    for (const step of steps) {
      if ('damage' in step) {
        run ??= open(undefined)
        items.push({ type: 'damage', damage: step.damage })
        continue
      }
      const { value, ...extent } = step.record
      if (drift !== undefined && isObject(value)) options.watch(drift, value)
      const begun = isObject(value) ? options.begins(value) : undefined
      if (run !== undefined && begun !== undefined && run.isAnother(begun)) {
        all.push([run.session(), ...items, ...run.end()])
        items = []
        run = undefined
      }
      run ??= open(begun)
      if (begun !== undefined) run.name(begun)
      items.push(...run.take(value, extent))
    }
    if (items.length > 0 && run !== undefined) all.push([run.session(), ...items])
    return all.flat()
  }
  for await (const steps of readLineSteps(file)) {
    const items = take(steps)
    if (items.length > 0) yield items
  }
  if (run !== undefined) yield run.end()
}

type Run = {
  session(): ReadItem
  name(sessionId: string): void
  isAnother(sessionId: string): boolean
  take(value: Json | undefined, extent: Extent): readonly ReadItem[]
  end(): readonly ReadItem[]
}

type Opened = { readonly sessionId: string | undefined; readonly number: number; readonly taken: Set<string> }

function createRun(file: string, { id, agent, fold: toFold, words }: StreamFormat, opened: Opened): Run {
  const keeping = createKeeping(words)
  const placing = createPlacing(id)
  const sink = createSink(uuidFrom(id, file, String(opened.number)))
  const fold = toFold(sink.session)
  let named: Pick<Session, 'id' | 'native'> | undefined
  let { sessionId } = opened
  let ending: Partial<Session> = {}
  /** Lines that wait to be told with others. */
  let waiting: Extent | undefined
  let last: Extent = { number: 1, byteOffset: 0, byteLength: 0 }

  const toItem = (said: Said, extent: Extent): ReadItem => ({
    type: 'entry',
    entry: placing(said, { file, ...extent }),
  })
  const toSession = (): ReadItem => {
    // The name comes with the first lines: until then it is not given away.
    const known = named ?? nameSession({ format: id, agent, file, sessionId }, opened.taken)
    named = known
    return {
      type: 'session',
      session: { ...known, agent, status: 'interrupted', ...sink.facts(), ...ending },
    }
  }
  return {
    session: toSession,
    name: (given) => void (sessionId ??= given),
    isAnother: (given) => sessionId !== undefined && sessionId !== given,
    take(value, extent) {
      last = extent
      const before = waiting
      if (isObject(value)) fold.take(value)
      const said = isObject(value) ? sink.take() : [unknownSaid(value)]
      // What was gathered before comes first, and says nothing of this line.
      const gathered = before === undefined ? 0 : 1
      const told = isObject(value)
        ? [
            ...said.slice(0, gathered),
            ...keeping(value, said.slice(gathered), () => ({ sessionId, ...sink.facts() })),
          ]
        : said
      waiting = fold.holds() ? upTo(told.length === 0 ? (before ?? extent) : extent, extent) : undefined
      if (told.length === 0 && waiting === undefined) return [toItem(unknownSaid(value), extent)]
      // What was gathered is told first; alone, it was told because of its size, with this line in it.
      const isAlone = told.length === 1 && waiting === undefined
      return told.map((said, index) =>
        toItem(
          said,
          index === 0 && before !== undefined ? (isAlone ? upTo(before, extent) : before) : extent,
        ),
      )
    },
    end() {
      const { at, ...ended } = fold.end()
      const endedAt = parseInstant(at)
      ending = { ...ended, ...(endedAt !== undefined && { endedAt }) }
      return [...sink.take().map((said) => toItem(said, waiting ?? last)), toSession()]
    },
  }
}

const upTo = (from: Extent, { byteOffset, byteLength }: Extent): Extent => ({
  ...from,
  byteLength: byteOffset + byteLength - from.byteOffset,
})
