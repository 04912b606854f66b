/** Reading a journal, a `full.jsonl` and a log of Claude Code to the model, against splitting lines and JSON.parse of the same bytes. */
import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { record } from '../src/capture/record.ts'
import { claudeCode } from '../src/formats/claude-code.ts'
import { entire } from '../src/formats/entire.ts'
import type { Format } from '../src/formats/format.ts'
import { journal } from '../src/journal/format.ts'
import { openSource } from '../src/sources/open.ts'
import { createLineSplitter } from '../src/transcript/lines.ts'
import type { Bench } from './bench.ts'
import { atLeast, compare, type Result } from './measure.ts'
import { claudeLine, sampleEntry } from './samples.ts'

export const bench: Bench = async ({ quick }) => {
  const count = quick ? 5000 : 30_000
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const recorder = await record({
    home: join(folder, 'home'),
    cwd: folder,
    durability: 'os',
    redact: false,
    formats: ['entire'],
  })
  for (let n = 0; n < count; n += 1) {
    const { blocks, model, usage, call } = sampleEntry(n)
    recorder.assistant(blocks, { ...(model && { model }), ...(usage && { usage }), ...(call && { call }) })
  }
  await recorder.end()
  const sessions = join(folder, 'home/sessions', recorder.id)
  const full = join(folder, '.entire/metadata', recorder.session().names?.['entire'] ?? '', 'full.jsonl')
  const log = join(folder, '11111111-1111-4111-8111-111111111111.jsonl')
  writeFileSync(log, Array.from({ length: count }, (_, n) => claudeLine(n)).join(''))
  const results = [
    await against('journal', join(sessions, readdirSync(sessions)[0] as string), journal, count),
    await against('full.jsonl', full, entire, count),
    await against('Claude Code', log, claudeCode, count),
  ]
  rmSync(folder, { recursive: true, force: true })
  return results
}

async function against(name: string, path: string, format: Format, count: number): Promise<Result> {
  const times = await compare({
    bare: async () => {
      const splitter = createLineSplitter()
      for await (const chunk of createReadStream(path, { highWaterMark: 512 * 1024 })) {
        for (const line of splitter.push(chunk as Buffer)) JSON.parse(line.text as string)
      }
    },
    read: async () => {
      let entries = 0
      for await (const items of format.read(await openSource(path))) {
        for (const item of items) if (item.type === 'entry') entries += 1
      }
      if (entries !== count) throw new Error(`${name}: read ${entries} entries of ${count}`)
    },
  })
  const { bare = Number.NaN, read = Number.NaN } = times
  const size = statSync(path).size / 1e6
  const speed = (ms: number): string => `${(size / (ms / 1000)).toFixed(0)} MB/s`
  return atLeast(
    `read ${name} to the model`,
    bare / read,
    0.55,
    `${speed(read)} against ${speed(bare)} bare, ${size.toFixed(0)} MB`,
  )
}
