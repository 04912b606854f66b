/**
 * A record that is over the limit of a line, made to fit at the least cost: of an entry, first a large `metadata` and the
 * provider's own usage, then the largest blocks; of a session, its largest facts. What goes is named where it was.
 */
import { cutText, type Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject } from '../transcript/json.ts'
import type { JournalRecord } from './record.ts'

/** Smaller ones are not what makes a line too large. */
const LARGE = 64 * 1024
/** Characters of a text that stay when it is cut. */
const CUT = 1000

export const TOO_LARGE = 'over the limit of a line'

/** Every part of the record is one that JSON can say. */
export function toFitting(record: JournalRecord, limit: number): unknown {
  if (record.t === 'entry') return { t: 'entry', entry: fitEntry(record.entry, limit) }
  const session =
    'session' in record ? lighten(record.session, sizeOf(record) - limit, FACTS_STAY) : undefined
  const rest = { ...record, ...(session && { session: session.kept }) }
  const all = lighten(rest, sizeOf(rest) - limit, RECORD_STAYS)
  const before = 'withheld' in record && Array.isArray(record.withheld) ? record.withheld : []
  return { ...all.kept, withheld: [...before, ...(session?.withheld ?? []), ...all.withheld] }
}

const FACTS_STAY = new Set(['id', 'status'])
const RECORD_STAYS = new Set(['t', 'session', 'writer', 'boot', 'at', 'counts', 'withheld'])
const ENVELOPE_STAYS = new Set(['source', 'sequence', 'kind', 'role', 'at', 'blocks'])

function fitEntry({ blocks, ...given }: Entry, limit: number): unknown {
  const { envelope, withheld } = withoutExtras(given)
  const notes: Block[] = withheld.map((field) => ({
    type: 'unknown',
    raw: null,
    reason: `${field}: ${TOO_LARGE}`,
  }))
  const room = limit - sizeOf(envelope) - sizeOf(notes)
  const kept = fitBlocks(blocks, room)
  const entry = { ...envelope, blocks: [...kept, ...notes] }
  if (sizeOf(entry) <= limit) return entry
  const all = `${blocks.length} blocks: ${TOO_LARGE}`
  const { kept: least, withheld: names } = lighten(envelope, Number.POSITIVE_INFINITY, ENVELOPE_STAYS)
  const reason = names.length === 0 ? all : `${all}; ${names.join(', ').slice(0, CUT)}: ${TOO_LARGE}`
  return { ...least, blocks: [{ type: 'unknown', raw: null, reason }] }
}

function withoutExtras(entry: Omit<Entry, 'blocks'>): {
  envelope: Omit<Entry, 'blocks'>
  withheld: readonly string[]
} {
  const { metadata, usage, ...rest } = entry
  const isMetadataLarge = sizeOf(metadata) > LARGE
  const isUsageLarge = sizeOf(usage) > LARGE
  const { raw: _, ...counts } = usage ?? { quality: 'unavailable' as const }
  return {
    envelope: {
      ...rest,
      ...(metadata !== undefined && !isMetadataLarge && { metadata }),
      ...(usage !== undefined && { usage: isUsageLarge ? counts : usage }),
    },
    withheld: [...(isMetadataLarge ? ['metadata'] : []), ...(isUsageLarge ? ['usage.raw'] : [])],
  }
}

/** The largest go first, until the others have room. */
function fitBlocks(blocks: readonly Block[], room: number): readonly Block[] {
  const gone: Block = { type: 'unknown', raw: null, reason: TOO_LARGE }
  const sizes = blocks.map(sizeOf)
  let excess = sizes.reduce((sum, size) => sum + size + 1, 0) - room
  const largest = [...sizes.keys()].sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0))
  const kept = [...blocks]
  for (const index of largest) {
    if (excess <= 0) break
    kept[index] = gone
    excess -= (sizes[index] ?? 0) - sizeOf(gone)
  }
  return kept
}

/** The object with its largest fields cut, or left out where they are no text, until it is smaller by the excess. */
function lighten(
  object: object,
  excess: number,
  stay: ReadonlySet<string>,
): { kept: object; withheld: readonly string[] } {
  const fields = new Map<string, unknown>(Object.entries(object))
  const sizes = [...fields]
    .map(([key, value]) => ({ key, size: sizeOf(value) }))
    .sort((a, b) => b.size - a.size)
  const withheld: string[] = []
  let left = excess
  for (const { key, size } of sizes) {
    if (left <= 0 || size <= CUT) break
    if (stay.has(key)) continue
    const value = fields.get(key)
    const less = typeof value === 'string' ? cutText(value, CUT) : undefined
    if (less === undefined) fields.delete(key)
    else fields.set(key, less)
    left -= size - sizeOf(less)
    withheld.push(key)
  }
  return { kept: Object.fromEntries(fields), withheld }
}

/** Bytes of a value as JSON; nothing for what is absent. */
function sizeOf(value: unknown): number {
  if (value === undefined) return 0
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item) + 1, 2)
  if (!isObject(value)) return Buffer.byteLength(JSON.stringify(value) ?? '')
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length * 6 + 4 + sizeOf(inner), 2)
}
