/**
 * Plays frames on a terminal: in time, or step by step, forwards and back, as keys say. It knows nothing of the terminal but how to write
 * to it, so that what it does for a key is the same everywhere.
 */
import type { Mark } from '../../replay/playback/timeline.ts'
import { toDuration } from '../../replay/clock.ts'

export type Shown = {
  /** Fit for a terminal; empty for what is shown with a later one. */
  readonly text: string
  /** The same as it was typed: parts with the milliseconds before each, as recorded. */
  readonly typed?: readonly { readonly ms: number; readonly text: string }[]
  readonly gapMs: number
  readonly isShortened: boolean
  readonly elapsedMs?: number
  readonly marks: readonly string[]
}

export type PlayerOptions = {
  readonly frames: AsyncIterator<Shown>
  /** Whether more may come at any time: then nobody is kept waiting for it. */
  readonly isLive?: boolean
  readonly write: (text: string) => void
  /** The next key that was pressed; resolves with undefined when the time is up first. */
  readonly key: (ms: number) => Promise<string | undefined>
  readonly speed: number
  readonly idleMs: number
  /** Lines of the terminal. */
  readonly rows: () => number
  readonly dim: (text: string) => string
}

type Stop = Mark | 'entry'
/** As on the page. */
const STEPS: ReadonlyMap<string, readonly [stop: Stop, step: 1 | -1]> = new Map([
  ['j', ['entry', 1]],
  ['right', ['entry', 1]],
  ['k', ['entry', -1]],
  ['left', ['entry', -1]],
  ['n', ['prompt', 1]],
  ['p', ['prompt', -1]],
  ['t', ['tool', 1]],
  ['T', ['tool', -1]],
  ['d', ['edit', 1]],
  ['D', ['edit', -1]],
  ['e', ['error', 1]],
  ['E', ['error', -1]],
])

export const KEYS = [
  'space  play, or stop',
  'j k    next, previous entry',
  'n p    next, previous prompt',
  't T    next, previous tool call',
  'd D    next, previous edit',
  'e E    next, previous error',
  '+ -    faster, slower',
  'g G    first, last',
  'q      end',
] as const

type Waited = 'waited' | 'changed' | 'ended'

/** Milliseconds between looks for what may come. */
const LIVE_MS = 100
const soon = (): Promise<'later'> => new Promise((resolve) => setTimeout(resolve, LIVE_MS, 'later'))

const FASTEST = 1024
/** Frames that can be gone back to; older ones are forgotten. */
const MOST_HELD = 20_000

