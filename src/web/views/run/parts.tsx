/** Small things that every view of runs shows the same way. */
import type { RunRow, RunStep } from '../../../server/api-runs.ts'
import { field, sessionsHref } from '../../charts/asked.ts'
import { Facts } from '../../charts/panel.tsx'
import { href } from '../../router.ts'
import { oneLine } from '../../text/visible.ts'
import { Duration, Money, Time, Tokens } from '../../ui/amounts.tsx'
import { Chip } from '../../ui/chip.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'

export const StubChip = () => (
  <Chip tone="warn" title="Written by an engine in stub mode: nothing was asked of a provider">
    stub
  </Chip>
)

export const stepName = ({ step, node, title, session }: RunStep): string =>
  oneLine(step ?? node ?? title ?? `session ${session.slice(0, 8)}`, 80)

/** The step's transcript. */
export function StepLink({ step }: { readonly step: RunStep }) {
  return (
    <a href={href({ view: 'session', id: step.session })} title="Open the transcript">
      <Visible text={stepName(step)} />
    </a>
  )
}

export function RunFacts({ run }: { readonly run: RunRow }) {
  const ofRun = field('run', run.id)
  return (
    <Facts
      facts={[
        ['Status', <StatusMark status={run.status} />],
        ['Began', <Time at={run.startedAt} />],
        ['Took', <Duration ms={run.durationMs} />],
        ['Steps', <a href={sessionsHref(ofRun, 'oldest')}>{exactCount(run.steps.length)}</a>],
        [
          'Tokens',
          <a href={sessionsHref(ofRun, 'tokens')}>
            <Tokens usage={run.usage} uncounted={run.uncounted} />
          </a>,
        ],
        [
          'Cost',
          <a href={href({ view: 'cost', params: { by: 'step', q: ofRun } })}>
            <Money
              cost={run.cost}
              usage={run.usage}
              uncounted={run.uncounted}
              isEstimated={run.isCostEstimated}
            />
          </a>,
        ],
      ]}
    />
  )
}
