/**
 * A session played back: a moment that goes from entry to entry as they came, at some speed, with long waits shortened. Nothing is held
 * but the columns that are there anyway. At the end of a session that goes on, what is recorded is shown as it comes.
 */
import { batch, effect, signal } from '@preact/signals'
import type { KindFlag } from '../../../transcript/kinds.ts'
import { typedAt, typedMs, type Beat } from '../../../replay/playback/typed.ts'
import { nextWith, type Columns } from './columns.ts'
import { createRecordedTime } from './recorded-time.ts'
import type { SessionStore } from './store.ts'
import type { Typist } from './typist.ts'

/** Times as fast as it was. The last is without waiting. */
export const SPEEDS = [0.5, 1, 2, 4, 8, 16, Infinity] as const

/** Milliseconds of a recorded wait that are waited at most, before the speed. */
export const IDLE_MS = 2000
const FRAME_MS = 16
/** Milliseconds that a session of any length takes without waiting, so that one sees it pass. */
const FLIGHT_MS = 10_000
/** Entries that come at once where time has passed unseen. */
const MOST_AT_ONCE = 200
/** Of time that passed unseen, as when the machine slept, no more is made up for. */
const MOST_CREDIT_MS = 1000
const NONE: readonly Beat[] = []
/** An entry is waited for until it is loaded, but not for ever. */
const LOADING_MS = 1500

export type Playback = ReturnType<typeof createPlayback>
export type Stop = KindFlag | 'entry'

type Played = Pick<SessionStore, 'columns' | 'length' | 'answer'> & {
  readonly pages: Pick<SessionStore['pages'], 'get'>
}

