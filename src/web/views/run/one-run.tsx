/** One run: what it came to, its steps on a timeline, and the receipt of each. */
import { useState } from 'preact/hooks'
import type { RunAnswer, RunStep } from '../../../server/api-runs.ts'
import { ask } from '../../api.ts'
import { Given, Panel } from '../../charts/panel.tsx'
import { useKeys } from '../../keys.ts'
import { href, navigate } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { Visible } from '../../ui/visible.tsx'
import { RunFacts, stepName, StubChip } from './parts.tsx'
import { Timeline } from './timeline.tsx'

export function OneRun({ id }: { readonly id: string }) {
  const asked = useAnswer(
    `run ${id}`,
    (options) => ask.run(id, options),
    (row) => row.run === id,
  )
  const [opened, setOpened] = useState<RunStep>()
  useKeys('Run', [
    { keys: ['j', 'ArrowDown'], says: 'Next step', run: () => moveFocus(1) },
    { keys: ['k', 'ArrowUp'], says: 'Previous step', run: () => moveFocus(-1) },
    { keys: ['u'], says: 'All runs', run: () => navigate({ view: 'runs' }) },
  ])
  return (
    <div class="page">
      <nav aria-label="Where this is">
        <a href={href({ view: 'runs' })}>Runs</a>
      </nav>
      <Given asked={asked}>
        {(value) => (
          <>
            <Head value={value} />
            <Panel title="Timeline" isBusy={asked.isBusy}>
              {value.steps.length === 0 ? (
                <EmptyState title="This run has no steps">
                  <p>Only its events were found.</p>
                </EmptyState>
              ) : (
                <Timeline run={value.run} steps={value.steps} onReceipt={setOpened} />
              )}
            </Panel>
          </>
        )}
      </Given>
      {opened && <ReceiptDialog run={id} step={opened} onClose={() => setOpened(undefined)} />}
    </div>
  )
}

function Head({ value: { run } }: { readonly value: RunAnswer }) {
  return (
    <header class="run-head">
      <div class="panel-head">
        <h1 class="run-title">
          <span class="mono">
            <Visible text={oneLine(run.id, 120)} />
          </span>
          {run.stub && <StubChip />}
        </h1>
        <CompareWith id={run.id} />
      </div>
      <RunFacts run={run} />
    </header>
  )
}

/** Others to hold it against, as far as the newest hundred go. */
function CompareWith({ id }: { readonly id: string }) {
  const { value } = useAnswer('runs to compare', (options) => ask.runs({ limit: '100' }, options))
  const others = (value?.runs ?? []).filter((run) => run.id !== id)
  if (others.length === 0) return null
  return (
    <label class="run-with">
      <span class="quiet">Compare with</span>
      <select
        value=""
        onChange={({ currentTarget }) =>
          currentTarget.value !== '' && navigate({ view: 'runs', id, params: { with: currentTarget.value } })
        }
      >
        <option value="">…</option>
        {others.map((run) => (
          <option key={run.id} value={run.id}>
            {visible(oneLine(run.id, 80))}
            {run.stub ? ' (stub)' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}

function ReceiptDialog({
  run,
  step,
  onClose,
}: {
  readonly run: string
  readonly step: RunStep
  readonly onClose: () => void
}) {
  const asked = useAnswer(`receipts ${run}`, (options) => ask.receipts(run, options))
  return (
    <Dialog title={`Receipt: ${visible(stepName(step))}`} onClose={onClose}>
      <Given asked={asked}>
        {({ receipts }) => {
          const { receipt, agents = [] } = receipts.find(({ session }) => session === step.session) ?? {}
          if (receipt === undefined)
            return <p>{step.status === 'running' ? 'The step still runs.' : 'Its engine left no receipt.'}</p>
          return [receipt, ...agents].map((one, at) => (
            <pre key={at} class="receipt" tabIndex={0}>
              <Visible text={JSON.stringify(one, null, 2)} />
            </pre>
          ))
        }}
      </Given>
    </Dialog>
  )
}

function moveFocus(by: number): boolean | void {
  const links = [...document.querySelectorAll<HTMLElement>('.timeline-name a')]
  const at = links.indexOf(document.activeElement as HTMLElement)
  const next = links[at === -1 ? 0 : Math.max(0, Math.min(at + by, links.length - 1))]
  if (next === undefined) return false
  next.focus()
}
