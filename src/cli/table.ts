/** Rows in columns for a terminal: each as wide as its widest cell, all on one line, numbers to the right. */
import { visibleLine } from '../replay/escape.ts'

export type Column = { readonly name: string; readonly align?: 'right' }

/** Cells may hold foreign text. The last column is not padded. */
export function toTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => row.map(visibleLine))]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const pad = (cell: string, at: number): string => {
    const width = widths[at] ?? 0
    if (columns[at]?.align === 'right') return cell.padStart(width)
    return at === columns.length - 1 ? cell : cell.padEnd(width)
  }
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('')
}
