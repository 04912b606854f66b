/**
 * A session in time: how long after the one before each entry came, and how long that is waited for when it is played back. Long waits
 * are shortened, and say so; time never runs backwards, whatever the clocks of a session say.
 */
import { kindOf } from '../../transcript/entry-kind.ts'
import type { Entry } from '../../transcript/entry.ts'
import { KIND_FLAGS, type KindFlag } from '../../transcript/kinds.ts'

export type Pace = {
  /** 2: twice as fast as it was. Infinity: without waiting. */
  readonly speed: number
  /** Milliseconds of a recorded wait that are waited at most, before `speed`. */
  readonly idleMs: number
}

export type Frame = {
  readonly entry: Entry
  /** Milliseconds since the first entry; absent where the entry has no time. */
  readonly elapsedMs?: number
  /** Milliseconds since the latest entry before it, as recorded. */
  readonly gapMs: number
  /** Milliseconds to wait before it is shown. */
  readonly waitMs: number
  /** Whether the wait was longer than is waited for. */
  readonly isShortened: boolean
  readonly marks: readonly KindFlag[]
}

/** Where people step to. */
export const MARKS = ['prompt', 'tool', 'edit', 'error', 'compaction'] as const satisfies readonly KindFlag[]
export type Mark = (typeof MARKS)[number]

export function createTimeline({ speed, idleMs }: Pace): (entry: Entry) => Frame {
  let first: number | undefined
  let latest: number | undefined
  return (entry) => {
    const at = entry.at === undefined ? Number.NaN : Date.parse(entry.at)
    const gapMs = Number.isNaN(at) || latest === undefined ? 0 : Math.max(0, at - latest)
    if (!Number.isNaN(at)) {
      first ??= at
      latest = Math.max(latest ?? at, at)
    }
    return {
      entry,
      ...(first !== undefined && !Number.isNaN(at) && { elapsedMs: Math.max(0, at - first) }),
      gapMs,
      waitMs: speed === Infinity ? 0 : Math.min(gapMs, idleMs) / speed,
      isShortened: gapMs > idleMs,
      marks: marksOf(entry),
    }
  }
}

function marksOf(entry: Entry): readonly KindFlag[] {
  const kind = kindOf(entry)
  return MARKS.filter((mark) => (kind & KIND_FLAGS[mark]) !== 0)
}
