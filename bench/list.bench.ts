/**
 * The built program listing sessions, and telling statistics of them, from archives that were synced: against Node.js that does
 * nothing. Times are the program's own wall clock.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { writeSessions } from './listed-sessions.ts'
import { atMost, median, type Result } from './measure.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')
const MOST_STARTS = 2.5
/** Of an archive of a hundred thousand sessions. */
const MOST_STARTS_LARGE = 10
const MOST_MB = 120

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  list: ['list', '--limit', '50'],
  'list filtered': ['list', 'tool:Bash has:error login', '--sort', 'cost', '--limit', '50'],
  stats: ['stats'],
}

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    const results: Result[] = []
    for (const count of [2000, quick ? 20_000 : 100_000]) {
      const home = join(folder, String(count))
      await writeSessions(home, count)
      results.push(...measure(home, count, count > 2000 ? MOST_STARTS_LARGE : MOST_STARTS))
    }
    return results
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const ROUNDS = 11

/** Turn about, so that what else the machine does is in all of them. */
function measure(home: string, count: number, most: number): readonly Result[] {
  const node: number[] = []
  const times = new Map<string, Ran[]>(Object.keys(COMMANDS).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    node.push(timed(() => void spawnSync(process.execPath, ['-e', '0'])))
    for (const [name, args] of Object.entries(COMMANDS)) times.get(name)?.push(run([...args, '--home', home]))
  }
  const bare = median(node)
  return [...times].flatMap(([name, ran]) => {
    const ms = median(ran.map((one) => one.ms))
    const mb = Math.max(...ran.map((one) => one.mb))
    const of = `${name}, ${count} sessions`
    return [
      atMost(of, ms / bare, most, `times node -e 0: ${ms.toFixed(0)} ms against ${bare.toFixed(0)} ms`),
      atMost(`memory of ${of}`, mb, MOST_MB, 'MB'),
    ]
  })
}

type Ran = { readonly ms: number; readonly mb: number }

function run(args: readonly string[]): Ran {
  const env = { PATH: process.env['PATH'], HOME: tmpdir() }
  const cwd = tmpdir()
  const ms = timed(() => void spawnSync(process.execPath, [BIN, ...args], { env, cwd, maxBuffer: 1e9 }))
  const told = spawnSync(process.execPath, ['--import', TELL_PEAK, BIN, ...args], {
    env,
    cwd,
    maxBuffer: 1e9,
  })
  if (told.status !== 0 || told.stdout.length === 0)
    throw new Error(`${args.join(' ')}: ${String(told.stderr)}`)
  return { ms, mb: toldPeak(String(told.stderr)).mb }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
