/** What each of two sessions is and came to: in heads, in rows of a table, by tools, by files, turn by turn. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { countMark, sumMark, type Amount, type Mark } from '../../../replay/marks.ts'
import type { DiffAnswer, DiffSide } from '../../../server/api-diff.ts'
import { Panel } from '../../charts/panel.tsx'
import { href } from '../../router.ts'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Count, Duration, Money, Time } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { Change } from '../../ui/change.tsx'
import { exactCount, shortCount, shortDuration, shortMoney } from '../../ui/numbers.ts'
import { StatusMark } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Visible } from '../../ui/visible.tsx'

export type SideName = 'A' | 'B'

export function SideHead({ name, side: { row } }: { readonly name: SideName; readonly side: DiffSide }) {
  const title = titleLine(row.title ?? row.prompt ?? '')
  return (
    <section class={`panel diff-side is-${name.toLowerCase()}`} aria-label={`Session ${name}`}>
      <h2 class="diff-title">
        <span class="diff-name">{name}</span>
        <a class="foreign" href={href({ view: 'session', id: row.id })}>
          <Visible text={title === '' ? row.id : title} />
        </a>
      </h2>
      <p class="diff-about quiet">
        <StatusMark status={row.status} />
        <span class="foreign">
          <Visible text={oneLine(row.agent ?? '', 60)} />
        </span>
        <span class="foreign">
          <Visible text={oneLine(row.project ?? '', 60)} />
        </span>
        <Time at={row.startedAt} />
        <span class="mono clip">{visible(oneLine(row.id, 60))}</span>
      </p>
    </section>
  )
}

type FactRow = {
  readonly name: string
  readonly cell: (side: DiffSide) => ComponentChildren
  readonly number?: (side: DiffSide) => number | undefined
  readonly format?: (value: number) => string
  /** How sure the number is. */
  readonly mark?: (side: DiffSide) => Mark
}

const text = (said: string | undefined, most = 80): ComponentChildren =>
  said === undefined || said === '' ? (
    <span class="quiet">–</span>
  ) : (
    <span class="foreign">
      <Visible text={oneLine(said, most)} />
    </span>
  )

const usd = ({ row: { cost } }: DiffSide): number | undefined =>
  typeof cost?.usd === 'string' ? Number(cost.usd) : undefined

const countedIn = ({ quality }: DiffSide): Omit<Amount, 'cost'> => (quality ? { usage: { quality } } : {})
const tokensMark = (side: DiffSide): Mark => countMark(countedIn(side))

const FACTS: readonly FactRow[] = [
  { name: 'Status', cell: ({ row }) => <StatusMark status={row.status} /> },
  { name: 'Model', cell: ({ row }) => text(row.models.join(', ')) },
  {
    name: 'Turns',
    cell: ({ turns }) => <Count count={turns} what="turns" />,
    number: ({ turns }) => turns,
  },
  {
    name: 'Entries',
    cell: ({ entries }) => <Count count={entries} what="entries" />,
    number: ({ entries }) => entries,
  },
  {
    name: 'Tokens in',
    cell: (side) => <Count count={side.tokensIn} what="tokens" of={countedIn(side)} />,
    number: ({ tokensIn }) => tokensIn,
    mark: tokensMark,
  },
  {
    name: 'Tokens out',
    cell: (side) => <Count count={side.tokensOut} what="tokens" of={countedIn(side)} />,
    number: ({ tokensOut }) => tokensOut,
    mark: tokensMark,
  },
  {
    name: 'Cost',
    cell: ({ row }) => <Money cost={row.cost} usage={row.usage} uncounted={row.uncounted} />,
    number: usd,
    format: (value) => shortMoney(String(value)),
    mark: ({ row }) => sumMark(row),
  },
  {
    name: 'Duration',
    cell: ({ row }) => <Duration ms={row.durationMs} />,
    number: ({ row }) => row.durationMs,
    format: shortDuration,
  },
  {
    name: 'Tool calls',
    cell: ({ toolCalls }) => <Count count={toolCalls} what="tool calls" />,
    number: ({ toolCalls }) => toolCalls,
  },
  {
    name: 'Failed calls',
    cell: ({ toolsFailed }) => <Count count={toolsFailed} what="failed tool calls" />,
    number: ({ toolsFailed }) => toolsFailed,
  },
  {
    name: 'Files named',
    cell: ({ row }) => <Count count={row.filesTouched} what="files" />,
    number: ({ row }) => row.filesTouched,
  },
  { name: 'Ended by', cell: ({ stopReason, error }) => text(error ?? stopReason, 160) },
  { name: 'Last said', cell: ({ lastAnswer }) => text(lastAnswer, 200) },
]

