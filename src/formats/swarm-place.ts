/** Gives the entries of one session their numbers, ids and origins, in the order they are read. */
import type { Damage } from '../transcript/damage.ts'
import { PRIMARY, createSequence, type Entry } from '../transcript/entry.ts'
import type { JsonRecord } from '../transcript/records.ts'
import type { LineEntry } from './swarm-lines.ts'
import { oversizedEntry } from './unknown.ts'

const FORMAT = 'swarm'

type Place = Pick<JsonRecord, 'number' | 'byteOffset' | 'byteLength'>

export type Placer = {
  readonly place: (entry: LineEntry, file: string, at: Place) => Entry
  /** A record too large to take in: its bytes stay where they are. */
  readonly oversized: (damage: Damage) => Entry
}

export function createPlacer(): Placer {
  const next = createSequence()
  return {
    place(entry, file, { number, byteOffset, byteLength }) {
      const sequence = next(entry.source)
      const origin = { format: FORMAT, file, record: number, byteOffset, byteLength }
      return { id: `${entry.source}/${sequence}`, sequence, ...entry, origin }
    },
    oversized: (damage) =>
      oversizedEntry(damage, { format: FORMAT, file: damage.file, source: PRIMARY, sequence: next(PRIMARY) }),
  }
}
