/**
 * The index kept up to date: what one more session and one more line cost in archives of three sizes, and the memory that many small
 * files take. Processor time, for the disk's own is not ours.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { sync } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { atMost, median, type Result } from './measure.ts'
import { writeSearchLogs } from './search-logs.ts'

const BIN = resolve(import.meta.dirname, '../bin/hansard.js')
const BYTES_EACH = 500_000
const ROUNDS = 9

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-index-'))
  try {
    const sizes = quick ? [10, 50, 200] : [20, 200, 2000]
    const costs: Cost[] = []
    // What is done for the first time in a process is compiled meanwhile, whatever the size of the archive.
    await costAt(join(folder, 'first'), sizes[0] ?? 10)
    for (const files of sizes) costs.push(await costAt(join(folder, String(files)), files))
    return [...growth(costs), ...tiny(join(folder, 'tiny'), quick ? 2000 : 20_000)]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds of processor, in an archive of so many MB. */
type Cost = { readonly mb: number; readonly session: number; readonly line: number }

function growth(costs: readonly Cost[]): Result[] {
  const detail = (what: 'session' | 'line'): string =>
    costs.map((cost) => `${cost.mb} MB: ${cost[what].toFixed(0)} ms`).join(', ')
  const ratio = (what: 'session' | 'line'): number => {
    const all = costs.map((cost) => cost[what])
    return Math.max(...all) / Math.min(...all)
  }
  return [
    atMost('index: one more session, most against least', ratio('session'), 1.5, detail('session')),
    atMost('index: one more line, against one more session', worst(costs), 1, detail('line')),
  ]
}

function worst(costs: readonly Cost[]): number {
  return Math.max(...costs.map(({ session, line }) => line / session))
}

async function costAt(folder: string, files: number): Promise<Cost> {
  const logs = writeSearchLogs(join(folder, 'claude'), { files, bytesEach: BYTES_EACH })
  const archive = openArchive(join(folder, 'home'), { write: true })
  const take = async (): Promise<void> => {
    await sync(archive, { env: { CLAUDE_CONFIG_DIR: logs.config }, userHome: folder, cwd: folder })
  }
  await take()
  await catchUpIndex(archive)
  const project = join(logs.config, 'projects', '-home-me-project-0')
  const old = '00000000-2222'
  const text = fs.readFileSync(join(project, `${old}-4222-8222-222222222222.jsonl`), 'utf8')
  const sessions: number[] = []
  const lines: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `f000000${round}-2222`
    const path = join(project, `${id}-4222-8222-222222222222.jsonl`)
    fs.writeFileSync(path, text.replaceAll(old, id).replaceAll('2026-01-0', '2027-01-0'))
    await take()
    sessions.push(await processorMs(archive))
    const last = text.slice(text.lastIndexOf('\n', text.length - 2) + 1).replaceAll(old, id)
    fs.appendFileSync(path, last.replace(/"uuid":"[^"]*"/, `"uuid":"line-${round}"`))
    await take()
    lines.push(await processorMs(archive))
  }
  return { mb: Math.round(logs.bytes / 1e6), session: median(sessions), line: median(lines) }
}

async function processorMs(archive: Archive): Promise<number> {
  const before = process.cpuUsage()
  const { units } = await catchUpIndex(archive)
  if (units !== 1) throw new Error(`${units} units indexed instead of one`)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const TELL = `data:text/javascript,process.on('exit',()=>process.stderr.write('maxRSS='+process.resourceUsage().maxRSS))`

/** The largest memory of the whole process, threads and all. */
function tiny(folder: string, files: number): Result[] {
  writeSearchLogs(join(folder, 'claude'), { files, bytesEach: 1500 })
  const synced = (...flags: string[]): number => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', TELL, BIN, 'sync', ...flags], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, 'claude'),
        HANSARD_HOME: join(folder, 'home'),
      },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`sync failed: ${stderr}`)
    return (Number(/maxRSS=(\d+)/.exec(stderr)?.[1]) * 1024) / 1e6
  }
  synced('--no-index')
  return [atMost(`index: memory with ${files} tiny files, MB`, synced(), 400, '')]
}
