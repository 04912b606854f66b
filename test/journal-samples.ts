/** Small journals to damage, and the same way to read them back everywhere. */
import { createLineEncoder, NO_HASH } from '../src/journal/line.ts'
import { mergeSegments } from '../src/journal/merge.ts'
import { createJournalParser, type JournalItem } from '../src/journal/reader.ts'
import { toRecordJson } from '../src/journal/record-json.ts'
import type { JournalRecord } from '../src/journal/record.ts'
import type { FirstRecord } from '../src/journal/segments.ts'
import type { Damage } from '../src/transcript/damage.ts'
import type { Entry } from '../src/transcript/entry.ts'

export const SESSION_ID = '01890000-0000-7000-8000-000000000001'

export const first: FirstRecord = {
  session: { id: SESSION_ID, status: 'running', startedAt: '2026-01-02T03:04:05.006Z', cwd: '/home/me' },
  by: 'test',
}

/** Text of all kinds: quotes, newlines, wide characters, what looks like a mark. */
const TEXTS = ['one', 'two\n"2"', '三つ 😀', '{"v":1,"seq":3,"mt":4', '\u0000\u001b[0m', '']

export function sampleEntry(n: number, text: string = TEXTS[n % TEXTS.length] as string): Entry {
  return {
    id: `primary/${n}`,
    source: 'primary',
    sequence: n,
    kind: 'message',
    role: n % 2 === 0 ? 'user' : 'assistant',
    at: `2026-01-02T03:04:${String(n % 60).padStart(2, '0')}.000Z`,
    blocks: [{ type: 'text', text }],
    // Content that looks like a record of ours must never be taken for one.
    ...(n % 7 === 3 && { metadata: { v: 1, seq: n, nested: { v: 1, seq: 2, c: '00000000' } } }),
  }
}

/** A segment of `entries` entries with its first and last line, as the writer would leave it. */
export function sampleRecords(entries: number): readonly JournalRecord[] {
  const at = '2026-01-02T03:04:05.006Z'
  return [
    { t: 'session', ...first, writer: '1-1-test', boot: 'boot', at },
    ...Array.from({ length: entries }, (_, n): JournalRecord => ({ t: 'entry', entry: sampleEntry(n) })),
    { t: 'end', session: { status: 'completed' }, counts: { entries, lines: entries + 1 }, at },
  ]
}

/** Each record's line, with its newline. */
export function toLines(records: readonly JournalRecord[], start: string = NO_HASH): Buffer[] {
  const encoder = createLineEncoder()
  let p = start
  return records.map((record, seq) => {
    const length = encoder.encode(toRecordJson(record), { seq, mt: 1000 * seq, p })
    p = encoder.hash()
    return Buffer.from(encoder.bytes().subarray(0, length))
  })
}

export type ReadBack = { readonly seqs: readonly number[]; readonly damage: readonly Damage[] }

export function readBack(bytes: Buffer): ReadBack {
  const items = readItems(bytes)
  return {
    seqs: items.flatMap((item) => (item.ok ? [item.seq] : [])),
    damage: items.flatMap((item) => (item.ok ? [] : [item.damage])),
  }
}

export function readItems(bytes: Buffer, chunkBytes: number = bytes.length): readonly JournalItem[] {
  const parser = createJournalParser('journal.jsonl')
  const items: JournalItem[] = []
  for (let from = 0; from < bytes.length; from += chunkBytes)
    items.push(...parser.push(bytes.subarray(from, from + chunkBytes)))
  return [...items, ...parser.end()]
}

/** The ids of all entries in a folder's segments, merged; and what is damaged. */
export async function readFolder(
  files: ReadonlyMap<string, Buffer>,
): Promise<{ readonly entries: readonly Entry[]; readonly damage: readonly Damage[] }> {
  const entries: Entry[] = []
  const damage: Damage[] = []
  const segments = [...files.keys()].filter((path) => path.endsWith('.jsonl')).sort()
  const sources = segments.map((file) => ({ file, chunks: () => once(files.get(file) as Buffer) }))
  for await (const items of mergeSegments(sources)) {
    for (const item of items) {
      if (!item.ok) damage.push(item.damage)
      else if (item.record.t === 'entry') entries.push(item.record.entry)
    }
  }
  return { entries, damage }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes
}
