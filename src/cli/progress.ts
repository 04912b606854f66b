/**
 * How far long work has come, on one line of a terminal: how much is done, how fast, and how long the rest will take. Nothing in
 * a pipe, nothing for work that is done at once, and nothing left on the screen after it, whichever way it ends.
 *
 *     const progress = createProgress()
 *     for (…) progress.show({ doing: 'indexing', bytes, ofBytes })      // as often as you like: most calls cost a look at the clock
 *     progress.end()
 */
import { toBytes } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { visibleLine } from '../replay/escape.ts'
import { coloursFor } from './colour.ts'
import { fit, terminalWidth } from './width.ts'
import { stderr, type Output } from './streams.ts'

export type Step = {
  /** `keeping`: other words begin another piece of work, with a rate of its own. */
  readonly doing: string
  readonly done?: number
  readonly of?: number
  /** What `done` counts: `file`. */
  readonly what?: string
  readonly bytes?: number
  readonly ofBytes?: number
}

export type Progress = { readonly show: (step: Step) => void; readonly end: () => void }

/** More often than this is a flicker. */
const EVERY_MS = 100
/** What is done sooner is not worth a line. */
const PATIENCE_MS = 250

type Screen = Pick<Output, 'isTTY' | 'columns' | 'write'>

export function createProgress(stream: Screen = stderr, now: () => number = Date.now): Progress {
  if (!stream.isTTY) return { show: () => {}, end: () => {} }
  let drawnAt = now() + PATIENCE_MS - EVERY_MS
  let pace: Pace | undefined
  let isListening = false
  const line = createLine(stream)
  return {
    show(step) {
      const at = now()
      if (pace?.doing !== step.doing) pace = createPace(step.doing)
      if (at - drawnAt < EVERY_MS) return pace.start(amountOf(step), at)
      drawnAt = at
      pace.add(amountOf(step), at)
      if (!isListening) startListening()
      isListening = true
      line.draw(toText(step, pace))
    },
    end() {
      line.clear()
      // One that has arrived is told in the next round: without a listener by then, nobody would hear of it.
      if (isListening) setImmediate(stopListening)
      isListening = false
    },
  }
}

type Line = { readonly draw: (text: string) => void; readonly clear: () => void }

let standing: Line | undefined

/** Before anything else is written to the terminal: the line would stand in its way. It is drawn anew with the next step. */
export function clearProgress(): void {
  standing?.clear()
}

/** In one write and without clearing first: between the two, a screen would be seen empty. */
function createLine(stream: Screen): Line {
  const line: Line = {
    draw(text) {
      standing = line
      const { dim } = coloursFor(stream)
      stream.write(`\r${dim(fit(visibleLine(text), (terminalWidth(stream) ?? 80) - 1))}\x1b[K`)
    },
    clear() {
      if (standing !== line) return
      standing = undefined
      stream.write('\r\x1b[K')
    },
  }
  return line
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Takes the line away, then lets the signal do what it would have done. */
function endBySignal(signal: NodeJS.Signals): void {
  clearProgress()
  stopListening()
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function startListening(): void {
  process.on('exit', clearProgress)
  for (const signal of SIGNALS) process.on(signal, endBySignal)
}

function stopListening(): void {
  process.removeListener('exit', clearProgress)
  for (const signal of SIGNALS) process.removeListener(signal, endBySignal)
}

/** Bytes where they are known: files differ in size by a factor of a million. */
const amountOf = ({ bytes, done = 0 }: Step): number => bytes ?? done
const totalOf = ({ bytes, ofBytes, of }: Step): number | undefined => (bytes === undefined ? of : ofBytes)

/** For how long the past counts, in milliseconds: long enough to be calm, short enough to follow a change. */
const MEMORY_MS = 5000
/** Before this, a rate is a guess. */
const SURE_MS = 1500

type Pace = {
  readonly doing: string
  readonly start: (amount: number, at: number) => void
  readonly add: (amount: number, at: number) => void
  /** So many a second; undefined while it cannot be told. */
  readonly rate: () => number | undefined
}

function createPace(doing: string): Pace {
  let first: { readonly amount: number; readonly at: number } | undefined
  let last = { amount: 0, at: 0 }
  let smooth: number | undefined
  const start = (amount: number, at: number): void => {
    if (first !== undefined) return
    first = { amount, at }
    last = first
  }
  return {
    doing,
    start,
    add(amount, at) {
      start(amount, at)
      const passed = at - last.at
      if (passed <= 0) return
      const current = Math.max(0, amount - last.amount) / (passed / 1000)
      const weight = smooth === undefined ? 1 : 1 - Math.exp(-passed / MEMORY_MS)
      smooth = (smooth ?? 0) + weight * (current - (smooth ?? 0))
      last = { amount, at }
    },
    rate: () => (first !== undefined && last.at - first.at >= SURE_MS && smooth ? smooth : undefined),
  }
}

const PLURALS: ReadonlyMap<string, string> = new Map([['entry', 'entries']])

function toText(step: Step, pace: Pace): string {
  const { doing, done, of, what = 'file', bytes, ofBytes } = step
  const named = (count: number): string => counted(count, what, PLURALS.get(what))
  const rate = pace.rate()
  const total = totalOf(step)
  const left = rate === undefined || total === undefined ? undefined : (total - amountOf(step)) / rate
  const parts = [
    done !== undefined && (of === undefined ? named(done) : `${toCount(done)} of ${named(of)}`),
    bytes !== undefined &&
      (ofBytes === undefined ? toBytes(bytes) : `${toBytes(bytes)} of ${toBytes(ofBytes)}`),
    rate !== undefined && (bytes === undefined ? `${toCount(Math.round(rate))}/s` : `${toBytes(rate)}/s`),
    left !== undefined && left > 0 && `${toDuration(left)} left`,
  ]
  return `${doing}: ${parts.filter((part) => part !== false).join(', ')}`
}

/** `8 s`, `3 min`, `1 h 20 min`: as exact as a guess can be. */
export function toDuration(seconds: number): string {
  if (seconds < 59.5) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${toCount(Math.floor(minutes / 60))} h${rest === 0 ? '' : ` ${rest} min`}`
}
