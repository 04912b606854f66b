/** What was spent: on what, when, by whom. Every number leads to the sessions that it sums. */
import '../../charts/charts.css'
import type { CostAnswer } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { field, sessionsHref } from '../../charts/asked.ts'
import { Filters, narrowedBy, toQuery, type Narrowed } from '../../charts/filters.tsx'
import { Facts, Given, Panel } from '../../charts/panel.tsx'
import { setParams } from '../../router.ts'
import type { ViewProps } from '../../shell/views.ts'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { oneLine } from '../../text/visible.ts'
import { Count, Money, Tokens } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { Visible } from '../../ui/visible.tsx'
import { Breakdown } from './breakdown.tsx'
import { CacheByDay } from './cache.tsx'
import { Days } from './days.tsx'
import { Dearest } from './dearest.tsx'

export function CostView({ route: { params } }: ViewProps) {
  const narrowed = narrowedBy(params)
  const asked = useAnswer(
    `cost day ${JSON.stringify(narrowed)}`,
    (options) => ask.cost({ by: 'day', ...narrowed }, options),
    () => true,
    { pauseMs: LONG_PAUSE_MS },
  )
  return (
    <div class="page">
      <h1>Cost</h1>
      <Filters narrowed={narrowed} />
      <Given asked={asked}>
        {(value) =>
          value.total.calls === 0 ? (
            <EmptyState title="Nothing was spent here">
              <p>No provider call in this period is billed to a session that matches.</p>
              <Button onClick={() => setParams({ period: 'all', q: undefined, until: undefined })}>
                Show all
              </Button>
            </EmptyState>
          ) : (
            <>
              <Summary value={value} narrowed={narrowed} />
              <Panel title="By day" isBusy={asked.isBusy}>
                <Days value={value} narrowed={narrowed} />
              </Panel>
              <Breakdown narrowed={narrowed} params={params} />
              <Dearest narrowed={narrowed} />
              <CacheByDay narrowed={narrowed} />
            </>
          )
        }
      </Given>
    </div>
  )
}

/** What sums call the model of calls that name none. */
const NO_MODEL = 'unknown'

function Summary({ value, narrowed }: { readonly value: CostAnswer; readonly narrowed: Narrowed }) {
  const { total, prices, undated = 0 } = value
  const { calls, cost, usage, uncounted = 0 } = total
  const all = toQuery(narrowed)
  return (
    <>
      <Facts
        facts={[
          [
            'Spent',
            <a href={sessionsHref(all, 'cost')}>
              <Money cost={cost} usage={usage} uncounted={uncounted} />
            </a>,
          ],
          [
            'Tokens',
            <a href={sessionsHref(all, 'tokens')}>
              <Tokens usage={usage} uncounted={uncounted} />
            </a>,
          ],
          [
            'Calls',
            <a href={sessionsHref(all)}>
              <Count count={calls} what="calls" />
            </a>,
          ],
        ]}
      />
      <p class="quiet">
        What the same calls cost at the API’s {prices === 'configured' ? 'configured' : 'listed'} prices.
        {uncounted > 0 &&
          ` ${uncounted.toLocaleString('en')} answers were counted by nobody: sums are lower bounds.`}
        {usage?.quality === 'partial' && uncounted === 0 && ' ≥: some answers were counted only in part.'}
        {usage?.quality === 'estimated' && ' ~: some counts are estimated.'}
        {undated > 0 && ` ${undated.toLocaleString('en')} calls say no time and are left out.`}
      </p>
      {cost.unpriced.length > 0 && (
        <p>
          No price is known for{' '}
          {cost.unpriced.map((model, at) => (
            <span key={model}>
              {at > 0 && ', '}
              {model === NO_MODEL ? (
                'calls that name no model'
              ) : (
                <a href={sessionsHref(toQuery(narrowed, field('model', model)))}>
                  <Visible text={oneLine(model, 80)} />
                </a>
              )}
            </span>
          ))}
          : what they used is in the tokens, not in the dollars.
        </p>
      )}
    </>
  )
}
