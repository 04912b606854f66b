/** Amounts along a session, one upon the other: how full something was, and of what. Pointing at it tells the nearest; a click goes there. */
import { useState } from 'preact/hooks'
import { ticksTo } from './scale.ts'
import { useWidth } from './width.ts'

export type StackPoint = {
  readonly x: number
  /** From below; as many as there are names. */
  readonly layers: readonly number[]
  readonly says: string
  readonly go: () => void
}

export type StackedProps = {
  readonly label: string
  readonly names: readonly string[]
  /** Of each, in the same order: `series-1` to `series-7`, or `series-none`. */
  readonly colours: readonly string[]
  readonly points: readonly StackPoint[]
  readonly marks: readonly { readonly x: number; readonly says: string }[]
  readonly format: (value: number) => string
  readonly height?: number
}

const [LEFT, BOTTOM, TOP, RIGHT] = [52, 20, 10, 8]

export function Stacked({ label, names, colours, points, marks, format, height = 240 }: StackedProps) {
  const [place, width] = useWidth()
  const [near, setNear] = useState<StackPoint>()
  const wholes = points.map(({ layers }) => layers.reduce((sum, one) => sum + one, 0))
  const first = points[0]?.x ?? 0
  const last = points.reduce((high, { x }) => Math.max(high, x), first + 1)
  const ticks = ticksTo(wholes.reduce((high, one) => Math.max(high, one), 0))
  const top = ticks.at(-1) ?? 0
  const inner = height - BOTTOM - TOP
  const toX = (x: number): number => LEFT + ((x - first) / (last - first)) * Math.max(1, width - LEFT - RIGHT)
  const toY = (y: number): number => TOP + inner - (top === 0 ? 0 : (y / top) * inner)
  const onMove = (event: PointerEvent): void => {
    const box = place.current?.getBoundingClientRect()
    if (box === undefined) return
    const x = event.clientX - box.left
    const away = (point: StackPoint): number => Math.abs(toX(point.x) - x)
    setNear(
      points.reduce<StackPoint | undefined>(
        (best, one) => (best && away(best) <= away(one) ? best : one),
        undefined,
      ),
    )
  }
  /** What lies below a layer, at each point. */
  const below = (point: StackPoint, layer: number): number =>
    point.layers.slice(0, layer).reduce((sum, one) => sum + one, 0)
  const line = (layer: number, all: readonly StackPoint[]): string =>
    all.map((point) => `L${toX(point.x).toFixed(1)} ${toY(below(point, layer)).toFixed(1)}`).join('')
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
        {names.map((name, layer) => (
          <path
            key={name}
            class={`chart-layer ${colours[layer] ?? ''}`}
            d={`M${line(layer, points).slice(1)}${line(layer + 1, points.toReversed())}z`}
          />
        ))}
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
        {near && <line class="chart-near" x1={toX(near.x)} x2={toX(near.x)} y1={TOP} y2={TOP + inner} />}
        <text x={LEFT} y={height - 4}>
          entry {first.toLocaleString('en')}
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
