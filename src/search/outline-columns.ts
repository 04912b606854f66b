/** Columns of an outline: one fact of each of many entries, for maps and for jumping. */
import { qualityOfCall } from '../replay/call-bytes.ts'
import type { Quality } from '../transcript/usage.ts'
import type { Outline } from './outline-now.ts'
import { readRowBytes } from './outline-read.ts'
import {
  callAt,
  kindAt,
  marksAt,
  MARKS,
  picoAt,
  promptAt,
  ROW_BYTES,
  sequenceAt,
  sourceAt,
  timeAt,
} from './outline-row.ts'

export type Columns = {
  readonly kinds: Uint16Array
  /** US dollars; -1 where unknown. */
  readonly costs: Float32Array
  readonly times: Float64Array
  readonly sourceOf: Uint16Array
  /** What each says of a call that this session pays for: see replay/call-bytes.ts. */
  readonly calls: Uint8Array
}

/** Rows at a time: a megabyte. */
const SOME = 8192

export async function outlineColumns(outline: Outline, from: number, to: number): Promise<Columns> {
  const length = Math.max(0, to - from)
  const columns = {
    kinds: new Uint16Array(length),
    costs: new Float32Array(length),
    times: new Float64Array(length),
    sourceOf: new Uint16Array(length),
    calls: new Uint8Array(length),
  }
  let pico = from === 0 ? 0n : await picoBefore(outline, from)
  await eachRow(outline, from, to, (bytes, at, position) => {
    const i = position - from
    const marks = marksAt(bytes, at)
    const running = picoAt(bytes, at)
    const isUnknown = (marks & MARKS.unpriced) !== 0
    columns.kinds[i] = kindAt(bytes, at)
    columns.costs[i] = isUnknown ? -1 : running === pico ? 0 : Number(running - pico) / 1e12
    columns.times[i] = timeAt(bytes, at)
    columns.sourceOf[i] = Math.min(0xffff, sourceAt(bytes, at))
    columns.calls[i] = (marks & MARKS.elsewhere) === 0 ? callAt(bytes, at) : 0
    pico = running
  })
  return columns
}

async function picoBefore(outline: Outline, from: number): Promise<bigint> {
  let pico = 0n
  await eachRow(outline, from - 1, from, (bytes, at) => (pico = picoAt(bytes, at)))
  return pico
}

/** The position of each entry of a source, by its sequence. */
export async function positionsBySource(outline: Outline): Promise<ReadonlyMap<string, Uint32Array>> {
  const counts = new Map<number, number>()
  await eachRow(outline, 0, outline.length, (bytes, at) => {
    const source = sourceAt(bytes, at)
    counts.set(source, Math.max(counts.get(source) ?? 0, sequenceAt(bytes, at) + 1))
  })
  const positions = new Map<number, Uint32Array>()
  for (const [source, count] of counts)
    positions.set(source, new Uint32Array(Math.min(count, outline.length)).fill(NOWHERE))
  await eachRow(outline, 0, outline.length, (bytes, at, position) => {
    const own = positions.get(sourceAt(bytes, at))
    const sequence = sequenceAt(bytes, at)
    if (own !== undefined && sequence < own.length) own[sequence] = position
  })
  return new Map([...positions].map(([source, own]) => [outline.sources[source] ?? '', own]))
}

/** In the place of a position that is not known. */
export const NOWHERE = 0xffff_ffff

export type ContextPoint = {
  readonly position: number
  readonly at: number
  readonly source: number
  readonly tokens: number
  readonly quality: Quality | undefined
}

/** How full the context was, by the calls that say so: at most so many, the fullest of those that stand together. */
export async function contextPoints(outline: Outline, most: number): Promise<readonly ContextPoint[]> {
  const width = Math.max(1, Math.ceil(outline.length / most))
  const points: ContextPoint[] = []
  let bucket = -1
  await eachRow(outline, 0, outline.length, (bytes, at, position) => {
    const tokens = promptAt(bytes, at)
    if (tokens === 0) return
    const quality = qualityOfCall(callAt(bytes, at))
    const point = { position, at: timeAt(bytes, at), source: sourceAt(bytes, at), tokens, quality }
    const last = points.at(-1)
    const own = Math.floor(position / width)
    if (own !== bucket || last === undefined || width === 1) points.push(point)
    else if (tokens > last.tokens) points[points.length - 1] = point
    bucket = own
  })
  return points
}

/** Positions of entries of a kind; at most so many. */
export async function positionsOfKind(
  outline: Outline,
  flag: number,
  most: number,
): Promise<readonly number[]> {
  const found: number[] = []
  await eachRow(outline, 0, outline.length, (bytes, at, position) => {
    if ((kindAt(bytes, at) & flag) !== 0 && found.length < most) found.push(position)
  })
  return found
}

async function eachRow(
  { readable, length }: Outline,
  from: number,
  to: number,
  work: (bytes: Buffer, at: number, position: number) => unknown,
): Promise<void> {
  if (readable === undefined) return
  for (let start = from; start < Math.min(to, length); start += SOME) {
    const bytes = await readRowBytes(readable, start, Math.min(start + SOME, to, length))
    for (let at = 0; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) work(bytes, at, start + at / ROW_BYTES)
  }
}
