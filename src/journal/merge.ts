/**
 * Several writers' segments as one stream: by monotonic time within a boot, else by wall time, each segment's own order kept.
 * A segment that continues another comes after it, and what it wrote again comes once. Holds a chunk of each segment that is
 * open at that time, and the keys of lines that may have been written twice.
 */
import { hash } from 'node:crypto'
import { toJson } from '../transcript/json.ts'
import { readJournal, type JournalItem, type JournalLine } from './reader.ts'
import { readStart, type SegmentSource, type Start } from './start.ts'

export async function* mergeSegments(
  segments: readonly SegmentSource[],
): AsyncGenerator<readonly JournalItem[]> {
  const [only] = segments
  if (only !== undefined && segments.length === 1) {
    yield* readJournal(only.chunks(), only.file)
    return
  }
  const starts: Start[] = []
  for (const segment of segments) starts.push(await readStart(segment))
  yield* mergeStarts(starts)
}

/** The same, for a caller that has read how they begin. */
export async function* mergeStarts(starts: readonly Start[]): AsyncGenerator<readonly JournalItem[]> {
  const cursors = toCursors(starts)
  try {
    for (let cursor = first(cursors); cursor !== undefined; cursor = first(cursors)) {
      const items = await run(cursor, cursors)
      if (items.length > 0) yield items
    }
  } finally {
    for (const cursor of cursors) await cursor.items?.return(undefined)
  }
}

type Cursor = {
  readonly start: Start
  /** The cursor of the segment that this one continues. */
  after: Cursor | undefined
  /** Lines past this number may stand again in a segment that continues this one. */
  rewrittenAfter: number
  /** Keys of such lines, of this segment and of those before it. */
  readonly seen: Set<string>
  /** The latest time of them. */
  seenUntil: number
  items: AsyncGenerator<readonly JournalItem[]> | undefined
  batch: readonly JournalItem[]
  at: number
  /** Never goes back: lines written again carry their old time, after a first line of a later one. */
  mt: number
  done: boolean
}

function toCursors(starts: readonly Start[]): Cursor[] {
  const cursors = starts.map((start): Cursor => ({
    start,
    after: undefined,
    rewrittenAfter: Number.POSITIVE_INFINITY,
    seen: new Set(),
    seenUntil: -1,
    items: undefined,
    batch: [],
    at: 0,
    mt: start.mt,
    done: false,
  }))
  const byWriter = new Map(cursors.map((cursor) => [cursor.start.record?.writer, cursor]))
  for (const cursor of cursors) {
    const continues = cursor.start.record?.continues
    const before = continues && byWriter.get(continues.writer)
    if (before === undefined || before === cursor || continues === undefined) continue
    cursor.after = before
    before.rewrittenAfter = Math.min(before.rewrittenAfter, continues.seq)
  }
  return cursors
}

/** The cursor whose next line is earliest, of those that wait for no other. */
function first(cursors: readonly Cursor[]): Cursor | undefined {
  const open = cursors.filter((cursor) => !cursor.done)
  const free = open.filter((cursor) => cursor.after === undefined || cursor.after.done)
  let best: Cursor | undefined
  // Segments that claim to continue each other in a circle wait for nobody.
  for (const cursor of free.length > 0 ? free : open)
    if (best === undefined || isBefore(cursor, best)) best = cursor
  return best
}

function isBefore(a: Cursor, b: Cursor): boolean {
  const boot = a.start.record?.boot
  if (boot !== undefined && boot === b.start.record?.boot) return a.mt < b.mt
  return wall(a) < wall(b)
}

/** The wall clock when the segment began, carried on by monotonic time: later changes of the clock do not matter. */
function wall({ start, mt }: Cursor): number {
  return start.wall + (mt - start.mt)
}

function open(cursor: Cursor): AsyncGenerator<readonly JournalItem[]> {
  const { segment } = cursor.start
  // What was written again twice over stands in the segment before the one before.
  for (const key of cursor.after?.seen ?? []) cursor.seen.add(key)
  cursor.seenUntil = cursor.after?.seenUntil ?? -1
  cursor.items = readJournal(segment.chunks(), segment.file)
  return cursor.items
}

/** Lines of one segment, as far as its batch goes or until another's turn. */
async function run(cursor: Cursor, cursors: readonly Cursor[]): Promise<readonly JournalItem[]> {
  const source = cursor.items ?? open(cursor)
  if (cursor.at === cursor.batch.length) {
    const { done, value } = await source.next()
    if (done === true) {
      cursor.done = true
      return []
    }
    cursor.batch = value
    cursor.at = 0
  }
  const others = cursors.filter((other) => other !== cursor && !other.done && other.after !== cursor)
  const items: JournalItem[] = []
  while (cursor.at < cursor.batch.length) {
    const item = cursor.batch[cursor.at] as JournalItem
    if (item.ok) {
      cursor.mt = Math.max(cursor.mt, item.mt)
      if (items.length > 0 && others.some((other) => isBefore(other, cursor))) break
    }
    cursor.at += 1
    if (!item.ok || !isAgain(item, cursor)) items.push(item)
  }
  return items
}

/** True for a line that a segment before has already given. Remembers those that a segment after may give again. */
function isAgain(item: JournalLine, cursor: Cursor): boolean {
  const isWatched = item.seq > cursor.rewrittenAfter
  const mayBeAgain = item.mt <= (cursor.after?.seenUntil ?? -1)
  if (item.record.t === 'session' || (!isWatched && !mayBeAgain)) return false
  const key = `${item.mt}:${hash('sha256', toJson(item.record), 'base64')}`
  if (isWatched) {
    cursor.seen.add(key)
    cursor.seenUntil = Math.max(cursor.seenUntil, item.mt)
  }
  return cursor.after?.seen.has(key) ?? false
}
