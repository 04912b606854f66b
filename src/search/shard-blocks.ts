/**
 * Which docs of a shard are whose, and how old they are. The first few questions are put to the tables, for a command that asks no
 * more; then all is read at once.
 */
import { PAGE_DOCS } from './doc-pages.ts'
import { MissingPage } from './shard.ts'
import type { Prepared } from './shard-statements.ts'

export type IndexedUnit = {
  readonly id: number
  readonly name: string
  readonly version: string
  /** Its docs, in order: those from `low` on, below `high`. */
  readonly pieces: readonly { readonly low: number; readonly high: number }[]
}

/** Of one moment. */
export type BlocksNow = Blocks & {
  /** Asks at once for the units of many, which `unitOf` will be asked for. */
  prefetch(numbers: readonly number[]): void
}

export type Blocks = {
  units(): readonly IndexedUnit[]
  unitOf(number: number): Pick<IndexedUnit, 'name'> | undefined
  /** No doc with a lower number is newer than this; -Infinity when there is none. */
  newestBelow(number: number): number
  /** No doc from this number on is older than a time. */
  topBefore(time: number): number
}

/** Numbers of docs are below this. */
export const TOP = Number.MAX_SAFE_INTEGER

/** As many questions take as long as reading the blocks of some thousand units. */
const FEW = 100

/** As the shard is now: made anew when it has changed. */
export function createBlocks(prepared: Prepared): BlocksNow {
  let known: All | undefined
  let asked = 0
  const found = new Map<number, Pick<IndexedUnit, 'name'> | undefined>()
  const all = (): All => (known ??= readAll(prepared))
  return {
    units: () => all().units,
    unitOf(number) {
      if (known === undefined && found.has(number)) return found.get(number)
      asked += 1
      if (known === undefined && asked <= FEW) return findUnit(prepared, number)
      const { pieces, lows } = all()
      const piece = pieces[lastAtMost(lows, number)]
      return piece !== undefined && number < piece.high ? piece.unit : undefined
    },
    prefetch(numbers) {
      asked += numbers.length
      if (known !== undefined || asked > FEW) return
      for (const [number, unit] of findUnits(prepared, numbers)) found.set(number, unit)
    },
    newestBelow(number) {
      if (known === undefined && number === TOP) return findNewest(prepared)
      const { pieces, lows, newest } = all()
      const at = lastAtMost(lows, number - 1)
      const piece = pieces[at]
      if (piece === undefined) return Number.NEGATIVE_INFINITY
      if (number > piece.high) return newest[at] as number
      const page = prepared('SELECT newest FROM pages WHERE id = ?').get(Math.floor((number - 1) / PAGE_DOCS))
      return Math.max(newest[at - 1] ?? Number.NEGATIVE_INFINITY, Number(page?.['newest']))
    },
    topBefore(time) {
      const { pieces } = all()
      for (let at = pieces.length - 1; at >= 0; at -= 1) {
        const piece = pieces[at] as Piece
        if (piece.oldest <= time) return piece.high
      }
      return Number.NEGATIVE_INFINITY
    },
  }
}

function findUnit(prepared: Prepared, number: number): Pick<IndexedUnit, 'name'> | undefined {
  return findUnits(prepared, [number]).get(number)
}

function findUnits(
  prepared: Prepared,
  numbers: readonly number[],
): ReadonlyMap<number, Pick<IndexedUnit, 'name'> | undefined> {
  const found = prepared(
    `SELECT json_group_array(json_array(asked.value, high, name)) AS rows FROM json_each(?) AS asked
     LEFT JOIN pieces ON pieces.low = (SELECT max(low) FROM pieces WHERE low <= asked.value)
     LEFT JOIN units ON units.id = pieces.unit`,
  ).get(JSON.stringify(numbers))
  const rows = JSON.parse(String(found?.['rows'])) as unknown[][]
  return new Map(
    rows.map(([number, high, name]) => {
      if (high === null || Number(number) >= Number(high)) return [Number(number), undefined]
      if (typeof name !== 'string') throw new MissingPage(NO_UNIT)
      return [Number(number), { name }]
    }),
  )
}

/** A piece that does not say how new it is may be as new as any. */
function findNewest(prepared: Prepared): number {
  const { count, said, newest } =
    prepared('SELECT count(*) AS count, count(max_at) AS said, max(max_at) AS newest FROM pieces').get() ?? {}
  if (count === 0) return Number.NEGATIVE_INFINITY
  return said === count ? Number(newest) : Number.POSITIVE_INFINITY
}

const NO_UNIT = 'the index has a piece of no unit'

type Piece = {
  readonly unit: IndexedUnit
  readonly low: number
  readonly high: number
  /** The earliest time in it. */
  readonly oldest: number
}

type All = {
  readonly units: readonly IndexedUnit[]
  /** By number, ascending. */
  readonly pieces: readonly Piece[]
  readonly lows: readonly number[]
  /** The latest time of each piece and all before it. */
  readonly newest: readonly number[]
}

function readAll(prepared: Prepared): All {
  const units = new Map<number, IndexedUnit & { readonly pieces: Piece[] }>()
  for (const [id, name, version] of together(prepared, 'units', 'id', 'id, name, version'))
    units.set(Number(id), { id: Number(id), name: String(name), version: String(version), pieces: [] })
  const pieces: Piece[] = []
  const newest: number[] = []
  const rows = together(prepared, 'pieces', 'low', 'low, high, unit, min_at, max_at')
  for (const [low, high, unit, oldest, latest] of rows.sort((a, b) => Number(a[0]) - Number(b[0]))) {
    const own = units.get(Number(unit))
    if (own === undefined) throw new MissingPage(NO_UNIT)
    const piece = {
      unit: own,
      low: Number(low),
      high: Number(high),
      oldest: typeof oldest === 'number' ? oldest : Number.NEGATIVE_INFINITY,
    }
    own.pieces.push(piece)
    pieces.push(piece)
    newest.push(
      Math.max(
        typeof latest === 'number' ? latest : Number.POSITIVE_INFINITY,
        newest.at(-1) ?? Number.NEGATIVE_INFINITY,
      ),
    )
  }
  return { units: [...units.values()], pieces, lows: pieces.map(({ low }) => low), newest }
}

/** Rows in a few texts: one by one, fetching them takes ten times as long as finding them. */
function together(prepared: Prepared, table: string, key: string, columns: string): unknown[][] {
  return prepared(
    `SELECT json_group_array(json_array(${columns})) AS rows FROM ${table} GROUP BY ${key} / 100000`,
  )
    .all()
    .flatMap(({ rows }) => JSON.parse(String(rows)) as unknown[][])
}

/** The place of the last that is at most this; -1 when there is none. */
function lastAtMost(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
