/**
 * A record as JSON text, whatever the caller put into it, and never over the limit of a line. What JSON cannot say (a cycle, a
 * BigInt, a `toJSON` that throws), what is nested too deep for common readers, and what is too large cost the field or block they
 * stand in, never the entry: it is kept with an unknown block that says why.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { toFitting } from './fitting.ts'
import { MARK } from './line.ts'
import type { JournalRecord } from './record.ts'

/** jq 1.6 stops at 256 levels, and a journal must be readable with it. */
const DEPTH_LIMIT = 240
/** A block's own text is kept as a string when it is too deep, up to this many characters. */
const TEXT_LIMIT = 1024 * 1024
/** Structure with more values than this is not walked: shared parts can make a small one endless as JSON. */
const NODE_LIMIT = 2_000_000
/** Head and tail of a line, and then some. */
const LINE_LIMIT = RECORD_LIMIT - 1024
/** A mark inside a record's own content: the same JSON with a space in it, which is no mark. */
const UNMARKED = '{"v":1, "seq":'

/** `reduced` is called when something of the record could not be kept as it was. */
export function toRecordJson(
  record: JournalRecord,
  reduced: () => void = () => {},
  limit: number = LINE_LIMIT,
): string {
  const json = tryJson(record)?.replaceAll(MARK, UNMARKED)
  if (json !== undefined && fits(json, limit)) return json
  reduced()
  const sayable = reduce(record)
  const less = tryJson(sayable)?.replaceAll(MARK, UNMARKED)
  if (less !== undefined && fits(less, limit)) return less
  // Our own JSON, read back: plain values, whose size is that of what they hold. A `toJSON` may give more than it seems to.
  const plain = less === undefined ? sayable : (JSON.parse(less) as JournalRecord)
  // A mark is 13 bytes and becomes 14.
  return JSON.stringify(toFitting(plain, Math.floor(limit * 0.9))).replaceAll(MARK, UNMARKED)
}

/** The entry's envelope: who, when, which model, what it used. Its content is gone, and `reason` says why. */
export function withoutContent(record: JournalRecord, reason: string): JournalRecord {
  if (record.t !== 'entry') return record
  const { metadata: _, usage, ...envelope } = record.entry
  const { raw: _raw, ...counts } = usage ?? { quality: 'unavailable' as const }
  const entry: Entry = {
    ...envelope,
    ...(usage !== undefined && { usage: counts }),
    blocks: [{ type: 'unknown', raw: null, reason }],
  }
  return { t: 'entry', entry }
}

function fits(json: string, limit: number): boolean {
  return json.length * 3 <= limit || Buffer.byteLength(json) <= limit
}

function tryJson(value: unknown): string | undefined {
  try {
    return isWithin(value, DEPTH_LIMIT, { left: NODE_LIMIT }) ? JSON.stringify(value) : undefined
  } catch {
    return undefined
  }
}

/** False for what is nested deeper than `depth` or has more values than may be left: every cycle, too. */
function isWithin(value: unknown, depth: number, values: { left: number }): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  for (const key in value) {
    values.left -= 1
    if (values.left < 0) return false
    if (!isWithin((value as Record<string, unknown>)[key], depth - 1, values)) return false
  }
  return true
}

function reduce(record: JournalRecord): JournalRecord {
  if (record.t === 'entry') return { t: 'entry', entry: reduceEntry(record.entry) }
  if (!('session' in record)) return record
  const { kept, withheld } = partition(record.session)
  // Facts of the session, as they were.
  const less = { ...record, session: kept, ...(withheld.length > 0 && { withheld }) }
  return less as JournalRecord
}

function reduceEntry({ blocks, ...envelope }: Entry): Entry {
  const { kept, withheld } = partition(envelope)
  const own: readonly Block[] = Array.isArray(blocks) ? blocks.map(reduceBlock) : []
  const note: Block[] = withheld.map((field) => ({
    type: 'unknown',
    raw: null,
    reason: `${field}: ${NOT_JSON}`,
  }))
  // Fields of the entry, as they were.
  return { ...(kept as Omit<Entry, 'blocks'>), blocks: [...own, ...note] }
}

const NOT_JSON = 'not serialisable as JSON'

function reduceBlock(block: Block): Block {
  if (tryJson(block) !== undefined) return block
  const text = deepText(block)
  if (text === undefined) return { type: 'unknown', raw: null, reason: NOT_JSON }
  return { type: 'unknown', raw: text, reason: `nested deeper than ${DEPTH_LIMIT} levels, kept as JSON text` }
}

/** Fields that JSON can say, and the names of those it cannot. */
function partition(object: object): { kept: object; withheld: string[] } {
  const withheld: string[] = []
  const kept = Object.entries(object).filter(([key, value]) => {
    if (value === undefined || tryJson(value) !== undefined) return true
    withheld.push(key)
    return false
  })
  return { kept: Object.fromEntries(kept), withheld }
}

function deepText(value: unknown): string | undefined {
  try {
    if (!isTree(value)) return undefined
    const text = toJson(value)
    return text.length > TEXT_LIMIT ? undefined : text
  } catch {
    return undefined
  }
}

/** False for what visits more places than a kept text may have: every cycle, too. */
function isTree(value: unknown): boolean {
  const open: unknown[] = [value]
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen > TEXT_LIMIT) return false
    const next = open.pop()
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner)
  }
  return true
}
