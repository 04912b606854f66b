/**
 * Costs as users run them: from an archive that was synced, against `ccusage` on the same logs in the same run, and the same answer from
 * nothing; and how long the first sync takes until list, cost and stats are ready, against splitting and parsing the same bytes on two threads.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Bench } from './bench.ts'
import { installCcusage, type Peer, type PeerTotals } from './ccusage.ts'
import { writeClaudeLogs, type Logs } from './claude-logs.ts'
import { atLeast, atMost, median, shown, type Result } from './measure.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    const logs = writeClaudeLogs(join(folder, 'claude'), { files: quick ? 200 : 2000, bytesEach: 500_000 })
    const size = `${logs.files.length} files of ${(logs.bytes / 1e6).toFixed(0)} MB`
    const results = [...(await firstSync(folder, logs, { size, rounds: quick ? 1 : 3 }))]
    results.push(...compared(folder, logs, { size, rounds: quick ? 5 : 7 }))
    return results
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Into a new archive, turn about with bare parsing, the least of each: what else a machine does only ever adds. The logs were read
 * beforehand, so that what the disk does is no part of it. Ready is when another process has all of the list, the costs and the
 * statistics, which is when sync says so: they are asked for then, and again when all is done.
 */
async function firstSync(
  folder: string,
  logs: Logs,
  { size, rounds }: { readonly size: string; readonly rounds: number },
): Promise<readonly Result[]> {
  const asked: () => Promise<readonly string[]> = () =>
    Promise.all(QUESTIONS.map((args) => answerTo(folder, args)))
  let [bare, readyMs, wholeMs] = [await parseAll(logs.files), Infinity, Infinity]
  for (let round = 0; round < rounds; round += 1) {
    bare = Math.min(bare, await parseAll(logs.files))
    fs.rmSync(archiveIn(folder), { recursive: true, force: true })
    const one = await syncFirst(folder, asked)
    const late = await asked()
    if (one.early !== undefined && one.early.join() !== late.join())
      throw new Error(
        'what list, cost and stats said when sync said that they were ready is not what they say now',
      )
    readyMs = Math.min(readyMs, one.readyMs)
    wholeMs = Math.min(wholeMs, one.wholeMs)
  }
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const beside = `JSON.parse of all lines on two threads ${seconds(bare)}`
  return [
    atMost(
      `cost: list, cost and stats ready, ${size}`,
      readyMs / bare,
      2.5,
      `${seconds(readyMs)}, ${beside}`,
    ),
    shown(`cost: the same with all bytes kept`, wholeMs / bare, `${seconds(wholeMs)}, ${beside}`),
  ]
}

const QUESTIONS = [
  ['list', '--json', '--limit', '100000'],
  ['cost', '--by', 'day', '--utc', '--json'],
  ['cost', '--by', 'tool', '--utc', '--json'],
  ['stats', '--json'],
] as const

type FirstSync = {
  readonly readyMs: number
  readonly wholeMs: number
  /** What was answered when it was ready. */
  readonly early: readonly string[] | undefined
}

/** What sync says on stderr. */
const READY = 'list, cost and stats have'

async function syncFirst(folder: string, ask: () => Promise<readonly string[]>): Promise<FirstSync> {
  const began = performance.now()
  const child = spawn(process.execPath, [BIN, 'sync', '--no-index', '--json'], {
    ...surroundings(folder),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  let readyMs: number | undefined
  let early: Promise<readonly string[]> | undefined
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (early !== undefined || !said.includes(READY)) return
    readyMs = performance.now() - began
    early = ask()
  })
  const status = await new Promise((resolve) => child.on('close', resolve))
  const wholeMs = performance.now() - began
  if (status !== 0) throw new Error(`hansard sync failed: ${said}`)
  return { readyMs: readyMs ?? wholeMs, wholeMs, early: await early }
}

function answerTo(folder: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [BIN, ...args], { ...surroundings(folder), maxBuffer: 1e9 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    )
  })
}

