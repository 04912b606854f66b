/** A scenario's outcome as lines for people: the counts of both sides, and below what differs or was never logged. */
import { COUNTS } from '../../src/transcript/usage.ts'
import type { Sums } from './ledger.ts'
import type { Outcome } from './scenario.ts'

const WIDTHS = [66, 6, 6, 7, 40, 40, 5] as const

export const heading = row(
  'scenario',
  'billed',
  'in log',
  'counted',
  'tokens in ledger',
  'tokens in hansard',
  'equal',
)

export function toLines(outcome: Outcome): readonly string[] {
  const { scenario, billed, logged, calls, ledger, hansard, differences, problems, unlogged, unsaid } =
    outcome
  const isEqual = differences.length + problems.length === 0
  const name = `${scenario.client}: ${scenario.name}`
  return [
    row(name, `${billed}`, `${logged}`, `${calls}`, toText(ledger), toText(hansard), isEqual ? 'yes' : 'NO'),
    ...[...differences, ...problems].map((problem) => `    ${problem}`),
    ...Object.entries(unsaid).map(([count, billed]) => `    never logged: ${count}, ${billed} billed`),
    ...unlogged.map(
      ({ id, model, cut, play }) =>
        `    never logged: ${id} ${model ?? ''}${play === undefined ? '' : `, play ${play}`}${cut ? ', cut' : ''}`,
    ),
  ]
}

/** In the order input, cache read, cache written for 5 minutes and an hour, output, reasoning. */
function toText(sums: Sums): string {
  return COUNTS.map((count) => sums[count]).join(' · ')
}

function row(...cells: readonly string[]): string {
  return cells
    .map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0))
    .join(' ')
    .trimEnd()
}
