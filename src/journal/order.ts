/**
 * Is every line there once, and in its place? Numbers are dense and each line names the hash of the one before, so a loss is
 * counted, a repetition dropped, a block in the wrong place noticed, and a line of another journal told from ours.
 */
import type { Damage } from '../transcript/damage.ts'
import type { DamageSpan, LineSpan } from './scan.ts'

export type Order = {
  /** A good line: given to `accept` now, after the next one, or never. */
  line(span: LineSpan): void
  damaged(span: DamageSpan): void
  end(): void
}

type Out = { readonly accept: (span: LineSpan) => void; readonly report: (damage: Damage) => void }

/** Numbers that were passed over, all at one place. */
type Hole = {
  from: number
  to: number
  /** The hash that line `from` must name, where that is known. */
  h: string | undefined
  /** True once lines of it have turned up elsewhere. */
  resumed: boolean
  readonly loss: Loss
}

type Loss = { left: number; readonly seq: number; readonly line: number; readonly byteOffset: number }

/** More holes than this are not kept open: a line that turns up late for a forgotten one counts as a repetition. */
const HOLES = 256
/** Each is held in memory until its place comes. */
const STRAYS = 16

export function createOrder(file: string, { accept, report }: Out): Order {
  let next = 0
  let h: string | undefined
  /** Damaged records since the last good line: lines that are not there for a reason already given. */
  let explained = 0
  /** A good line that does not follow from the last: the next one says whether it is ours. */
  let doubtful: { readonly span: LineSpan; readonly explained: number } | undefined
  let holes: Hole[] = []
  /** Good lines that the next line passed over: another journal's, or ours and before their place. */
  let strays: LineSpan[] = []

  const follows = ({ parsed }: LineSpan): boolean =>
    parsed.seq === next && (h === undefined || parsed.p === h)

  const admit = (span: LineSpan): void => {
    next = span.parsed.seq + 1
    h = span.parsed.h
    accept(span)
    const stray = strays.length === 0 ? undefined : strays.find(follows)
    if (stray === undefined) return
    strays = strays.filter((other) => other !== stray)
    report(damage(stray, 'chain', `line ${stray.parsed.seq} stands before earlier ones`, 0))
    admit(stray)
  }

  const setAside = (span: LineSpan): void => {
    strays.push(span)
    if (strays.length > STRAYS) disown(strays.shift())
  }

  const disown = (span: LineSpan | undefined): void => {
    if (span !== undefined) report(damage(span, 'not-an-entry', 'a line of another journal', span.byteLength))
  }

  const admitDoubtful = (): void => {
    if (doubtful === undefined) return
    const { span, explained } = doubtful
    const { line, byteOffset, parsed } = span
    doubtful = undefined
    if (parsed.seq > next) {
      const left = Math.max(0, parsed.seq - next - explained)
      const loss = { left, seq: parsed.seq, line, byteOffset }
      open({ from: next, to: parsed.seq - 1, h, resumed: false, loss })
    } else report(damage(span, 'chain', `line ${parsed.seq} does not follow from the one before`, 0))
    admit(span)
  }

  const open = (hole: Hole): void => {
    holes.push(hole)
    if (holes.length > HOLES) close(holes.shift())
  }

  const close = (hole: Hole | undefined): void => {
    if (hole === undefined || hole.loss.left === 0) return
    const { left, seq, line, byteOffset } = hole.loss
    hole.loss.left = 0
    const reason = `${left} ${left === 1 ? 'record is' : 'records are'} missing before line ${seq}`
    report({ kind: 'missing', file, line, byteOffset, byteLength: 0, reason })
  }

  const late = (span: LineSpan): void => {
    const { seq, p } = span.parsed
    const hole = holes.find(({ from, to }) => seq >= from && seq <= to)
    if (hole === undefined) {
      report(damage(span, 'chain', `line ${seq} again`, span.byteLength))
      return
    }
    // A whole block in the wrong place is said once, at its first line.
    if (!hole.resumed || seq !== hole.from || p !== hole.h)
      report(damage(span, 'chain', `line ${seq} stands after later ones`, 0))
    const before = { ...hole, to: seq - 1 }
    hole.from = seq + 1
    hole.h = span.parsed.h
    hole.resumed = true
    hole.loss.left = Math.max(0, hole.loss.left - 1)
    if (before.to >= before.from) open(before)
    accept(span)
  }

  const damage = (span: LineSpan, kind: Damage['kind'], reason: string, byteLength: number): Damage => {
    const { line, byteOffset } = span
    return { kind, file, line, byteOffset, byteLength, reason }
  }

  return {
    line(span) {
      if (follows(span)) {
        if (doubtful !== undefined) setAside(doubtful.span)
        doubtful = undefined
        explained = 0
        admit(span)
        return
      }
      admitDoubtful()
      if (follows(span)) admit(span)
      else if (span.parsed.seq < next) late(span)
      else {
        doubtful = { span, explained }
        explained = 0
      }
    },
    damaged(span) {
      explained += span.records
      report(span.damage)
    },
    end() {
      admitDoubtful()
      for (const stray of strays) disown(stray)
      for (const hole of holes) close(hole)
      strays = []
      holes = []
    },
  }
}
