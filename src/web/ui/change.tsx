/** What one of two has more than the other; nothing where either is not known, and with its sign where either is not exact. */
import { differenceMark, marked, type Mark } from '../../replay/marks.ts'

export type ChangeProps = {
  readonly left: number | undefined
  readonly right: number | undefined
  readonly format: (value: number) => string
  /** Of either side. */
  readonly marks?: readonly [left: Mark, right: Mark] | undefined
}

export function Change({ left, right, format, marks = ['', ''] }: ChangeProps) {
  if (left === undefined || right === undefined) return <span class="quiet">–</span>
  const mark = differenceMark(...marks)
  const change = right - left
  if (change === 0) return <span class="quiet change">{marked(mark, 'same')}</span>
  const sign = change > 0 ? '+' : '−'
  const percent = left === 0 ? '' : ` (${sign}${Math.round((Math.abs(change) / left) * 100)} %)`
  return (
    <span class="numbers">
      <span class="change">{marked(mark, `${sign}${format(Math.abs(change))}`)}</span>
      {percent}
    </span>
  )
}