export async function play(options: PlayerOptions): Promise<void> {
  const { frames, write, rows, dim, idleMs } = options
  const held: Shown[] = []
  let forgotten = 0
  const reading = { isOver: false }
  /** How many are on the screen. */
  let at = 0
  let isPlaying = true
  let speed = options.speed
  let said = ''

  /** The next frame, which may be long in coming. */
  let coming: Promise<void> | undefined
  const take = async (): Promise<void> => {
    const next = await frames.next()
    coming = undefined
    if (next.done === true) reading.isOver = true
    else held.push(next.value)
    if (held.length > MOST_HELD) {
      held.shift()
      forgotten += 1
    }
  }
  const load = async (index: number): Promise<Shown | undefined> => {
    while (!reading.isOver && index >= forgotten + held.length) {
      coming ??= take()
      if (options.isLive !== true) await coming
      else if ((await Promise.race([coming, soon()])) === 'later') break
    }
    return held[index - forgotten]
  }
  const say = (text: string): void => {
    if (said !== '') write('\r\x1b[2K')
    said = text
    if (text !== '') write(dim(text))
  }
  const where = (): string => {
    const elapsed = held[at - 1 - forgotten]?.elapsedMs
    return `${elapsed === undefined ? '' : `${toDuration(elapsed)}, `}${at} of ${reading.isOver ? forgotten + held.length : 'more'}`
  }
  const stop = (): void => {
    isPlaying = false
    say(`— ${where()} — space plays, j k n p t e go, q ends, ? shows all keys —`)
  }
  const draw = (frame: Shown): void => {
    if (frame.text === '') return
    say('')
    if (frame.isShortened) write(`${dim(`— ${toDuration(frame.gapMs)} later —`)}\n`)
    write(frame.text)
  }
  /** The screen as it was then. */
  const redraw = (): void => {
    say('')
    let lines = 0
    let from = at
    while (from > forgotten && lines < rows()) {
      from -= 1
      lines += (held[from - forgotten]?.text ?? '').split('\n').length
    }
    write('\x1b[2J\x1b[H')
    for (const frame of held.slice(from - forgotten, at - forgotten)) draw(frame)
  }
  const isStop = (frame: Shown, mark: Stop): boolean =>
    frame.text !== '' && (mark === 'entry' || frame.marks.includes(mark))

  const goTo = async (mark: Stop, step: 1 | -1): Promise<void> => {
    if (step === 1) {
      for (let frame = await load(at); frame !== undefined; frame = await load(at)) {
        at += 1
        draw(frame)
        if (isStop(frame, mark)) break
      }
      return stop()
    }
    let to = at - 1
    while (to > forgotten && !isStop(held[to - 1 - forgotten] as Shown, mark)) to -= 1
    at = Math.max(forgotten, to)
    redraw()
    stop()
  }
  /** True to go on. */
  const obey = async (key: string): Promise<boolean> => {
    const step = STEPS.get(key)
    if (key === 'q' || key === 'ctrl-c') return false
    if (key === ' ') {
      if (isPlaying) stop()
      else {
        isPlaying = true
        say('')
      }
    } else if (key === '+' || key === '=') speed = Math.min(FASTEST, speed * 2)
    else if (key === '-') speed = Math.max(1 / FASTEST, speed / 2)
    else if (step !== undefined) await goTo(...step)
    else if (key === 'G') {
      while ((await load(at)) !== undefined) draw(held[at++ - forgotten] as Shown)
      stop()
    } else if (key === 'g') {
      at = forgotten
      write('\x1b[2J\x1b[H')
      stop()
    } else if (key === '?') {
      say('')
      write(`${dim(KEYS.join('\n'))}\n`)
      stop()
    }
    return true
  }
  /** Until the time is up; a key that ends the waiting is obeyed. */
  const wait = async (ms: number): Promise<Waited> => {
    const until = performance.now() + ms
    for (;;) {
      const left = until - performance.now()
      const key = await options.key(Math.max(0, left))
      if (key === undefined) return 'waited'
      const before = { at, isPlaying, speed }
      if (!(await obey(key))) return 'ended'
      if (before.at !== at || before.isPlaying !== isPlaying || before.speed !== speed) return 'changed'
    }
  }
  /** As it was typed, and at once where somebody presses a key. */
  const type = async (parts: NonNullable<Shown['typed']>): Promise<'ended' | undefined> => {
    let isHurried = false
    for (const { ms, text } of parts) {
      const waited: Waited = isHurried ? 'waited' : await wait(Math.min(ms, idleMs) / speed)
      if (waited === 'ended') return 'ended'
      isHurried ||= waited === 'changed'
      write(text)
    }
    return undefined
  }

  for (;;) {
    const frame = await load(at)
    if (frame === undefined && isPlaying && !reading.isOver) {
      const key = await options.key(LIVE_MS)
      if (key !== undefined && !(await obey(key))) break
      continue
    }
    if (frame === undefined || !isPlaying) {
      if (frame === undefined && isPlaying) stop()
      const key = await options.key(Infinity)
      if (key === undefined || !(await obey(key))) break
      continue
    }
    const waited: Waited = await wait(Math.min(frame.gapMs, idleMs) / speed)
    if (waited === 'ended') break
    if (waited === 'changed') continue
    at += 1
    if (frame.typed === undefined) draw(frame)
    else if ((await type(frame.typed)) === 'ended') break
  }
  say('')
}
