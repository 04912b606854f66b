/** Amounts over time as bars, each of which leads to what it sums. For the keyboard and those who do not see it, the table behind. */
import { everyNth, ticksTo } from './scale.ts'
import { useWidth } from './width.ts'

export type Bar = {
  readonly name: string
  /** Undefined: not known, which is no bar of height zero. */
  readonly value: number | undefined
  readonly says: string
  readonly href?: string
}

export type BarsProps = {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  readonly height?: number
  /** The top of the axis; the highest bar when absent. */
  readonly most?: number
}

const [LEFT, BOTTOM, TOP] = [52, 20, 8]
const LABEL_WIDTH = 76
const WIDEST = 46

export function Bars({ label, bars, format, height = 190, most }: BarsProps) {
  const [place, width] = useWidth()
  const ticks = ticksTo(most ?? bars.reduce((high, { value = 0 }) => Math.max(high, value), 0))
  const top = ticks.at(-1) ?? 0
  const inner = height - BOTTOM - TOP
  const y = (value: number): number => TOP + inner - (top === 0 ? 0 : (value / top) * inner)
  const room = Math.max(0, width - LEFT)
  const step = bars.length === 0 ? room : Math.min(room / bars.length, WIDEST)
  const named = everyNth(bars, Math.max(1, Math.floor((step * bars.length) / LABEL_WIDTH)))
  return (
    <div ref={place}>
      <svg class="chart" height={height} role="group" aria-label={label}>
        {ticks.map((tick) => (
          <g key={tick} aria-hidden="true">
            <line class="chart-line" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {bars.map((bar, at) => {
          const { value, says, href, name } = bar
          const x = LEFT + at * step
          const high = value === undefined ? 3 : Math.max(value > 0 ? 1.5 : 0, TOP + inner - y(value))
          const drawn = (
            <>
              <title>{says}</title>
              <rect class="chart-hit" x={x} y={TOP} width={step} height={inner} />
              <rect
                class={value === undefined ? 'chart-bar is-unknown' : 'chart-bar'}
                x={x + Math.min(2, step * 0.15)}
                y={TOP + inner - high}
                width={Math.max(1, step - Math.min(4, step * 0.3))}
                height={high}
                rx={Math.min(2, step / 6)}
              />
            </>
          )
          return (
            <g key={name}>
              {href === undefined ? (
                drawn
              ) : (
                <a href={href} aria-label={says} tabIndex={-1}>
                  {drawn}
                </a>
              )}
              {named.has(bar) && x + LABEL_WIDTH <= Math.max(width, LEFT + LABEL_WIDTH) && (
                <text x={x + 1} y={height - 4} aria-hidden="true">
                  {name}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </div>
  )
}

/** A part of a whole, within a row of a table. */
export function Share({ part, isBad = false }: { readonly part: number; readonly isBad?: boolean }) {
  const percent = `${Math.max(0, Math.min(100, part * 100))}%`
  return (
    <svg class="share" aria-hidden="true">
      <rect class="share-track" width="100%" height="100%" rx="2" />
      <rect class={isBad ? 'share-bar is-bad' : 'share-bar'} width={percent} height="100%" rx="2" />
    </svg>
  )
}
