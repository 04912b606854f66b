/**
 * A sync that kills itself with SIGKILL at a chosen step: before the nth thing that it asks of the file system or of SQLite, from the
 * first to the last. Each time in a new archive, which the next sync completes to what an undisturbed one has.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { openKept } from '../src/archive/kept.ts'
import { allCalls } from '../src/sources/all-calls.ts'
import { withSessions } from '../src/sources/sessions.ts'
import { peekState } from '../src/sources/state.ts'
import { sync } from '../src/sources/sync.ts'
import { openDatabase } from '../src/sqlite/driver.ts'
import { WORTH_READING_BESIDE } from '../src/sources/sync-read.ts'
import type { Session } from '../src/transcript/session.ts'
import { claudeLog, claudeLogs, createMachine, type Machine } from './machine.ts'
import { BIN } from './program.ts'

/** Points among all steps. `HANSARD_KILLS` asks for another number, up to every single one. */
const POINTS = Number(process.env['HANSARD_KILLS'] ?? 12)

/** Counts what a program does that outlives it, says on leaving how much it was, and dies before the one it is told to. */
const COUNT = `
  import fs from 'node:fs'
  import { createRequire, syncBuiltinESMExports } from 'node:module'
  import { isMainThread } from 'node:worker_threads'
  const at = Number(process.env.KILL_AT ?? Infinity)
  const afterPart = Number(process.env.KILL_PART ?? Infinity)
  let [steps, parts] = [0, 0]
  const step = () => { steps += 1; if (steps === at || parts === afterPart) process.kill(process.pid, 'SIGKILL') }
  const wrap = (object, name) => {
    // Threads that read change nothing.
    if (!isMainThread) return
    const plain = object[name]
    object[name] = function (...args) {
      step()
      if (process.env.KILL_READY && String(args[1]).includes('list, cost and stats')) process.kill(process.pid, 'SIGKILL')
      if (String(args[0]).includes('TEMP TABLE IF NOT EXISTS waiting')) parts += 1
      return plain.apply(this, args)
    }
  }
  for (const name of ['openSync', 'writeSync', 'fsyncSync', 'fdatasyncSync', 'renameSync', 'mkdirSync', 'ftruncateSync', 'unlinkSync', 'copyFileSync', 'linkSync'])
    if (name in fs) wrap(fs, name)
  syncBuiltinESMExports()
  const require = createRequire(${JSON.stringify(`file://${BIN}`)})
  try { wrap(require('node:sqlite').DatabaseSync.prototype, 'exec') } catch {}
  // The other driver is a binary, whoever loads it.
  const { dlopen } = process
  process.dlopen = function (module, ...rest) {
    const loaded = dlopen.call(this, module, ...rest)
    if ('databaseExecSync' in module.exports) wrap(module.exports, 'databaseExecSync')
    return loaded
  }
  if (isMainThread) process.on('exit', () => process.stderr.write('steps=' + steps + ' parts=' + parts))
`
/** Twelve of them are just more than is worth reading beside. */
const LONG = 'x'.repeat(WORTH_READING_BESIDE / 12)

const PRELOAD = `data:text/javascript,${encodeURIComponent(COUNT)}`

let machine: Machine
let homes = 0
beforeAll(() => {
  machine = createMachine()
  const idOf = (n: number): string => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`
  for (let n = 0; n < 12; n += 1)
    machine.write(
      machine.log(idOf(n)),
      claudeLogs(20 + n, { session: idOf(n), ...(n % 3 === 0 && { call: 'shared' }) }),
    )
})
afterAll(() => fs.rmSync(machine.base, { recursive: true, force: true }))

type Kill = { readonly KILL_AT?: string; readonly KILL_PART?: string; readonly KILL_READY?: string }

function hansard(
  home: string,
  args: readonly string[],
  kill: Kill = {},
  { user, cwd }: Pick<Machine, 'user' | 'cwd'> = machine,
): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, ['--import', PRELOAD, BIN, ...args], {
    env: { PATH: process.env['PATH'], TZ: 'UTC', HOME: user, HANSARD_HOME: home, ...kill },
    cwd,
    timeout: 40_000,
  })
}

const newHome = (): string => join(machine.base, `archive-${(homes += 1)}`)

