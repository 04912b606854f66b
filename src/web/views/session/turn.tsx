/** What came of a prompt, up to the next one: how much was done, how long it took, and what it used and cost. */
import { useMemo } from 'preact/hooks'
import type { EntryRow } from '../../../server/api.ts'
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import { allTokens, exactCount, shortCount, shortDuration, shortMoney } from '../../ui/numbers.ts'
import { nextWith, type Columns } from './columns.ts'
import type { SessionStore } from './store.ts'

export type Turn = {
  /** The first position that is no longer of it. */
  readonly end: number
  readonly errors: number
  readonly edits: number
  /** US dollars; undefined where nothing of it is known. */
  readonly usd: number | undefined
  readonly ms: number | undefined
}

export function turnOf(columns: Columns, position: number): Turn {
  const { kinds, costs, times, length } = columns
  const end = nextPrompt(columns, position) ?? length
  let [errors, edits, usd, isPriced, last] = [0, 0, 0, false, Number.NaN]
  for (let at = position; at < end; at += 1) {
    const kind = kinds[at] ?? 0
    if ((kind & KIND_FLAGS.error) !== 0) errors += 1
    if ((kind & KIND_FLAGS.edit) !== 0) edits += 1
    const cost = costs[at] ?? -1
    // What costs nothing, or is said not to, is counted with something else or with nothing.
    if (cost > 0) [usd, isPriced] = [usd + cost, true]
    const time = times[at] ?? Number.NaN
    if (!Number.isNaN(time) && !(time < last)) last = time
  }
  const ms = last - (times[position] ?? Number.NaN)
  return {
    end,
    errors,
    edits,
    usd: isPriced ? usd : undefined,
    ms: ms > 0 ? ms : undefined,
  }
}

/** Of the same source: what a subagent is asked is part of the turn in which it is. */
function nextPrompt(columns: Columns, position: number): number | undefined {
  let next = nextWith(columns, 'prompt', position, 1)
  while (next !== undefined && columns.sourceOf[next] !== columns.sourceOf[position])
    next = nextWith(columns, 'prompt', next, 1)
  return next
}

export function TurnSums({ row, store }: { readonly row: EntryRow; readonly store: SessionStore }) {
  const { position } = row
  const columns = store.columns.value
  const isPrompt = ((columns.kinds[position] ?? 0) & KIND_FLAGS.prompt) !== 0
  const turn = useMemo(
    () => (isPrompt ? turnOf(columns, position) : undefined),
    [columns, position, isPrompt],
  )
  if (turn === undefined || turn.end <= position + 1) return null
  const tokens = tokensOf(row, turn, store)
  const entries = turn.end - position - 1
  const parts = [
    `${exactCount(entries)} ${entries === 1 ? 'entry' : 'entries'}`,
    ...(turn.ms === undefined ? [] : [shortDuration(turn.ms)]),
    ...(tokens === undefined ? [] : [`${shortCount(tokens)} tokens`]),
    ...(turn.usd === undefined ? [] : [shortMoney(String(turn.usd))]),
  ]
  return (
    <span class="turn-sums quiet numbers" title="Up to the next prompt">
      {parts.join(' · ')}
      {turn.edits > 0 && (
        <span class="changed-new">
          {' '}
          · {exactCount(turn.edits)} {turn.edits === 1 ? 'edit' : 'edits'}
        </span>
      )}
      {turn.errors > 0 && (
        <span class="is-bad">
          {' '}
          · {exactCount(turn.errors)} {turn.errors === 1 ? 'error' : 'errors'}
        </span>
      )}
    </span>
  )
}

/** Known when the last entry of it is loaded: sums run through the session. */
function tokensOf({ position }: EntryRow, { end }: Turn, { pages }: SessionStore): number | undefined {
  const last = pages.get(end - 1)?.usageTotal
  const before = position === 0 ? undefined : pages.get(position - 1)
  if (last === undefined || (position > 0 && before === undefined)) return undefined
  const sum = allTokens(last)
  const own = before?.usageTotal === undefined ? 0 : (allTokens(before.usageTotal) ?? 0)
  return sum === undefined || sum <= own ? undefined : sum - own
}
