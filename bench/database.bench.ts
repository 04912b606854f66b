/**
 * A database of OpenCode's: read where it is, kept as rows, kept again, and read from what is kept, against taking the JSON out of its
 * columns and parsing it with the same driver. Memory must not grow with the file.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../src/sqlite/driver.ts'
import type { Bench } from './bench.ts'
import type { Done } from './database-work.ts'
import { atLeast, atMost, median, type Result } from './measure.ts'
import { writeDatabase } from './opencode-sample.ts'

const WORK = join(import.meta.dirname, 'database-work.js')
/** Of each process, Node.js and the driver included. */
const MAX_MB = 250

export const bench: Bench = async ({ quick }) => {
  const results: Result[] = []
  for (const megabytes of quick ? [20] : [20, 250]) results.push(...(await measure(megabytes)))
  return results
}

async function measure(megabytes: number): Promise<readonly Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    const db = join(folder, 'opencode.db')
    await writeDatabase(db, megabytes * 1e6)
    const size = statSync(db).size / 1e6
    const work = (way: string, kept: string): Done =>
      JSON.parse(
        execFileSync(process.execPath, [WORK, way, db, join(folder, kept)], { encoding: 'utf8' }),
      ) as Done
    const rounds = (way: string, kept: (round: number) => string): readonly Done[] =>
      Array.from({ length: ROUNDS }, (_, round) => work(way, kept(round)))
    const bare: Done[] = []
    const read: Done[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(work('bare', ''))
      read.push(work('read', ''))
    }
    const first = rounds('export', (round) => `${round}.rows.jsonl`)
    const again = rounds('export', (round) => `${round}.rows.jsonl`)
    const changed = await changedOnce(db, () => rounds('export', (round) => `${round}.rows.jsonl`))
    const load = rounds('load', () => '0.rows.jsonl')
    // By the processor's time: other work on the machine is not ours.
    const base = median(bare.map(({ cpuMs }) => cpuMs))
    const tell = (name: string, done: readonly Done[], ratio: number): readonly Result[] => {
      const ms = median(done.map(({ cpuMs }) => cpuMs))
      const peak = Math.max(...done.map(({ peakMb }) => peakMb))
      const label = `${name}, ${size.toFixed(0)} MB`
      const speed = (of: number): string => `${(size / (of / 1000)).toFixed(1)} MB/s`
      const detail = `${speed(ms)} against ${speed(base)} bare, ${done[0]?.count} counted`
      return [
        atLeast(label, base / ms, ratio, detail),
        atMost(`${label}: memory`, peak, MAX_MB, 'MB at most'),
      ]
    }
    return [
      ...tell('opencode.db read live', read, 0.15),
      ...tell('rows kept, the first time', first, 0.15),
      ...tell('rows kept, nothing new', again, 0.15),
      ...tell('rows kept, one changed', changed, 0.15),
      ...tell('opencode.db read from kept rows', load, 0.06),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const ROUNDS = 3

async function changedOnce<T>(db: string, work: () => T): Promise<T> {
  const database = await openDatabase(db)
  database.exec(`UPDATE part SET data = '{"type":"text","text":"changed"}' WHERE id = 'prt_00000007'`)
  database.close()
  return work()
}
