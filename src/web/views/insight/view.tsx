/** What agents did, looked at from above: tools, and what was done in vain; of one session also what filled its context. */
import '../../charts/charts.css'
import type { StatsAnswer } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { sessionsHref } from '../../charts/asked.ts'
import { Filters, narrowedBy, toQuery, type Narrowed } from '../../charts/filters.tsx'
import { Facts, Given, Panel } from '../../charts/panel.tsx'
import { setParams } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { Count, Duration } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Findings } from './findings.tsx'
import { SessionInsight } from './session.tsx'
import { Tools } from './tools.tsx'

export function InsightView({ route: { id, params } }: ViewProps) {
  if (id !== undefined) return <SessionInsight id={id} params={params} />
  return <WholeInsight params={params} />
}

const MOST_FINDINGS = '50'

function WholeInsight({ params }: { readonly params: URLSearchParams }) {
  const narrowed = narrowedBy(params)
  const q = toQuery(narrowed)
  const asked = useAnswer(
    `stats ${q}`,
    (options) => ask.stats({ q, findings: MOST_FINDINGS }, options),
    () => true,
    { pauseMs: LONG_PAUSE_MS },
  )
  return (
    <div class="page">
      <h1>Insight</h1>
      <Filters narrowed={narrowed} />
      <Given asked={asked}>
        {(value) =>
          value.sessions === 0 ? (
            <EmptyState title="No sessions here">
              <p>Nothing in this period matches.</p>
              <Button onClick={() => setParams({ period: 'all', q: undefined })}>Show all</Button>
            </EmptyState>
          ) : (
            <>
              <Summary value={value} narrowed={narrowed} />
              <Panel title="Tools" isBusy={asked.isBusy}>
                <Tools
                  tools={value.tools}
                  params={params}
                  queryOf={(...more) => toQuery(narrowed, ...more)}
                />
              </Panel>
              <Panel title="Loops and failures" isBusy={asked.isBusy}>
                <Findings findings={value.findings} />
              </Panel>
            </>
          )
        }
      </Given>
    </div>
  )
}

function Summary({ value, narrowed }: { readonly value: StatsAnswer; readonly narrowed: Narrowed }) {
  const { totals, sessions, status, waste } = value
  const all = toQuery(narrowed)
  const rate = totals.toolCalls === 0 ? undefined : totals.toolsFailed / totals.toolCalls
  return (
    <Facts
      facts={[
        ['Sessions', <a href={sessionsHref(all)}>{exactCount(sessions)}</a>],
        [
          'Failed',
          <a href={sessionsHref(toQuery(narrowed, 'status:failed'))}>{exactCount(status['failed'] ?? 0)}</a>,
        ],
        [
          'Tool calls',
          <a href={sessionsHref(all, 'tools')}>
            <Count count={totals.toolCalls} what="tool calls" />
          </a>,
        ],
        [
          'Of them failed',
          <a href={sessionsHref(toQuery(narrowed, 'has:error'), 'errors')}>
            {exactCount(totals.toolsFailed)}
            {rate !== undefined && ` (${Math.round(rate * 1000) / 10} %)`}
          </a>,
        ],
        ['Time in tools', <Duration ms={totals.toolMs} />],
        ['Sessions that loop', exactCount(waste['repeated-calls']?.sessions ?? 0)],
        ['That fail on and on', exactCount(waste['failures']?.sessions ?? 0)],
      ]}
    />
  )
}
