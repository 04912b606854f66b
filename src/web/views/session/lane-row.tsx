/** What a subagent did in one go, on one row until it is opened. */
import { useMemo } from 'preact/hooks'
import { contentText } from '../../../transcript/block.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { exactCount, moneyText, shortDuration, whyOf } from '../../ui/numbers.ts'
import type { Columns } from './columns.ts'
import type { TranscriptRow } from './rows.ts'
import type { SessionStore } from './store.ts'
import { sumsOf, type Some } from './sums.ts'

export type LaneRowProps = {
  readonly position: number
  readonly lane: NonNullable<TranscriptRow['lane']>
  readonly columns: Columns
  readonly store: SessionStore
  readonly onTurn: () => void
}

export function LaneRow({ position, lane: { source, count, isOpen }, columns, store, onTurn }: LaneRowProps) {
  const first = store.pages.get(position)?.entry.blocks.find(({ type }) => type === 'text')
  const about = first?.type === 'text' ? contentText(first.text).slice(0, 1000) : ''
  return (
    <div class="lane">
      <button type="button" class="lane-head" data-focus aria-expanded={isOpen} onClick={onTurn}>
        <span class="fold-sign" aria-hidden="true" />
        <strong>Subagent</strong>
        <span class="chip">{visible(oneLine(source.replace(/^subagent:/, ''), 40))}</span>
        <span class="clip lane-about">{visible(oneLine(about, 160))}</span>
        <LaneSums columns={columns} of={{ from: position, to: position + count }} count={count} />
      </button>
    </div>
  )
}

/** What entries of a subagent come to: how many, what they changed, what failed, how long it took, what it cost. */
export function LaneSums({
  columns,
  of,
  count,
}: {
  readonly columns: Columns
  readonly of: Some
  readonly count: number
}) {
  const { from, to, source } = of
  const { errors, edits, cost, sure, firstAt, lastAt } = useMemo(
    () => sumsOf(columns, of),
    [columns, from, to, source],
  )
  const money = moneyText(cost, sure)
  const rest = [
    ...(lastAt > firstAt ? [shortDuration(lastAt - firstAt)] : []),
    ...(money === undefined ? [] : [money.short]),
  ]
  return (
    <span class="fold-end quiet numbers">
      <span title={money && whyOf({ ...sure, cost }).join('\n')}>
        {exactCount(count)} {count === 1 ? 'entry' : 'entries'}
        {edits > 0 && ` · ${edits} ${edits === 1 ? 'edit' : 'edits'}`}
        {errors > 0 && <span class="is-bad">{` · ${errors} ${errors === 1 ? 'error' : 'errors'}`}</span>}
        {rest.map((part) => ` · ${part}`).join('')}
      </span>
    </span>
  )
}
