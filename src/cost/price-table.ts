/** The price table as people read it: one Markdown row per price row and tier. `docs/prices.md` holds it, and a test holds that. */
import type { PriceRow, Prices } from './prices.ts'

const HEADER = [
  '| row | prompt | input | cache read | 5m write | 1h write | output | tiers | in force | source |',
  '|---|---|---|---|---|---|---|---|---|---|',
]

export function renderPriceTable(rows: readonly PriceRow[]): string {
  return [...HEADER, ...rows.flatMap(renderRow)].join('\n')
}

function renderRow(row: PriceRow): string[] {
  const first = row.tiers?.[0]?.abovePromptTokens ?? row.upToPromptTokens
  const factors = Object.entries({ ...row.serviceTiers, ...row.geos }).map(
    ([name, factor]) => `${name} ×${factor}`,
  )
  const source = `[${row.secondary ? 'secondary, ' : ''}${row.fetchedAt}](${row.source})${row.note ? `: ${row.note}` : ''}`
  return [
    cells(row.id, first === undefined ? '' : `≤ ${first}`, row, factors.join(', '), period(row), source),
    ...(row.tiers ?? []).map((tier) => cells('', `> ${tier.abovePromptTokens}`, tier, '', '', '')),
  ]
}

function cells(name: string, prompt: string, prices: Prices, ...rest: readonly string[]): string {
  const { input, cacheRead = '', cacheWrite5m = '', cacheWrite1h = '', output } = prices
  return `| ${[name, prompt, input, cacheRead, cacheWrite5m, cacheWrite1h, output, ...rest].join(' | ')} |`
}

function period({ from, to }: PriceRow): string {
  if (from === undefined && to === undefined) return ''
  return `${from?.slice(0, 10) ?? ''} to ${to?.slice(0, 10) ?? ''}`.trim()
}
