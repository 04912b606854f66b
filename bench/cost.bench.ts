/**
 * Costs as users run them: from an archive that was synced, and from nothing, against `ccusage` on the same logs in the same run; and
 * how long the first sync takes until list, cost and stats are ready, against splitting and parsing the same bytes on two threads.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Bench } from './bench.ts'
import { installCcusage, type Peer, type PeerTotals } from './ccusage.ts'
import { writeClaudeLogs, type Logs } from './claude-logs.ts'
import { atLeast, atMost, median, type Result } from './measure.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    const logs = writeClaudeLogs(join(folder, 'claude'), { files: quick ? 200 : 2000, bytesEach: 500_000 })
    const size = `${logs.files.length} files of ${(logs.bytes / 1e6).toFixed(0)} MB`
    const results = [await firstSync(folder, logs, size)]
    results.push(...compared(folder, logs, { size, rounds: quick ? 5 : 7 }))
    return results
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Both once, and the logs read beforehand: what the disk does is no part of it. */
async function firstSync(folder: string, logs: Logs, size: string): Promise<Result> {
  const bare = [await parseAll(logs.files), await parseAll(logs.files)].toSorted((a, b) => a - b)[0] ?? 0
  const { ms } = hansard(folder, ['sync', '--no-index', '--json'])
  const detail = `${(ms / 1000).toFixed(1)} s, JSON.parse of all lines on two threads ${(bare / 1000).toFixed(1)} s`
  return atMost(`cost: list, cost and stats ready, ${size}`, ms / bare, 2.5, detail)
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
  const scanned: number[] = []
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
    scanned.push(fromNothing.ms)
    if (other !== undefined) others.push(other.ms)
  }
  const [start, archive, nothing] = [median(node), median(known), median(scanned)]
  const ms = (value: number): string => `${value.toFixed(0)} ms`
  return [
    atMost(
      `cost: by day, ${calls} calls, against node -e 0`,
      archive / start,
      2.5,
      `${ms(archive)}, node -e 0 ${ms(start)}`,
    ),
    ...against(peer, median(others), { archive, nothing, size }),
  ]
}

type Times = { readonly archive: number; readonly nothing: number; readonly size: string }

function against(
  peer: Peer | undefined,
  other: number,
  { archive, nothing, size }: Times,
): readonly Result[] {
  if (peer === undefined) {
    const missing = 'ccusage could not be installed: nothing to measure against'
    return [atLeast('cost: against ccusage', Number.NaN, 20, missing)]
  }
  const detail = (ms: number): string =>
    `${ms.toFixed(0)} ms, ${peer.version} ${other.toFixed(0)} ms; ${size}`
  return [
    atLeast('cost: by day, times faster than ccusage', other / archive, 20, detail(archive)),
    atLeast('cost: by day from nothing, times faster than ccusage', other / nothing, 2, detail(nothing)),
  ]
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
  const work = join(folder, 'work')
  fs.mkdirSync(work, { recursive: true })
  let ran: ReturnType<typeof spawnSync> | undefined
  const ms = timed(() => {
    ran = spawnSync(process.execPath, [BIN, ...args], {
      cwd: work,
      env: {
        PATH: process.env['PATH'],
        HOME: work,
        CLAUDE_CONFIG_DIR: join(folder, 'claude'),
        HANSARD_HOME: join(folder, 'archive'),
      },
      maxBuffer: 1e8,
    })
  })
  if (ran?.status !== 0) throw new Error(`hansard ${args.join(' ')} failed: ${String(ran?.stderr)}`)
  return { ms, stdout: String(ran.stdout) }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
