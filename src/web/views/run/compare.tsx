/** Two runs side by side: what each came to, and the same steps in one row with what changed. */
import { sumMark } from '../../../replay/marks.ts'
import type { ApiUsage } from '../../../server/api-model.ts'
import type { CompareAnswer, RunRow, RunStep } from '../../../server/api-runs.ts'
import { ask } from '../../api.ts'
import { Given, Panel } from '../../charts/panel.tsx'
import { href } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine } from '../../text/visible.ts'
import { Duration, Money, Tokens } from '../../ui/amounts.tsx'
import { Change } from '../../ui/change.tsx'
import { allTokens, shortCount, shortDuration } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import { RunFacts, stepName, StubChip } from './parts.tsx'

export function Compare({ left, right }: { readonly left: string; readonly right: string }) {
  const asked = useAnswer(
    `compare ${left} ${right}`,
    (options) => ask.compare(left, right, options),
    (row) => row.run === left || row.run === right,
  )
  return (
    <div class="page">
      <div class="panel-head">
        <h1>Two runs</h1>
        <nav class="run-pages" aria-label="Where this is">
          <a href={href({ view: 'runs', id: right, params: { with: left } })}>Swap</a>
          <a href={href({ view: 'runs' })}>All runs</a>
        </nav>
      </div>
      <Given asked={asked}>
        {(value) => (
          <>
            <div class="panels">
              <Side run={value.left} name="Left" />
              <Side run={value.right} name="Right" />
            </div>
            <Panel title="Steps" isBusy={asked.isBusy}>
              <Steps value={value} />
            </Panel>
          </>
        )}
      </Given>
    </div>
  )
}

function Side({ run, name }: { readonly run: RunRow; readonly name: string }) {
  return (
    <Panel title={name} more={run.stub && <StubChip />}>
      <a class="mono clip" href={href({ view: 'runs', id: run.id })}>
        <Visible text={oneLine(run.id, 100)} />
      </a>
      <RunFacts run={run} />
    </Panel>
  )
}

type Pair = CompareAnswer['steps'][number]

function Steps({ value: { steps } }: { readonly value: CompareAnswer }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Steps of both runs">
      <table class="table compare">
        <caption class="unseen">Steps of both runs, the same step in one row</caption>
        <thead>
          <tr>
            <th scope="col">Flow</th>
            <th scope="col">Step</th>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
            <th scope="col" class="is-number">
              Time
            </th>
            <th scope="col" class="is-number">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((pair, at) => (
            <tr key={at} class={isOther(pair) ? 'is-other' : ''}>
              <td>{pair.flow !== undefined && <Visible text={oneLine(pair.flow, 60)} />}</td>
              <th scope="row">
                <Visible text={nameOf(pair)} />
                <Differences pair={pair} />
              </th>
              <StepCell step={pair.left} />
              <StepCell step={pair.right} />
              <td class="is-number">
                <Change left={pair.left?.durationMs} right={pair.right?.durationMs} format={shortDuration} />
              </td>
              <td class="is-number">
                <Change
                  left={tokensOf(pair.left?.usage)}
                  right={tokensOf(pair.right?.usage)}
                  format={shortCount}
                  marks={[sumMark({ usage: pair.left?.usage }), sumMark({ usage: pair.right?.usage })]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const isOther = ({ left, right }: Pair): boolean => left?.status !== right?.status

function nameOf({ left, right }: Pair): string {
  const step = left ?? right
  if (step === undefined) return ''
  return step.agentKey === undefined ? stepName(step) : `${stepName(step)} · ${oneLine(step.agentKey, 60)}`
}

/** Into the transcripts of both. */
function Differences({ pair: { left, right } }: { readonly pair: Pair }) {
  if (left === undefined || right === undefined) return null
  return (
    <a
      class="timeline-agent"
      href={href({ view: 'diff', params: { a: left.session, b: right.session } })}
      title="Both transcripts, step by step"
    >
      what differs
    </a>
  )
}

const tokensOf = (usage: ApiUsage | undefined): number | undefined =>
  usage === undefined ? undefined : allTokens(usage)

function StepCell({ step }: { readonly step: RunStep | undefined }) {
  if (step === undefined) return <td class="quiet">not in this run</td>
  return (
    <td>
      <span class="run-name">
        <a href={href({ view: 'session', id: step.session })}>
          <StatusMark status={step.status} />
        </a>
        {step.stub && <StubChip />}
      </span>
      <span class="quiet timeline-agent">
        <Duration ms={step.durationMs} /> · <Tokens usage={step.usage} uncounted={step.uncounted} /> ·{' '}
        <Money
          cost={step.cost}
          usage={step.usage}
          uncounted={step.uncounted}
          isEstimated={step.isCostEstimated}
        />
      </span>
    </td>
  )
}
