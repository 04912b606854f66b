/** An archive with any number of sessions in its state and no logs: what lists, statistics and the page are measured on. */
import fs from 'node:fs'
import { openArchive } from '../src/archive/archive.ts'
import { openState, remember } from '../src/sources/state.ts'
import { writeListing } from '../src/sources/state-listing.ts'
import { recordedOnce } from '../src/sources/state-recorded.ts'
import type { ListedSession } from '../src/sources/state-sessions.ts'
import type { SessionWork, ToolCounts } from '../src/sources/work.ts'

/** A state as a sync leaves it, without the logs: sessions of a few tools and files each, one in ten with something to tell. */
export async function writeSessions(home: string, count: number): Promise<void> {
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
      const json = JSON.stringify(session)
      insert.run(session.id, session.id, session.startedAt ?? null, session.status, session.cwd ?? null, json)
      writeListing(database, {
        key: session.id,
        session,
        json,
        isNew: true,
        bill: { pico: BigInt(n) * 1_000_000_000n, calls: 0, ids: 0 },
        recorded: recordedOnce({ chosen: 2 }, workOf(n)),
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
