/** The whole session as a strip beside it: prompts, errors, edits and cost where they are. What is in sight is framed; a click goes there. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { KIND_FLAGS, KIND_ROLE_MASK, roleOfKind } from '../../../transcript/kinds.ts'
import { useDrawnSize } from '../../ui/drawn-size.ts'
import { exactCount, moneyText } from '../../ui/numbers.ts'
import { preciseTime } from '../../ui/times.ts'
import { countWith, type Columns } from './columns.ts'
import { sumsOf } from './sums.ts'

export type MinimapProps = {
  readonly columns: Columns
  /** Positions in sight. */
  readonly from: number
  readonly to: number
  /** Of a session that is played, the last entry that has come: what is after it is dimmed. */
  readonly moment: number | undefined
  readonly onJump: (position: number) => void
}

const WIDTH = 56
/** Entries from which on drawing takes long enough to be put off. */
const LONG = 20_000
const SOON_MS = 150

export function Minimap({ columns, from, to, moment, onJump }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { height, theme } = useDrawnSize(canvas)
  const drawn = useRef({ length: 0, height: 0, theme: 0 })
  useEffect(() => {
    const before = drawn.current
    // Of a long session that grows, what is less than a pixel is not seen.
    const isSeen =
      before.height !== height ||
      before.theme !== theme ||
      columns.length < before.length ||
      (columns.length - before.length) * height >= columns.length
    if (!isSeen || height === 0) return undefined
    const run = (): void => {
      drawn.current = { length: columns.length, height, theme }
      if (canvas.current !== null) draw(canvas.current, columns, height)
    }
    // Columns of a long session come in parts; all of them together are drawn once.
    if (before.length === 0 && columns.length < LONG) return run()
    const timer = setTimeout(run, SOON_MS)
    return () => clearTimeout(timer)
  }, [columns, height, theme])
  const { length } = columns
  const scale = length === 0 ? 0 : Math.min(height, length * 12) / length
  const [near, setNear] = useState<number>()
  const positionAt = (event: MouseEvent): number | undefined => {
    const box = canvas.current?.getBoundingClientRect()
    if (box === undefined || scale === 0) return undefined
    return Math.max(0, Math.min(length - 1, Math.floor((event.clientY - box.top) / scale)))
  }
  const jump = (event: MouseEvent): void => {
    const position = positionAt(event)
    setNear(position)
    if (position !== undefined && (event.buttons !== 0 || event.type === 'click')) onJump(position)
  }
  const label = `Map of ${exactCount(length)} entries: ${exactCount(countWith(columns, 'prompt'))} prompts, ${exactCount(countWith(columns, 'error'))} errors, ${exactCount(countWith(columns, 'edit'))} edits`
  return (
    <div class="minimap">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onClick={jump}
        onMouseMove={jump}
        onMouseLeave={() => setNear(undefined)}
      />
      {near !== undefined && (
        <div
          class="minimap-says"
          style={{ top: `${Math.min(near * scale, height - 24)}px` }}
          aria-hidden="true"
        >
          {saysOf(columns, near)}
        </div>
      )}
      {moment !== undefined && <div class="minimap-ahead" style={{ top: `${(moment + 1) * scale}px` }} />}
      <div
        class="minimap-view"
        style={{ top: `${from * scale}px`, height: `${Math.max(6, (to - from) * scale)}px` }}
      />
    </div>
  )
}

const NAMES = ['prompt', 'edit', 'error', 'compaction', 'damage', 'gap', 'thinking'] as const

/** What is there: its number, what it is, what it cost, and when. */
function saysOf(columns: Columns, position: number): string {
  const kind = columns.kinds[position] ?? 0
  const names = NAMES.filter((name) => (kind & KIND_FLAGS[name]) !== 0)
  const role = roleOfKind(kind) ?? 'event'
  const { cost, sure } = sumsOf(columns, { from: position, to: position + 1 })
  const money = moneyText(cost, sure)
  const at = columns.times[position] ?? Number.NaN
  return [
    `#${position}`,
    names.length === 0 ? role : names.join(', '),
    ...(money === undefined ? [] : [money.short]),
    ...(Number.isNaN(at) ? [] : [preciseTime(at)]),
  ].join(' · ')
}

/** A pixel row stands for many entries, or an entry for many pixel rows: each shows the most telling of what it stands for. */
function draw(canvas: HTMLCanvasElement, { length, kinds, costs }: Columns, height: number): void {
  const ratio = devicePixelRatio
  canvas.width = WIDTH * ratio
  canvas.height = height * ratio
  canvas.style.height = `${height}px`
  const pen = canvas.getContext('2d')
  if (pen === null || length === 0) return
  pen.scale(ratio, ratio)
  const style = getComputedStyle(canvas)
  const colour = (name: string): string => style.getPropertyValue(name)
  const used = Math.min(height, length * 12)
  const rows = Math.min(Math.ceil(used), length)
  const step = used / rows
  const flags = new Uint16Array(rows)
  const roles = new Uint8Array(rows)
  const cost = new Float32Array(rows)
  for (let at = 0; at < length; at += 1) {
    const row = Math.min(rows - 1, Math.floor((at * rows) / length))
    const kind = kinds[at] ?? 0
    flags[row] = (flags[row] ?? 0) | kind
    const role = kind & KIND_ROLE_MASK
    // What a person said is told before what an agent did.
    if (roles[row] === 0 || role === 2) roles[row] = role
    cost[row] = (cost[row] ?? 0) + Math.max(0, costs[at] ?? 0)
  }
  const dearest = cost.reduce((most, one) => Math.max(most, one), 0)
  const [grey, tool, prompt, bad, edit, money] = [
    '--border',
    '--faint',
    '--accent',
    '--bad',
    '--ok',
    '--series-2',
  ].map((name) => colour(name))
  const thick = Math.max(1, step - (step > 4 ? 1 : 0))
  for (let row = 0; row < rows; row += 1) {
    const [y, flag] = [row * step, flags[row] ?? 0]
    const has = (bit: number): boolean => (flag & bit) !== 0
    const fill = (style: string | undefined, x: number, width: number): void => {
      pen.fillStyle = style ?? 'gray'
      pen.fillRect(x, y, width, thick)
    }
    fill(has(KIND_FLAGS.tool) ? grey : tool, 4, has(KIND_FLAGS.tool) ? 12 : 18)
    if (has(KIND_FLAGS.prompt)) fill(prompt, 2, 28)
    if (has(KIND_FLAGS.edit)) fill(edit, 18, 8)
    if (has(KIND_FLAGS.error) || has(KIND_FLAGS.damage) || has(KIND_FLAGS.gap)) fill(bad, 28, 10)
    // The root keeps what is cheap beside what is dear in sight.
    const share = dearest === 0 ? 0 : Math.sqrt((cost[row] ?? 0) / dearest)
    if (share > 0) fill(money, WIDTH - 2 - Math.max(1, share * 14), Math.max(1, share * 14))
  }
}
