/** Spend by day, on a chart with every day between the first and the last, and as a table. */
import type { ApiCostRow, CostAnswer } from '../../../server/api-cost.ts'
import { sessionsHref } from '../../charts/asked.ts'
import { Bars, type Bar } from '../../charts/bars.tsx'
import { toQuery, type Narrowed } from '../../charts/filters.tsx'
import { BehindChart } from '../../charts/panel.tsx'
import { Count, Money, Tokens } from '../../ui/amounts.tsx'
import { moneyText, shortMoney } from '../../ui/numbers.ts'
import { Table } from '../../ui/table.tsx'

export function Days({ value, narrowed }: { readonly value: CostAnswer; readonly narrowed: Narrowed }) {
  const rows = value.rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const hrefOf = (key: string, sort = 'cost'): string => sessionsHref(dayQuery(narrowed, key), sort)
  return (
    <>
      <Bars
        label="Spend by day"
        bars={toBars(rows, (key) => hrefOf(key))}
        format={(usd) => shortMoney(String(usd))}
      />
      <BehindChart>
        <Table
          caption="Spend by day"
          rows={rows.toReversed()}
          keyOf={({ key }) => key}
          columns={[
            { name: 'Day', cell: ({ key }) => <a href={hrefOf(key)}>{key}</a> },
            {
              name: 'Cost',
              isNumber: true,
              cell: ({ key, cost, usage, uncounted }) => (
                <a href={hrefOf(key)}>
                  <Money cost={cost} usage={usage} uncounted={uncounted} />
                </a>
              ),
            },
            {
              name: 'Tokens',
              isNumber: true,
              cell: ({ key, usage, uncounted }) => (
                <a href={hrefOf(key, 'tokens')}>
                  <Tokens usage={usage} uncounted={uncounted} />
                </a>
              ),
            },
            {
              name: 'Calls',
              isNumber: true,
              cell: ({ key, calls }) => (
                <a href={hrefOf(key, 'newest')}>
                  <Count count={calls} what="calls" />
                </a>
              ),
            },
          ]}
        />
      </BehindChart>
    </>
  )
}

/** The day itself instead of the span that it is in. */
export const dayQuery = ({ q }: Narrowed, day: string): string => toQuery({ q, since: day, until: day })

const DAY_MS = 86_400_000
/** Beyond so many, days on which nothing was spent are left out. */
const MOST_DAYS = 400

export function everyDay(keys: readonly string[]): readonly string[] {
  const days = keys.filter((key) => /^\d{4}-\d{2}-\d{2}$/.test(key))
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return keys
  const [from, to] = [Date.parse(first), Date.parse(last)]
  if ((to - from) / DAY_MS > MOST_DAYS) return days
  return Array.from({ length: Math.round((to - from) / DAY_MS) + 1 }, (_, at) =>
    new Date(from + at * DAY_MS).toISOString().slice(0, 10),
  )
}

function toBars(rows: readonly ApiCostRow[], hrefOf: (key: string) => string): readonly Bar[] {
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return everyDay(rows.map(({ key }) => key)).map((key): Bar => {
    const row = byKey.get(key)
    if (row === undefined) return { name: key, value: 0, says: `${key}: nothing` }
    const { cost, usage, uncounted } = row
    const text = moneyText(cost, { usage, uncounted })?.short ?? 'cost not known'
    return {
      name: key,
      value: cost.usd === null ? undefined : Number(cost.usd),
      says: `${key}: ${text}`,
      href: hrefOf(key),
    }
  })
}
