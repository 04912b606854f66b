import { signal } from '@preact/signals'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EntryRow, SessionAnswer } from '../../../server/api.ts'
import { toKind } from '../../../transcript/kinds.ts'
import { NO_COLUMNS, type Columns } from './columns.ts'
import type { Beat } from '../../../replay/playback/typed.ts'
import { playedRows } from './played.ts'
import { createPlayback, type Playback } from './playing.ts'
import { createRows, plainRows } from './rows.ts'

const T = Date.UTC(2026, 10, 14, 9)

/** Seconds since the first; NaN where none is said. */
function columnsOf(seconds: readonly number[], kinds: readonly number[] = []): Columns {
  return {
    ...NO_COLUMNS,
    length: seconds.length,
    kinds: Uint16Array.from(seconds, (_, at) => kinds[at] ?? toKind('assistant', [])),
    costs: new Float32Array(seconds.length),
    times: Float64Array.from(seconds, (second) => T + second * 1000),
    sourceOf: new Uint16Array(seconds.length),
    sources: ['primary'],
  }
}

const ROW = {} as EntryRow
let playback: Playback
function playing(columns: Columns, { status = 'completed', isLoaded = () => true } = {}) {
  const store = {
    columns: signal(columns),
    length: signal(columns.length),
    answer: signal({ row: { status } } as SessionAnswer),
    pages: { get: () => (isLoaded() ? ROW : undefined) },
  }
  playback = createPlayback(store)
  return store
}
const after = (ms: number): number | undefined => {
  vi.advanceTimersByTime(ms)
  return playback.moment.value
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  playback.end()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a session that is played', () => {
  it('shows entries when they came', () => {
    playing(columnsOf([0, 1, 1.5, 3]))
    playback.enter(0)
    expect([after(900), after(200), after(500), after(1000), after(600)]).toEqual([0, 1, 2, 2, 3])
    expect(playback.isPlaying.value).toBe(false)
  })

  it('shortens what is longer than two seconds, and says how long it was', () => {
    playing(columnsOf([0, 252, 253]))
    playback.enter(0)
    after(100)
    expect(playback.waits.value).toBe(252_000)
    expect([after(1800), after(200), playback.waits.value]).toEqual([0, 1, undefined])
  })

  it('is played faster and slower, also from where it is', () => {
    playing(columnsOf([0, 2, 4, 6]))
    playback.speed.value = 4
    playback.enter(0)
    expect(after(550)).toBe(1)
    playback.setSpeed(0.5)
    expect([after(3900), after(200)]).toEqual([1, 2])
  })

  it('takes ten seconds without waiting, however long it is', () => {
    playing(columnsOf(Array.from({ length: 1_000_000 }, (_, at) => at)))
    playback.setSpeed(Infinity)
    playback.enter(0)
    expect(after(5000)).toBeGreaterThan(100_000)
    expect(after(6000)).toBe(999_999)
  })

  it('does not run backwards, nor wait for entries that say no time', () => {
    playing(columnsOf([10, 5, Number.NaN, 11]))
    playback.enter(0)
    expect([after(200), after(700), after(300)]).toEqual([2, 2, 3])
  })

  it('waits for an entry until it is loaded, but not for ever', () => {
    let isHere = false
    playing(columnsOf([0, 0.1, 0.2]), { isLoaded: () => isHere })
    playback.enter(0)
    expect(after(1000)).toBe(0)
    isHere = true
    expect(after(300)).toBe(2)
    isHere = false
    playback.seek(0)
    playback.turn()
    expect([after(1000), (after(4000) ?? 0) > 0]).toEqual([0, true])
  })

  it('does not make up for the time that a machine slept', () => {
    playing(columnsOf(Array.from({ length: 1000 }, (_, at) => at)))
    playback.enter(0)
    after(100)
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000)
    expect(after(200)).toBeLessThan(5)
  })

  it('shows what is recorded meanwhile as it comes, and stops where nothing more will', () => {
    const store = playing(columnsOf([0, 1]), { status: 'running' })
    playback.enter(0)
    after(1200)
    expect([playback.moment.value, playback.isPlaying.value]).toEqual([1, true])
    after(60_000)
    store.columns.value = columnsOf([0, 1, 61])
    store.length.value = 3
    expect(after(50)).toBe(2)
    store.answer.value = { row: { status: 'completed' } } as SessionAnswer
    after(50)
    expect(playback.isPlaying.value).toBe(false)
  })

  it('goes by entries, prompts and errors, and stops there', () => {
    const [prompt, error, record] = [toKind('user', ['prompt']), toKind('tool', ['error']), 0]
    playing(columnsOf([0, 1, 2, 3, 4], [prompt, record, error, prompt]))
    playback.enter(0)
    expect([playback.step('entry', 1), playback.moment.value, playback.isPlaying.value]).toEqual([
      true,
      2,
      false,
    ])
    expect([playback.step('prompt', 1), playback.moment.value]).toEqual([true, 3])
    expect([playback.step('error', -1), playback.moment.value]).toEqual([true, 2])
    expect([playback.step('entry', -1, true), playback.moment.value]).toEqual([true, 1])
    expect([playback.step('error', -1), playback.moment.value]).toEqual([false, 1])
    playback.leave()
    expect([playback.moment.value, playback.step('entry', 1)]).toEqual([undefined, false])
  })

  it('begins anew where it is at its end', () => {
    playing(columnsOf([0, 1, 2]))
    playback.enter(2)
    expect(playback.moment.value).toBe(0)
    after(5000)
    playback.turn()
    expect([playback.moment.value, playback.isPlaying.value]).toEqual([0, true])
  })
})

