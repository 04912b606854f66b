/** Ten million small entries through one recorder: the heap at the end against the heap after the first tenth. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { record } from '../src/capture/record.ts'
import type { Bench } from './bench.ts'
import { atMost } from './measure.ts'

export const bench: Bench = async ({ quick }) => {
  const count = quick ? 500_000 : 10_000_000
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const recorder = await record({ home: folder, durability: 'os', redact: false, cwd: folder })
  const heap = (): number => {
    globalThis.gc?.()
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const started = performance.now()
  let early = 0
  for (let n = 1; n <= count; n += 1) {
    recorder.user('a small entry')
    if (n === count / 10) early = heap()
  }
  const late = heap()
  const seconds = (performance.now() - started) / 1000
  await recorder.end()
  rmSync(folder, { recursive: true, force: true })
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  const detail = `${mb(early)} after ${count / 10}, ${mb(late)} after ${count} entries, ${seconds.toFixed(0)} s`
  return [atMost('heap over ten million entries', late / early, 1.1, detail)]
}
