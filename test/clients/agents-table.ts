/** How every agent fared in every way: as lines for the terminal, and as the table in docs/clients.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WAYS, type Row } from './agent-ways.ts'

export function isRight({ results }: Row): boolean {
  return Object.values(results).every(({ problems }) => problems.length === 0)
}

export function linesOf({ agent, version, results, drift }: Row): readonly string[] {
  return [
    `${agent} ${version} | ${WAYS.map((way) => `${way}: ${results[way]?.text ?? '-'}`).join(' | ')}`,
    ...WAYS.flatMap((way) => (results[way]?.problems ?? []).map((problem) => `    ${way}: ${problem}`)),
    ...(drift.length === 0 ? [] : [`    new to doctor: ${drift.join(', ')}`]),
  ]
}

/** From `dist/test/clients`, where this file runs. */
const DOC = join(import.meta.dirname, '..', '..', '..', 'docs', 'clients.md')
const [BEGIN, END] = ['<!-- agents -->', '<!-- /agents -->']

export function writeTable(rows: readonly Row[]): void {
  const text = readFileSync(DOC, 'utf8')
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from)
    throw new Error(`${DOC} has no ${BEGIN} and ${END} for the table to stand between`)
  const head = ['agent', ...WAYS, 'new to doctor']
  const lines = [head, head.map(() => '---'), ...rows.map(cellsOf)].map((cells) => `| ${cells.join(' | ')} |`)
  writeFileSync(DOC, `${text.slice(0, from)}${BEGIN}\n\n${lines.join('\n')}\n\n${text.slice(to)}`)
}

function cellsOf({ agent, version, results, drift }: Row): readonly string[] {
  const told = WAYS.map((way) => results[way]?.text ?? '–')
  return [`${agent} ${version}`, ...told, drift.length === 0 ? '–' : `${drift.length}`]
}
