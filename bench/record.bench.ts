/** What recording one entry costs, against the least that could be done: stringify it and write it. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { record, type Recorder } from '../src/capture/record.ts'
import type { Bench } from './bench.ts'
import { atMost, compare } from './measure.ts'
import { sampleEntry } from './samples.ts'

export const bench: Bench = async ({ quick }) => {
  const count = quick ? 2000 : 10_000
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const entries = Array.from({ length: 100 }, (_, n) => sampleEntry(n))
  const size = Buffer.byteLength(JSON.stringify(entries[0]))
  const fd = openSync(join(folder, 'bare.jsonl'), 'a')
  const open = (redact: boolean): Promise<Recorder> =>
    record({ home: join(folder, redact ? 'on' : 'off'), durability: 'os', redact, cwd: folder })
  const off = await open(false)
  const on = await open(true)
  const through = (recorder: Recorder) => () => {
    for (let n = 0; n < count; n += 1) {
      const { blocks, model, usage } = entries[n % 100] as (typeof entries)[number]
      recorder.assistant(blocks, {
        ...(model && { model }),
        ...(usage && { usage }),
        call: { messageId: `m${n}` },
      })
    }
  }
  const times = await compare({
    bare: () => {
      for (let n = 0; n < count; n += 1) writeSync(fd, `${JSON.stringify(entries[n % 100])}\n`)
    },
    off: through(off),
    on: through(on),
  })
  closeSync(fd)
  await Promise.all([off.end(), on.end()])
  rmSync(folder, { recursive: true, force: true })
  const { bare = Number.NaN, off: plain = Number.NaN, on: redacted = Number.NaN } = times
  const each = (total: number): string => `${((total / count) * 1000).toFixed(1)} µs`
  return [
    atMost(
      'record a 2 KB entry, redaction off',
      plain / bare,
      4,
      `${each(plain)} against ${each(bare)} bare, ${size} bytes`,
    ),
    atMost(
      'record a 2 KB entry, redaction on',
      redacted / bare,
      12,
      `${each(redacted)} against ${each(bare)} bare`,
    ),
  ]
}
