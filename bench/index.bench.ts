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
import { TELL_PEAK, toldPeak } from './peak-memory.ts'
import { writeSearchLogs } from './search-logs.ts'

const BIN = resolve(import.meta.dirname, '../bin/hansard.js')
const BYTES_EACH = 500_000
const ROUNDS = 9
const WARM_UP = 2

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-index-'))
  try {
    const sizes = quick ? [10, 50, 200] : [20, 200, 2000]
    const grown: Grown[] = []
    for (const files of sizes) grown.push(await grow(join(folder, String(files)), files))
    // What is done for the first time in a process is compiled meanwhile, whatever the size of the archive.
    for (let round = 0; round < WARM_UP; round += 1) for (const one of grown) await one.add()
    const added = grown.map((): Added[] => [])
    // In turns, each the first as often as the others: whatever else the machine does hits all of them alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let turn = 0; turn < grown.length; turn += 1) {
        const at = (round + turn) % grown.length
        const one = grown[at]
        if (one !== undefined) added[at]?.push(await one.add())
      }
    }
    const costs = grown.map(({ mb }, at): Cost => {
      const all = added[at] ?? []
      const middle = (what: keyof Added): number => median(all.map((one) => one[what]))
      return { mb, session: middle('session'), line: middle('line') }
    })
    return [...growth(costs), ...tiny(join(folder, 'tiny'), quick ? 2000 : 20_000)]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds of processor. */
type Added = { readonly session: number; readonly line: number }
/** In an archive of so many MB. */
type Cost = Added & { readonly mb: number }

/** An archive that is indexed, and one more session and one more line for it, as often as is asked for. */
type Grown = { readonly mb: number; add(): Promise<Added> }

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

async function grow(folder: string, files: number): Promise<Grown> {
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
  const last = text.slice(text.lastIndexOf('\n', text.length - 2) + 1)
  let count = 0
  return {
    mb: Math.round(logs.bytes / 1e6),
    async add() {
      const id = `f00000${String(count).padStart(2, '0')}-2222`
      count += 1
      const path = join(project, `${id}-4222-8222-222222222222.jsonl`)
      fs.writeFileSync(path, text.replaceAll(old, id).replaceAll('2026-01-0', '2027-01-0'))
      await take()
      const session = await processorMs(archive)
      const line = last.replaceAll(old, id).replace(/"uuid":"[^"]*"/, `"uuid":"line-${count}"`)
      fs.appendFileSync(path, line)
      await take()
      return { session, line: await processorMs(archive) }
    },
  }
}

async function processorMs(archive: Archive): Promise<number> {
  const before = process.cpuUsage()
  const { units } = await catchUpIndex(archive)
  if (units !== 1) throw new Error(`${units} units indexed instead of one`)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The largest memory of the whole process, threads and all. */
function tiny(folder: string, files: number): Result[] {
  writeSearchLogs(join(folder, 'claude'), { files, bytesEach: 1500 })
  const synced = (...flags: string[]): number => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', TELL_PEAK, BIN, 'sync', ...flags], {
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
    return toldPeak(stderr).mb
  }
  synced('--no-index')
  return [atMost(`index: memory with ${files} tiny files, MB`, synced(), 400, '')]
}
