/** What came of a prompt, up to the next one: how much was done, how long it took, and what it used and cost, as sure as that is. */
import { useMemo } from 'preact/hooks'
import type { ApiUsage } from '../../../server/api-model.ts'
import type { EntryRow } from '../../../server/api.ts'
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import { COUNTS } from '../../../transcript/usage.ts'
import { exactCount, moneyText, shortDuration, tokensText, whyOf } from '../../ui/numbers.ts'
import { nextWith, type Columns } from './columns.ts'
import type { SessionStore } from './store.ts'
import { sumsOf, type Sums } from './sums.ts'

export type Turn = Pick<Sums, 'errors' | 'edits' | 'cost' | 'sure'> & {
  /** The first position that is no longer of it. */
  readonly end: number
  readonly ms: number | undefined
}

export function turnOf(columns: Columns, position: number): Turn {
  const end = nextPrompt(columns, position) ?? columns.length
  const { errors, edits, cost, sure, lastAt } = sumsOf(columns, { from: position, to: end })
  const ms = lastAt - (columns.times[position] ?? Number.NaN)
  return { end, errors, edits, cost, sure, ms: ms > 0 ? ms : undefined }
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
  const { cost, sure } = turn
  const usage = usageOf(row, turn, store)
  const tokens = tokensText(usage, sure.uncounted)
  const money = moneyText(cost, sure)
  const entries = turn.end - position - 1
  const parts = [
    `${exactCount(entries)} ${entries === 1 ? 'entry' : 'entries'}`,
    ...(turn.ms === undefined ? [] : [shortDuration(turn.ms)]),
    ...(tokens === undefined ? [] : [`${tokens.short} tokens`]),
    ...(money === undefined ? [] : [money.short]),
  ]
  const why = tokens === undefined && money === undefined ? [] : whyOf({ ...sure, cost })
  return (
    <span class="turn-sums quiet numbers" title={['Up to the next prompt', ...why].join('\n')}>
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

/** Known when the last entry of it is loaded: sums run through the session, and its own are what they grow by. */
export function usageOf(
  { position }: Pick<EntryRow, 'position'>,
  { end, sure: { usage } }: Pick<Turn, 'end' | 'sure'>,
  { pages }: { readonly pages: Pick<SessionStore['pages'], 'get'> },
): ApiUsage | undefined {
  const last = pages.get(end - 1)?.usageTotal
  const before = position === 0 ? undefined : pages.get(position - 1)
  if (usage === undefined || last === undefined || (position > 0 && before === undefined)) return undefined
  const counts = COUNTS.flatMap((name) => {
    const more = (last[name] ?? 0) - (before?.usageTotal?.[name] ?? 0)
    const isKnown = more > 0 || ((name === 'input' || name === 'output') && usage[name] !== undefined)
    return isKnown ? [[name, Math.max(0, more)] as const] : []
  })
  return counts.some(([, count]) => count > 0)
    ? { ...Object.fromEntries(counts), quality: usage.quality }
    : undefined
}
