/** What went wrong while many files were taken in: one line for each cause, however many files it hit. Everything else goes on. */
import { fromSystemError } from '../errors.ts'

export type SyncProblem = {
  /** A word to branch on: an error's code, or what a walk met. */
  readonly cause: string
  readonly count: number
  /** The first one, in words. */
  readonly example: string
}

export type Problems = {
  add(cause: string, example: string): void
  /** The same for what was thrown; `what` is the file. */
  caught(error: unknown, what: string): void
  list(): readonly SyncProblem[]
}

/** No transcript, in a folder that was looked through: no failure, and `hansard doctor` lists every one. */
export const UNKNOWN: ReadonlySet<string> = new Set(['unknown-format', 'unsupported'])

/** Said, and no failure: nothing was lost by them. */
export const HARMLESS: ReadonlySet<string> = new Set([...UNKNOWN, 'link', 'owner', 'purge', 'settings'])

export function createProblems(): Problems {
  const known = new Map<string, { cause: string; count: number; example: string }>()
  const add = (cause: string, example: string): void => {
    const problem = known.get(cause)
    if (problem === undefined) known.set(cause, { cause, count: 1, example })
    else problem.count += 1
  }
  return {
    add,
    caught(error, what) {
      const { code, message } = fromSystemError(error, what)
      add(code, message)
    },
    list: () => [...known.values()],
  }
}

/** Of two parts of one work: still a line for each cause. */
export function joinProblems(
  one: readonly SyncProblem[],
  other: readonly SyncProblem[],
): readonly SyncProblem[] {
  const more = (cause: string): number => other.find((problem) => problem.cause === cause)?.count ?? 0
  return [
    ...one.map((problem) => ({ ...problem, count: problem.count + more(problem.cause) })),
    ...other.filter(({ cause }) => one.every((problem) => problem.cause !== cause)),
  ]
}
