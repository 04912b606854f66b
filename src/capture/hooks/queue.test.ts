import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { noteFailure, readFailures } from './failures.ts'
import {
  addTicket,
  claimWork,
  dropTickets,
  hasWaiting,
  holdsWork,
  isAtWork,
  passWork,
  readTicket,
  releaseWork,
  takeTickets,
  waitingTickets,
} from './queue.ts'

const roots: string[] = []
let home = ''
beforeEach(() => {
  home = join(fs.mkdtempSync(join(os.tmpdir(), 'hansard-queue-')), 'archive')
  roots.push(home)
})
afterAll(() => {
  for (const root of roots) fs.rmSync(join(root, '..'), { recursive: true, force: true })
})

/** The number of a process that has ended. */
const dead = (): number => spawnSync(process.execPath, ['-e', '0']).pid

describe('what hooks ask for', () => {
  it('is one when it is the same, and private', () => {
    for (const session of ['a', 'a', 'b']) addTicket(home, { agent: 'codex', session })
    expect(waitingTickets(home)).toBe(2)
    expect(fs.statSync(join(home, 'hooks')).mode & 0o077).toBe(0)
    const { fresh } = takeTickets(home)
    expect(fresh.map((name) => readTicket(home, name)?.session)).toEqual(expect.arrayContaining(['a', 'b']))
  })

  it('is there until it is done, and what is asked for meanwhile stands beside it', () => {
    addTicket(home, { agent: 'codex', session: 'a' })
    const { fresh } = takeTickets(home)
    addTicket(home, { agent: 'codex', session: 'a' })
    expect(hasWaiting(home)).toBe(true)
    dropTickets(home, fresh)
    expect(waitingTickets(home)).toBe(1)
  })

  it('is tried again alone after its worker died, and given up after three', () => {
    addTicket(home, { agent: 'codex', session: 'a' })
    expect(takeTickets(home)).toMatchObject({ again: [], given: [] })
    expect(takeTickets(home).again).toHaveLength(1)
    const second = takeTickets(home)
    expect(second.again.map((name) => readTicket(home, name)?.session)).toEqual(['a'])
    const { fresh, again, given } = takeTickets(home)
    expect([fresh, again, given.length]).toEqual([[], [], 1])
  })

  it('may be anything but a ticket, and harms nobody', () => {
    addTicket(home, { agent: 'codex' })
    const { fresh } = takeTickets(home)
    for (const text of ['', 'null', '[]', '{', '"x"']) {
      fs.writeFileSync(join(home, 'hooks/taken', fresh[0] ?? ''), text)
      expect(readTicket(home, fresh[0] ?? '')?.agent).toBeUndefined()
    }
  })
})

describe('the work', () => {
  beforeEach(() => addTicket(home, { agent: 'codex' }))

  it('is one process’s at a time, and can be handed on', () => {
    expect(claimWork(home)).toBe(true)
    expect(claimWork(home)).toBe(false)
    expect(holdsWork(home)).toBe(true)
    passWork(home, process.ppid)
    expect(holdsWork(home)).toBe(false)
    expect(isAtWork(home)).toBe(true)
    releaseWork(home)
    expect(isAtWork(home)).toBe(true)
  })

  it('is taken over from whoever died with it', () => {
    const lock = join(home, 'hooks/work.lock')
    for (const text of [`${dead()} x\n`, `${dead()} 12345\n`, `${process.pid} 1\n`]) {
      fs.writeFileSync(lock, text)
      expect(isAtWork(home)).toBe(false)
      expect(claimWork(home)).toBe(true)
      expect(holdsWork(home)).toBe(true)
      releaseWork(home)
      expect(fs.existsSync(lock)).toBe(false)
    }
  })

  it('is not held for long by a number alone, which may be another’s by now', () => {
    const lock = join(home, 'hooks/work.lock')
    fs.writeFileSync(lock, `${process.ppid} x\n`)
    expect(claimWork(home)).toBe(false)
    const before = new Date(Date.now() - 3_600_000)
    fs.utimesSync(lock, before, before)
    expect(claimWork(home)).toBe(true)
  })

  it('is somebody’s while a lock is being written, and not for long', () => {
    const lock = join(home, 'hooks/work.lock')
    fs.writeFileSync(lock, '')
    expect(claimWork(home)).toBe(false)
    const before = new Date(Date.now() - 60_000)
    fs.utimesSync(lock, before, before)
    expect(claimWork(home)).toBe(true)
  })
})

describe('failures', () => {
  it('are kept in a file that does not grow without end, the newest among them', () => {
    for (let at = 0; at < 2000; at += 1) noteFailure(home, 'codex', `${at} ${'x'.repeat(100)}`)
    const failures = readFailures(home, {})
    expect(failures.at(-1)?.problem).toMatch(/^1999 /)
    expect(failures.length).toBeGreaterThan(50)
    expect(fs.statSync(join(home, 'hooks/failures.jsonl')).size).toBeLessThanOrEqual(32 * 1024)
  })

  it('that cannot be noted are no failure', () => {
    fs.mkdirSync(join(home, '..'), { recursive: true })
    fs.writeFileSync(home, '')
    const { HOME, XDG_CACHE_HOME } = process.env
    process.env['XDG_CACHE_HOME'] = join(home, 'cache')
    expect(() => noteFailure(home, 'codex', 'x')).not.toThrow()
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME
    expect(process.env['HOME']).toBe(HOME)
    expect(readFailures(home, {})).toEqual([])
  })
})
