/**
 * A journal's records, in bounded memory and whatever happened to the file. Never throws for what is in the bytes, never stops
 * at damage, never changes the file: every line that was written whole comes once, and everything else is said, with its place.
 */
import type { Damage } from '../transcript/damage.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import { createOrder } from './order.ts'
import type { JournalRecord } from './record.ts'
import { createScanner, type LineSpan } from './scan.ts'

export type JournalItem = JournalLine | { readonly ok: false; readonly damage: Damage }

export type JournalLine = {
  readonly ok: true
  readonly file: string
  readonly seq: number
  readonly mt: number
  readonly p: string
  readonly h: string
  readonly record: JournalRecord | UnknownRecord
  /** From 1. */
  readonly line: number
  readonly byteOffset: number
  /** Without the newline. */
  readonly byteLength: number
}

/** A record of a type that this version does not know, whole. */
export type UnknownRecord = { readonly t: 'unknown'; readonly type: string; readonly value: JsonObject }

export type ReadOptions = {
  /** Compare each line's hash too, not only its checksum: twice the work, for `verify` and `recover`. */
  readonly hashes?: boolean
  /** Bytes of a line past which it is not held. */
  readonly limit?: number
}

/** A batch for each chunk. `file` is what items and damage call the file. */
export async function* readJournal(
  chunks: AsyncIterable<Buffer>,
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<readonly JournalItem[]> {
  const parser = createJournalParser(file, options)
  for await (const chunk of chunks) {
    const items = parser.push(chunk)
    if (items.length > 0) yield items
  }
  const last = parser.end()
  if (last.length > 0) yield last
}

/** The same, for a caller that has its bytes at hand. */
export function createJournalParser(
  file: string,
  options: ReadOptions = {},
): { push(chunk: Buffer): JournalItem[]; end(): JournalItem[] } {
  let items: JournalItem[] = []
  const scanner = createScanner(file, options)
  const order = createOrder(file, {
    accept: (span) => void items.push(toItem(span, file)),
    report: (damage) => void items.push({ ok: false, damage }),
  })
  const take = (spans: ReturnType<typeof scanner.push>): JournalItem[] => {
    for (const span of spans) {
      if (span.parsed === undefined) order.damaged(span)
      else order.line(span)
    }
    const taken = items
    items = []
    return taken
  }
  return {
    push: (chunk) => take(scanner.push(chunk)),
    end() {
      const first = take(scanner.end())
      order.end()
      return [...first, ...take([])]
    },
  }
}

function toItem({ line, byteOffset, byteLength, parsed }: LineSpan, file: string): JournalItem {
  const record = toRecord(parsed.value)
  if (record === undefined) {
    const reason = `a record of type ${JSON.stringify(parsed.value['t'])} without what it must have`
    return { ok: false, damage: { kind: 'not-an-entry', file, line, byteOffset, byteLength, reason } }
  }
  const { seq, mt, p, h } = parsed
  return { ok: true, file, seq, mt, p, h, record, line, byteOffset, byteLength }
}

/** Only what later code relies on is checked: the checksum already says that a writer of this format wrote it. */
function toRecord(value: JsonObject): JournalRecord | UnknownRecord | undefined {
  const { t, entry } = value
  if (t === 'entry') return isEntry(entry) ? ({ t, entry } as unknown as JournalRecord) : undefined
  const { v: _v, seq: _seq, mt: _mt, p: _p, h: _h, c: _c, ...record } = value
  const check = CHECKS.get(t as string)
  if (check === undefined) return { t: 'unknown', type: t as string, value: record }
  return check(record) ? (record as unknown as JournalRecord) : undefined
}

function isEntry(entry: unknown): boolean {
  return (
    isObject(entry) &&
    typeof entry['id'] === 'string' &&
    typeof entry['source'] === 'string' &&
    typeof entry['sequence'] === 'number' &&
    Array.isArray(entry['blocks'])
  )
}

const CHECKS: ReadonlyMap<string, (record: JsonObject) => boolean> = new Map([
  [
    'session',
    ({ session, writer, boot, at }) =>
      isObject(session) && [session['id'], session['status'], writer, boot, at].every(isText),
  ],
  ['update', ({ session }) => isObject(session)],
  ['files', ({ format, path }) => isText(format) && isText(path)],
  ['gap', ({ reason, lost }) => isText(reason) && typeof lost === 'number'],
  ['end', ({ session }) => isObject(session)],
])

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