async function parseAll(paths: readonly string[]): Promise<number> {
  const began = performance.now()
  const halves = [0, 1].map((half) => paths.filter((_, n) => n % 2 === half))
  await Promise.all(
    halves.map(
      (workerData) =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL('./parse-worker.js', import.meta.url), { workerData })
          worker.on('message', resolve)
          worker.on('error', reject)
        }),
    ),
  )
  return performance.now() - began
}

type Answer = {
  readonly rows: readonly unknown[]
  readonly total: {
    readonly calls: number
    readonly usage: Readonly<Record<string, number>>
    readonly cost: { readonly usd: string }
  }
}

function compared(
  folder: string,
  { config }: Logs,
  { size, rounds }: { readonly size: string; readonly rounds: number },
): readonly Result[] {
  const peer = installCcusage(join(folder, 'ccusage'))
  const node: number[] = []
  const known: number[] = []
  const others: number[] = []
  let calls = 0
  for (let round = -1; round < rounds; round += 1) {
    const bare = timed(() => void spawnSync(process.execPath, ['-e', '0']))
    const synced = cost(folder, [])
    const fromNothing = cost(folder, ['--no-index'])
    const other = peer?.run(config)
    if (JSON.stringify(synced.answer) !== JSON.stringify(fromNothing.answer))
      throw new Error('costs from nothing are not those of the archive')
    if (other !== undefined) check(synced.answer, other.totals)
    calls = synced.answer.total.calls
    if (round < 0) continue
    node.push(bare)
    known.push(synced.ms)
    if (other !== undefined) others.push(other.ms)
  }
  const [start, archive] = [median(node), median(known)]
  const ms = (value: number): string => `${value.toFixed(0)} ms`
  return [
    atMost(
      `cost: by day, ${calls} calls, against node -e 0`,
      archive / start,
      2.5,
      `${ms(archive)}, node -e 0 ${ms(start)}`,
    ),
    ...against(peer, median(others), { archive, size }),
  ]
}

type Times = { readonly archive: number; readonly size: string }

function against(peer: Peer | undefined, other: number, { archive, size }: Times): readonly Result[] {
  if (peer === undefined) {
    const missing = 'ccusage could not be installed: nothing to measure against'
    return [atLeast('cost: against ccusage', Number.NaN, 20, missing)]
  }
  const detail = (ms: number): string =>
    `${ms.toFixed(0)} ms, ${peer.version} ${other.toFixed(0)} ms; ${size}`
  return [atLeast('cost: by day, times faster than ccusage', other / archive, 20, detail(archive))]
}

/** The same logs, read by somebody else: counts are the same to the token, dollars to the rounding of floats. */
function check(
  { total }: Answer,
  { inputTokens, outputTokens, cacheReadTokens, totalCost }: PeerTotals,
): void {
  const { input, output, cacheRead } = total.usage
  if (input !== inputTokens || output !== outputTokens || cacheRead !== cacheReadTokens)
    throw new Error('ccusage counts other tokens')
  if (Math.abs(Number(total.cost.usd) - totalCost) > 0.01) throw new Error('ccusage comes to another sum')
}

function cost(folder: string, flags: readonly string[]): { readonly ms: number; readonly answer: Answer } {
  const { ms, stdout } = hansard(folder, ['cost', '--by', 'day', '--utc', '--json', ...flags])
  return { ms, answer: JSON.parse(stdout) as Answer }
}

function hansard(folder: string, args: readonly string[]): { readonly ms: number; readonly stdout: string } {
  let ran: ReturnType<typeof spawnSync> | undefined
  const ms = timed(() => {
    ran = spawnSync(process.execPath, [BIN, ...args], { ...surroundings(folder), maxBuffer: 1e8 })
  })
  if (ran?.status !== 0) throw new Error(`hansard ${args.join(' ')} failed: ${String(ran?.stderr)}`)
  return { ms, stdout: String(ran.stdout) }
}

function surroundings(folder: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const work = join(folder, 'work')
  fs.mkdirSync(work, { recursive: true })
  return {
    cwd: work,
    env: {
      PATH: process.env['PATH'],
      HOME: work,
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
      HANSARD_HOME: archiveIn(folder),
    },
  }
}

function archiveIn(folder: string): string {
  return join(folder, 'archive')
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
