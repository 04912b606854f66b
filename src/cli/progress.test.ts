import { stripVTControlCharacters } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createProgress, toDuration, type Progress } from './progress.ts'
import { widthOf } from './width.ts'

/** What was written, and a clock that stands still until it is told. */
function screen({ isTTY = true, columns = 80 } = {}) {
  const written: string[] = []
  let at = 1_000_000
  const stream = {
    isTTY,
    columns,
    write: (text: string | Uint8Array): boolean => {
      written.push(String(text))
      return true
    },
  }
  const later = (ms: number): void => void (at += ms)
  const lines = (): string[] => written.map((text) => stripVTControlCharacters(text).replaceAll('\r', ''))
  const progress = createProgress(stream, () => at)
  started.push(progress)
  return { progress, written, lines, later }
}

const started: Progress[] = []

afterEach(async () => {
  for (const progress of started.splice(0)) progress.end()
  await new Promise((done) => setImmediate(done))
})

const listeners = (): number => process.listenerCount('SIGINT') + process.listenerCount('exit')

describe('progress', () => {
  it('says nothing in a pipe', () => {
    const { progress, written, later } = screen({ isTTY: false })
    for (let done = 0; done < 100; done += 1) {
      later(1000)
      progress.show({ doing: 'reading', done, of: 100 })
    }
    progress.end()
    expect(written).toEqual([])
  })

  it('says nothing of work that is done at once', () => {
    const { progress, written, later } = screen()
    for (let done = 0; done < 10; done += 1) {
      later(20)
      progress.show({ doing: 'reading', done, of: 10 })
    }
    progress.end()
    expect(written).toEqual([])
  })

  it('says how much is done, how fast, and how long the rest takes', () => {
    const { progress, lines, later } = screen()
    for (let done = 0; done <= 50; done += 1) {
      progress.show({ doing: 'keeping', done, of: 200, bytes: done * 2e6, ofBytes: 400e6 })
      later(100)
    }
    expect(lines().at(-1)).toBe('keeping: 50 of 200 files, 100 MB of 400 MB, 20 MB/s, 15 s left')
  })

  it('is calm: one slow moment does not turn seconds into hours', () => {
    const { progress, lines, later } = screen()
    for (let bytes = 0; bytes < 100e6; bytes += 1e6) {
      progress.show({ doing: 'keeping', bytes, ofBytes: 200e6 })
      later(100)
    }
    later(2000)
    progress.show({ doing: 'keeping', bytes: 100e6, ofBytes: 200e6 })
    expect(lines().at(-1)).toMatch(/1[0-9] s left$/)
  })

  it('begins anew with other work', () => {
    const { progress, lines, later } = screen()
    for (let done = 0; done < 50; done += 1) {
      progress.show({ doing: 'keeping', done, of: 50 })
      later(100)
    }
    progress.show({ doing: 'reading', done: 1, of: 50 })
    expect(lines().at(-1)).toBe('reading: 1 of 50 files')
  })

  it('is drawn ten times a second at most, in one write each, without an empty screen between', () => {
    const { progress, written, later } = screen()
    for (let done = 0; done < 10_000; done += 1) {
      progress.show({ doing: 'keeping', done })
      later(1)
    }
    expect(written.length).toBeGreaterThan(90)
    expect(written.length).toBeLessThanOrEqual(100)
    for (const text of written) {
      expect(text.startsWith('\r') && text.endsWith('\x1b[K')).toBe(true)
      expect(stripVTControlCharacters(text).slice(1)).toMatch(/^keeping: [\d,]+ files/)
    }
  })

  it('stays on one line, however narrow', () => {
    const { progress, lines, later } = screen({ columns: 24 })
    later(1000)
    progress.show({ doing: 'converting 日本語', done: 123_456, of: 999_999, what: 'entry' })
    expect(widthOf(lines()[0] ?? '')).toBeLessThan(24)
  })

  it('leaves nothing on the screen, nor a listener', async () => {
    const before = listeners()
    const { progress, written, later } = screen()
    later(1000)
    progress.show({ doing: 'reading', done: 1 })
    expect(listeners()).toBe(before + 2)
    progress.end()
    expect(written.at(-1)).toBe('\r\u001b[K')
    await new Promise((done) => setTimeout(done, 10))
    expect(listeners()).toBe(before)
    progress.end()
    expect(written.length).toBe(2)
  })

  it('costs next to nothing when it has nothing to draw', () => {
    const { progress } = screen()
    const { user } = process.cpuUsage()
    for (let done = 0; done < 1_000_000; done += 1) progress.show({ doing: 'keeping', done })
    // Microseconds of processor time for a million steps: under one for each, of work that takes thousands.
    expect(process.cpuUsage().user - user).toBeLessThan(1_000_000)
  })
})

describe('the time left', () => {
  it.each([
    [0.2, '1 s'],
    [45.4, '45 s'],
    [59.6, '1 min'],
    [200, '3 min'],
    [3600, '1 h'],
    [4800, '1 h 20 min'],
  ])('of %d seconds is %s', (seconds, text) => {
    expect(toDuration(seconds)).toBe(text)
  })
})
