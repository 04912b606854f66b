/** Tools by use, failure and time; each number leads to the sessions that it is of. */
import type { ComponentChildren } from 'preact'
import type { ApiToolStats } from '../../../server/api-cost.ts'
import { field, sessionsHref } from '../../charts/asked.ts'
import { Share } from '../../charts/bars.tsx'
import { setParams } from '../../router.ts'
import { oneLine } from '../../text/visible.ts'
import { Count, Duration } from '../../ui/amounts.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'

const SORTS = {
  calls: (tool: ApiToolStats) => tool.calls,
  failed: (tool: ApiToolStats) => tool.failed,
  time: (tool: ApiToolStats) => tool.totalMs ?? -1,
  repeats: (tool: ApiToolStats) => tool.repeatedCalls + tool.rereads,
} as const
type Sort = keyof typeof SORTS

export type ToolsProps = {
  readonly tools: readonly ApiToolStats[]
  readonly params: URLSearchParams
  /** The sessions shown, narrowed down further; absent for one session. */
  readonly queryOf?: (...more: readonly string[]) => string
}

export function Tools({ tools, params, queryOf }: ToolsProps) {
  const sort: Sort = (Object.keys(SORTS) as Sort[]).find((name) => name === params.get('tools')) ?? 'calls'
  const value = SORTS[sort]
  const rows = tools.toSorted((a, b) => value(b) - value(a))
  const most = tools.reduce((high, { calls }) => Math.max(high, calls), 0)
  const sorting = (name: Sort) => ({
    onSort: () => setParams({ tools: name === 'calls' ? undefined : name }),
    ...(name === sort && { sorted: 'descending' as const }),
  })
  const linked = (tool: ApiToolStats, more: readonly string[], order: string, text: ComponentChildren) =>
    queryOf === undefined ? (
      text
    ) : (
      <a href={sessionsHref(queryOf(field('tool', tool.tool), ...more), order)}>{text}</a>
    )
  const columns: readonly Column<ApiToolStats>[] = [
    {
      name: 'Tool',
      cell: (tool) =>
        linked(
          tool,
          [],
          'newest',
          <span class="name-cell clip">
            <Visible text={oneLine(tool.tool, 80)} />
          </span>,
        ),
    },
    {
      name: 'Use',
      isSpare: true,
      cell: ({ calls }) => (
        <div class="bar-cell">
          <Share part={most === 0 ? 0 : calls / most} />
        </div>
      ),
    },
    {
      name: 'Calls',
      isNumber: true,
      ...sorting('calls'),
      cell: (tool) => linked(tool, [], 'tools', <Count count={tool.calls} what="calls" />),
    },
    {
      name: 'Failed',
      isNumber: true,
      ...sorting('failed'),
      cell: (tool) => linked(tool, ['has:error'], 'errors', exactCount(tool.failed)),
    },
    {
      name: 'Rate',
      isSpare: true,
      cell: ({ failureRate }) => (
        <div class="bar-cell" title={`${Math.round(failureRate * 1000) / 10} % failed`}>
          <Share part={failureRate} isBad />
        </div>
      ),
    },
    { name: 'Time', isNumber: true, ...sorting('time'), cell: ({ totalMs }) => <Duration ms={totalMs} /> },
    { name: 'On average', isNumber: true, cell: ({ averageMs }) => <Duration ms={averageMs} /> },
    {
      name: 'Again',
      isNumber: true,
      title: 'The same call, or the same file read again, with nothing changed in between',
      ...sorting('repeats'),
      cell: ({ repeatedCalls, rereads }) => exactCount(repeatedCalls + rereads),
    },
  ]
  if (tools.length === 0) return <p class="quiet">No tool was called.</p>
  return <Table caption="Tools" columns={columns} rows={rows} keyOf={({ tool }) => tool} />
}
