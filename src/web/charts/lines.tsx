/** Amounts along a session as lines, one for each series. Pointing at it tells the nearest; a click goes there. */
import { useState } from 'preact/hooks'
import { ticksTo } from './scale.ts'
import { useWidth } from './width.ts'

export type Point = { readonly x: number; readonly y: number; readonly says: string; readonly go: () => void }

export type LinesProps = {
  readonly label: string
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[]
  /** Where something happened to all of them. */
  readonly marks: readonly { readonly x: number; readonly says: string }[]
  readonly format: (value: number) => string
  readonly height?: number
}

const [LEFT, BOTTOM, TOP, RIGHT] = [52, 20, 10, 8]
/** Colours that differ; more series share the last. */
const COLOURS = 6

export function Lines({ label, series, marks, format, height = 240 }: LinesProps) {
  const [place, width] = useWidth()
  const [near, setNear] = useState<Point>()
  const all = series.flatMap(({ points }) => points)
  const last = all.reduce((high, { x }) => Math.max(high, x), 1)
  const ticks = ticksTo(all.reduce((high, { y }) => Math.max(high, y), 0))
  const top = ticks.at(-1) ?? 0
  const inner = height - BOTTOM - TOP
  const toX = (x: number): number => LEFT + (x / last) * Math.max(1, width - LEFT - RIGHT)
  const toY = (y: number): number => TOP + inner - (top === 0 ? 0 : (y / top) * inner)
  const onMove = (event: PointerEvent): void => {
    const box = place.current?.getBoundingClientRect()
    if (box === undefined) return
    const [x, y] = [event.clientX - box.left, event.clientY - box.top]
    const away = (point: Point): number => Math.hypot((toX(point.x) - x) * 3, toY(point.y) - y)
    setNear(
      all.reduce<Point | undefined>((best, one) => (best && away(best) <= away(one) ? best : one), undefined),
    )
  }
  return (
    <div ref={place} class="lines">
      <svg
        class="chart"
        height={height}
        role="img"
        aria-label={label}
        onPointerMove={onMove}
        onPointerLeave={() => setNear(undefined)}
        onClick={() => near?.go()}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="chart-line" x1={LEFT} x2={width} y1={toY(tick)} y2={toY(tick)} />
            <text x={LEFT - 6} y={toY(tick) + 4} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {marks.map(({ x, says }) => (
          <line key={x} class="chart-mark" x1={toX(x)} x2={toX(x)} y1={TOP} y2={TOP + inner}>
            <title>{says}</title>
          </line>
        ))}
        {series.map(({ name, points }, at) => {
          const [first, end] = [points[0], points.at(-1)]
          if (first === undefined || end === undefined) return null
          return (
            <path
              key={`area ${name}`}
              class={`chart-area series-${Math.min(at + 1, COLOURS)}`}
              d={`M${toX(first.x).toFixed(1)} ${toY(0)}${points.map(({ x, y }) => `L${toX(x).toFixed(1)} ${toY(y).toFixed(1)}`).join('')}L${toX(end.x).toFixed(1)} ${toY(0)}z`}
            />
          )
        })}
        {series.map(({ name, points }, at) => (
          <path
            key={name}
            class={`chart-path series-${Math.min(at + 1, COLOURS)}`}
            d={points
              .map(({ x, y }, n) => `${n === 0 ? 'M' : 'L'}${toX(x).toFixed(1)} ${toY(y).toFixed(1)}`)
              .join('')}
          />
        ))}
        {near && <circle class="chart-dot series-1" cx={toX(near.x)} cy={toY(near.y)} r="4" />}
        <text x={LEFT} y={height - 4}>
          entry 0
        </text>
        <text x={Math.max(LEFT, width - RIGHT)} y={height - 4} text-anchor="end">
          {last.toLocaleString('en')}
        </text>
      </svg>
      <p class="lines-says quiet numbers" aria-hidden="true">
        {near?.says ?? '\u00a0'}
      </p>
    </div>
  )
}
