import fs from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addCommits, createRepository } from '../../test/git-repository.ts'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { parseExclude } from './exclude.ts'
import { followPlaces, type FollowOptions } from './follow.ts'
import { allFormats } from './formats.ts'
import type { SyncReport } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'

let machine: Machine
let ending: AbortController
let reports: SyncReport[]
beforeEach(() => {
  machine = createMachine()
  ending = new AbortController()
  reports = []
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

function follow(more: Partial<FollowOptions> = {}): Promise<void> {
  return followPlaces(
    machine.archive(),
    { env: {}, userHome: machine.user, cwd: machine.cwd },
    {
      formats: allFormats,
      exclude: parseExclude([], { home: machine.user }),
      signal: ending.signal,
      onSync: (report) => void reports.push(report),
      onError: (error) => expect(error).toBeUndefined(),
      lookAgainMs: 100,
      ...more,
    },
  )
}

/** Entire's branch, with one checkpoint of a session. */
const checkpoint = (lines: number): void =>
  addCommits(machine.cwd, [
    {
      ref: 'refs/heads/entire/checkpoints/v1',
      files: {
        'aa/bbbbbbbbbb/0/full.jsonl': claudeLogs(lines, { session: ONE }),
        'aa/bbbbbbbbbb/0/metadata.json': JSON.stringify({
          checkpoint_id: 'aabbbbbbbbbb',
          session_id: ONE,
          agent: 'Claude Code',
        }),
      },
    },
  ])

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 8000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it never came to be so')
    await wait(20)
  }
}

const entriesTaken = (): number => reports.reduce((sum, { entries }) => sum + entries, 0)

describe('following', () => {
  it('takes in checkpoints that are made while it runs', async () => {
    createRepository([], machine.cwd)
    const over = follow()
    await wait(150)
    checkpoint(4)
    await until(async () => (await machine.list()).length === 1)
    ending.abort()
    await over
    expect((await machine.list())[0]?.totals).toMatchObject({ calls: 2, usage: { input: 20, output: 10 } })
    expect(reports.flatMap(({ problems }) => problems)).toEqual([])
  })

  it('follows an agent that was not here when it began', async () => {
    const over = follow()
    await wait(150)
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await until(() => entriesTaken() === 2)
    ending.abort()
    await over
  })

  it('prepares after what brought something, and when a database is to be looked through', async () => {
    const files = { seen: 1, new: 0, grown: 0, rewritten: 0, unchanged: 1, failed: 0 }
    const nothing = { files, sessions: 0, entries: 0, damage: 0, bytesRead: 0, problems: [] }
    let next: SyncReport = nothing
    let prepared = 0
    const over = follow({
      take: async () => next,
      prepare: async () => {
        prepared += 1
        return false
      },
    })
    const told = async (report: SyncReport): Promise<number> => {
      next = report
      const from = reports.length
      await until(() => reports.length > from + 2)
      return prepared
    }
    const first = await told(nothing)
    expect(first).toBe(1)
    expect(await told(nothing)).toBe(first)
    const looked = await told({ ...nothing, isLookDue: true })
    expect(looked).toBeGreaterThan(first)
    expect(await told({ ...nothing, sessions: 1 })).toBeGreaterThan(looked)
    ending.abort()
    await over
  })

  it.runIf(process.platform === 'linux')(
    'watches a place once, also when a file of it was named',
    async () => {
      const log = machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
      const watches = async (): Promise<number> => {
        ending = new AbortController()
        const over = follow()
        await until(() => reports.length > 0)
        // One that was closed is counted until the system has let go of it.
        let open = Number.POSITIVE_INFINITY
        for (let looks = 0; looks < 5; looks += 1) {
          const now = process.getActiveResourcesInfo().filter((name) => /fsevent/i.test(name)).length
          open = Math.min(open, now)
          await wait(20)
        }
        ending.abort()
        await over
        reports = []
        return open
      }
      const before = await watches()
      expect(before).toBeGreaterThan(0)
      await machine.sync({ paths: [log] })
      expect(await watches()).toBe(before)
    },
  )
})
