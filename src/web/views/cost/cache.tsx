/** How much of what models read came from caches, by day. */
import { ask } from '../../api.ts'
import { sessionsHref } from '../../charts/asked.ts'
import { Bars } from '../../charts/bars.tsx'
import { toQuery, type Narrowed } from '../../charts/filters.tsx'
import { BehindChart, Given, Panel } from '../../charts/panel.tsx'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { Count } from '../../ui/amounts.tsx'
import { Table } from '../../ui/table.tsx'
import { dayQuery, everyDay } from './days.tsx'

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`

export function CacheByDay({ narrowed }: { readonly narrowed: Narrowed }) {
  const asked = useAnswer(
    `cache ${JSON.stringify(narrowed)}`,
    (options) => ask.costCache({ ...narrowed }, options),
    () => true,
    { pauseMs: LONG_PAUSE_MS },
  )
  const rate = asked.value?.total.rate
  return (
    <Panel
      title="Cache hit rate"
      isBusy={asked.isBusy}
      more={
        <a class="numbers" href={sessionsHref(toQuery(narrowed), 'tokens')}>
          {rate === undefined ? 'not known' : `${percent(rate)} in all`}
        </a>
      }
    >
      <Given asked={asked}>
        {({ days }) => {
          const rows = days.toSorted((a, b) => (a.key < b.key ? -1 : 1))
          const byKey = new Map(rows.map((row) => [row.key, row]))
          const hrefOf = (key: string): string => sessionsHref(dayQuery(narrowed, key), 'tokens')
          return (
            <>
              <Bars
                label="Cache hit rate by day"
                most={1}
                height={140}
                format={(value) => `${Math.round(value * 100)} %`}
                bars={everyDay(rows.map(({ key }) => key)).map((key) => {
                  const row = byKey.get(key)
                  if (row === undefined) return { name: key, value: 0, says: `${key}: nothing was read` }
                  const says = row.rate === undefined ? 'not known' : percent(row.rate)
                  return { name: key, value: row.rate, says: `${key}: ${says}`, href: hrefOf(key) }
                })}
              />
              <BehindChart>
                <Table
                  caption="Cache hit rate by day"
                  rows={rows.toReversed()}
                  keyOf={({ key }) => key}
                  columns={[
                    { name: 'Day', cell: ({ key }) => <a href={hrefOf(key)}>{key}</a> },
                    {
                      name: 'Read from cache',
                      isNumber: true,
                      cell: ({ key, usage, uncounted }) => (
                        <a href={hrefOf(key)}>
                          <Count
                            count={usage?.cacheRead}
                            what="tokens read from cache"
                            of={{ usage, uncounted }}
                          />
                        </a>
                      ),
                    },
                    {
                      name: 'Read anew',
                      isNumber: true,
                      cell: ({ key, usage, uncounted }) => (
                        <a href={hrefOf(key)}>
                          <Count count={usage?.input} what="tokens read anew" of={{ usage, uncounted }} />
                        </a>
                      ),
                    },
                    {
                      name: 'Rate',
                      isNumber: true,
                      cell: ({ key, rate: one }) => (
                        <a href={hrefOf(key)}>{one === undefined ? '–' : percent(one)}</a>
                      ),
                    },
                  ]}
                />
              </BehindChart>
            </>
          )
        }}
      </Given>
    </Panel>
  )
}
