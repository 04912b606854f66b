/** The rows on the page: a head to sort by, and as many rows as there are sessions, drawn as they are scrolled to. */
import { useState } from 'preact/hooks'
import type { RefObject } from 'preact'
import type { SessionRow } from '../../../server/api-model.ts'
import { href, navigate, setParams } from '../../router.ts'
import { health } from '../../state/health.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { dayName } from '../../ui/times.ts'
import { VirtualList, type VirtualHandle } from '../../ui/virtual.tsx'
import type { Choosing } from './choosing.tsx'
import type { SessionList } from './list.ts'
import type { SessionSort } from '../../../search/session-sorts.ts'
import { chosenCount, type Question } from './question.ts'
import { ABOUT, COLUMNS, Row } from './row.tsx'

export type SessionTableProps = {
  readonly list: SessionList
  readonly question: Question
  readonly handle: RefObject<VirtualHandle | null>
  readonly choosing: Choosing
}

/** Of a page of middle width; others are measured. */
const ROW_HEIGHT = 53

export function SessionTable({ list, question, handle, choosing }: SessionTableProps) {
  const [active, setActive] = useState(list.active)
  const { rows, total, problem, fresh, waiting } = list
  if (problem.value !== undefined && rows.value.length === 0)
    return <ErrorNote problem={problem.value} onRetry={() => void list.again()} />
  if (total.value === undefined)
    return (
      <div class="shell-loading">
        <Spinner />
      </div>
    )
  if (total.value === 0) return <NoSessions question={question} />
  const showNew = (): void => {
    handle.current?.scrollTo(0, 'start')
    void list.again()
  }
  const focus = (index: number): void => {
    list.active = index
    setActive(index)
  }
  return (
    <div class="session-table" role="table" aria-label="Sessions" aria-rowcount={total.value + 1}>
      {problem.value !== undefined && <ErrorNote problem={problem.value} onRetry={() => void list.again()} />}
      {waiting.value > 0 && (
        <div class="session-news">
          <Button kind="primary" onClick={showNew}>
            {exactCount(waiting.value)} new {waiting.value === 1 ? 'session' : 'sessions'} ↑
          </Button>
        </div>
      )}
      <Head question={question} />
      <VirtualList
        key={list.key}
        class="session-rows"
        role="rowgroup"
        rowRole="row"
        label="Sessions"
        count={total.value}
        estimate={ROW_HEIGHT}
        start={list.top}
        handle={handle}
        onRange={(from, to) => list.reach(from, to)}
        onTop={(top) => void (list.top = top)}
        rowClass={(index) => `session-row ${index === active ? 'is-active' : ''}`}
        row={(index) => {
          const row = rows.value[index]
          if (row === undefined)
            return (
              <span class="cell quiet" role="cell">
                …
              </span>
            )
          const day = dayAt(rows.value, index, question)
          return (
            <>
              {day !== undefined && (
                <div class="session-day" role="cell">
                  {day}
                </div>
              )}
              <div
                class="session-cells"
                role="presentation"
                onClick={(event) => {
                  const isText = event.target instanceof Element && event.target.closest('a, input') === null
                  if (isText && getSelection()?.type !== 'Range') navigate({ view: 'session', id: row.id })
                }}
              >
                <Row
                  row={row}
                  isActive={index === active}
                  isFresh={fresh.value.has(row.id)}
                  onFocus={() => focus(index)}
                  {...(choosing.isOn && {
                    isChosen: choosing.ids.includes(row.id),
                    onChoose: () => choosing.turn(row.id),
                  })}
                />
              </div>
            </>
          )
        }}
      />
    </div>
  )
}

type Rows = readonly (SessionRow | undefined)[]

/** The day that begins with a row, where the list goes by time. What is not loaded may be of the same day. */
function dayAt(rows: Rows, index: number, { sort }: Question): string | undefined {
  if (sort !== 'newest' && sort !== 'oldest') return undefined
  const day = dayOf(rows[index])
  if (index === 0) return day
  const before = rows[index - 1]
  return before === undefined || dayOf(before) === day ? undefined : day
}

function dayOf(row: SessionRow | undefined): string | undefined {
  const at = Date.parse(row?.startedAt ?? '')
  return Number.isNaN(at) ? undefined : dayName(at, Date.now())
}

function Head({ question }: { readonly question: Question }) {
  return (
    <div class="sessions-head" role="rowgroup">
      <div class="session-cells" role="row" aria-rowindex={1}>
        <HeadCell name="Title" sort="title" question={question} />
        <span class="cell-about" role="presentation">
          {ABOUT.map((name) => (
            <HeadCell key={name} name={name} question={question} />
          ))}
        </span>
        {COLUMNS.map((column) => (
          <HeadCell key={column.name} {...column} question={question} />
        ))}
      </div>
    </div>
  )
}

type HeadCellProps = { readonly name: string; readonly sort?: SessionSort; readonly question: Question }

function HeadCell({ name, sort, question }: HeadCellProps) {
  const sorted = sort === undefined ? undefined : sortedBy(question, sort)
  return (
    <span
      role="columnheader"
      class={`cell cell-${name.toLowerCase()}`}
      {...(sorted !== undefined && { 'aria-sort': sorted })}
    >
      {sort === undefined ? (
        name
      ) : (
        <button type="button" class="table-sort" onClick={() => sortBy(question, sort)}>
          {name}
          {sorted !== undefined && (sorted === 'ascending' ? ' ↑' : ' ↓')}
        </button>
      )}
    </span>
  )
}

function sortedBy(
  { sort, isReversed }: Question,
  column: SessionSort,
): 'ascending' | 'descending' | undefined {
  if (column === 'newest' && sort === 'oldest') return isReversed ? 'descending' : 'ascending'
  if (sort !== column) return undefined
  return (sort === 'title') === isReversed ? 'descending' : 'ascending'
}

function sortBy({ sort, isReversed }: Question, column: SessionSort): void {
  const isSame = sort === column
  setParams({
    sort: column === 'newest' ? undefined : column,
    reverse: isSame && !isReversed ? 'true' : undefined,
  })
}

/** Nothing matches, or nothing was ever recorded: in either case what to do. */
function NoSessions({ question }: { readonly question: Question }) {
  if (question.words !== '' || chosenCount(question) > 0)
    return (
      <EmptyState title="No session matches">
        <p>
          <a href={href({ view: 'sessions' })}>Show all sessions</a>
        </p>
      </EmptyState>
    )
  if (health.value?.syncing !== undefined)
    return (
      <EmptyState title="Looking for sessions">
        <Spinner says="Agents’ logs are being read; sessions appear here as they are found." />
      </EmptyState>
    )
  return (
    <EmptyState title="Nothing was recorded yet">
      <p>Sessions appear here by themselves as soon as there are any.</p>
      <ul class="empty-ways">
        <li>
          <code>hansard sync</code> takes in the logs of the agents on this machine;{' '}
          <code>hansard sync DIR</code> those of a folder.
        </li>
        <li>
          <code>record()</code> in your own program writes them as they happen.
        </li>
        <li>
          <code>hansard demo</code> shows an archive with examples.
        </li>
      </ul>
    </EmptyState>
  )
}