/** The next sync, and what is listed then: without a process of their own, which would take most of the time. */
async function complete(home: string, { user, cwd }: Pick<Machine, 'user' | 'cwd'>): Promise<unknown> {
  const archive = openArchive(home, { write: true })
  return (await sync(archive, { env: {}, userHome: user, cwd })).problems
}
const listOf = (home: string): Promise<readonly Session[]> =>
  withSessions(home, (sessions) => sessions.list({}).sessions)

it('ends the same after kill -9 before any step as if nothing had happened', async () => {
  const undisturbed = newHome()
  const steps = Number(
    /steps=(\d+)/.exec(String(hansard(undisturbed, ['sync', '--no-index']).stderr))?.[1] ?? Number.NaN,
  )
  const expected = await listOf(undisturbed)
  expect(expected).toHaveLength(12)
  // Files, their folders, syncs, and transactions: that it is counted at all is what makes the rest mean something.
  expect(steps).toBeGreaterThan(60)
  const points = Math.min(POINTS, steps)
  for (let point = 0; point < points; point += 1) {
    const home = newHome()
    const at = 1 + Math.floor((point * steps) / points)
    const killed = hansard(home, ['sync', '--no-index'], { KILL_AT: String(at) })
    expect({ at, signal: killed.signal }).toEqual({ at, signal: 'SIGKILL' })
    expect({ at, problems: await complete(home, machine) }).toEqual({ at, problems: [] })
    expect(await listOf(home), `killed before step ${at} of ${steps}`).toEqual(expected)
  }
})

it('ends the same after kill -9 before any step of one that reads first and keeps behind, and claims no byte that is not kept', async () => {
  const other = createMachine()
  try {
    for (let n = 0; n < 12; n += 1) {
      const session = `bbbbbbbb-0000-4000-8000-${String(n).padStart(12, '0')}`
      const lines = [0, 1, 2, 3].map((at) => claudeLog(at, { session, ...(at === 0 && { text: LONG }) }))
      other.write(other.log(session), lines.join(''))
    }
    const args = ['sync', '--no-index', '--json']
    const undisturbed = join(other.base, 'undisturbed')
    const whole = String(hansard(undisturbed, args, {}, other).stderr)
    expect(whole).toContain('list, cost and stats have 12 sessions')
    const expected = await listOf(undisturbed)
    expect(expected).toHaveLength(12)
    const steps = Number(/steps=(\d+)/.exec(whole)?.[1] ?? Number.NaN)
    expect(steps).toBeGreaterThan(60)
    const points = Math.min(Math.ceil(POINTS / 2), steps)
    for (let point = 0; point < points; point += 1) {
      const home = join(other.base, `killed-${point}`)
      const at = 1 + Math.floor((point * steps) / points)
      expect(hansard(home, args, { KILL_AT: String(at) }, other).signal).toBe('SIGKILL')
      expect(await claimedOnly(home), `killed before step ${at} of ${steps}`).toEqual([])
      expect(await complete(home, other)).toEqual([])
      expect(await listOf(home), `killed before step ${at} of ${steps}`).toEqual(expected)
      for (const place of openKept(openArchive(home)).places())
        for await (const path of place.paths())
          expect((await place.file(path)?.bytes(1e9))?.equals(fs.readFileSync(join(place.root, path)))).toBe(
            true,
          )
      fs.rmSync(home, { recursive: true })
    }
  } finally {
    fs.rmSync(other.base, { recursive: true, force: true })
  }
})

const QUESTIONS = [
  ['list', '--json'],
  ['cost', '--by', 'day', '--utc', '--json'],
  ['cost', '--by', 'model', '--since', '2025-10-09T08:53:21Z', '--utc', '--json'],
  ['cost', '--by', 'tool', '--utc', '--json'],
  ['cost', '--by', 'session', '--utc', '--json'],
  ['stats', '--json'],
] as const

