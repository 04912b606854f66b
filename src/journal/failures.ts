/** A failing disk, as the rest of the program hears of it: reported once, asked again less and less often, and said to be back once. */
import { systemCode } from '../errors.ts'

/** Said twice at most for a journal: when it first fails, and when it first goes on. What comes after is only counted. */
export type Failure = {
  readonly kind: 'failing' | 'resumed'
  /** The segment, or the folder when none could be made. */
  readonly path: string
  /** The system's code, where there is one: `ENOSPC`. */
  readonly code?: string
  readonly message: string
  /** Records in memory that the disk has not taken. */
  readonly held: number
  readonly lost: number
}

export type Failures = {
  report(error: unknown): void
  /** Reports, and puts off the next try. */
  fail(error: unknown): void
  /** Everything is written; a later failure begins with short waits again. */
  resume(): void
  /** Microseconds until the next try is due; 0 when it is. */
  wait(): number
}

type Options = {
  readonly onFailure: ((report: Failure) => void) | undefined
  /** Monotonic microseconds. */
  readonly micros: () => number
  readonly state: () => Pick<Failure, 'path' | 'held' | 'lost'>
}

const BACKOFF_FIRST = 10_000
const BACKOFF_LAST = 5_000_000

export function createFailures({ onFailure, micros, state }: Options): Failures {
  const said = new Set<Failure['kind']>()
  let failing = false
  let backoff = BACKOFF_FIRST
  let nextTry = 0

  const say = (kind: Failure['kind'], message: string, code?: string): void => {
    failing = kind === 'failing'
    if (said.has(kind)) return
    said.add(kind)
    try {
      onFailure?.({ kind, message, ...(code && { code }), ...state() })
    } catch {
      // A listener's own failure must not reach the agent either.
    }
  }
  const report = (error: unknown): void =>
    say('failing', error instanceof Error ? error.message : String(error), systemCode(error))

  return {
    report,
    fail(error) {
      nextTry = micros() + backoff
      backoff = Math.min(backoff * 2, BACKOFF_LAST)
      report(error)
    },
    resume() {
      backoff = BACKOFF_FIRST
      if (failing) say('resumed', 'recording goes on')
    },
    wait: () => Math.max(0, nextTry - micros()),
  }
}
