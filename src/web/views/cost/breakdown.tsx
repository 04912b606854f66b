/** Spend by model, project, agent, run, flow or step: who had how much of the whole. */
import type { ApiCostRow, CostQuery } from '../../../server/api-cost.ts'
import { ask } from '../../api.ts'
import { field, sessionsHref } from '../../charts/asked.ts'
import { Share } from '../../charts/bars.tsx'
import { toQuery, type Narrowed } from '../../charts/filters.tsx'
import { Given, Panel } from '../../charts/panel.tsx'
import { href, setParams } from '../../router.ts'
import { LONG_PAUSE_MS, useAnswer } from '../../state/answer.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Count, Money, Tokens } from '../../ui/amounts.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Visible } from '../../ui/visible.tsx'

const GROUPS = [
  'model',
  'project',
  'agent',
  'run',
  'flow',
  'step',
] as const satisfies readonly CostQuery['by'][]
type Group = (typeof GROUPS)[number]
const NAMES: Readonly<Record<Group, string>> = {
  model: 'Model',
  project: 'Project',
  agent: 'Agent',
  run: 'Run',
  flow: 'Flow',
  step: 'Step',
}
const MOST = 100

export function Breakdown({
  narrowed,
  params,
}: {
  readonly narrowed: Narrowed
  readonly params: URLSearchParams
}) {
  const by = GROUPS.find((group) => group === params.get('by')) ?? 'model'
  const asked = useAnswer(
    `cost ${by} ${JSON.stringify(narrowed)}`,
    (options) => ask.cost({ by, limit: String(MOST), ...narrowed }, options),
    () => true,
    { pauseMs: LONG_PAUSE_MS },
  )
  return (
    <Panel title="By what" isBusy={asked.isBusy}>
      <Tabs
        label="What it is divided by"
        selected={by}
        onSelect={(name) => setParams({ by: name === 'model' ? undefined : name })}
        tabs={GROUPS.map((name) => ({ name, says: NAMES[name] }))}
      >
        <Given asked={asked}>
          {(value) =>
            // What was asked before is another table.
            value.by === by && (
              <>
                <Rows rows={value.rows} by={by} narrowed={narrowed} />
                {value.rowCount !== undefined && (
                  <p class="quiet">
                    The first {MOST} of {exactCount(value.rowCount)}.
                  </p>
                )}
              </>
            )
          }
        </Given>
      </Tabs>
    </Panel>
  )
}

type RowsProps = { readonly rows: readonly ApiCostRow[]; readonly by: Group; readonly narrowed: Narrowed }

function Rows({ rows, by, narrowed }: RowsProps) {
  const usd = ({ cost }: ApiCostRow): number => Number(cost.usd ?? 0)
  const ordered = rows.toSorted((a, b) => usd(b) - usd(a))
  const most = ordered.reduce((high, row) => Math.max(high, usd(row)), 0)
  const linkOf = ({ key }: ApiCostRow, sort: string): string =>
    sessionsHref(toQuery(narrowed, keyQuery(by, key)), sort)
  return (
    <Table
      caption={`Spend by ${by}`}
      rows={ordered}
      keyOf={({ key }) => key}
      columns={[
        { name: NAMES[by], cell: (row) => <Key row={row} by={by} narrowed={narrowed} /> },
        {
          name: 'Share',
          isSpare: true,
          cell: (row) => (
            <div class="bar-cell">
              <Share part={most === 0 ? 0 : usd(row) / most} />
            </div>
          ),
        },
        {
          name: 'Cost',
          isNumber: true,
          cell: (row) => (
            <a href={linkOf(row, 'cost')}>
              <Money cost={row.cost} usage={row.usage} uncounted={row.uncounted} />
            </a>
          ),
        },
        {
          name: 'Tokens',
          isNumber: true,
          cell: (row) => (
            <a href={linkOf(row, 'tokens')}>
              <Tokens usage={row.usage} uncounted={row.uncounted} />
            </a>
          ),
        },
        {
          name: 'Calls',
          isNumber: true,
          cell: (row) => (
            <a href={linkOf(row, 'newest')}>
              <Count count={row.calls} what="calls" />
            </a>
          ),
        },
      ]}
    />
  )
}

/** A name narrows this view down to itself; a run opens. */
function Key({
  row: { key },
  by,
  narrowed,
}: {
  readonly row: ApiCostRow
  readonly by: Group
  readonly narrowed: Narrowed
}) {
  const q = keyQuery(by, key)
  const text = (
    <span class="name-cell clip" title={visible(oneLine(key, 500))}>
      <Visible text={oneLine(key, 200)} />
    </span>
  )
  if (by === 'run' && key !== NONE) return <a href={href({ view: 'runs', id: key })}>{text}</a>
  const next = by === 'run' ? undefined : NEXT[by]
  const period = narrowed.since === '' ? 'all' : narrowed.since
  const params = { q: toQuery({ q: narrowed.q, since: '', until: '' }, q), by: next, period }
  return <a href={href({ view: 'cost', params })}>{text}</a>
}

/** What one asks next of a group. */
const NEXT: Readonly<Record<Exclude<Group, 'run'>, string | undefined>> = {
  model: 'project',
  project: undefined,
  agent: undefined,
  flow: 'step',
  step: 'run',
}

/** What sums call calls that say nothing of the kind, and the model of calls that name none. */
const [NONE, NO_MODEL] = ['(none)', 'unknown']

function keyQuery(by: Group, key: string): string {
  if (key === NONE || (by === 'model' && key === NO_MODEL)) return `-${by}:*`
  if (by !== 'step') return field(by, key)
  const at = key.indexOf('/')
  return at === -1
    ? field('step', key)
    : `${field('flow', key.slice(0, at))} ${field('step', key.slice(at + 1))}`
}
