/** What plays a session: stop and go, how fast, and where in it, with its prompts, edits and errors marked. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { toDuration } from '../../../replay/clock.ts'
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import { Button } from '../../ui/button.tsx'
import { useDrawnSize } from '../../ui/drawn-size.ts'
import { exactCount } from '../../ui/numbers.ts'
import type { Columns } from './columns.ts'
import { SPEEDS, type Playback } from './playing.ts'
import { createRecordedTime } from './recorded-time.ts'
import type { SessionStore } from './store.ts'

export type PlayerProps = {
  readonly store: SessionStore
  readonly playback: Playback
  readonly onLeave: () => void
}

export function Player({ store, playback, onLeave }: PlayerProps) {
  const { moment, isPlaying, speed, waits } = playback
  const columns = store.columns.value
  const [past, whole] = useMemo(() => [createRecordedTime(), createRecordedTime()], [store])
  const at = moment.value
  if (at === undefined) return null
  const elapsed = past.to(columns, at)
  const all = whole.to(columns, columns.length - 1)
  const isLive = isPlaying.value && at >= columns.length - 1
  const clock = elapsed === undefined ? '' : `${toDuration(elapsed)} of ${toDuration(all)}`
  const place = `${exactCount(at + 1)} of ${exactCount(columns.length)}`
  return (
    <div class="player" role="group" aria-label="Playback">
      <Button
        kind="primary"
        class="player-turn"
        label={isPlaying.value ? 'Stop (Space)' : 'Play (Space)'}
        onClick={() => playback.turn()}
      >
        {isPlaying.value ? '❚❚' : '▶'}
      </Button>
      <select
        aria-label="Speed"
        title="Speed (+ −)"
        value={String(speed.value)}
        onChange={({ currentTarget }) => playback.setSpeed(Number(currentTarget.value))}
      >
        {SPEEDS.map((one) => (
          <option key={one} value={String(one)}>
            {one === Infinity ? 'instant' : `${one}×`}
          </option>
        ))}
      </select>
      <span class="player-track">
        <Marks columns={columns} />
        <input
          type="range"
          min={0}
          max={Math.max(0, columns.length - 1)}
          value={at}
          aria-label="Moment"
          aria-valuetext={[`entry ${place}`, clock].filter(Boolean).join(', ')}
          onInput={({ currentTarget }) => {
            playback.stop()
            playback.seek(Number(currentTarget.value))
          }}
        />
      </span>
      <span class="player-says numbers quiet">
        {waits.value !== undefined && <strong>{toDuration(waits.value)} pass</strong>}
        {isLive && <strong>following</strong>} {place}
        {clock !== '' && <span class="player-clock"> · {clock}</span>}
      </span>
      <Button kind="plain" onClick={onLeave} title="Show everything again (Esc)">
        Leave
      </Button>
    </div>
  )
}

const HEIGHT = 10

/** Prompts, edits and errors where they are. */
function Marks({ columns }: { readonly columns: Columns }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width, theme } = useDrawnSize(canvas)
  // Of a long session that grows, what is less than a pixel is not seen.
  const pixels = Math.floor(Math.log2(columns.length + 1) * Math.max(1, width))
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, columns, width)
  }, [pixels, width, theme])
  return <canvas ref={canvas} aria-hidden="true" />
}

const MARKS = [
  [KIND_FLAGS.edit, '--ok', 0.45],
  [KIND_FLAGS.prompt, '--accent', 1],
  [KIND_FLAGS.error, '--bad', 0.7],
] as const

function draw(canvas: HTMLCanvasElement, { kinds, length }: Columns, width: number): void {
  canvas.width = width * devicePixelRatio
  canvas.height = HEIGHT * devicePixelRatio
  const pen = canvas.getContext('2d')
  if (pen === null || length === 0) return
  pen.scale(devicePixelRatio, devicePixelRatio)
  const style = getComputedStyle(canvas)
  const flags = new Uint16Array(Math.max(1, Math.floor(width)))
  // As a slider has it: its knob does not go beyond its ends.
  const scale = length < 2 ? 0 : (flags.length - KNOB) / (length - 1)
  for (let at = 0; at < length; at += 1) {
    const x = Math.min(flags.length - 1, Math.floor(KNOB / 2 + at * scale))
    flags[x] = (flags[x] ?? 0) | (kinds[at] ?? 0)
  }
  for (const [flag, colour, share] of MARKS) {
    pen.fillStyle = style.getPropertyValue(colour)
    flags.forEach((bits, x) => {
      if ((bits & flag) !== 0) pen.fillRect(x, HEIGHT * (1 - share), 2, HEIGHT * share)
    })
  }
}

/** Pixels of the slider's knob. */
const KNOB = 14
