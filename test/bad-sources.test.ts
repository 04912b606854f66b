/** Sources and disks that are in trouble while the program runs: one line for each cause, all else goes on, and the next sync completes. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../src/sqlite/driver.ts'
import { claudeLogs, createMachine, type Machine } from './machine.ts'
import { BIN, run, type Ran } from './program.ts'

const idOf = (n: number): string => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`

let machine: Machine
let database: string
const children = new Set<ChildProcess>()
beforeEach(() => {
  machine = createMachine()
  database = join(machine.user, '.local/share/opencode/opencode.db')
  fs.mkdirSync(join(machine.user, '.local/share/opencode'), { recursive: true })
  machine.write(machine.log(idOf(1)), claudeLogs(4, { session: idOf(1) }))
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  fs.rmSync(machine.base, { recursive: true, force: true })
})

const env = (): Record<string, string> => ({ HOME: machine.user, HANSARD_HOME: machine.home })
const hansard = (...args: readonly string[]): Promise<Ran> => run(args, { env: env(), cwd: machine.cwd })

async function total(): Promise<number> {
  return (JSON.parse((await hansard('list', '--json')).stdout) as { total: number }).total
}

/** One for each cause, as they stand on the terminal. */
const causes = ({ stderr }: Ran): readonly string[] =>
  stderr.split('\n').flatMap((line) => /^hansard: ([a-z-]+): /.exec(line)?.[1] ?? [])

const compiled = (path: string): string => JSON.stringify(new URL(`../${path}`, `file://${BIN}`).href)

/** By a process of its own, so that nobody here has it open. */
function writeDatabase(bytes: number): void {
  const code = `const { writeDatabase } = await import(${compiled('bench/opencode-sample.js')}); await writeDatabase(${JSON.stringify(database)}, ${bytes})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code])
  if (status !== 0) throw new Error(String(stderr))
}

/** Another process that runs this with the database open as `db`, and says when it is at it. */
async function other(script: string): Promise<ChildProcess> {
  const code = `const { openDatabase } = await import(${compiled('src/sqlite/driver.js')}); const db = await openDatabase(${JSON.stringify(database)}); ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('close', () => reject(new Error('the other process ended')))
  })
  return child
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((done) => child.once('close', done))

describe('a database of another program', () => {
  it('that it holds locked is taken in all the same, or told of as locked; the others are taken in', async () => {
    writeDatabase(200_000)
    const holder = await other(
      `db.exec('PRAGMA journal_mode = DELETE'); db.exec('BEGIN EXCLUSIVE'); db.exec("UPDATE session SET title = 'not yet'"); console.log('held'); setInterval(() => {}, 1000)`,
    )
    const locked = await hansard('sync', '--no-index')
    const isTaken = locked.code === 0
    expect(causes(locked)).toEqual(isTaken ? [] : ['locked'])
    expect(await total()).toBeGreaterThanOrEqual(1)
    holder.kill('SIGKILL')
    await ended(holder)
    const later = await hansard('sync', '--no-index')
    expect(later).toMatchObject({ code: 0 })
    expect(causes(later)).toEqual([])
    expect(await total()).toBeGreaterThan(1)
    expect((await hansard('list', '--json')).stdout).not.toContain('not yet')
  })

  it('with damaged pages gives what can be read, ends with 1 and one line, and is whole after it is mended', async () => {
    writeDatabase(400_000)
    const sound = await openDatabase(database)
    sound.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    sound.close()
    const whole = fs.readFileSync(database)
    const damaged = Buffer.from(whole)
    // The first page, which says what tables there are, stays.
    for (let at = 40_000; at < damaged.length; at += 20_000) damaged.fill(0xee, at, at + 3000)
    fs.writeFileSync(database, damaged)
    const first = await hansard('sync', '--no-index')
    expect(first.code).toBe(1)
    expect(causes(first)).toEqual(['damage'])
    expect(await total()).toBeGreaterThanOrEqual(1)
    fs.writeFileSync(database, whole)
    const mended = await hansard('sync', '--no-index')
    expect(mended).toMatchObject({ code: 0 })
    expect(causes(mended)).toEqual([])
    const { stdout } = await run(['list', '--json'], { env: env() })
    const undisturbed = { ...env(), HANSARD_HOME: join(machine.base, 'undisturbed') }
    await run(['sync', '--no-index'], { env: undisturbed, cwd: machine.cwd })
    expect(stdout).toBe((await run(['list', '--json'], { env: undisturbed })).stdout)
  })

  it('that is written to meanwhile is taken in as it was at some moment, and completed by the next sync', async () => {
    writeDatabase(300_000)
    const writer = await other(
      `db.exec('PRAGMA journal_mode = WAL'); console.log('writing'); for (let n = 0; ; n += 1) { db.exec("INSERT INTO session SELECT 'new_" + n + "', project_id, parent_id, slug, directory, 'written meanwhile', version, time_created, time_updated FROM session LIMIT 1"); await new Promise((done) => setTimeout(done, 50)) }`,
    )
    for (let round = 0; round < 3; round += 1) {
      const meanwhile = await hansard('sync', '--no-index')
      expect({ code: meanwhile.code, causes: causes(meanwhile) }).toEqual({ code: 0, causes: [] })
    }
    writer.kill('SIGKILL')
    await ended(writer)
    expect(await hansard('sync', '--no-index')).toMatchObject({ code: 0 })
    const reader = await openDatabase(database, { mode: 'read-only' })
    const sessions = Number(reader.prepare('SELECT count(*) AS n FROM session').get()?.['n'])
    reader.close()
    expect(await total()).toBe(sessions + 1)
  })
})

