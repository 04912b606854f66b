/** What one of two has more than the other; nothing where either is not known. */

export type ChangeProps = {
  readonly left: number | undefined
  readonly right: number | undefined
  readonly format: (value: number) => string
}

export function Change({ left, right, format }: ChangeProps) {
  if (left === undefined || right === undefined) return <span class="quiet">–</span>
  const change = right - left
  if (change === 0) return <span class="quiet">same</span>
  const percent =
    left === 0 ? '' : ` (${change > 0 ? '+' : '−'}${Math.round((Math.abs(change) / left) * 100)} %)`
  return (
    <span class="numbers">
      {change > 0 ? '+' : '−'}
      {format(Math.abs(change))}
      {percent}
    </span>
  )
}
