/** `hansard cost prices`: the rows behind any cost, those of the user's own first, each with where and when it was stated. */
import { modelNames } from '../../cost/models.ts'
import { PRICE_ROWS, type PriceRow, type Prices } from '../../cost/prices.ts'
import { HansardError } from '../../errors.ts'
import { loadConfig } from '../config.ts'
import { note, out, outJson } from '../print.ts'
import { toTable, type Column } from '../table.ts'

export type CostPricesOptions = { readonly home?: string; readonly json?: boolean }

export async function costPrices(model: string | undefined, options: CostPricesOptions): Promise<void> {
  const { prices: own = [] } = await loadConfig(options)
  const rows = model === undefined ? inForce(own) : rowsOf(model, inForce(own))
  if (options.json) {
    await outJson({
      unit: 'USD per million tokens',
      rows: rows.map((row) => ({ ...row, isOwn: own.includes(row) })),
    })
    return
  }
  await out('US dollars per million tokens\n\n')
  await out(
    toTable(
      COLUMNS,
      rows.flatMap((row) => toCells(row, own.includes(row))),
    ),
  )
  for (const row of rows) if (model !== undefined && row.note !== undefined) note(`${row.id}: ${row.note}`)
}

/** A model that the user has prices for has no others. */
function inForce(own: readonly PriceRow[]): readonly PriceRow[] {
  const named = new Set(own.flatMap(namesOf))
  return [...own, ...PRICE_ROWS.filter((row) => !namesOf(row).every((name) => named.has(name)))]
}

function namesOf({ model, aliases = [] }: PriceRow): readonly string[] {
  return [model, ...aliases].map((name) => name.toLowerCase())
}

function rowsOf(model: string, all: readonly PriceRow[]): readonly PriceRow[] {
  for (const name of modelNames(model)) {
    const [first] = all.filter((row) => namesOf(row).includes(name))
    if (first !== undefined)
      return all.filter((row) => row.model === first.model && namesOf(row).includes(name))
  }
  throw new HansardError('not-found', `no price is known for ${JSON.stringify(model)}`, {
    hint: 'hansard cost prices lists all rows; docs/prices.md says how to add one of your own',
  })
}

const COLUMNS: readonly Column[] = [
  { name: 'ROW', cutLast: true, least: 16 },
  { name: 'PROMPT', align: 'right', rank: 2 },
  { name: 'INPUT', align: 'right' },
  { name: 'CACHE READ', align: 'right', rank: 1 },
  { name: '5M WRITE', align: 'right', rank: 3 },
  { name: '1H WRITE', align: 'right', rank: 3 },
  { name: 'OUTPUT', align: 'right' },
  { name: 'TIMES', rank: 5 },
  { name: 'IN FORCE', rank: 4, least: 10 },
  { name: 'STATED', rank: 4, least: 10 },
]

function toCells(row: PriceRow, isOwn: boolean): readonly (readonly string[])[] {
  const most = row.tiers?.[0]?.abovePromptTokens ?? row.upToPromptTokens
  const factors = Object.entries({ ...row.serviceTiers, ...row.geos }).map(
    ([name, factor]) => `${name} ×${factor}`,
  )
  const period =
    row.from === undefined && row.to === undefined
      ? 'always'
      : `${row.from?.slice(0, 10) ?? '…'} to ${row.to?.slice(0, 10) ?? '…'}`
  const stated = `${row.fetchedAt} ${row.source}${row.secondary ? ' (secondary)' : ''}${isOwn ? ' (hansard.config.json)' : ''}`
  return [
    [row.id, most === undefined ? '' : `≤ ${most}`, ...pricesOf(row), factors.join(', '), period, stated],
    ...(row.tiers ?? []).map((tier) => ['', `> ${tier.abovePromptTokens}`, ...pricesOf(tier), '', '', '']),
  ]
}

/** A kind without a price is not free: calls that use it have no cost. */
function pricesOf({
  input,
  cacheRead = '-',
  cacheWrite5m = '-',
  cacheWrite1h = '-',
  output,
}: Prices): readonly string[] {
  return [input, cacheRead, cacheWrite5m, cacheWrite1h, output]
}
