/**
 * Which rows a transcript has: an entry each, what filters leave out is left out, and what a subagent did in one go is one row until it
 * is opened. Rows are in the order of positions, so that the row of a position is found by halving.
 */
import { roleOfKind } from '../../../transcript/kinds.ts'
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import type { Columns } from './columns.ts'

export type TranscriptRow = {
  readonly position: number
  /** The row stands for so many entries of a subagent; those follow it when it is open. */
  readonly lane?: { readonly source: string; readonly count: number; readonly isOpen: boolean }
  /** The subagent whose entry it is. */
  readonly source?: string
}

export type Rows = {
  readonly count: number
  at(row: number): TranscriptRow
  /** The row of the entry, or the one that stands for it, or the nearest before it. */
  indexOf(position: number): number
}

export type Filters = {
  readonly roles: ReadonlySet<string>
  readonly only: ReadonlySet<'error' | 'edit' | 'prompt' | 'tool' | 'thinking'>
  readonly source?: string | undefined
  /** Positions that a search left. */
  readonly positions?: ReadonlySet<number> | undefined
}

export const isFiltering = ({ roles, only, source, positions }: Filters): boolean =>
  roles.size > 0 || only.size > 0 || source !== undefined || positions !== undefined

/** Every entry, before more is known. */
export function plainRows(length: number): Rows {
  return {
    count: length,
    at: (position) => ({ position }),
    indexOf: (position) => Math.max(0, Math.min(position, length - 1)),
  }
}

/** `length`: entries that there are; of the newest it may not be known yet what they are. */
export function createRows(
  columns: Columns,
  filters: Filters,
  open: ReadonlySet<string>,
  length = columns.length,
): Rows {
  const isFiltered = isFiltering(filters)
  if (!isFiltered && columns.sources.length < 2) return plainRows(length)
  return foldedRows(columns, filters, open)
}

function foldedRows(columns: Columns, filters: Filters, open: ReadonlySet<string>): Rows {
  const isFiltered = isFiltering(filters)
  const { length, kinds, sourceOf, sources } = columns
  const starts = new Int32Array(length * 2)
  /** 0: an entry. More: a lane that is folded. Less: one that is open. */
  const lanes = new Int32Array(length * 2)
  let count = 0
  const add = (position: number, lane: number): void => {
    starts[count] = position
    lanes[count] = lane
    count += 1
  }
  const mains = new Set(sources.flatMap((source, at) => (source === 'primary' ? [at] : [])))
  for (let at = 0; at < length;) {
    const source = sourceOf[at] ?? 0
    if (isFiltered || mains.has(source)) {
      if (!isFiltered || passes(filters, kinds[at] ?? 0, sources[source] ?? '', at)) add(at, 0)
      at += 1
      continue
    }
    let end = at
    while (end < length && sourceOf[end] === source) end += 1
    const isOpen = open.has(sources[source] ?? '')
    add(at, isOpen ? at - end : end - at)
    for (; at < end; at += 1) if (isOpen) add(at, 0)
  }
  return {
    count,
    at(row) {
      const position = starts[row] ?? 0
      const lane = lanes[row] ?? 0
      const source = sources[sourceOf[position] ?? 0] ?? ''
      if (lane !== 0) return { position, lane: { source, count: Math.abs(lane), isOpen: lane < 0 } }
      return source === 'primary' ? { position } : { position, source }
    },
    indexOf(position) {
      let [low, high] = [0, count - 1]
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((starts[middle] ?? 0) <= position) low = middle
        else high = middle - 1
      }
      return Math.max(0, low)
    },
  }
}

function passes({ roles, only, source, positions }: Filters, kind: number, of: string, at: number): boolean {
  if (source !== undefined && source !== of) return false
  if (positions !== undefined && !positions.has(at)) return false
  if (roles.size > 0 && !roles.has(roleOfKind(kind) ?? 'event')) return false
  if (only.size === 0) return true
  for (const flag of only) if ((kind & KIND_FLAGS[flag]) !== 0) return true
  return false
}
