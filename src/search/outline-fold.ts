/** What an outline is made of: the row of each entry in turn, and what the note says of all of them. */
import type { PriceRow } from '../cost/prices.ts'
import type { ReadItem } from '../formats/format.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Session } from '../transcript/session.ts'
import type { Names, Note, OutlineNote, PlacedDamage } from './outline-files.ts'
import { createFills } from './outline-fills.ts'
import { kindOf } from '../transcript/entry-kind.ts'
import { checkOf } from './outline-record.ts'
import type { OutlineRow } from './outline-row.ts'
import { createSums } from './outline-sums.ts'

export type OutlineFold = {
  /** The row of an entry. `isNew`: not one of those that `from` knows of. */
  take(item: ReadItem, unit: number, isNew?: boolean): OutlineRow | undefined
  length(): number
  names(): Names
  end(): Omit<Note, 'basis' | 'generation' | 'copyBytes' | 'isInline'>
}

export type FoldOptions = {
  readonly elsewhere: ReadonlySet<string>
  readonly prices?: readonly PriceRow[]
  readonly names?: Names
  /** Goes on from here: with the entry at `first`, before which `row` stands, of what a note speaks of. */
  readonly from?: { readonly note: OutlineNote; readonly first: number; readonly row: OutlineRow | undefined }
}

/** Damage that is remembered with its place; all of it is counted. */
const MOST_DAMAGE = 1000

export function createOutlineFold({ elsewhere, prices, names: known, from }: FoldOptions): OutlineFold {
  const sums = createSums({
    elsewhere,
    ...(prices && { prices }),
    ...(from && { from: { position: from.first, row: from.row, unpriced: from.note.unpriced } }),
  })
  const fills = createFills(from?.note.fills)
  const sources = createNames(known?.sources)
  const files = createNames(known?.files)
  const names: Names = { sources: sources.all, files: files.all }
  const perSource: number[] = [...(from?.note.perSource ?? [])]
  // What stands after the first entry is found again.
  const damage: PlacedDamage[] = (from?.note.damage ?? []).filter(
    ({ position }) => position <= (from?.first ?? 0),
  )
  let damageCount = from === undefined ? 0 : from.note.damageCount - (from.note.damage.length - damage.length)
  let before: Damage[] = []
  let session: Session | undefined
  let length = from?.first ?? 0
  return {
    take(item, unit, isNew = true) {
      if (item.type === 'session') session = item.session
      else if (item.type === 'damage') {
        damageCount += 1
        if (damage.length < MOST_DAMAGE) damage.push({ position: length, damage: item.damage })
        if (before.length < MOST_DAMAGE) before.push(item.damage)
      }
      if (item.type !== 'entry') return undefined
      const { entry } = item
      const { origin, sequence } = entry
      const source = sources.numberOf(entry.source)
      if (isNew) {
        perSource[source] = (perSource[source] ?? 0) + 1
        fills.add(entry)
      } else fills.see(entry)
      const used = sums.add(entry, session ?? {})
      const { checksum, length: characters } = checkOf(entry)
      const row: OutlineRow = {
        ...used,
        checksum,
        length: characters,
        unit,
        source,
        sequence,
        file: origin === undefined ? 0 : files.numberOf(origin.file) + 1,
        version: origin?.version,
        byteOffset: origin?.byteOffset ?? 0,
        byteLength: origin?.byteLength ?? 0,
        record: origin?.record ?? 0,
        kind: kindOf(entry, before),
        at: entry.at === undefined ? Number.NaN : Date.parse(entry.at),
        copy: undefined,
      }
      if (before.length > 0) before = []
      length += 1
      return row
    },
    length: () => length,
    names: () => names,
    end: () => ({
      length,
      sources: sources.all,
      perSource: sources.all.map((_, number) => perSource[number] ?? 0),
      files: files.all,
      damage,
      damageCount,
      unpriced: [...sums.unpriced],
      fills: fills.end(),
    }),
  }
}

function createNames(known: readonly string[] = []): {
  readonly all: readonly string[]
  numberOf(name: string): number
} {
  const all = [...known]
  const numbers = new Map(all.map((name, number) => [name, number]))
  return {
    all,
    numberOf(name) {
      const number = numbers.get(name)
      if (number !== undefined) return number
      all.push(name)
      numbers.set(name, all.length - 1)
      return all.length - 1
    },
  }
}
