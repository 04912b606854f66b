/**
 * What a program wrote down about itself, which is no part of the conversation: counts, settings, marks. They often come in rows; a row of
 * them is one line, at the first, that opens to all.
 */
import type { EntryRow } from '../../../server/api.ts'
import type { Entry } from '../../../transcript/entry.ts'
import { PAGE, type Pages } from './pages.ts'

/** Of a row, at most so many: positions are looked up one by one, and a page of them is loaded together. */
const LONGEST = PAGE

type Known = Pick<Pages, 'get'>

export function isRecord({ entry, damage }: EntryRow): boolean {
  const { kind, blocks } = entry
  return (
    kind === 'event' &&
    damage === undefined &&
    !isCompaction(entry) &&
    blocks.every((block) => block.type === 'unknown' && block.reason === undefined)
  )
}

/** The first of the row that it stands in; itself where it is the first, or no record. */
export function headOf(row: EntryRow, pages: Known): number {
  let { position } = row
  if (!isRecord(row)) return position
  for (const least = position - (position % LONGEST); position > least; position -= 1) {
    const before = pages.get(position - 1)
    if (before === undefined || before.entry.source !== row.entry.source || !isRecord(before)) break
  }
  return position
}

/** It and those that follow it, as far as they are loaded. */
export function rowFrom(row: EntryRow, pages: Known): readonly EntryRow[] {
  const all = [row]
  for (let at = row.position + 1; at % LONGEST !== 0; at += 1) {
    const next = pages.get(at)
    if (next === undefined || next.entry.source !== row.entry.source || !isRecord(next)) break
    all.push(next)
  }
  return all
}

export function isCompaction({ metadata }: Entry): boolean {
  if (metadata === undefined) return false
  const { record, subtype, isCompactSummary } = metadata
  return (
    isCompactSummary === true ||
    [record, subtype].some((name) => typeof name === 'string' && /compact/i.test(name.slice(0, 100)))
  )
}

/** What it calls itself. */
export function recordName({ metadata, blocks }: Entry): string {
  const [first] = blocks
  const raw = first?.type === 'unknown' ? first.raw : undefined
  const places = [metadata, raw, inside(raw, 'payload')]
  const named = places.flatMap((place) => ['record', 'subtype', 'type'].map((key) => inside(place, key)))
  return named.find((name): name is string => typeof name === 'string' && name !== '') ?? 'record'
}

function inside(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as { readonly [key: string]: unknown })[key]
}
