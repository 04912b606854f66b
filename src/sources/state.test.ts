import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { allCalls } from './all-calls.ts'
import { openState, type State } from './state.ts'
import { withState } from './with-state.ts'
import { openStateFiles } from './state-files.ts'
import { createProblems } from './problems.ts'
import { adoptKept } from './sync-adopt.ts'

const SESSIONS = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002']

let machine: Machine
let path: string
beforeEach(() => {
  machine = createMachine()
  path = join(machine.home, 'index/state.db')
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

/** Two sessions, one of which only the archive still has. */
async function fill(): Promise<void> {
  for (const session of SESSIONS) machine.write(machine.log(session), claudeLogs(40, { session }))
  await machine.sync()
  fs.rmSync(machine.log(SESSIONS[1] ?? ''))
}

/** The file as it is when nobody has it open: what stood in its log is in it. */
async function checkpoint(): Promise<void> {
  const database = await openDatabase(path)
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  database.close()
}

const PACKED_BY_NOBODY = `INSERT INTO facts (name, value) VALUES ('loading', 'packed');
  INSERT INTO packed_calls (reading, first, count, calls) VALUES (99, 99, 1, '["a"')`

async function changed(sql: string): Promise<void> {
  const database = await openDatabase(path)
  database.exec(sql)
  database.close()
}

describe('the state', () => {
  it.each([
    ['is deleted', () => fs.rmSync(join(path, '..'), { recursive: true })],
    [
      'is empty',
      () => {
        for (const name of fs.readdirSync(join(path, '..'))) fs.rmSync(join(path, '..', name))
        fs.writeFileSync(path, '')
      },
    ],
    ['is no database', () => fs.writeFileSync(path, 'x'.repeat(5000))],
    ['is cut off', () => fs.truncateSync(path, 4096 * 3 + 100)],
    [
      'has pages that are overwritten',
      () => {
        const bytes = fs.readFileSync(path)
        bytes.fill(0xa5, 4096)
        fs.writeFileSync(path, bytes)
      },
    ],
    ['has packed calls that nobody packed', () => changed(PACKED_BY_NOBODY)],
  ] as const)('is built again to the same list when it %s', async (_, damage) => {
    await fill()
    const before = await machine.list()
    expect(before).toHaveLength(2)
    await checkpoint()
    await damage()
    expect(await machine.list()).toEqual(before)
    await machine.sync()
    expect(await machine.list()).toEqual(before)
  })

  it('is built again when who asks for single calls finds packed ones that nobody packed', async () => {
    await fill()
    const archive = openArchive(machine.home)
    const count = ({ database }: State): unknown =>
      database.prepare(`SELECT count(*) AS n FROM ${allCalls(database)}`).get()?.['n']
    const before = await withState(archive, count)
    expect(before.answer).toBeGreaterThan(0)
    await changed(PACKED_BY_NOBODY)
    expect(await withState(archive, count)).toEqual(before)
  })

  it('is built again when another version made it, and reads again what another program read', async () => {
    await fill()
    const before = await machine.list()
    const database = await openDatabase(path)
    database.exec('PRAGMA user_version = 9999')
    database.close()
    expect(await machine.list()).toEqual(before)

    const again = await openDatabase(path)
    again.exec(
      `UPDATE facts SET value = '0.0.0' WHERE name = 'program'; UPDATE sessions SET session = '{"id":"x"}'`,
    )
    again.close()
    expect(await machine.list()).toEqual(before)
  })

  it('is whole again though the process that built it anew died half way', async () => {
    await fill()
    const before = await machine.list()
    fs.rmSync(join(path, '..'), { recursive: true })
    const archive = machine.archive()
    // All but the last step, and nothing read.
    const state = await openState(archive)
    expect(state.isNew).toBe(true)
    const files = openStateFiles(state.database)
    const [first] = openKept(archive).places()
    files.place(first?.agent ?? '', first?.root ?? '')
    state.close()
    expect(await machine.list()).toEqual(before)
  })

  it('adopts what is kept once, however often it is asked', async () => {
    await fill()
    const archive = machine.archive()
    const state = await openState(archive)
    const { database } = state
    const files = openStateFiles(database)
    await adoptKept(openKept(archive), { database, files, problems: createProblems() })
    expect(files.countDirty()).toBe(0)
    state.close()
  })

  it('is the same whatever bytes are flipped in the tree of its pages', async () => {
    await fill()
    const before = await machine.list()
    await checkpoint()
    const whole = fs.readFileSync(path)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length / 4096 - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (page, mask) => {
          // The first byte of a page says what kind it is.
          const bytes = Buffer.from(whole)
          const at = page * 4096 + (page === 0 ? 100 : 0)
          bytes[at] = (bytes[at] ?? 0) ^ mask
          for (const suffix of ['-wal', '-shm']) fs.rmSync(path + suffix, { force: true })
          fs.writeFileSync(path, bytes)
          await machine.sync()
          expect(await machine.list()).toEqual(before)
        },
      ),
      { numRuns: 25 },
    )
  })
})

describe('files that were looked at', () => {
  it('are known again whatever their names and ids are made of', async () => {
    const state = await openState(machine.archive())
    const files = openStateFiles(state.database)
    const place = files.place('claude-code', '/p')
    const seen = ['half \ud800', 'quote \' " \\', '漢字 \u{1F600}', '%_*'].map((path) => ({
      path,
      stamp: '1:2:3:4',
      size: 3,
    }))
    files.look(place, seen, false)
    for (const { id } of files.pending(0, 10)) files.unchanged(id)
    files.look(place, seen, false)
    expect(files.pendingBytes().files).toBe(0)
    expect(files.areKnown(place, seen)).toBe(true)
    expect(files.areKnown(place, [{ path: 'new', stamp: '', size: 0 }])).toBe(false)
    state.close()
  })
})