it('has said all when it says that list, cost and stats are ready, should it die that moment with calls that are no rows yet', async () => {
  const other = createMachine()
  try {
    const idOf = (n: number): string => `cccccccc-0000-4000-8000-${String(n).padStart(12, '0')}`
    for (let n = 0; n < 12; n += 1) {
      // Some are copies of others, with their calls.
      const call = n % 4 === 0 && { call: 'shared' }
      const lines = Array.from({ length: 10 }, (_, at) =>
        claudeLog(at, { session: idOf(n), ...(at === 0 && { text: LONG }), ...(at === 3 && call) }),
      )
      other.write(other.log(idOf(n)), lines.join(''))
    }
    const answers = (home: string): readonly string[] =>
      QUESTIONS.map((args) => String(hansard(home, args, {}, other).stdout))
    const args = ['sync', '--no-index', '--json']
    const [undisturbed, home] = [join(other.base, 'undisturbed'), join(other.base, 'killed')]
    expect(hansard(undisturbed, args, {}, other).status).toBe(0)
    const expected = answers(undisturbed)
    expect(expected.every((answer) => answer.startsWith('{'))).toBe(true)
    expect(hansard(home, args, { KILL_READY: '1' }, other).signal).toBe('SIGKILL')
    expect(await countCalls(home)).toEqual({ all: 12 * 5, packed: 9 })
    expect(answers(home)).toEqual(expected)
    expect(await countCalls(home)).toEqual({ all: 12 * 5, packed: 9 })
    expect(JSON.parse(String(hansard(home, args, {}, other).stdout))).toMatchObject({ problems: [] })
    expect(answers(home)).toEqual(expected)
    expect(await countCalls(home)).toEqual({ all: 12 * 5, packed: 0 })
  } finally {
    fs.rmSync(other.base, { recursive: true, force: true })
  }
})

/** All calls, and passes whose calls are packed. */
async function countCalls(home: string): Promise<unknown> {
  const state = await peekState(openArchive(home))
  const count = (table: string): unknown =>
    state?.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
  const counted = { all: state && count(allCalls(state.database)), packed: count('packed_calls') }
  state?.close()
  return counted
}

/** Files that the state says are kept, and of which there are fewer bytes. */
async function claimedOnly(home: string): Promise<readonly string[]> {
  const archive = openArchive(home)
  const state = await peekState(archive)
  if (state === undefined) return []
  try {
    const rows = state.database
      .prepare(
        'SELECT agent, root, path, bytes FROM files JOIN places ON places.id = files.place WHERE bytes > 0',
      )
      .all()
    const kept = openKept(archive)
    return rows.flatMap(({ agent, root, path, bytes }) => {
      const file = kept.place(String(agent), String(root)).file(String(path))
      return file !== undefined && file.sizeBytes >= Number(bytes) ? [] : [String(path)]
    })
  } finally {
    state.close()
  }
}

/** Just more than two parts. */
const SESSIONS = 410

it('ends the same after kill -9 between the parts in which the sessions of a database are told of', async () => {
  const other = createMachine()
  try {
    const path = join(other.user, '.local/share/opencode/opencode.db')
    fs.mkdirSync(dirname(path), { recursive: true })
    await writeSessions(path, SESSIONS)
    const args = ['sync', '--no-index', '--json']
    const undisturbed = join(other.base, 'undisturbed')
    const whole = hansard(undisturbed, args, {}, other)
    expect(JSON.parse(String(whole.stdout))).toMatchObject({ sessions: SESSIONS, problems: [] })
    expect(String(whole.stderr)).toContain('parts=2')
    const expected = await listOf(undisturbed)
    expect(expected).toHaveLength(SESSIONS)
    for (const part of ['1', '2']) {
      const home = join(other.base, `killed-${part}`)
      expect(hansard(home, args, { KILL_PART: part }, other).signal).toBe('SIGKILL')
      expect(await complete(home, other)).toEqual([])
      expect(isDeepStrictEqual(await listOf(home), expected), `killed after part ${part}`).toBe(true)
    }
  } finally {
    fs.rmSync(other.base, { recursive: true, force: true })
  }
})

/** A database as OpenCode writes it: sessions of one question and one answer. */
async function writeSessions(path: string, count: number): Promise<void> {
  const database = await openDatabase(path)
  database.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT)`)
  database.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const created = 1_770_000_000_000 + n * 1000
      database
        .prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?)')
        .run(`ses_${n}`, '/p', `Session ${n}`, created, created)
      const tokens = { input: 3, output: n, reasoning: 0, cache: { read: 0, write: 0 } }
      const said = { role: 'assistant', modelID: 'claude-opus-4-5', providerID: 'anthropic', tokens }
      for (const [at, info] of [{ role: 'user' }, said].entries()) {
        const data = JSON.stringify({ ...info, time: { created } })
        database
          .prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
          .run(`msg_${n}_${at}`, `ses_${n}`, created + at, data)
        database
          .prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?)')
          .run(
            `prt_${n}_${at}`,
            `msg_${n}_${at}`,
            `ses_${n}`,
            created + at,
            JSON.stringify({ type: 'text', text: `said ${n}` }),
          )
      }
    }
  })
  database.close()
}
