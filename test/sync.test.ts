/** Sync as a user runs it: real processes on a real machine's folders, killed, at odds with each other, and watched. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from './machine.ts'
import { BIN, run, type Ran } from './program.ts'

const idOf = (n: number): string => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`

let machine: Machine
let env: Record<string, string>
const children = new Set<ChildProcess>()
beforeEach(() => {
  machine = createMachine()
  env = { HOME: machine.user, HANSARD_HOME: machine.home }
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  fs.rmSync(machine.base, { recursive: true, force: true })
})

const hansard = (...args: readonly string[]): Promise<Ran> => run(args, { env, cwd: machine.cwd })

async function list(): Promise<{
  sessions: { id: string; entries: number; usage?: object }[]
  total: number
}> {
  const { stdout } = await hansard('list', '--json')
  return JSON.parse(stdout) as Awaited<ReturnType<typeof list>>
}

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: machine.cwd,
    stdio: 'ignore',
  })
  children.add(child)
  return child
}

const ended = (child: ChildProcess): Promise<void> => new Promise((done) => child.once('close', () => done()))

describe('hansard sync', () => {
  it('keeps what its source loses: list and show are the same after a purge', async () => {
    machine.write(machine.log(idOf(1)), claudeLogs(6, { session: idOf(1) }))
    expect((await hansard('sync')).code).toBe(0)
    const before = await list()
    const [{ id } = { id: '' }] = before.sessions
    const shown = (await hansard('show', id, '--as', 'json')).stdout
    fs.rmSync(join(machine.user, '.claude'), { recursive: true })
    expect((await hansard('sync')).code).toBe(0)
    expect(await list()).toEqual(before)
    expect((await hansard('show', id, '--as', 'json')).stdout).toBe(shown)
    expect(shown).toContain('answer 5')
  })

  it('says what it will keep, then what it did, and reads nothing the second time', async () => {
    machine.write(machine.log(idOf(1)), claudeLogs(6, { session: idOf(1) }))
    const first = await hansard('sync')
    expect(first.stdout).toBe('')
    expect(first.stderr).toContain('keeping 1 file, ')
    expect(first.stderr).toContain('1 session and 6 entries taken in')
    const second = JSON.parse((await hansard('sync', '--json')).stdout) as object
    expect(second).toMatchObject({ files: { seen: 1, unchanged: 1 }, bytesRead: 0, problems: [] })
  })

  it('ends the same after kill -9 at any moment as if nothing had happened', async () => {
    const logs = Array.from({ length: 30 }, (_, n) => n)
    for (const n of logs)
      machine.write(
        machine.log(idOf(n)),
        claudeLogs(60 + n, { session: idOf(n), ...(n % 3 === 0 && { call: 'shared' }) }),
      )
    const undisturbed = join(machine.base, 'undisturbed')
    const began = Date.now()
    await run(['sync'], { env: { ...env, HANSARD_HOME: undisturbed }, cwd: machine.cwd })
    const tookMs = Date.now() - began
    const expected = (await run(['list', '--json'], { env: { ...env, HANSARD_HOME: undisturbed } })).stdout
    for (let round = 0; round < 8; round += 1) {
      const child = start('sync')
      const isDone = ended(child)
      await Promise.race([wait(tookMs * (0.3 + 0.7 * Math.random())), isDone])
      child.kill('SIGKILL')
      await isDone
    }
    const last = await hansard('sync', '--json')
    expect(JSON.parse(last.stdout)).toMatchObject({ problems: [] })
    expect((await hansard('list', '--json')).stdout).toBe(expected)
  })

  it('at the same time as another says locked, or is the one that works; nothing breaks', async () => {
    for (let n = 0; n < 20; n += 1) machine.write(machine.log(idOf(n)), claudeLogs(100, { session: idOf(n) }))
    const both = await Promise.all([
      hansard('sync', '--json'),
      hansard('sync', '--json'),
      hansard('sync', '--json'),
    ])
    for (const { code, stdout } of both) {
      if (code === 0) expect(JSON.parse(stdout)).toMatchObject({ problems: [] })
      else expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'locked' } })
    }
    expect(both.some(({ code }) => code === 0)).toBe(true)
    expect((await list()).total).toBe(20)
  })

  it('ends with 1 when something was not taken in, with a line for each cause, and takes in the rest', async () => {
    machine.write(machine.log(idOf(1)), claudeLogs(2, { session: idOf(1) }))
    const share = join(machine.user, '.local/share/opencode')
    fs.mkdirSync(share, { recursive: true })
    fs.writeFileSync(join(share, 'opencode.db'), `SQLite format 3\0${'x'.repeat(5000)}`)
    const { code, stderr } = await hansard('sync')
    expect(code).toBe(1)
    expect(stderr.split('\n').filter((line) => line.startsWith('hansard: '))).toHaveLength(1)
    expect(stderr).toMatch(/^hansard: damage: .*opencode\.db/m)
    expect((await list()).total).toBe(1)
  })

  it('with a path that is not there says so, takes in the others, and ends with 1', async () => {
    machine.write('logs/a.jsonl', claudeLogs(2, { session: idOf(1) }))
    const { code, stderr } = await hansard('sync', join(machine.base, 'nowhere'), join(machine.user, 'logs'))
    expect(code).toBe(1)
    expect(stderr).toContain('hansard: not-found: ')
    expect((await list()).total).toBe(1)
  })

  it('tells doctor of records that no reader knows', async () => {
    const newer = { type: 'hologram', uuid: 'h', parentUuid: null, sessionId: idOf(1), version: '9.9.9' }
    machine.write(machine.log(idOf(1)), `${claudeLogs(2, { session: idOf(1) })}${JSON.stringify(newer)}\n`)
    expect((await hansard('sync')).code).toBe(0)
    const { stdout } = await hansard('doctor', '--json')
    expect((JSON.parse(stdout) as { drift: object[] }).drift).toMatchObject([
      { format: 'claude-code', kind: 'record', name: 'hologram', version: '9.9.9', count: 1 },
    ])
  })

  it('reads a file whole or as it was before while somebody writes, cuts and replaces it', async () => {
    const log = machine.log(idOf(1))
    machine.write(log, claudeLogs(50, { session: idOf(1) }))
    const over = new AbortController()
    let n = 50
    const writing = (async () => {
      for (; !over.signal.aborted; n += 1) {
        fs.appendFileSync(log, claudeLog(n, { session: idOf(1) }))
        if (n % 40 === 0) fs.truncateSync(log, Math.floor(fs.statSync(log).size / 2))
        if (n % 55 === 0) {
          fs.writeFileSync(`${log}.new`, claudeLogs(n, { session: idOf(1) }))
          fs.renameSync(`${log}.new`, log)
        }
        await wait(2)
      }
    })()
    for (let round = 0; round < 4; round += 1) expect(await hansard('sync')).toMatchObject({ code: 0 })
    over.abort()
    await writing
    machine.write(log, claudeLogs(n, { session: idOf(1) }))
    await hansard('sync')
    const { sessions } = await list()
    expect(sessions).toHaveLength(1)
    const calls = Math.floor(n / 2)
    expect(sessions[0]).toMatchObject({ entries: n, usage: { input: calls * 10, output: calls * 5 } })
  })
})

describe('hansard sync --watch', () => {
  it('has a line that was appended in the list, and ends when it is asked to', async () => {
    const log = machine.write(machine.log(idOf(1)), claudeLogs(2, { session: idOf(1) }))
    const child = start('sync', '--watch')
    const isDone = ended(child)
    const entries = async (): Promise<number> => (await machine.list())[0]?.totals?.entries ?? 0
    const until = async (wanted: number): Promise<void> => {
      while ((await entries()) !== wanted) await wait(20)
    }
    await until(2)
    // The watch begins after the first sync.
    await wait(1000)
    for (let n = 2; n < 5; n += 1) {
      fs.appendFileSync(log, claudeLog(n, { session: idOf(1) }))
      await until(n + 1)
    }
    child.kill('SIGTERM')
    await isDone
    expect(child.signalCode).toBeNull()
  })

  it('reads a long log on where it ended, and says so at once, a document a line', async () => {
    const log = machine.write(machine.log(idOf(1)), '')
    const words = 'x'.repeat(200_000)
    for (let n = 0; n < 25; n += 1)
      fs.appendFileSync(log, claudeLog(n, { session: idOf(1), text: `${n} ${words}` }))
    const child = spawn(process.execPath, [BIN, 'sync', '--watch', '--json'], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      cwd: machine.cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    children.add(child)
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    const reports = (): { entries: number }[] =>
      said
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { entries: number })
    await expect.poll(() => reports().length).toBe(1)
    let n = 25
    const grow = async (): Promise<number | undefined> => {
      const before = reports().length
      fs.appendFileSync(log, claudeLog(n, { session: idOf(1) }))
      n += 1
      await expect.poll(() => reports().length).toBe(before + 1)
      return reports().at(-1)?.entries
    }
    // It is prepared when there is nothing else to do: until then it is read whole.
    for (let tries = 0; (await grow()) !== 1 && tries < 40; tries += 1) await wait(500)
    for (let more = 0; more < 4; more += 1) expect(await grow()).toBe(1)
    const { sessions } = await list()
    const calls = Math.floor(n / 2)
    expect(sessions).toMatchObject([{ entries: n, usage: { input: calls * 10, output: calls * 5 } }])
    // What was read on is all that there is: a state that is built again says the same.
    child.kill('SIGKILL')
    await ended(child)
    fs.rmSync(join(machine.home, 'index'), { recursive: true })
    expect((await hansard('sync')).code).toBe(0)
    expect((await list()).sessions).toEqual(sessions)
  })
})
