/**
 * A record as JSON text, whatever the caller put into it. What JSON cannot say (a cycle, a BigInt, a `toJSON` that throws), what
 * is nested too deep for common readers, and what is over the limit of a line cost the block they stand in, never the entry:
 * it is kept with an unknown block that says why.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
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
export function toRecordJson(record: JournalRecord, reduced?: () => void): string {
  const json = tryJson(record)
  if (json !== undefined && fits(json)) return json.includes(MARK) ? json.replaceAll(MARK, UNMARKED) : json
  reduced?.()
  const less = tryJson(reduce(record)) ?? JSON.stringify({ t: record.t, withheld: 'not serialisable' })
  const kept = fits(less) ? less : JSON.stringify(withoutContent(record, 'over the limit of a line'))
  return kept.replaceAll(MARK, UNMARKED)
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

function fits(json: string): boolean {
  return json.length * 3 <= LINE_LIMIT || Buffer.byteLength(json) <= LINE_LIMIT
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

function reduce(record: JournalRecord): unknown {
  if (record.t === 'entry') return { t: 'entry', entry: reduceEntry(record.entry) }
  if (!('session' in record)) return record
  const { kept, withheld } = partition(record.session)
  return { ...record, session: kept, ...(withheld.length > 0 && { withheld }) }
}

function reduceEntry({ blocks, ...envelope }: Entry): unknown {
  const { kept, withheld } = partition(envelope)
  const own: readonly Block[] = Array.isArray(blocks) ? blocks.map(reduceBlock) : []
  const note: Block[] = withheld.map((field) => ({
    type: 'unknown',
    raw: null,
    reason: `${field}: ${NOT_JSON}`,
  }))
  return { ...kept, blocks: [...own, ...note] }
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
