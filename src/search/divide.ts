/**
 * Where the bytes of a query may be, and how to look there: an entry is read by itself in half a millisecond, a unit as a whole at
 * some fifty megabytes a second. So of units in which few pages may have it the pages are read, and the others whole.
 */
import { PAGE_DOCS } from './doc-pages.ts'
import { ALL } from './plan.ts'
import type { Searching } from './searching.ts'
import { TOP } from './shard-blocks.ts'
import type { ShardReader } from './shard-reader.ts'
import type { ListedUnit } from './unit-list.ts'

export type Divided = {
  /** The only pages whose entries may match, from the highest down; undefined when any may. */
  readonly pages: readonly number[] | undefined
  /** Units to read whole, whose pages are not among those. */
  readonly units: readonly ListedUnit[]
}

/** What is read of a unit in the time that the entries of one page take. */
const BYTES_A_PAGE = 1_500_000

export function divide(reader: ShardReader, searching: Searching): Divided {
  const { plan, view } = searching
  const pages = plan.grams && reader.pagesWith(plan.grams)
  // What stands within words is looked up by those words, where the pages are many.
  if (pages === undefined || plan.within !== undefined) return { pages, units: [] }
  const lookup = plan.lookup(reader.facets)
  if (lookup === undefined || (lookup.expression !== ALL && isRare(reader, lookup.expression)))
    return { pages, units: [] }
  const byUnit = new Map<string, number[]>()
  for (const page of pages) {
    const name = reader.unitOf(page * PAGE_DOCS)?.name
    if (name === undefined || !view.isCurrent(reader.shard, name)) continue
    const known = byUnit.get(name)
    if (known === undefined) byUnit.set(name, [page])
    else known.push(page)
  }
  const units: ListedUnit[] = []
  const apart = new Set<number>()
  for (const [name, own] of byUnit) {
    const unit = searching.unit(name)
    // Entries of a session that several units speak for are counted over all of them, which the index knows.
    const isAlone = unit !== undefined && ![...unit.sessions.values()].some((key) => view.several.has(key))
    if (isAlone && unit.bytes <= own.length * BYTES_A_PAGE) units.push(unit)
    else for (const page of own) apart.add(page)
  }
  return { pages: pages.filter((page) => apart.has(page)), units }
}

/** So many entries are read by themselves rather than units whole. */
const FEW = 500

function isRare(reader: ShardReader, fts: string): boolean {
  return reader.matches(fts, TOP, FEW).length < FEW
}