export function Beside({ value }: { readonly value: DiffAnswer }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Both sessions, side by side">
      <table class="table diff-facts">
        <caption class="unseen">What each session came to</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col" class="is-number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {FACTS.map(({ name, cell, number, format = shortCount, mark }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{cell(value.a)}</td>
              <td>{cell(value.b)}</td>
              <td class="is-number">
                {number && (
                  <Change
                    left={number(value.a)}
                    right={number(value.b)}
                    format={format}
                    marks={mark && [mark(value.a), mark(value.b)]}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Rows that are shown before somebody asks for more. */
const FEW = 10

export function Tools({ value: { tools, more } }: { readonly value: DiffAnswer }) {
  const [isAll, setAll] = useState(false)
  if (tools.length === 0) return null
  const calls = ({ calls: count, failed }: DiffAnswer['tools'][number]['a']): string =>
    `${exactCount(count)}${failed === 0 ? '' : ` (${exactCount(failed)} failed)`}`
  return (
    <Panel title="Tools">
      <Table
        caption="Tools, by how often each session called them"
        rows={isAll ? tools : tools.slice(0, FEW)}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Tool', cell: ({ name }) => text(name) },
          { name: 'A', isNumber: true, cell: ({ a }) => calls(a) },
          { name: 'B', isNumber: true, cell: ({ b }) => calls(b) },
          {
            name: 'Change',
            isNumber: true,
            cell: ({ a, b }) => <Change left={a.calls} right={b.calls} format={exactCount} />,
          },
        ]}
      />
      <More
        shown={isAll ? tools.length : Math.min(FEW, tools.length)}
        of={tools.length + more.tools}
        onAll={isAll ? undefined : () => setAll(true)}
      />
    </Panel>
  )
}

export function Files({ value: { files, more } }: { readonly value: DiffAnswer }) {
  const [isAll, setAll] = useState(false)
  if (files.length === 0) return null
  const ways = (side: readonly string[]): ComponentChildren =>
    side.length === 0 ? <span class="quiet">not named</span> : side.join(', ')
  return (
    <Panel title="Files that differ">
      <Table
        caption="Files that only one session named, or used in other ways"
        rows={isAll ? files : files.slice(0, FEW)}
        keyOf={({ path }) => path}
        columns={[
          { name: 'File', cell: ({ path }) => text(path, 200) },
          { name: 'A', cell: ({ a }) => ways(a) },
          { name: 'B', cell: ({ b }) => ways(b) },
        ]}
      />
      <More
        shown={isAll ? files.length : Math.min(FEW, files.length)}
        of={files.length + more.files}
        onAll={isAll ? undefined : () => setAll(true)}
      />
    </Panel>
  )
}

/** As devflow compares runs. */
export function Turns({ value: { turns, more, a, b } }: { readonly value: DiffAnswer }) {
  if (turns.length === 0) return null
  const differ = turns.length + more.turns
  const side = (turn: { readonly role: string; readonly chars: number } | undefined): ComponentChildren =>
    turn === undefined ? (
      <span class="quiet">missing</span>
    ) : (
      <>
        {text(turn.role, 20)}, {exactCount(turn.chars)} characters
      </>
    )
  return (
    <details class="panel diff-turns">
      <summary>
        Turn by turn: {exactCount(differ)} of {exactCount(Math.max(a.turns, b.turns))} differ
      </summary>
      <Table
        caption="Turns that are not the same"
        rows={turns}
        keyOf={({ turn }) => turn}
        columns={[
          { name: 'Turn', isNumber: true, cell: ({ turn }) => exactCount(turn) },
          { name: 'Verdict', cell: ({ verdict }) => verdict },
          { name: 'A', cell: ({ a: was }) => side(was) },
          { name: 'B', cell: ({ b: is }) => side(is) },
        ]}
      />
      <More shown={turns.length} of={differ} />
    </details>
  )
}

export type MoreProps = {
  readonly shown: number
  readonly of: number
  readonly onAll?: (() => void) | undefined
}

export function More({ shown, of, onAll }: MoreProps) {
  if (shown >= of) return null
  return (
    <p class="quiet diff-rest">
      {exactCount(shown)} of {exactCount(of)}
      {onAll ? (
        <Button kind="plain" onClick={onAll}>
          Show more
        </Button>
      ) : (
        '; hansard diff --full shows all of them'
      )}
    </p>
  )
}
