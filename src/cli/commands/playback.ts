/**
 * `hansard replay ID`: a session played back; nothing runs. On a terminal in time and by keys; in a pipe as text, in time only where a
 * speed is given. Entries are shown as `show` shows them, and nothing but what is on the screen is held.
 */
import { HansardError } from '../../errors.ts'
import { createDevflowView } from '../../replay/devflow-view.ts'
import { createTimeline, type Pace } from '../../replay/playback/timeline.ts'
import { isNoise, type Mode, type View } from '../../replay/view.ts'
import { readBySession } from '../../sources/read.ts'
import { createTranscriptView } from '../../sources/transcript-text.ts'
import { coloursFor } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { nameSome, openInput, surveyInput, type Input } from '../input.ts'
import { openKeyboard } from '../playback/keyboard.ts'
import { play, type Shown } from '../playback/player.ts'
import { flush, out } from '../print.ts'
import { stdout } from '../streams.ts'
import { openTyping, type Typing } from '../playback/typing.ts'

export type PlaybackFlags = {
  /** A factor; `recorded` is 1, `full` without waiting. */
  readonly speed?: string
  /** Seconds that a wait may take. */
  readonly idle?: number
  readonly mode?: Mode
  readonly turn?: number
  readonly follow?: boolean
  readonly format?: string
  readonly raw?: boolean
  readonly utc?: boolean
  readonly home?: string
}

const IDLE_SECONDS = 2
/** Lines of a terminal that does not say how many it has. */
const ROWS = 24

export async function playBack(named: string, flags: PlaybackFlags): Promise<void> {
  const { home, utc } = await loadConfig(flags)
  const open = (): Promise<Input> =>
    openInput(named, {
      ...(flags.format && { format: flags.format }),
      ...(home && { home }),
      ...(flags.raw && { raw: true }),
    })
  const isTerminal = stdout.isTTY && process.stdin.isTTY
  const speed = toSpeed(flags.speed ?? (isTerminal ? '1' : 'full'))
  const pace: Pace = { speed, idleMs: (flags.idle ?? IDLE_SECONDS) * 1000 }
  const shown = frames(open, pace, { ...flags, ...(home && { home }) }, utc ?? false)
  if (!isTerminal) return print(shown, pace, flags.follow === true)
  const keyboard = openKeyboard(process.stdin)
  try {
    await play({
      frames: shown,
      isLive: flags.follow === true,
      write: (text) => void stdout.write(text),
      key: (ms) => keyboard.next(ms),
      speed: speed === Infinity ? FULL : speed,
      idleMs: pace.idleMs,
      rows: () => process.stdout.rows || ROWS,
      dim: coloursFor(stdout).dim,
    })
  } finally {
    keyboard.close()
  }
}

/** Of a player that is still to hear keys. */
const FULL = 1e6

function toSpeed(said: string): number {
  if (said === 'full') return Infinity
  const factor = said === 'recorded' ? 1 : Number(/^(\d+(?:\.\d+)?)x?$/.exec(said)?.[1])
  if (factor > 0) return factor
  throw new HansardError('invalid-argument', `${JSON.stringify(said.slice(0, 40))} is no speed`, {
    hint: '2 is twice as fast as it was; recorded is as it was; full does not wait',
  })
}

/** Somebody who waits sees each entry when it comes. */
async function print(shown: AsyncIterable<Shown>, { speed, idleMs }: Pace, isLive: boolean): Promise<void> {
  const isSlow = isLive || speed !== Infinity
  for await (const { text, gapMs } of shown) {
    if (speed !== Infinity && gapMs > 0)
      await new Promise((resolve) => setTimeout(resolve, Math.min(gapMs, idleMs) / speed))
    await out(text)
    if (isSlow) await flush()
  }
}

async function* frames(
  open: () => Promise<Input>,
  pace: Pace,
  { mode, turn, follow, home }: PlaybackFlags,
  utc: boolean,
): AsyncGenerator<Shown> {
  const view = createView(mode, turn, utc)
  const next = createTimeline(pace)
  const seen = new Map<string, number>()
  let typing: Typing | undefined
  let isBegun = false
  for (;;) {
    const began = performance.now()
    const input = await open()
    const { sessions, isInterleaved } = await surveyInput(input, undefined)
    const [one] = sessions
    if (one === undefined || sessions.length > 1)
      throw new HansardError('ambiguous-id', `${input.name} holds ${sessions.length} sessions`, {
        hint: `play back one of them by its id: ${nameSome(sessions)}`,
      })
    typing ??= openTyping(one.session.id, home)
    if (!isBegun) yield { text: view.begin(one.session), gapMs: 0, isShortened: false, marks: [] }
    isBegun = true
    for await (const { items } of readBySession(() => input.read(), [one.session.id], isInterleaved))
      for (const item of items) {
        if (item.type !== 'entry' || item.entry.sequence < (seen.get(item.entry.source) ?? 0)) continue
        seen.set(item.entry.source, item.entry.sequence + 1)
        const { gapMs, isShortened, elapsedMs, marks } = next(item.entry)
        const text = one.messages > 0 && isNoise(item.entry) ? '' : view.entry(item.entry)
        const typed = typing.parts(item.entry, text)
        const typedMs = typed?.reduce((sum, { ms }) => sum + ms, 0) ?? 0
        yield {
          text,
          // It was recorded when it was whole.
          gapMs: Math.max(0, gapMs - typedMs),
          isShortened,
          marks,
          ...(elapsedMs !== undefined && { elapsedMs }),
          ...(typed && { typed }),
        }
      }
    input.close?.()
    if (follow !== true || one.session.status !== 'running') break
    // What it takes to look again is a small part of the time.
    const took = performance.now() - began
    await new Promise((resolve) => setTimeout(resolve, Math.max(LOOK_MS, took * 10)))
  }
  typing.close()
  yield { text: view.end(), gapMs: 0, isShortened: false, marks: [] }
}

/** Milliseconds between looks at a session that goes on. */
const LOOK_MS = 500

function createView(mode: Mode | undefined, turn: number | undefined, utc: boolean): View {
  const chosen = mode ?? (turn === undefined ? undefined : 'turn')
  const options = {
    ...(utc && { timeZone: 'UTC' }),
    ...(chosen && { mode: chosen }),
    ...(turn !== undefined && { turn }),
  }
  return chosen === undefined ? createTranscriptView(options) : createDevflowView(options)
}
