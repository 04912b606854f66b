import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { whenQuiet } from './when-quiet.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('works once when it is quiet, however often it was touched', async () => {
  let works = 0
  const quiet = whenQuiet(
    async () => void (works += 1),
    () => {},
  )
  for (let n = 0; n < 5; n += 1) {
    quiet.touch()
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(works).toBe(0)
  await vi.advanceTimersByTimeAsync(2000)
  expect(works).toBe(1)
})

it('waits no longer than a while for quiet', async () => {
  let works = 0
  const quiet = whenQuiet(
    async () => void (works += 1),
    () => {},
  )
  for (let n = 0; n < 32; n += 1) {
    quiet.touch()
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(works).toBe(2)
})

it('does what came meanwhile afterwards, and never two at a time', async () => {
  let [running, most, works] = [0, 0, 0]
  const quiet = whenQuiet(
    async () => {
      running += 1
      works += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 5000))
      running -= 1
    },
    () => {},
  )
  quiet.touch()
  await vi.advanceTimersByTimeAsync(2500)
  quiet.touch()
  await vi.advanceTimersByTimeAsync(20_000)
  expect([most, works]).toEqual([1, 2])
})

it('ends by telling the work at hand to stop, waits for it, and begins no other', async () => {
  let works = 0
  const quiet = whenQuiet(
    async (signal) => {
      works += 1
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    () => {},
  )
  quiet.touch()
  await vi.advanceTimersByTimeAsync(2500)
  await quiet.end()
  quiet.touch()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(works).toBe(1)
})

it('says what went wrong, and goes on', async () => {
  const said: unknown[] = []
  const quiet = whenQuiet(
    async () => {
      throw new Error('no room')
    },
    (error) => said.push(error),
  )
  for (let n = 0; n < 2; n += 1) {
    quiet.touch()
    await vi.advanceTimersByTimeAsync(3000)
  }
  expect(said).toHaveLength(2)
})
