/** What went wrong with some of many files: one line for each cause, and the exit code. */
import { toCount } from '../replay/amounts.ts'
import { HARMLESS, type SyncProblem } from '../sources/problems.ts'
import { FAILED, note } from './print.ts'

export function noteProblems(problems: readonly SyncProblem[]): void {
  for (const { cause, count, example } of problems) {
    if (!HARMLESS.has(cause)) process.exitCode = FAILED
    note(`hansard: ${cause}: ${example}${count > 1 ? `, and ${toCount(count - 1)} more like it` : ''}`)
  }
}
