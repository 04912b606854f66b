/**
 * The built program syncing a machine full of logs: the first time, again with nothing new, with one line more, with one file larger
 * than memory may be, with many tiny ones. Times of the second sync are the program's own wall clock, with Node's start in it.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReaders } from '../src/sources/readers.ts'
import { runUnitJob, type UnitJob } from '../src/sources/read-unit.ts'
import type { SyncReport } from '../src/sources/sync.ts'
import { createLineSplitter } from '../src/transcript/lines.ts'
import type { Bench } from './bench.ts'
import { claudeLineOf, sessionId, writeClaudeLog, writeClaudeLogs, type Logs } from './claude-logs.ts'
import { atLeast, atMost, compare, median, type Result } from './measure.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')
/** Wall clock, Node's start and all: a machine with other work may go over them. The detail says what `node -e 0` took meanwhile. */
const MOST_MS = 300
const MOST_MORE_MS = 50
const MOST_MB = 300

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  try {
    return [
      ...(await manyFiles(join(folder, 'many'), { files: quick ? 200 : 2000, rounds: quick ? 5 : 11 })),
      ...oneLargeFile(join(folder, 'large'), quick ? 200e6 : 2e9),
      ...tinyFiles(join(folder, 'tiny'), quick ? 2000 : 20_000),
    ]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function manyFiles(
  folder: string,
  { files, rounds }: { readonly files: number; readonly rounds: number },
): Promise<readonly Result[]> {
  const logs = writeClaudeLogs(join(folder, 'claude'), { files, bytesEach: 500_000 })
  const size = `${files} files of ${mb(logs.bytes)}`
  const first = sync(folder)
  const again: Synced[] = []
  const grown: Synced[] = []
  const node: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    again.push(sync(folder))
    fs.appendFileSync(logs.files[round] as string, claudeLineOf(sessionId(round), 100_000 + round))
    grown.push(sync(folder))
    node.push(timed(() => spawnSync(process.execPath, ['-e', '0'])))
  }
  if (again.some(({ report }) => report.bytesRead !== 0)) throw new Error('a second sync read bytes')
  if (grown.some(({ report }) => report.files.grown !== 1)) throw new Error('a line was not taken in')
  const [wall, line, bare] = [
    median(again.map(({ ms }) => ms)),
    median(grown.map(({ ms }) => ms)),
    median(node),
  ]
  const work = median(grown.map(({ workMs }) => workMs)) - median(again.map(({ workMs }) => workMs))
  return [
    atMost(
      `sync again, ${size}`,
      wall,
      MOST_MS,
      `ms, ${(wall / bare).toFixed(1)} times the ${bare.toFixed(0)} ms of node -e 0; 0 bytes read`,
    ),
    atMost('one line more', line - wall, MOST_MORE_MS, `ms longer; ${work.toFixed(0)} ms of processor`),
    atMost(`memory of a first sync, ${size}`, first.mb, MOST_MB, `MB; ${(first.ms / 1000).toFixed(1)} s`),
    ...(await reading(logs)),
  ]
}

