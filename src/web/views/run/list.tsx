/** The archive's runs, newest first; two of them can be chosen and compared. */
import type { RunRow } from '../../../server/api-runs.ts'
import { ask } from '../../api.ts'
import { Given } from '../../charts/panel.tsx'
import { href, navigate, setParams } from '../../router.ts'
import { useAnswer } from '../../state/answer.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Duration, Money, Time, Tokens } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { StubChip } from './parts.tsx'

const PAGE = 100

export function RunList({ params }: { readonly params: URLSearchParams }) {
  const offset = Math.max(0, Number(params.get('from') ?? 0) || 0)
  const chosen = params.getAll('run').slice(0, 2)
  const asked = useAnswer(
    `runs ${offset}`,
    (options) => ask.runs({ limit: String(PAGE), offset: String(offset) }, options),
    (row) => row.run !== undefined,
  )
  const [left, right] = chosen
  const choose = (id: string, isOn: boolean): void =>
    setParams({ run: isOn ? [...chosen, id].slice(-2) : chosen.filter((one) => one !== id) })
  return (
    <div class="page">
      <div class="panel-head">
        <h1>Runs</h1>
        <Button
          disabled={left === undefined || right === undefined}
          title="Choose two runs to compare them"
          onClick={() => {
            if (left !== undefined && right !== undefined)
              navigate({ view: 'runs', id: left, params: { with: right } })
          }}
        >
          Compare{chosen.length > 0 && ` (${chosen.length} of 2)`}
        </Button>
      </div>
      <Given asked={asked}>
        {({ runs, total }) =>
          total === 0 ? (
            <EmptyState title="No runs yet">
              <p>
                A run is a flow and its steps: files below swarm/runs, or sessions that were recorded with a
                run and a step.
              </p>
            </EmptyState>
          ) : (
            <>
              <Table
                caption="Runs, newest first"
                columns={columnsOf(chosen, choose)}
                rows={runs}
                keyOf={({ id }) => id}
              />
              <Pages offset={offset} shown={runs.length} total={total} />
            </>
          )
        }
      </Given>
    </div>
  )
}

function columnsOf(
  chosen: readonly string[],
  choose: (id: string, isOn: boolean) => void,
): readonly Column<RunRow>[] {
  return [
    {
      name: 'Compare',
      cell: ({ id }) => (
        <input
          type="checkbox"
          checked={chosen.includes(id)}
          aria-label={`Compare ${visible(oneLine(id, 80))}`}
          onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
        />
      ),
    },
    {
      name: 'Run',
      cell: ({ id, stub }) => (
        <span class="run-name">
          <a href={href({ view: 'runs', id })} class="mono">
            <Visible text={oneLine(id, 80)} />
          </a>
          {stub && <StubChip />}
        </span>
      ),
    },
    { name: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
    {
      name: 'Flows',
      cell: ({ flows = [] }) => (
        <span class="name-cell clip">
          <Visible text={oneLine(flows.join(' → '), 120)} />
        </span>
      ),
    },
    { name: 'Steps', isNumber: true, cell: ({ steps }) => exactCount(steps.length) },
    { name: 'When', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { name: 'Duration', isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
    {
      name: 'Tokens',
      isNumber: true,
      cell: ({ usage, uncounted }) => <Tokens usage={usage} uncounted={uncounted} />,
    },
    {
      name: 'Cost',
      isNumber: true,
      cell: ({ usage, uncounted, cost, isCostEstimated }) => (
        <Money cost={cost} usage={usage} uncounted={uncounted} isEstimated={isCostEstimated} />
      ),
    },
  ]
}

function Pages({
  offset,
  shown,
  total,
}: {
  readonly offset: number
  readonly shown: number
  readonly total: number
}) {
  if (total <= shown) return null
  const to = (from: number): void =>
    setParams({ from: from === 0 ? undefined : String(from) }, { replace: false })
  return (
    <p class="run-pages">
      <Button disabled={offset === 0} onClick={() => to(Math.max(0, offset - PAGE))}>
        Newer
      </Button>
      <span class="quiet numbers">
        {exactCount(offset + 1)}–{exactCount(offset + shown)} of {exactCount(total)}
      </span>
      <Button disabled={offset + shown >= total} onClick={() => to(offset + PAGE)}>
        Older
      </Button>
    </p>
  )
}