/**
 * As with no room left, for every file that would grow past so many KB: what a process of its own can be given anywhere, and what the
 * system refuses, not this program.
 */
const withLimit = (kb: number, ...args: readonly string[]): Ran => limited(`ulimit -f ${kb}`, ...args)

function limited(by: string, ...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `${by}; exec "$0" "$@"`, process.execPath, BIN, ...args],
    {
      env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', ...env() },
      cwd: machine.cwd,
      encoding: 'utf8',
      timeout: 40_000,
    },
  )
  return { code: status, stdout, stderr }
}

describe('a disk that takes no more', () => {
  it('costs the file that does not fit: one line, exit code 1, the others are kept, the next sync has all', async () => {
    const large = claudeLogs(8000, { session: idOf(2) })
    machine.write(machine.log(idOf(2)), large)
    machine.write(machine.log(idOf(3)), claudeLogs(4, { session: idOf(3) }))
    // Room for the state, not for a copy of the large log.
    const full = withLimit(2000, 'sync', '--no-index')
    expect(large.length).toBeGreaterThan(2_000_000)
    expect(full.code).toBe(1)
    // What is not kept may be lost to its agent's own clearing away, which is another matter.
    expect(causes(full).filter((cause) => cause !== 'purge')).toEqual(['io'])
    expect(full.stderr).toContain(idOf(2))
    expect(await total()).toBe(2)
    const later = await hansard('sync', '--no-index')
    expect(later).toMatchObject({ code: 0 })
    expect(await total()).toBe(3)
  })

  it('for the state itself is told of in one line, whenever it comes, and the next sync has all', async () => {
    for (let n = 2; n < 12; n += 1) machine.write(machine.log(idOf(n)), claudeLogs(100, { session: idOf(n) }))
    for (const kb of [1, 60, 130, 200, 300, 400]) {
      const full = withLimit(kb, 'sync', '--no-index')
      if (full.code === 0) continue
      expect(full.code).toBe(1)
      expect(full.stderr).toMatch(/^hansard: .+/m)
      expect(full.stderr).not.toMatch(/^\s+at /m)
    }
    expect(withLimit(1, 'sync', '--no-index').code).toBe(1)
    expect(await hansard('sync', '--no-index')).toMatchObject({ code: 0 })
    expect(await total()).toBe(11)
  })
})

describe('a limit of addresses, of which WebAssembly sets more aside than there are', () => {
  it('hinders no log from being read', async () => {
    const some = limited('ulimit -v 8000000', 'sync', '--no-index')
    expect({ code: some.code, causes: causes(some) }).toEqual({ code: 0, causes: [] })
    expect(some.stderr + some.stdout).toContain('1 session and ')
    expect(await total()).toBe(1)
  })
})