/** Logs to what the list needs of them, on one thread and on all, against splitting and parsing their lines on one. */
async function reading(logs: Logs): Promise<readonly Result[]> {
  const paths = logs.files.slice(0, 200)
  const bytes = paths.reduce((sum, path) => sum + fs.statSync(path).size, 0)
  const jobs = paths.map((path): UnitJob => {
    const name = path.slice(logs.config.length + 1)
    const place = { home: join(logs.config, 'none'), agent: 'claude-code', root: logs.config }
    return { ...place, unit: name, paths: [name], isKept: false, format: 'claude-code' }
  })
  const readers = await createReaders(Number.MAX_SAFE_INTEGER)
  const failed = (result: { readonly type: string }): void => {
    if (result.type !== 'read') throw new Error('a log was not read')
  }
  const times = await compare(
    {
      bare: async () => {
        for (const path of paths) {
          const splitter = createLineSplitter()
          for await (const chunk of fs.createReadStream(path, { highWaterMark: 512 * 1024 }))
            for (const line of splitter.push(chunk as Buffer)) JSON.parse(line.text as string)
        }
      },
      one: async () => {
        for (const job of jobs) failed(await runUnitJob(job, () => {}))
      },
      all: async () => {
        const waiting = [...jobs]
        const work = async (): Promise<void> => {
          for (let job = waiting.pop(); job !== undefined; job = waiting.pop())
            failed((await readers.read(job, { calls() {}, sessions() {} })).result)
        }
        await Promise.all(Array.from({ length: readers.width }, work))
      },
    },
    5,
  )
  await readers.close()
  const { bare = Number.NaN, one = Number.NaN, all = Number.NaN } = times
  const speed = (ms: number): string => `${(bytes / 1000 / ms).toFixed(0)} MB/s`
  const against = `against ${speed(bare)} of bare JSON.parse on one thread`
  return [
    // With all that a sync learns of each entry beside reading it: calls, prices, files, what was done in vain.
    atLeast('read logs for the list, one thread', bare / one, 0.35, `${speed(one)} ${against}`),
    atLeast(
      `read logs for the list, ${readers.threads} threads`,
      bare / all,
      0.5,
      `${speed(all)} ${against}`,
    ),
  ]
}

function oneLargeFile(folder: string, size: number): readonly Result[] {
  const project = join(folder, 'claude/projects/-p')
  fs.mkdirSync(project, { recursive: true })
  writeClaudeLog(join(project, `${sessionId(1)}.jsonl`), sessionId(1), size)
  const { ms, mb: memory, report } = sync(folder)
  if (report.sessions !== 1) throw new Error('the large file was not read')
  return [atMost(`memory of one file of ${mb(size)}`, memory, MOST_MB, `MB; ${(ms / 1000).toFixed(1)} s`)]
}

/** As many, and a tenth of them: what each costs must not depend on how many there are. */
function tinyFiles(folder: string, files: number): readonly Result[] {
  const few = writeClaudeLogs(join(folder, 'few/claude'), { files: files / 10, bytesEach: 1 })
  const many = writeClaudeLogs(join(folder, 'many/claude'), { files, bytesEach: 1 })
  const small = sync(join(folder, 'few'))
  const large = sync(join(folder, 'many'))
  const again = sync(join(folder, 'many'))
  const each = (ms: number, count: number): number => ms / count
  const slope = each(large.ms, many.files.length) / each(small.ms, few.files.length)
  const detail = `${(large.ms / 1000).toFixed(1)} s for ${files}, ${(small.ms / 1000).toFixed(1)} s for a tenth`
  return [
    atMost('time of a tiny file among ten times as many', slope, 1.5, detail),
    atMost(`memory of ${files} tiny files`, large.mb, MOST_MB, `MB; ${again.ms.toFixed(0)} ms again`),
  ]
}

type Synced = {
  readonly ms: number
  /** What processors did for it: what other programs do meanwhile changes it little. */
  readonly workMs: number
  readonly mb: number
  readonly report: SyncReport
}

function sync(folder: string): Synced {
  const work = join(folder, 'work')
  fs.mkdirSync(work, { recursive: true })
  let ran: ReturnType<typeof spawnSync> | undefined
  const ms = timed(() => {
    ran = spawnSync(process.execPath, ['--import', TELL_PEAK, BIN, 'sync', '--json', '--no-index'], {
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
  const [stdout, stderr] = [String(ran?.stdout), String(ran?.stderr)]
  if (ran?.status !== 0) throw new Error(`sync failed: ${stderr}`)
  const { mb, processorMs: workMs } = toldPeak(stderr)
  return { ms, workMs, mb, report: JSON.parse(stdout) as SyncReport }
}

function timed(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

const mb = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
