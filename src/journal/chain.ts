/**
 * Verifies the chain: every line's hash, that each names the one before, and that each segment continues a line that is there.
 * Shows order and loss; it does not show who wrote a line, which takes a signature.
 */
import type { Damage } from '../transcript/damage.ts'
import { NO_HASH } from './line.ts'
import { readJournal, type JournalLine } from './reader.ts'
import type { JournalHead } from './record.ts'
import { readStart, type SegmentSource, type Start } from './start.ts'

export type ChainReport = {
  readonly segments: readonly SegmentReport[]
  /** At most `DAMAGE_LIMIT` of them; `damaged` counts them all. */
  readonly damage: readonly Damage[]
  readonly damaged: number
}

export type SegmentReport = {
  readonly file: string
  /** Undefined when the first line is lost. */
  readonly writer: string | undefined
  readonly lines: number
  readonly entries: number
  /** The last good line. */
  readonly head: JournalHead | undefined
  readonly ended: boolean
}

export const DAMAGE_LIMIT = 10_000

export async function verifyChain(segments: readonly SegmentSource[]): Promise<ChainReport> {
  const starts: Start[] = []
  for (const segment of segments) starts.push(await readStart(segment))
  const claims = starts.flatMap(({ segment, record }) =>
    record?.continues === undefined ? [] : [{ file: segment.file, head: record.continues }],
  )
  const damage: Damage[] = []
  let damaged = 0
  const report = (found: Damage): void => {
    damaged += 1
    if (damage.length < DAMAGE_LIMIT) damage.push(found)
  }
  const reports: SegmentReport[] = []
  for (const start of starts) reports.push(await verifySegment(start, claims, report))
  for (const { file, head } of claims) {
    if (reports.some(({ writer }) => writer === head.writer)) continue
    report(toDamage('missing', file, `continues segment ${head.writer}, which is not there`))
  }
  return { segments: reports, damage, damaged }
}

type Claim = { readonly file: string; readonly head: JournalHead }

async function verifySegment(
  { segment, record }: Start,
  claims: readonly Claim[],
  report: (damage: Damage) => void,
): Promise<SegmentReport> {
  const writer = record?.writer
  const open = new Map(
    claims.filter(({ head }) => head.writer === writer).map((claim) => [claim.head.seq, claim]),
  )
  let lines = 0
  let entries = 0
  let ended = false
  let last: JournalLine | undefined

  for await (const items of readJournal(segment.chunks(), segment.file, { hashes: true })) {
    for (const item of items) {
      if (!item.ok) {
        report(item.damage)
        continue
      }
      if (item.seq === 0) verifyStart(item, record, report)
      const before = item.seq === 0 ? open.get(-1) : undefined
      if (before !== undefined) settle(before, item.p, -1)
      const claim = open.get(item.seq)
      if (claim !== undefined) settle(claim, item.h, item.seq)
      lines += 1
      if (item.record.t === 'entry') entries += 1
      ended = item.record.t === 'end'
      last = item
    }
  }
  for (const { file, head } of open.values())
    report(
      toDamage('missing', file, `continues after line ${head.seq} of ${head.writer}, which is not there`),
    )
  const head = last && writer !== undefined ? { writer, seq: last.seq, h: last.h } : undefined
  return { file: segment.file, writer, lines, entries, head, ended }

  function settle({ file, head }: Claim, h: string, seq: number): void {
    open.delete(seq)
    if (h === head.h) return
    report(
      toDamage('chain', file, `continues another line ${seq} of ${head.writer} than the one that is there`),
    )
  }
}

function verifyStart(
  { p, file, line, byteOffset }: JournalLine,
  record: Start['record'],
  report: (damage: Damage) => void,
): void {
  if (record === undefined || p === (record.continues?.h ?? NO_HASH)) return
  const reason = 'the first line does not stand on what the segment continues'
  report({ kind: 'chain', file, line, byteOffset, byteLength: 0, reason })
}

function toDamage(kind: Damage['kind'], file: string, reason: string): Damage {
  return { kind, file, line: 1, byteOffset: 0, byteLength: 0, reason }
}
