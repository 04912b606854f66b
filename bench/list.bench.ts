/**
 * The built program listing sessions, and telling statistics of them, from archives that were synced: against Node.js that does
 * nothing. Times are the program's own wall clock.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { openState, remember } from '../src/sources/state.ts'
import { writeListing } from '../src/sources/state-listing.ts'
import type { ListedSession } from '../src/sources/state-sessions.ts'
import type { SessionWork, ToolCounts } from '../src/sources/work.ts'
import type { Bench } from './bench.ts'
import { atMost, median, type Result } from './measure.ts'

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

/** A state as a sync leaves it, without the logs: sessions of a few tools and files each, one in ten with something to tell. */
async function writeSessions(home: string, count: number): Promise<void> {
  fs.mkdirSync(home, { recursive: true })
  const state = await openState(openArchive(home, { write: true }))
  const { database } = state
  remember(database, 'adopted', 'yes')
  const insert = database.prepare(
    `INSERT INTO sessions (key, id, started_at, status, flow, run, cwd, session) VALUES (?, ?, ?, ?, NULL, NULL, ?, ?)`,
  )
  database.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const session = sessionOf(n)
      insert.run(
        session.id,
        session.id,
        session.startedAt ?? null,
        session.status,
        session.cwd ?? null,
        JSON.stringify(session),
      )
      writeListing(database, {
        key: session.id,
        session,
        pico: BigInt(n) * 1_000_000_000n,
        recordings: [{ work: JSON.stringify(workOf(n)), chosen: 2 }],
      })
    }
  })
  // As a sync leaves it, some time after.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  state.close()
}

const TOOLS = ['Bash', 'Read', 'Edit', 'Grep', 'Write', 'Task', 'WebFetch', 'mcp__tracker__search']
const TITLES = [
  'Fix the login',
  'Tests that wobble',
  'A new parser',
  'Upgrade the compiler',
  'Write the docs',
]

function sessionOf(n: number): ListedSession {
  const start = Date.UTC(2026, 0, 1) + n * 60_000
  return {
    id: `${n.toString(16).padStart(8, '0')}-1111-4111-8111-111111111111`,
    title: `${TITLES[n % TITLES.length]} ${n}`,
    agent: 'claude-code',
    native: { agent: 'claude-code', sessionId: String(n) },
    cwd: `/home/me/project-${n % 40}`,
    git: { branch: n % 3 === 0 ? 'main' : `feature-${n % 100}` },
    startedAt: new Date(start).toISOString(),
    endedAt: new Date(start + (n % 500) * 1000).toISOString(),
    status: n % 20 === 0 ? 'failed' : 'completed',
    recordings: [{ by: 'claude-code', file: `/home/me/.claude/projects/-p/${n}.jsonl` }],
    totals: {
      entries: 20 + (n % 300),
      toolCalls: 40,
      calls: 30,
      models: ['claude-opus-4-5'],
      usage: { input: 3000, cacheRead: 400_000 + n, cacheWrite5m: 20_000, output: 5000, quality: 'reported' },
      cost: { usd: (n / 1000).toFixed(6), unpriced: [] },
    },
  }
}

function workOf(n: number): SessionWork {
  const tools = TOOLS.filter((_, at) => (n + at) % 3 !== 0)
  const counts: ToolCounts = [8, n % 10 === 0 ? 2 : 0, 12_000, 8, 1, 0]
  const marks = [3, 5, 7].map((sequence) => ({ source: 'primary', sequence }))
  return {
    failed: n % 10 === 0 ? 2 : 0,
    errors: n % 10 === 0 ? 2 : 0,
    repeats: tools.length,
    rereads: 0,
    parts: ['tool', 'thinking', ...(n % 10 === 0 ? ['error'] : [])],
    sources: ['primary'],
    tools,
    files: Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`/home/me/project/src/${n + at}.ts`, 're']),
    ),
    touched: 12,
    activity: { from: 0, bucketMs: 16_000, counts: [5, 8, 1, 0, 0, 3, 9, 12, 4, 4, 1, 7, 2] },
    findings: n % 10 === 0 ? [{ kind: 'repeated-calls', tool: 'Bash', count: 3 + (n % 9), marks }] : [],
    rest: Object.fromEntries(tools.map((tool) => [tool, counts])),
  }
}

type Ran = { readonly ms: number; readonly mb: number }

const TELL = `data:text/javascript,process.on('exit',()=>process.stderr.write('maxRSS='+process.resourceUsage().maxRSS))`

function run(args: readonly string[]): Ran {
  const env = { PATH: process.env['PATH'], HOME: tmpdir() }
  const cwd = tmpdir()
  const ms = timed(() => void spawnSync(process.execPath, [BIN, ...args], { env, cwd, maxBuffer: 1e9 }))
  const told = spawnSync(process.execPath, ['--import', TELL, BIN, ...args], { env, cwd, maxBuffer: 1e9 })
  if (told.status !== 0 || told.stdout.length === 0)
    throw new Error(`${args.join(' ')}: ${String(told.stderr)}`)
  return { ms, mb: Number(/maxRSS=(\d+)/.exec(String(told.stderr))?.[1]) / 1024 }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
