/**
 * `hansard sync --watch` beside agents that write long logs, or to a large database: how long after a line, or a row, was written the list has it, as the watch says. What
 * it takes to read the whole is said beside it.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Database, openDatabase } from '../src/sqlite/driver.ts'
import type { SyncReport } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { claudeLineOf, sessionId, writeClaudeLog } from './claude-logs.ts'
import { CODEX_LOG, codexLineOf, writeCodexLog } from './codex-logs.ts'
import { addBubble, writeChats } from './cursor-sample.ts'
import { atMost, median, type Result } from './measure.ts'
import { addPart, writeDatabase } from './opencode-sample.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')
const MOST_MS = 1000
const MOST_MB = 300
const ROUNDS = 7

type Case = {
  readonly name: string
  readonly bytes: number
  /** Relative to the user's folder. */
  readonly log: string
  readonly write: (path: string, bytes: number) => void | Promise<void>
  /** Adds the nth line, or row. `home`: the user's folder. */
  readonly grow: (home: string, n: number) => void | Promise<void>
}

function append(home: string, path: string, line: string): void {
  fs.mkdirSync(dirname(join(home, path)), { recursive: true })
  fs.appendFileSync(join(home, path), line)
}

const SESSION = sessionId(1)
const CLAUDE = `.claude/projects/-home-me-project/${SESSION}.jsonl`
const AGENT = CLAUDE.replace(/\.jsonl$/, '/subagents/agent-a1.jsonl')

const writeClaude = (path: string, bytes: number): void => void writeClaudeLog(path, SESSION, bytes)
const claude = (name: string, bytes: number): Case => ({
  name,
  bytes,
  log: CLAUDE,
  write: writeClaude,
  grow: (home, n) => append(home, CLAUDE, claudeLineOf(SESSION, 10_000_000 + n)),
})

const subagents = (bytes: number): Case => ({
  ...claude("Claude Code, a subagent's line", bytes),
  grow: (home, n) => append(home, AGENT, subagentLine(n)),
})

const codex = (bytes: number): Case => ({
  name: 'Codex',
  bytes,
  log: CODEX_LOG,
  write: writeCodexLog,
  grow: (home, n) => append(home, CODEX_LOG, codexLineOf(10_000_000 + n)),
})

/** Open as long as its own program would have it: its log stays beside it. */
let database: Database | undefined

type Held = {
  readonly name: string
  readonly log: string
  readonly write: (path: string, bytes: number) => Promise<void>
  readonly add: (database: Database, n: number) => void
}

const HELD: readonly Held[] = [
  {
    name: "OpenCode's database",
    log: '.local/share/opencode/opencode.db',
    write: writeDatabase,
    add: addPart,
  },
  {
    name: "Cursor's database",
    log: '.config/Cursor/User/globalStorage/state.vscdb',
    write: writeChats,
    add: addBubble,
  },
]

const held = ({ name, log, write, add }: Held, bytes: number): Case => ({
  name,
  bytes,
  log,
  async write(path, size) {
    await write(path, size)
    database = await openDatabase(path)
  },
  grow: (_, n) => add(database as Database, n),
})

export const bench: Bench = async ({ quick }) => {
  const small = quick ? 10e6 : 90e6
  const cases = [claude('Claude Code', small), subagents(small), codex(small)]
  for (const one of HELD) cases.push(held(one, quick ? 10e6 : 100e6))
  if (!quick) cases.push(claude('Claude Code', 1e9))
  const results: Result[] = []
  for (const one of cases) results.push(...(await watched(one)))
  return results
}

async function watched({ name, bytes, log, write, grow }: Case): Promise<readonly Result[]> {
  const home = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const path = join(home, log)
  fs.mkdirSync(dirname(path), { recursive: true })
  await write(path, bytes)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, HANSARD_HOME: join(home, 'archive') }
  const child = spawn(process.execPath, [BIN, 'sync', '--watch', '--json', '--no-index'], {
    env,
    cwd: home,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const reports = reportsOf(child)
    await reports.next()
    await untilIdle(child)
    const times: number[] = []
    for (let n = 0; n < ROUNDS; n += 1) {
      const began = performance.now()
      await grow(home, n)
      const report = await reports.next()
      times.push(performance.now() - began)
      if (report.entries !== 1) throw new Error(`${report.entries} entries were read for one line of ${name}`)
      await untilIdle(child)
    }
    const mb = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
    child.kill('SIGTERM')
    await new Promise((done) => child.once('close', done))
    await grow(home, ROUNDS)
    const wholeMs = timed(() =>
      spawnSync(process.execPath, [BIN, 'sync', '--no-index'], { env, cwd: home, stdio: 'ignore' }),
    )
    const size = `${name}, ${bytes / 1e6} MB`
    const most = Math.max(...times)
    const detail = `ms after a line was written it is listed, the slowest of ${ROUNDS}; median ${median(times).toFixed(0)}; a sync that reads the whole takes ${wholeMs.toFixed(0)}`
    return [
      atMost(`watch: ${size}`, most, MOST_MS, detail),
      atMost(`memory of the watch: ${size}`, mb, MOST_MB, 'MB'),
    ]
  } finally {
    child.kill('SIGKILL')
    database?.close()
    database = undefined
    fs.rmSync(home, { recursive: true, force: true })
  }
}

/** A document a line. */
function reportsOf({ stdout }: ChildProcess): { readonly next: () => Promise<SyncReport> } {
  let text = ''
  let wake: () => void = () => {}
  stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    wake()
  })
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n')
        if (end !== -1) {
          const line = text.slice(0, end)
          text = text.slice(end + 1)
          return JSON.parse(line) as SyncReport
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

/** Until the process has done nothing for half a second: what it prepares it has prepared. */
async function untilIdle({ pid }: ChildProcess): Promise<void> {
  const ticks = (): string => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ')
  for (let before = ''; before !== ticks(); await wait(500)) before = ticks()
}

function subagentLine(n: number): string {
  const line = JSON.parse(claudeLineOf(SESSION, 20_000_000 + n)) as object
  return `${JSON.stringify({ ...line, isSidechain: true, agentId: 'a1' })}\n`
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