/** `typist`: who knows how answers were typed. */
export function createPlayback(store: Played, typist?: Typist) {
  /** The last entry that is shown; undefined while nothing is played. */
  const moment = signal<number | undefined>(undefined)
  const isPlaying = signal(false)
  const speed = signal(1)
  /** Milliseconds that the recorded wait takes that is being shortened. */
  const waits = signal<number | undefined>(undefined)
  /** Of the entry that is shown last, how much stands there while it is typed, in UTF-16 units. */
  const typed = signal<number | undefined>(undefined)
  let typing: { readonly beats: readonly Beat[]; readonly from: number } | undefined
  const time = createRecordedTime()
  /** Since when the next entry is waited for. */
  let since = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const isMore = (): boolean =>
    store.columns.value.length < store.length.value || store.answer.value?.row.status === 'running'
  const rest = (): void => {
    clearTimeout(timer)
    waits.value = undefined
    typing = undefined
    typed.value = undefined
  }
  const later = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(tick, Math.max(FRAME_MS, ms))
  }
  const show = (position: number): void => {
    time.to(store.columns.peek(), position)
    batch(() => {
      waits.value = undefined
      moment.value = position
    })
  }

  /** Types on; true while there is more to come. */
  const type = (now: number): boolean => {
    if (typing === undefined) return false
    const pace = speed.peek()
    const { length, nextMs } = typedAt(typing.beats, (now - typing.from) * pace, IDLE_MS)
    if (nextMs !== undefined && pace !== Infinity) {
      typed.value = length
      later(Math.min(50, nextMs / pace))
      return true
    }
    typing = undefined
    typed.value = undefined
    since = now
    return false
  }

  /** Shows what has come by now, and says when to look again. */
  const tick = (): void => {
    const at = moment.peek()
    if (!isPlaying.peek() || at === undefined) return
    if (type(performance.now())) return
    const columns = store.columns.peek()
    if (at + 1 >= columns.length) {
      rest()
      // Whoever looks at a session that goes on is told when there is more.
      if (!isMore()) isPlaying.value = false
      return
    }
    const now = performance.now()
    if (speed.peek() === Infinity) {
      const share = Math.min(now - since, MOST_CREDIT_MS) / FLIGHT_MS
      since = now
      show(Math.min(columns.length - 1, at + Math.max(1, Math.round(columns.length * share))))
      return later(FRAME_MS)
    }
    let to = at
    time.to(columns, at)
    for (let count = 0; count < MOST_AT_ONCE && to + 1 < columns.length; count += 1) {
      const beats = typist === undefined ? NONE : typist.beats(to + 1)
      // Its time is that of its end.
      const gap = Math.max(0, time.gapAfter(columns) - typedMs(beats ?? NONE))
      const wait = Math.min(gap, IDLE_MS) / speed.peek()
      const isLoaded = store.pages.get(to + 1) !== undefined && beats !== undefined
      const isHere = isLoaded || now - since - wait > LOADING_MS
      if (since + wait > now || !isHere) break
      since = Math.max(since + wait, now - MOST_CREDIT_MS)
      to += 1
      time.to(columns, to)
      if (beats === undefined || beats.length < 2) continue
      typing = { beats, from: now }
      batch(() => {
        typed.value = 0
        show(to)
      })
      return later(FRAME_MS)
    }
    if (to > at) return (show(to), later(FRAME_MS))
    const next = typist === undefined ? NONE : (typist.beats(at + 1) ?? NONE)
    const gap = Math.max(0, time.gapAfter(columns) - typedMs(next))
    waits.value = gap > IDLE_MS ? gap : undefined
    return later(Math.min(50 + FRAME_MS, since + Math.min(gap, IDLE_MS) / speed.peek() - now))
  }
  const setPlaying = (isOn: boolean): void => {
    rest()
    since = performance.now()
    isPlaying.value = isOn
    if (isOn) tick()
  }
  /** To a moment, where it stops. */
  const seek = (position: number): void => {
    rest()
    since = performance.now()
    show(Math.max(0, Math.min(position, store.columns.peek().length - 1)))
  }
  const stopWatching = effect(() => {
    const { length } = store.columns.value
    void store.answer.value
    const at = moment.peek()
    if (at !== undefined && length > 0 && at >= length) moment.value = length - 1
    if (isPlaying.peek()) later(FRAME_MS)
  })

  return {
    moment,
    isPlaying,
    speed,
    waits,
    typed,
    seek,
    /** From an entry; from the beginning where that is the last. */
    enter(from: number): void {
      const { length } = store.columns.peek()
      if (length === 0) return
      show(from >= length - 1 ? 0 : Math.max(0, from))
      setPlaying(true)
    },
    /** Plays, or stops; at the end, from the beginning. */
    turn(): void {
      const at = moment.peek()
      if (at === undefined) return
      const isOver = at >= store.columns.peek().length - 1 && !isMore()
      if (!isPlaying.peek() && isOver) show(0)
      setPlaying(!isPlaying.peek())
    },
    stop: (): void => setPlaying(false),
    /** The next of a kind, or the one before; false where there is none. Playing stops there. */
    step(stop: Stop, direction: 1 | -1, hasRecords = false): boolean {
      const at = moment.peek()
      if (at === undefined) return false
      const columns = store.columns.peek()
      const to =
        stop !== 'entry'
          ? nextWith(columns, stop, at, direction)
          : hasRecords
            ? at + direction
            : nextSaid(columns, at, direction)
      setPlaying(false)
      if (to === undefined || to < 0 || to >= columns.length) return false
      seek(to)
      return true
    },
    /** `speed` is one of `SPEEDS`; the next faster or slower one for a step. */
    setSpeed(to: number): void {
      const now = performance.now()
      // What has been typed stands.
      if (typing !== undefined && to !== Infinity)
        typing = { ...typing, from: now - ((now - typing.from) * speed.peek()) / to }
      speed.value = to
      since = performance.now()
      tick()
    },
    leave(): void {
      setPlaying(false)
      moment.value = undefined
    },
    end(): void {
      clearTimeout(timer)
      stopWatching()
    },
  }
}

/** What is no part of the conversation, and not shown, is passed over. */
function nextSaid({ kinds, length }: Columns, from: number, direction: 1 | -1): number {
  let to = from + direction
  while (to >= 0 && to < length && kinds[to] === 0) to += direction
  return to
}
