/** What a subagent did in one go, on one row until it is opened. */
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import { contentText } from '../../../transcript/block.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { exactCount, shortDuration, shortMoney } from '../../ui/numbers.ts'
import type { Columns } from './columns.ts'
import type { TranscriptRow } from './rows.ts'
import type { SessionStore } from './store.ts'

export type LaneRowProps = {
  readonly position: number
  readonly lane: NonNullable<TranscriptRow['lane']>
  readonly columns: Columns
  readonly store: SessionStore
  readonly onTurn: () => void
}

export function LaneRow({ position, lane: { source, count, isOpen }, columns, store, onTurn }: LaneRowProps) {
  const positions = Array.from({ length: count }, (_, at) => position + at)
  const first = store.pages.get(position)?.entry.blocks.find(({ type }) => type === 'text')
  const about = first?.type === 'text' ? contentText(first.text).slice(0, 1000) : ''
  return (
    <div class="lane">
      <button type="button" class="lane-head" data-focus aria-expanded={isOpen} onClick={onTurn}>
        <span class="fold-sign" aria-hidden="true" />
        <strong>Subagent</strong>
        <span class="chip">{visible(oneLine(source.replace(/^subagent:/, ''), 40))}</span>
        <span class="clip lane-about">{visible(oneLine(about, 160))}</span>
        <LaneSums columns={columns} positions={positions} count={count} />
      </button>
    </div>
  )
}

/** What entries of a subagent come to: how many, what they changed, what failed, how long it took, what it cost. */
export function LaneSums({
  columns,
  positions,
  count,
}: {
  readonly columns: Columns
  readonly positions: readonly number[]
  readonly count: number
}) {
  const { errors, edits, usd, ms } = sums(columns, positions)
  const rest = [...(ms > 0 ? [shortDuration(ms)] : []), ...(usd > 0 ? [shortMoney(String(usd))] : [])]
  return (
    <span class="fold-end quiet numbers">
      <span>
        {exactCount(count)} {count === 1 ? 'entry' : 'entries'}
        {edits > 0 && ` · ${edits} ${edits === 1 ? 'edit' : 'edits'}`}
        {errors > 0 && <span class="is-bad">{` · ${errors} ${errors === 1 ? 'error' : 'errors'}`}</span>}
        {rest.map((part) => ` · ${part}`).join('')}
      </span>
    </span>
  )
}

function sums({ kinds, costs, times }: Columns, positions: readonly number[]) {
  let [errors, edits, usd, first, last] = [0, 0, 0, Number.NaN, Number.NaN]
  for (const at of positions) {
    const kind = kinds[at] ?? 0
    if ((kind & KIND_FLAGS.error) !== 0) errors += 1
    if ((kind & KIND_FLAGS.edit) !== 0) edits += 1
    usd += Math.max(0, costs[at] ?? 0)
    const time = times[at] ?? Number.NaN
    if (Number.isNaN(time)) continue
    if (Number.isNaN(first)) first = time
    last = time
  }
  return { errors, edits, usd, ms: Number.isNaN(first) ? 0 : last - first }
}
