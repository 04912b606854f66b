/** What went wrong with some of many files: one line for each cause, and the exit code. */
import { toCount } from '../transcript/counted.ts'
import { HARMLESS, UNKNOWN, type SyncProblem } from '../sources/problems.ts'
import { FAILED, note } from './print.ts'

export function noteProblems(problems: readonly SyncProblem[]): void {
  for (const { cause, count, example } of problems) {
    if (!HARMLESS.has(cause)) process.exitCode = FAILED
    const others = UNKNOWN.has(cause) ? 'more: hansard doctor lists them' : 'more like it'
    note(`hansard: ${cause}: ${example}${count > 1 ? `, and ${toCount(count - 1)} ${others}` : ''}`)
  }
}
