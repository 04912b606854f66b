/** Records that are nobody's, kept whole: one event with an unknown block for each, at the place where it was read. */
import type { Damage } from '../transcript/damage.ts'
import type { Entry, Origin } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { Said } from './placing.ts'

type Place = {
  readonly format: string
  readonly file: string
  readonly source: string
  readonly sequence: number
}

/** A record that no reader understood. */
export function unknownEntry(
  raw: Json,
  { format, file, source, sequence }: Place,
  { number, byteOffset, byteLength }: { number: number; byteOffset: number; byteLength: number },
): Entry {
  const origin: Origin = { format, file, record: number, byteOffset, byteLength }
  return {
    id: `${source}/${sequence}`,
    source,
    sequence,
    kind: 'event',
    blocks: [{ type: 'unknown', raw }],
    origin,
  }
}

/** A record over the limit: its bytes stay in the file, the entry says where and why. */
export function oversizedEntry(damage: Damage, place: Place): Entry {
  const { line = 1, byteOffset, byteLength, reason } = damage
  const entry = unknownEntry(null, place, { number: line, byteOffset, byteLength })
  return { ...entry, blocks: [{ type: 'unknown', raw: null, reason }] }
}

/** A record that nothing is known of, or that is about the session and not of it: whole. Without a value it is over the limit. */
export function unknownSaid(value: Json | undefined, record?: string): Said {
  const reason = value === undefined && { reason: 'a record over the limit, left where it is' }
  return {
    kind: 'event',
    blocks: [{ type: 'unknown', raw: value ?? null, ...reason }],
    ...(record !== undefined && { metadata: { record } }),
  }
}
