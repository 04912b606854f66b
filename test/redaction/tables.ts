/** The tables that `npm run redaction` prints, and docs/redaction.md has. */
import type { Measured, Row } from './measure.ts'

export function kindTable({ plain, kinds }: Measured): string {
  const all = { ...plain, name: '**all**' }
  return table(['kind', 'found', 'of', '%'], [...kinds, all].map(cells))
}

export function formTable({ forms }: Measured): string {
  return table(
    ['shown', 'still found', 'of', '%', ''],
    forms.map((row) => [...cells(row), row.isPromised ? '' : 'not promised']),
  )
}

export const percent = ({ found, of }: Row): number => (100 * found) / of

function cells(row: Row): string[] {
  return [row.name, String(row.found), String(row.of), percent(row).toFixed(1)]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
