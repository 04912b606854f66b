/**
 * The order of a slice's lines: by number within their source, whatever order they arrived in. Looks at the numbers alone first, so
 * that a file in order (nearly all are) is read as a stream, and says which numbers are missing or there twice.
 */
import type { Damage } from '../transcript/damage.ts'
import { readRecords, type JsonRecord } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'
import { asTranscriptEntry } from './weakincentives-entry.ts'

export type Order = {
  /** True when reading the file from top to bottom is already right. */
  readonly isSorted: boolean
  readonly damage: readonly Damage[]
}

type Numbered = { readonly source: string; readonly sequence: number }
type Seen = { last: number; count: number; isSorted: boolean; isNumbered: boolean; numbers: number[] }

export async function readOrder(file: SourceFile): Promise<Order> {
  const sources = new Map<string, Seen>()
  // Not in this frame: it would hold on to the last of them while the next are read.
  const take = (record: JsonRecord): void => {
    const numbered = numberOf(record)
    if (numbered !== undefined) see(numbered, sources)
  }
  for await (const { records } of readRecords(file)) records.forEach(take)
  const isSorted = [...sources.values()].every((seen) => seen.isSorted)
  const all = [...sources.values()].flatMap(({ numbers }) => numbers)
  // Some adapters number across all sources: then only what is missing from all of them is missing.
  const isShared = sources.size > 1 && isDense(all)
  const damage = isShared
    ? []
    : [...sources].flatMap(([source, seen]) => (seen.isNumbered ? holes(source, seen.numbers, file) : []))
  return { isSorted, damage }
}

/** Records in their order: each source keeps the places it had in the file, and fills them by number. */
export function sortRecords(records: readonly JsonRecord[]): JsonRecord[] {
  const bySource = new Map<string, JsonRecord[]>()
  const places = records.map((record) => numberOf(record)?.source)
  for (const [index, record] of records.entries()) {
    const source = places[index]
    if (source === undefined) continue
    const own = bySource.get(source)
    if (own === undefined) bySource.set(source, [record])
    else own.push(record)
  }
  const queues = new Map<string, Iterator<JsonRecord>>()
  for (const [source, own] of bySource) {
    own.sort((a, b) => (numberOf(a)?.sequence ?? 0) - (numberOf(b)?.sequence ?? 0))
    queues.set(source, own.values())
  }
  return records.map((record, index) => {
    const source = places[index]
    return (source === undefined ? undefined : queues.get(source)?.next().value) ?? record
  })
}

function numberOf({ value }: JsonRecord): Numbered | undefined {
  const entry = asTranscriptEntry(value)
  return entry && { source: entry.source, sequence: entry.sequence }
}

function see({ source, sequence }: Numbered, sources: Map<string, Seen>): void {
  const seen = sources.get(source)
  if (seen === undefined) {
    const isNumbered = sequence !== 0
    sources.set(source, { last: sequence, count: 1, isSorted: true, isNumbered, numbers: [sequence] })
    return
  }
  if (sequence < seen.last) seen.isSorted = false
  // The seed's own capture leaves every entry at the default of 0: that is no numbering.
  if (sequence !== 0) seen.isNumbered = true
  seen.last = sequence
  seen.numbers.push(sequence)
}

function isDense(numbers: readonly number[]): boolean {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted.every((number, index) => index === 0 || number === (sorted[index - 1] as number) + 1)
}

/** One damage for each gap and for the doubles of each number; counting from 0 or, as later versions do, from 1. */
function holes(source: string, numbers: readonly number[], file: SourceFile): Damage[] {
  const sorted = numbers.toSorted((a, b) => a - b)
  const damage: Damage[] = []
  const say = (kind: Damage['kind'], reason: string): void => {
    damage.push({ kind, file: file.path, byteOffset: 0, byteLength: 0, reason: `${source}: ${reason}` })
  }
  if ((sorted[0] ?? 0) > 1) say('missing', `entries before ${sorted[0]}`)
  for (let i = 1; i < sorted.length; i += 1) {
    const [before, after] = [sorted[i - 1] as number, sorted[i] as number]
    if (after > before + 1) say('missing', `entries ${before + 1} to ${after - 1}`)
    if (after === before) say('chain', `entry ${after} is there more than once`)
  }
  return damage
}
