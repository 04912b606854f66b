/** Counts over time as small bars, to be taken in at a glance. Drawn as one path of SVG; nothing in it is in the way of the keyboard. */

export type SparklineProps = { readonly counts: readonly number[]; readonly label: string }

const STEP = 4
/** A session of a moment is a bar, not a wall. */
const LEAST_COUNTS = 24

export function Sparkline({ counts, label }: SparklineProps) {
  const most = counts.reduce((high, count) => Math.max(high, count), 0)
  if (most === 0) return null
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${Math.max(counts.length, LEAST_COUNTS) * STEP} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="sparkline-bars" d={toBars(counts, most)} />
    </svg>
  )
}

/** The square root keeps a quiet hour beside a busy one in sight. */
function toBars(counts: readonly number[], most: number): string {
  return counts
    .map((count, at) => {
      if (count === 0) return ''
      const height = Math.max(2, Math.round(Math.sqrt(count / most) * 20))
      return `M${at * STEP} 20v${-height}h${STEP - 1}v${height}z`
    })
    .join('')
}
