/** The steps of a run in the order they began, flow by flow, each as a bar from its begin to its end. A table, so that all of it can be read. */
import type { RunRow, RunStep } from '../../../server/api-runs.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Duration, Money, Tokens } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { shortDuration } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { preciseTime } from '../../ui/times.ts'
import { Visible } from '../../ui/visible.tsx'
import { timesTo } from '../../charts/scale.ts'
import { StepLink, stepName, StubChip } from './parts.tsx'

export type TimelineProps = {
  readonly run: RunRow
  readonly steps: readonly RunStep[]
  readonly onReceipt: (step: RunStep) => void
}

type Span = { readonly from: number; readonly to: number }

export function Timeline({ run, steps, onReceipt }: TimelineProps) {
  const span = spanOf(run, steps)
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Steps on a timeline">
      <table class="table timeline">
        <caption class="unseen">Steps in the order they began</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" class="timeline-track">
              <span class="unseen">When</span>
              {span && <Axis span={span} />}
            </th>
            <th scope="col" class="is-spare">
              Status
            </th>
            <th scope="col" class="is-number is-spare">
              Took
            </th>
            <th scope="col" class="is-number is-spare">
              Tokens
            </th>
            <th scope="col" class="is-number is-spare">
              Cost
            </th>
            <th scope="col">
              <span class="unseen">Receipt</span>
            </th>
          </tr>
        </thead>
        {byFlow(steps).map(([flow, own], at) => (
          <tbody key={`${flow ?? ''} ${at}`}>
            <tr class="timeline-flow">
              <th scope="rowgroup" colSpan={7}>
                {flow === undefined ? 'No flow' : <Visible text={oneLine(flow, 80)} />}
              </th>
            </tr>
            {own.map((step) => (
              <tr key={step.session}>
                <th scope="row" class="timeline-name">
                  <span class="run-name">
                    <StepLink step={step} />
                    {step.stub && <StubChip />}
                  </span>
                  <span class="quiet timeline-agent">
                    <Visible
                      text={oneLine(
                        [step.agentKey, step.model ?? step.engine].filter(Boolean).join(' · '),
                        90,
                      )}
                    />
                  </span>
                  <span class="timeline-narrow">
                    <StatusMark status={step.status} />
                    <Duration ms={step.durationMs} />
                    <Tokens usage={step.usage} uncounted={step.uncounted} />
                    <Money
                      cost={step.cost}
                      usage={step.usage}
                      uncounted={step.uncounted}
                      isEstimated={step.isCostEstimated}
                    />
                    {step.error !== undefined && (
                      <span class="timeline-error">
                        <Visible text={oneLine(step.error, 60)} />
                      </span>
                    )}
                  </span>
                </th>
                <td class="timeline-track">{span && <Track step={step} span={span} />}</td>
                <td class="is-spare">
                  <StatusMark status={step.status} />
                  {step.error !== undefined && (
                    <span class="timeline-error" title={visible(oneLine(step.error, 500))}>
                      <Visible text={oneLine(step.error, 60)} />
                    </span>
                  )}
                </td>
                <td class="is-number is-spare">
                  <Duration ms={step.durationMs} />
                </td>
                <td class="is-number is-spare">
                  <Tokens usage={step.usage} uncounted={step.uncounted} />
                </td>
                <td class="is-number is-spare">
                  <Money
                    cost={step.cost}
                    usage={step.usage}
                    uncounted={step.uncounted}
                    isEstimated={step.isCostEstimated}
                  />
                </td>
                <td>
                  <Button
                    kind="plain"
                    label={`Receipt of ${visible(stepName(step))}`}
                    onClick={() => onReceipt(step)}
                  >
                    Receipt
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

/** Neighbours of one flow stand together; a flow that comes again is named again. */
function byFlow(steps: readonly RunStep[]): readonly (readonly [string | undefined, readonly RunStep[]])[] {
  const groups: [string | undefined, RunStep[]][] = []
  for (const step of steps) {
    const last = groups.at(-1)
    if (last !== undefined && last[0] === step.flow) last[1].push(step)
    else groups.push([step.flow, [step]])
  }
  return groups
}

function spanOf({ status }: RunRow, steps: readonly RunStep[]): Span | undefined {
  const starts = steps.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [Date.parse(startedAt)]))
  const ends = steps.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [Date.parse(endedAt)]))
  if (starts.length === 0) return undefined
  const from = Math.min(...starts)
  const last = status === 'running' ? Date.now() : Math.max(...ends, ...starts)
  return { from, to: Math.max(last, from + 1) }
}

const percent = (at: number, { from, to }: Span): number => ((at - from) / (to - from)) * 100

function Axis({ span }: { readonly span: Span }) {
  const whole = span.to - span.from
  // Few enough for the narrowest track.
  const ticks = timesTo(whole, 3).filter((ms) => ms <= whole * 0.85)
  return (
    <svg class="timeline-axis" aria-hidden="true">
      {ticks.map((ms) => {
        const x = `${percent(span.from + ms, span)}%`
        return (
          <g key={ms}>
            <line class="chart-line" x1={x} x2={x} y1="0" y2="100%" />
            <text x={x} dx="3" y="12">
              {ms === 0 ? preciseTime(span.from) : `+${shortDuration(ms)}`}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

/** Whatever took no time, or does not say how long, is still to be seen. */
function Track({ step, span }: { readonly step: RunStep; readonly span: Span }) {
  const { startedAt, endedAt, status, durationMs } = step
  if (startedAt === undefined) return null
  const from = Date.parse(startedAt)
  const end = endedAt === undefined ? (status === 'running' ? span.to : from) : Date.parse(endedAt)
  const x = percent(from, span)
  const width = Math.max(0.6, percent(Math.max(end, from), span) - x)
  const says = `${preciseTime(from)}${durationMs === undefined ? '' : `, ${shortDuration(durationMs)}`}`
  return (
    <svg class="timeline-bar" role="img" aria-label={says}>
      <title>{says}</title>
      <rect class="timeline-lane" width="100%" height="100%" />
      <rect
        class={`timeline-step is-${status} ${step.stub ? 'is-stub' : ''}`}
        x={`${Math.min(x, 99.4)}%`}
        width={`${width}%`}
        y="2"
        height="14"
        rx="3"
      />
    </svg>
  )
}
