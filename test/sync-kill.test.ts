/**
 * A sync that kills itself with SIGKILL at a chosen step: before the nth thing that it asks of the file system or of SQLite, from the
 * first to the last. Each time in a new archive, which the next sync completes to what an undisturbed one has.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from './machine.ts'
import { BIN } from './program.ts'

/** Points among all steps. `HANSARD_KILLS` asks for another number, up to every single one. */
const POINTS = Number(process.env['HANSARD_KILLS'] ?? 12)

/** Counts what a program does that outlives it, says on leaving how much it was, and dies before the one it is told to. */
const COUNT = `
  import fs from 'node:fs'
  import { createRequire, syncBuiltinESMExports } from 'node:module'
  const at = Number(process.env.KILL_AT ?? Infinity)
  let steps = 0
  const step = () => { steps += 1; if (steps === at) process.kill(process.pid, 'SIGKILL') }
  const wrap = (object, name) => {
    const plain = object[name]
    object[name] = function (...args) { step(); return plain.apply(this, args) }
  }
  for (const name of ['openSync', 'writeSync', 'fsyncSync', 'fdatasyncSync', 'renameSync', 'mkdirSync', 'ftruncateSync', 'unlinkSync', 'copyFileSync', 'linkSync'])
    if (name in fs) wrap(fs, name)
  syncBuiltinESMExports()
  const require = createRequire(${JSON.stringify(`file://${BIN}`)})
  const drivers = [() => require('node:sqlite').DatabaseSync, () => require('libsql')]
  for (const driver of drivers) { try { wrap(driver().prototype, 'exec') } catch {} }
  process.on('exit', () => process.stderr.write('steps=' + steps))
`
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

function hansard(home: string, args: readonly string[], killAt?: number): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, ['--import', PRELOAD, BIN, ...args], {
    env: {
      PATH: process.env['PATH'],
      TZ: 'UTC',
      HOME: machine.user,
      HANSARD_HOME: home,
      ...(killAt !== undefined && { KILL_AT: String(killAt) }),
    },
    cwd: machine.cwd,
    timeout: 40_000,
  })
}

const newHome = (): string => join(machine.base, `archive-${(homes += 1)}`)
const listOf = (home: string): string => String(hansard(home, ['list', '--json']).stdout)

it('ends the same after kill -9 before any step as if nothing had happened', () => {
  const undisturbed = newHome()
  const steps = Number(
    /steps=(\d+)/.exec(String(hansard(undisturbed, ['sync', '--no-index']).stderr))?.[1] ?? Number.NaN,
  )
  const expected = listOf(undisturbed)
  // Files, their folders, syncs, and transactions: that it is counted at all is what makes the rest mean something.
  expect(steps).toBeGreaterThan(60)
  const points = Math.min(POINTS, steps)
  for (let point = 0; point < points; point += 1) {
    const home = newHome()
    const at = 1 + Math.floor((point * steps) / points)
    const killed = hansard(home, ['sync', '--no-index'], at)
    expect({ at, signal: killed.signal }).toEqual({ at, signal: 'SIGKILL' })
    const next = hansard(home, ['sync', '--no-index', '--json'])
    expect({ at, code: next.status, problems: JSON.parse(String(next.stdout)).problems as unknown }).toEqual({
      at,
      code: 0,
      problems: [],
    })
    expect(listOf(home), `killed before step ${at} of ${steps}`).toBe(expected)
  }
})
