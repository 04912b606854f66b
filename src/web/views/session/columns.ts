/** What each entry of a session is, in columns: enough to draw the map, to jump and to filter without having the entries. 17 bytes each. */
import type { OutlineAnswer } from '../../../server/api.ts'
import { KIND_FLAGS, roleOfKind, type KindFlag } from '../../../transcript/kinds.ts'

export type Columns = {
  readonly length: number
  readonly kinds: Uint16Array
  /** US dollars; -1 where unknown. */
  readonly costs: Float32Array
  /** Milliseconds since 1970; NaN where not said. */
  readonly times: Float64Array
  readonly sourceOf: Uint16Array
  readonly sources: readonly string[]
  /** How sure the counts of its call are: see replay/call-bytes.ts. */
  readonly calls: Uint8Array
  /** How many entries are of each kind that there is: of a million, a few dozen. */
  readonly counts: ReadonlyMap<number, number>
}

export const NO_COLUMNS: Columns = {
  length: 0,
  kinds: new Uint16Array(0),
  costs: new Float32Array(0),
  times: new Float64Array(0),
  sourceOf: new Uint16Array(0),
  sources: [],
  calls: new Uint8Array(0),
  counts: new Map(),
}

/** What was had up to `answer.from`, and the answer from there on. */
export function joinColumns(before: Columns, answer: OutlineAnswer): Columns {
  const { from, to, sources } = answer
  const kinds = grown(before.kinds, Uint16Array, to)
  const added = new Uint16Array(bytesOf(answer.kinds))
  kinds.set(added, from)
  const counts = new Map(before.counts)
  for (const kind of added) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const costs = grown(before.costs, Float32Array, to)
  costs.set(new Float32Array(bytesOf(answer.costs)), from)
  const times = grown(before.times, Float64Array, to)
  times.set(new Float64Array(bytesOf(answer.times)), from)
  const sourceOf = grown(before.sourceOf, Uint16Array, to)
  sourceOf.set(new Uint16Array(bytesOf(answer.sourceOf)), from)
  const calls = grown(before.calls, Uint8Array, to)
  calls.set(new Uint8Array(bytesOf(answer.calls)), from)
  return { length: to, kinds, costs, times, sourceOf, sources, calls, counts }
}

/** The next entry with the flag after `from`, or before it; undefined where there is none. */
export function nextWith(
  { kinds, length }: Columns,
  flag: KindFlag,
  from: number,
  step: 1 | -1,
): number | undefined {
  for (let at = Math.min(from, length) + step; at >= 0 && at < length; at += step)
    if (isOne(kinds[at] ?? 0, flag)) return at
  return undefined
}

/** Nobody said or did anything in it: there are only the notes of a program, see records.ts. */
export const isAllRecords = ({ counts }: Columns): boolean => counts.size === 1 && counts.has(0)

export function countWith({ counts }: Columns, flag: KindFlag): number {
  let sum = 0
  for (const [kind, times] of counts) if (isOne(kind, flag)) sum += times
  return sum
}

/** At that time, and rather one that was billed; else the first after it. */
export function entryAt({ times, costs, length }: Columns, ms: number): number | undefined {
  let [same, after]: (number | undefined)[] = [undefined, undefined]
  for (let at = 0; at < length; at += 1) {
    const time = times[at] ?? Number.NaN
    if (time === ms && (costs[at] ?? 0) > 0) return at
    if (time === ms) same ??= at
    if (time > ms) after ??= at
  }
  return same ?? after
}

/** A tool's answer belongs to its call, which is counted. */
const isOne = (kind: number, flag: KindFlag): boolean =>
  (kind & KIND_FLAGS[flag]) !== 0 && !(flag === 'tool' && roleOfKind(kind) === 'tool')

type Column = Uint8Array | Uint16Array | Float32Array | Float64Array

/** With room for as much again: a session that grows by one entry does not cost a copy of all. */
function grown<T extends Column>(column: T, Of: new (length: number) => T, length: number): T {
  if (column.length >= length) return column
  const larger = new Of(Math.ceil(length * (column.length === 0 ? 1 : 1.5)))
  larger.set(column)
  return larger
}

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return bytes.buffer
}
