/** An outline at one moment: as much of it as there is, while more of it may be made. */
import type { Archive } from '../archive/archive.ts'
import { resolveBlobs } from '../archive/blobs.ts'
import type { ReadItem } from '../formats/format.ts'
import { createOutlet } from '../sources/outlet.ts'
import type { Entry } from '../transcript/entry.ts'
import type { OutlineProgress, Reading, Readings } from './outline-build.ts'
import type { OutlineFolder, OutlineNote, PlacedDamage } from './outline-files.ts'
import { createOutlineFold, type FoldOptions } from './outline-fold.ts'
import { readEntries, type OutlineEntry, type Readable } from './outline-read.ts'
import { toShown, type ReadEntriesOptions } from './outline-trim.ts'
import { redactorOf } from './searched-entry.ts'

export type Outline = {
  /** `building`: there is more than can be had yet. */
  readonly state: 'ready' | 'building'
  /** Entries that can be had. */
  readonly length: number
  readonly sources: readonly string[]
  /** Absent while it is not complete. */
  readonly note: OutlineNote | undefined
  /** Damage that stands right before these positions; the length for what comes last. */
  damage(from: number, to: number): readonly PlacedDamage[]
  readonly readable: Readable | undefined
  /** The same, when it has so many entries or all there are; after so many milliseconds, as it then is. */
  reach(length: number, waitMs: number): Promise<Outline>
  /** In order, from one position up to another. What is not outlined yet is read from the beginning. */
  entries(from: number, to: number, options?: ReadEntriesOptions): AsyncGenerator<OutlineEntry>
  /** All of it, as it is read, without secrets. */
  items(): AsyncIterable<readonly ReadItem[]>
}

/** What is there of a session, and what is being made. */
export type Known = OutlineFolder & {
  readonly note: OutlineNote | undefined
  readonly building: Building | undefined
}

export type Building = {
  readonly stamp: string
  progress: OutlineProgress | undefined
  readonly done: Promise<void>
  readonly waiting: Set<() => void>
  error: unknown
}

/** Entries that are read rather than waited for. */
const BEGINNING = 2000

/** What the fold is given; asked for only where it is read. */
export type FoldFacts = () => FoldOptions

type ReadAgain = { readonly archive: Archive; readonly readings: Readings; readonly facts: FoldFacts }

/** As it is at this moment. */
export function toOutline(own: Known, stamp: string, again: ReadAgain): Outline {
  const { note, building } = own
  const { archive, readings } = again
  const isReady = note?.stamp === stamp
  const progress = building?.progress
  // Of what is made anew as much as there is, once it is more than what was there before.
  const isAhead = !isReady && progress !== undefined && progress.length >= (note?.length ?? 0)
  const current = isAhead ? progress : note
  const readable: Readable | undefined = current && {
    folder: own.folder,
    name: own.name,
    archive,
    units: readings.units,
    generation: current.generation,
    length: current.length,
    sources: current.sources,
    files: current.files,
    isInline: readings.isInline,
    readAll: () => entriesOf(readings.open()),
  }
  const outline: Outline = {
    state: isReady || building === undefined ? 'ready' : 'building',
    length: current?.length ?? 0,
    sources: current?.sources ?? [],
    note: isAhead ? undefined : note,
    readable,
    damage: (from, to) => (note?.damage ?? []).filter(({ position }) => position >= from && position < to),
    async reach(length, waitMs) {
      const deadline = Date.now() + waitMs
      let now = outline
      while (now.state === 'building' && now.length < length && Date.now() < deadline) {
        await nextWord(own.building, deadline)
        now = toOutline(own, stamp, again)
        if (own.building?.error !== undefined) break
      }
      return now
    },
    items: () => redacted(again),
    async *entries(from, to, options) {
      const isKnown = readable !== undefined && (to <= readable.length || outline.state === 'ready')
      // What lies far in is not worth reading all before it: whoever asks again finds more of it outlined.
      if (readable !== undefined && (isKnown || from > BEGINNING))
        yield* readEntries(readable, from, to, options)
      else yield* readBeginning(again, from, to, options)
    },
  }
  return outline
}

async function* redacted({ archive, readings }: ReadAgain): AsyncGenerator<readonly ReadItem[]> {
  yield* createOutlet(archive, false).items(readings.open({ whole: true }).items)
}

function nextWord(building: Building | undefined, deadline: number): Promise<void> {
  if (building === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      building.waiting.delete(done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(1, deadline - Date.now()))
    building.waiting.add(done)
  })
}

async function* entriesOf({ items }: Reading): AsyncGenerator<Entry> {
  for await (const some of items) for (const item of some) if (item.type === 'entry') yield item.entry
}

/** Without an outline: what comes first, read from the beginning. */
async function* readBeginning(
  { archive, readings, facts }: ReadAgain,
  from: number,
  to: number,
  { longest = Number.POSITIVE_INFINITY }: ReadEntriesOptions = {},
): AsyncGenerator<OutlineEntry> {
  const redactor = redactorOf(archive)
  const reading = readings.open()
  const fold = createOutlineFold(facts())
  for await (const items of reading.items) {
    for (const item of items) {
      const position = fold.length()
      if (position >= to) return
      const row = fold.take(item, reading.unit())
      if (row === undefined || item.type !== 'entry' || position < from) continue
      const whole = readings.isInline ? item.entry : await resolveBlobs(item.entry, archive.blobs)
      yield { position, row, ...toShown(whole, longest, redactor) }
    }
  }
}
