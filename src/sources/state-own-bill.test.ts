import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { workJson } from './call-rows.ts'
import { createCallPacker } from './state-own-bill.ts'
import { beginReading } from './state-readings.ts'
import { SCHEMA } from './state-schema.ts'
import { refreshSessions } from './state-sessions.ts'
import { sumBills } from './state-sums.ts'
import type { Call, SessionFacts } from './session-facts.ts'

const option = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
const count = option(fc.constantFrom(0, 1, 5, 40_000, 1_000_000_001))

const call: fc.Arbitrary<Call> = fc
  .record({
    session: fc.constantFrom('s1', 's2'),
    key: option(fc.constantFrom('m:1', 'm:2', 'm:3', 'm:4', 'm:\0', 'm:\uFFFD')),
    provider: option(fc.constant('anthropic')),
    model: option(fc.constantFrom('a', 'b')),
    at: option(
      fc.constantFrom(
        '2026-02-02T10:29:59.999Z',
        '2026-02-02T10:30:00.000Z',
        '2026-02-02T10:3',
        '2026-02-02T10:3 and more',
        '2026-02-02T11:00:00.000Z',
      ),
    ),
    usage: fc.record({
      input: count,
      output: count,
      reasoning: count,
      quality: fc.constantFrom('reported', 'partial', 'estimated', 'unavailable'),
    }),
    pico: option(fc.constantFrom(0n, 1_234_567n, 999_999_999_999_999n, 2_000_000_000_000_000n)),
    unpriced: option(fc.constantFrom('x', 'y')),
    tools: option(fc.constantFrom(['Bash'], ['Bash', 'Read'])),
  })
  .map(({ usage, tools, ...fields }) => {
    const known = Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined))
    const said = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const work = tools?.map(() => [1, 0, 20, 1, 0, 1] as const)
    return { ...said, usage: known, ...(tools && { tools, work }) } as unknown as Call
  })

const TABLES = ['sessions', 'listing', 'listing_work', 'tool_use', 'sums', 'findings']

function dump(database: Database): unknown {
  return TABLES.map((table) => {
    const rows = database.prepare(`SELECT * FROM ${table}`).all()
    return rows
      .map(({ n: _n, session, ...row }) =>
        JSON.stringify({ ...row, ...(table === 'sessions' && { session }) }, (_, value: unknown) =>
          typeof value === 'bigint' ? Number(value) : value,
        ),
      )
      .sort()
  })
}

function factsOf(key: string, stub: boolean): SessionFacts {
  const session = {
    id: key,
    status: 'completed' as const,
    startedAt: '2026-02-02T10:00:00.000Z',
    ...(stub && { stub }),
  }
  const work = {
    failed: 0,
    errors: 0,
    repeats: 0,
    rereads: 0,
    parts: [],
    sources: ['primary'],
    tools: ['Bash'],
    files: {},
    touched: 0,
    findings: [],
    rest: { Bash: [1, 0, 0, 0, 0, 0] as const },
  }
  return { key, session, entries: 3, toolCalls: 1, work }
}

async function state(): Promise<Database> {
  const database = await openDatabase(IN_MEMORY)
  database.exec(SCHEMA)
  database.exec(
    "INSERT INTO places (id, agent, root) VALUES (1, 'a', '/r'); INSERT INTO units (id, place, path, dirty) VALUES (1, 1, 'u', 1), (2, 1, 'v', 1)",
  )
  return database
}

describe('what a session comes to by its own calls', () => {
  it('is what the state finds by adding up their rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 10 }),
        fc.boolean(),
        fc.boolean(),
        async (calls, stub, isShared) => {
          const database = await state()
          const facts = {
            sessions: [factsOf('s1', stub), factsOf('s2', false)],
            mentions: [],
            damage: 0,
            drift: [],
          }
          if (isShared)
            beginReading(database, 2).end('f', { ...facts, sessions: [factsOf('s2', false)] }, new Map())
          const reading = beginReading(database, 1)
          const packer = createCallPacker()
          for (let at = 0; at < calls.length; at += 4) reading.calls(packer.pack(calls.slice(at, at + 4)))
          reading.end('f', facts, packer.bills())
          const told = dump(database)
          for (const table of ['sessions', 'sums', 'listing', 'listing_work', 'tool_use'])
            database.exec(`DELETE FROM ${table}`)
          refreshSessions(database, ['s1', 's2'])
          sumBills(database, ['s1', 's2'])
          expect(told).toEqual(dump(database))
          database.close()
        },
      ),
      { numRuns: 150 },
    )
  })
})

const strange = (from: number, count: number): readonly Call[] =>
  Array.from({ length: count }, (_, n) => ({
    session: 's1',
    key: `m:${from + n}`,
    model: `model-${from + n}`,
    unpriced: 'x',
    at: '2026-02-02T10:30:00.000Z',
    usage: { input: 1, quality: 'reported' as const },
    tools: [`tool-${from + n}`],
    work: [[1, 0, 20, 1, 0, 1] as const],
  }))

describe('a session whose calls each have a model and a tool of their own', () => {
  it('is not held call by call: what it comes to is asked of the rows', () => {
    const packer = createCallPacker()
    const before = heldBytes()
    for (let n = 0; n < 60_000; n += 500) packer.pack(strange(n, 500))
    expect(heldBytes() - before).toBeLessThan(8e6)
    expect(packer.bills().get('s1')).toBeUndefined()
  })

  it('has ten thousand tools, and others that are told together', async () => {
    const database = await state()
    const reading = beginReading(database, 1)
    const packer = createCallPacker()
    for (let n = 0; n < 12_000; n += 500) reading.calls(packer.pack(strange(n, 500)))
    const facts = { sessions: [factsOf('s1', false)], mentions: [], damage: 0, drift: [] }
    reading.end('f', facts, packer.bills())
    refreshSessions(database, ['s1'])
    const of = (where: string): unknown =>
      database
        .prepare(`SELECT count(*) AS tools, sum(calls) AS calls, sum(ms) AS ms FROM tool_use ${where}`)
        .get()
    expect(of('')).toEqual({ tools: 10_001, calls: 12_001, ms: 240_000 })
    expect(of("WHERE tool = '(others)'")).toEqual({ tools: 1, calls: 2001, ms: 40_020 })
    database.close()
  })
})

describe('what tools did', () => {
  it('is one row for names that are stored as the same', async () => {
    const database = await state()
    const reading = beginReading(database, 1)
    const packer = createCallPacker()
    const [one] = strange(0, 1) as [Call]
    const named = ['\ud800', '\ud801', 'a\0b', 'a\0c'].map((tool, n) => ({
      ...one,
      key: `m:${n}`,
      tools: [tool],
    }))
    reading.calls(packer.pack(named))
    const facts = { sessions: [factsOf('s1', false)], mentions: [], damage: 0, drift: [] }
    reading.end('f', facts, packer.bills())
    expect(database.prepare('SELECT tool, calls FROM tool_use ORDER BY tool').all()).toEqual([
      { tool: 'Bash', calls: 1 },
      { tool: 'a␀b', calls: 1 },
      { tool: 'a␀c', calls: 1 },
      { tool: '\ufffd', calls: 2 },
    ])
    database.close()
  })

  it('is spelled as JSON is', () => {
    const counts = fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat())
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 3 }), (work) => workJson(work) === JSON.stringify(work)),
    )
  })
})
