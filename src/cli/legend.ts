/** Below what was printed: what the signs before its amounts mean, where there are any. */
import { legend } from '../replay/marks.ts'
import { note } from './print.ts'

export function noteLegend(amounts: readonly string[]): void {
  const means = legend(amounts)
  if (means !== undefined) note(means)
}