describe('the rows of a moment', () => {
  it('are those that have come', () => {
    const rows = playedRows(plainRows(10), 3)
    expect([rows.count, rows.indexOf(9), rows.at(2).position]).toEqual([4, 3, 2])
    playing(columnsOf([0]))
  })

  it('count of a subagent what it has done by then', () => {
    const columns: Columns = {
      ...columnsOf([0, 1, 2, 3, 4]),
      sources: ['primary', 'subagent:x'],
      sourceOf: Uint16Array.from([0, 1, 1, 1, 0]),
    }
    const filters = { roles: new Set<string>(), only: new Set<never>() }
    const rows = createRows(columns, filters, new Set())
    expect(playedRows(rows, 2).at(1).lane?.count).toBe(2)
    expect(playedRows(rows, 4).at(1).lane?.count).toBe(3)
    expect(playedRows(rows, 2).count).toBe(2)
    playing(columns)
  })
})

describe('an answer of which it is known how it was typed', () => {
  const BEATS: readonly Beat[] = [
    [0, 3],
    [500, 4],
    [9000, 5],
  ]
  const typing = (beats: (position: number) => readonly Beat[] | undefined) => {
    const columns = columnsOf([0, 10, 11])
    const store = {
      columns: signal(columns),
      length: signal(columns.length),
      answer: signal({ row: { status: 'completed' } } as SessionAnswer),
      pages: { get: () => ROW },
    }
    playback = createPlayback(store, { beats })
    playback.enter(0)
  }
  const stands = (ms: number) => [after(ms), playback.typed.value]

  it('is typed so, with its waits shortened, before the next comes', () => {
    typing((position) => (position === 1 ? BEATS : []))
    // It took 9.5 of the 10 seconds before its end.
    expect(stands(400)).toEqual([0, undefined])
    expect(stands(200)).toEqual([1, 3])
    expect(stands(500)).toEqual([1, 7])
    expect(stands(1500)).toEqual([1, 7])
    expect(stands(600)).toEqual([1, undefined])
    expect(stands(1000)).toEqual([2, undefined])
  })

  it('stands there whole for whoever stops, steps, or does not wait', () => {
    typing((position) => (position === 1 ? BEATS : []))
    expect(stands(600)).toEqual([1, 3])
    playback.stop()
    expect(stands(0)).toEqual([1, undefined])
    playback.seek(0)
    playback.setSpeed(Infinity)
    playback.turn()
    expect(stands(12_000)).toEqual([2, undefined])
  })

  it('is not waited for for ever', () => {
    typing((position) => (position === 1 ? undefined : []))
    expect(stands(2500)).toEqual([0, undefined])
    expect(stands(1500)[0]).toBeGreaterThan(0)
  })
})
