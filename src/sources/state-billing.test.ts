import fs from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { IN_MEMORY, openDatabase } from '../sqlite/driver.ts'
import { settleBills } from './state-billing.ts'
import { createCallPacker } from './state-own-bill.ts'
import { beginReading } from './state-readings.ts'
import { SCHEMA } from './state-schema.ts'
import { refreshSessions } from './state-sessions.ts'
import { createWorkFold } from './work.ts'

/** Sessions that mention some of a few calls: what resumes and forks leave behind. */
const logs = fc.uniqueArray(
  fc.record({
    session: fc.integer({ min: 1, max: 5 }),
    calls: fc.uniqueArray(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 5 }),
    folder: fc.constantFrom('-p', '-q'),
  }),
  { selector: ({ session, folder }) => `${session}${folder}`, minLength: 1, maxLength: 6 },
)

type Log = { readonly session: number; readonly calls: readonly number[]; readonly folder: string }

const idOf = (session: number): string => `aaaaaaaa-0000-4000-8000-00000000000${session}`

function write(machine: Machine, { session, calls, folder }: Log): void {
  const id = idOf(session)
  const lines = calls.map((call, at) =>
    claudeLog(at * 2 + 1, { session: id, call: `shared_${call}`, input: 100 + call }),
  )
  machine.write(`.claude/projects/${folder}/${id}.jsonl`, lines.join(''))
}

describe('the bill', () => {
  it('says that it is a lower bound where an answer was not counted', async () => {
    const machine = createMachine()
    try {
      const session = idOf(1)
      const [asked, counted, uncounted] = [0, 1, 3].map((n) => claudeLog(n, { session }))
      const without = JSON.stringify(
        JSON.parse(uncounted ?? '', (key, value) => (key === 'usage' ? undefined : value)),
      )
      machine.write(`.claude/projects/-p/${session}.jsonl`, `${asked}${counted}${without}\n`)
      await machine.sync()
      const [listed] = await machine.list()
      expect(listed?.totals).toMatchObject({
        calls: 1,
        uncounted: 1,
        usage: { output: 5, quality: 'partial' },
      })
      expect(listed?.totals?.cost?.unpriced).toEqual([])
    } finally {
      fs.rmSync(machine.base, { recursive: true, force: true })
    }
  })

  it('is of the same report, whichever place was found first', async () => {
    const bills: unknown[] = []
    for (const roots of [
      ['/a', '/b'],
      ['/b', '/a'],
    ]) {
      const database = await openDatabase(IN_MEMORY)
      database.exec(SCHEMA)
      for (const [at, root] of roots.entries()) {
        database.exec(`INSERT INTO places (id, agent, root) VALUES (${at}, 'x', '${root}');
          INSERT INTO units (id, place, path, dirty) VALUES (${at}, ${at}, 'u', 1)`)
        const reading = beginReading(database, at)
        const packer = createCallPacker()
        const usage = { input: 1, output: 1, quality: 'reported' } as const
        reading.calls(packer.pack([{ session: 's', key: 'm:1', model: `model of ${root}`, pico: 1n, usage }]))
        const session = { id: 's', status: 'completed' } as const
        const one = { key: 's', session, entries: 1, toolCalls: 0, work: createWorkFold().end() }
        reading.end('f', { sessions: [one], mentions: [], damage: 0, drift: [] }, packer.bills())
      }
      await settleBills(database, (keys) => refreshSessions(database, keys))
      bills.push(database.prepare('SELECT billed_to, model FROM sums').all())
      database.close()
    }
    expect(bills[0]).toEqual([{ billed_to: 's', model: 'model of /a' }])
    expect(bills[1]).toEqual(bills[0])
  })

  it('has every call once, and is the same in whatever order logs came, grew and were read again', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.infiniteStream(fc.nat()), async (all, random) => {
        const lists: object[] = []
        for (let round = 0; round < 2; round += 1) {
          const machine = createMachine()
          try {
            // In the second round one after the other, in another order, each growing on the way.
            const order = round === 0 ? all : all.toSorted(() => (Number(random.next().value) % 2) - 0.5)
            for (const log of order) {
              if (round === 1 && log.calls.length > 1) {
                write(machine, { ...log, calls: log.calls.slice(0, 1) })
                await machine.sync()
              }
              write(machine, log)
              if (round === 1) await machine.sync()
            }
            await machine.sync()
            const listed = await machine.list()
            const distinct = new Set(all.flatMap(({ calls }) => calls))
            const sum = (count: (one: (typeof listed)[number]) => number | undefined): number =>
              listed.reduce((total, one) => total + (count(one) ?? 0), 0)
            expect(sum(({ totals }) => totals?.calls)).toBe(distinct.size)
            expect(sum(({ totals }) => totals?.usage?.input)).toBe(
              [...distinct].reduce((total, call) => total + 100 + call, 0),
            )
            lists.push(listed.map((one) => ({ ...one, recordings: one.recordings?.length })))
          } finally {
            fs.rmSync(machine.base, { recursive: true, force: true })
          }
        }
        expect(lists[1]).toEqual(lists[0])
      }),
      { numRuns: 25 },
    )
  })
})
