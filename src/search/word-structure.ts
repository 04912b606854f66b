/** What FTS5 notes of the lists of a table's words, and of how many words its entries have: read, and with one list more. */
import { putVarint, readVarints } from './word-varints.ts'

export type Structure = {
  /** Which version of the table's settings it was written with. */
  readonly cookie: number
  /** Leaves that were written, by which FTS5 knows when to put lists together. */
  readonly written: number
  readonly levels: readonly Level[]
}

type Level = {
  /** Lists of it that are being put together. */
  readonly merging: number
  readonly segments: readonly Segment[]
}

type Segment = {
  readonly id: number
  readonly first: number
  readonly last: number
  /** What entries are told by that are in it, when one is deleted. */
  readonly origins: readonly [number, number]
  /** Leaves and entries of those that were deleted. */
  readonly deleted: readonly [number, number]
  readonly entries: number
}

/** For a table from which may be deleted though it holds no texts. */
const MARK = 0xff_00_00_01

/** Undefined when it is in no form known here. */
export function readStructure(block: Uint8Array): Structure | undefined {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
  if (block.length < 11 || view.getUint32(4) !== MARK) return undefined
  const values = readVarints(block.subarray(8))
  if (values === undefined) return undefined
  let at = 0
  const next = (): number => values[at++] ?? Number.NaN
  const count = next()
  const total = next()
  const written = next()
  const levels: Level[] = []
  for (let nth = 0; nth < count && at < values.length; nth += 1) {
    const merging = next()
    const size = next()
    const segments: Segment[] = []
    for (let own = 0; own < size && at < values.length; own += 1)
      segments.push({
        id: next(),
        first: next(),
        last: next(),
        origins: [next(), next()],
        deleted: [next(), next()],
        entries: next(),
      })
    levels.push({ merging, segments })
  }
  const isWhole = at === values.length && listsOf({ levels }) === total
  return isWhole ? { cookie: view.getUint32(0), written, levels } : undefined
}

/** How many lists there are. */
export function listsOf({ levels }: Pick<Structure, 'levels'>): number {
  return levels.reduce((sum, { segments }) => sum + segments.length, 0)
}

/** The lowest number that no list has, as FTS5 takes it, and what its entries are told by. */
export function nextOf({ levels }: Structure): { readonly segment: number; readonly origin: number } {
  const all = levels.flatMap(({ segments }) => segments)
  const taken = new Set(all.map(({ id }) => id))
  let segment = 1
  while (taken.has(segment)) segment += 1
  return {
    segment,
    origin: Math.max(0, ...all.map(({ origins }) => origins[1])) + 1,
  }
}

export function withSegment(
  structure: Structure,
  { segment, origin, leaves, entries }: { segment: number; origin: number; leaves: number; entries: number },
): Uint8Array {
  const { cookie, written, levels } = structure
  const [newest = { merging: 0, segments: [] }, ...older] = levels
  const added: Segment = {
    id: segment,
    first: 1,
    last: leaves,
    origins: [origin, origin],
    deleted: [0, 0],
    entries,
  }
  const all = [{ ...newest, segments: [...newest.segments, added] }, ...older]
  const values = [all.length, listsOf({ levels: all }), written + leaves]
  for (const { merging, segments } of all) {
    values.push(merging, segments.length)
    for (const { id, first, last, origins, deleted, entries: own } of segments)
      values.push(id, first, last, ...origins, ...deleted, own)
  }
  const block = Buffer.alloc(8 + values.length * 9)
  block.writeUInt32BE(cookie, 0)
  block.writeUInt32BE(MARK, 4)
  return block.subarray(0, putAll(block, 8, values))
}

/** Entries, and words of each column. */
export function withTotals(block: Uint8Array, more: readonly number[]): Uint8Array | undefined {
  const before = readVarints(block)
  if (before === undefined) return undefined
  const values = more.map((one, nth) => one + (before[nth] ?? 0))
  const bytes = Buffer.alloc(values.length * 9)
  return bytes.subarray(0, putAll(bytes, 0, values))
}

function putAll(bytes: Uint8Array, from: number, values: readonly number[]): number {
  let at = from
  for (const value of values) at = putVarint(bytes, at, value)
  return at
}
