import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { allCalls } from './all-calls.ts'
import { isSettled, settleBills } from './state-billing.ts'
import { beginLoad, type Load } from './state-load.ts'
import { endLoad, isLoading } from './state-load-end.ts'
import { packCalls } from './packed-calls.ts'
import { createCallPacker } from './state-own-bill.ts'
import { beginReading, clearReading, MOST_HELD, removeLeftovers, type Reading } from './state-readings.ts'
import { SCHEMA } from './state-schema.ts'
import { refreshSessions } from './state-sessions.ts'
import type { Call, SessionFacts, UnitFacts } from './session-facts.ts'
import { createWorkFold } from './work.ts'

const option = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })

/** Few names, so that sessions and calls are told of by several units. */
const SESSIONS = ['s1', 's2', 's3', 's4']
const KEYS = ['m:1', 'm:2', 'm:3', 'm:4', 'm:5', 'm:\0', 'm:\uFFFD', 'm:\ud800', 'm:\udc00']

const call = (sessions: readonly string[], keys: readonly string[]): fc.Arbitrary<Call> =>
  fc
    .record({
      session: fc.constantFrom(...sessions),
      key: option(fc.constantFrom(...keys)),
      model: option(fc.constantFrom('a', 'b')),
      at: option(fc.constantFrom('2026-02-02T10:29:59.999Z', '2026-02-02T10:30:00.000Z')),
      output: option(fc.constantFrom(0, 5, 1_000_000_001)),
      pico: option(fc.constantFrom(0n, 999_999_999_999_999n)),
      tools: option(fc.constantFrom(['Bash'], ['Bash', 'Read'])),
    })
    .map(({ output, tools, ...fields }) => {
      const said = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
      const usage = { ...(output !== undefined && { output }), quality: 'reported' as const }
      const work = tools?.map(() => [1, 0, 20, 1, 0, 1] as const)
      return { ...said, usage, ...(tools && { tools, work }) } as unknown as Call
    })

type Pass = { readonly facts: UnitFacts; readonly calls: readonly Call[] }

const passOf = (named: readonly string[], keys: readonly string[]): fc.Arbitrary<Pass> =>
  fc
    .tuple(fc.uniqueArray(fc.constantFrom(...named), { minLength: 1, maxLength: 2 }), fc.nat(9))
    .chain(([sessions, entries]) =>
      fc.record({
        calls: fc.array(call(sessions, keys), { maxLength: 12 }),
        facts: fc.record({
          sessions: fc.constant(sessions.map((key) => factsOf(key, entries))),
          mentions: fc.array(
            fc.constantFrom('s1', 's2').map((session) => ({
              session,
              parent: { session: 's4', citation: 's4#1', relation: 'subagent' as const },
            })),
            { maxLength: 1 },
          ),
          damage: fc.nat(2),
          drift: fc.constantFrom([], [{ kind: 'record' as const, name: 'x', count: 2 }]),
        }),
      }),
    )

const pass = passOf(SESSIONS, KEYS)
/** Of many sessions and calls, so that most are told of by one unit alone. */
const sparsePass = passOf(
  Array.from({ length: 20 }, (_, n) => `s${n + 1}`),
  Array.from({ length: 150 }, (_, n) => `m:${n}`),
)

function factsOf(key: string, entries: number): SessionFacts {
  const work = {
    failed: 0,
    errors: 0,
    repeats: 0,
    rereads: 0,
    parts: [],
    sources: ['primary'],
    tools: ['Bash'],
    files: { '/a': 'r' },
    touched: 1,
    findings: [],
    rest: { Bash: [1, 0, 0, 0, 0, 0] as const },
  }
  const session = { id: key, status: 'completed' as const, startedAt: '2026-02-02T10:00:00.000Z' }
  return { key, session, entries, toolCalls: 1, work }
}

async function state(units: number, path = IN_MEMORY): Promise<Database> {
  const database = await openDatabase(path)
  if (path !== IN_MEMORY) database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  database.exec(SCHEMA)
  database.exec(`INSERT INTO places (id, agent, root) VALUES (1, 'a', '/r')`)
  for (let id = 1; id <= units; id += 1)
    database.prepare(`INSERT INTO units (id, place, path, dirty) VALUES (?, 1, ?, 1)`).run(id, `u${id}`)
  return database
}

const unit = (id: number) => ({ id, place: 1, path: `u${id}`, format: undefined, reading: undefined })

/** What a session did in vain is of a call of its own. */
function withFindings({ facts, calls }: Pass): UnitFacts {
  const sessions = facts.sessions.map((one) => {
    const isOwn = calls.some(({ session, key }) => session === one.key && key === 'm:1')
    const finding = {
      kind: 're-reads' as const,
      tool: 'Read',
      count: 3,
      marks: [],
      ...(isOwn && { call: 'm:1' }),
    }
    return { ...one, work: { ...one.work, findings: [finding] } }
  })
  return { ...facts, sessions }
}

/** As a thread gives it that packs calls where it can. */
function putPacked(reading: Reading, pass: Pass): void {
  const packer = createCallPacker()
  const facts = withFindings(pass)
  const table = packer.pack(pass.calls)
  const packed = packCalls(table, facts.sessions)
  if (packed === undefined) reading.calls(table)
  else reading.packed(packed)
  reading.end('f', facts, packer.bills())
}

function put(reading: Reading, pass: Pass, isInParts = false): void {
  const { calls } = pass
  const packer = createCallPacker()
  for (let at = 0; at < calls.length; at += 5) reading.calls(packer.pack(calls.slice(at, at + 5)))
  const facts = withFindings(pass)
  const part = isInParts ? facts.sessions.slice(0, 1) : []
  const mentions = isInParts ? facts.mentions.slice(0, 1) : []
  if (part.length + mentions.length > 0) {
    packer.forget(part)
    reading.sessions({ format: 'f', sessions: part, mentions })
  }
  const rest = {
    sessions: facts.sessions.slice(part.length),
    mentions: facts.mentions.slice(mentions.length),
  }
  reading.end('f', { ...facts, ...rest }, packer.bills())
}

const settle = (database: Database): Promise<void> =>
  settleBills(database, (keys) => refreshSessions(database, keys))

const TABLES = 'calls recordings mentions sums sessions listing listing_work tool_use findings drift units'

/** Without the numbers of rows, and what is made of them. */
function dump(database: Database, tables = TABLES): unknown {
  // Passes are numbered with gaps.
  const passes = database.prepare('SELECT reading FROM units WHERE reading > 0 ORDER BY id').lists()
  const numberOf = (reading: unknown): number => passes.findIndex(([one]) => one === reading)
  return tables.split(' ').map((table) =>
    database
      .prepare(`SELECT * FROM ${table === 'allCalls' ? allCalls(database) : table}`)
      .all()
      .map(({ n: _n, id, mark: _mark, reading, ...row }) =>
        JSON.stringify(
          { ...row, reading: numberOf(reading), ...(table === 'sessions' && { id }) },
          // A sum of prices past 2^53.
          (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value),
        ),
      )
      .map((row) => (table === 'tool_use' || table === 'findings' ? row.replace(/"session":\d+/, '') : row))
      .sort(),
  )
}

/** What list, cost and stats are answered from. */
const ANSWERS = 'allCalls recordings sums sessions listing listing_work tool_use findings units'

const indexesOf = (database: Database): unknown =>
  database.prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name`).lists()

describe('a state that is filled for the first time', () => {
  it('is what it becomes unit by unit, also when whoever filled it died', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(pass, { maxLength: 6 }),
        fc.nat(6),
        fc.nat(6),
        async (passes, died, inParts) => {
          const [loaded, usual] = await Promise.all([state(6), state(6)])
          const indexes = indexesOf(loaded)
          const load = beginLoad(loaded)
          for (const [at, one] of passes.entries()) {
            put(beginReading(usual, at + 1), one)
            if (at < died) put(load?.begin(unit(at + 1), '/r') as Reading, one, at === inParts)
            else {
              // Whoever opens it next.
              endLoad(loaded)
              put(beginReading(loaded, at + 1), one)
            }
          }
          if (died >= passes.length) load?.end()
          for (const database of [loaded, usual]) await settle(database)
          expect(dump(loaded)).toEqual(dump(usual))
          expect(indexesOf(loaded)).toEqual(indexes)
          loaded.close()
          usual.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it('answers while calls are packed as it does when they are rows, and is then what it becomes unit by unit', async () => {
    const how = fc.constantFrom('packed', 'packed', 'in rows')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.oneof(pass, { arbitrary: sparsePass, weight: 4 }), how), {
          minLength: 2,
          maxLength: 8,
        }),
        fc.nat(2),
        fc.nat(9),
        async (passes, before, died) => {
          const [loaded, usual] = await Promise.all([state(8), state(8)])
          const indexes = indexesOf(loaded)
          let load: Load | undefined
          for (const [at, [one, how]] of passes.entries()) {
            put(beginReading(usual, at + 1), one)
            if (at === before) load = beginLoad(loaded, true)
            const own = load?.begin(unit(at + 1), '/r') ?? beginReading(loaded, at + 1)
            if (how === 'packed') putPacked(own, one)
            else put(own, one)
            // Whoever opens it next goes on as usual.
            if (at === died && load !== undefined) {
              load = undefined
              endLoad(loaded)
            }
          }
          load?.settle()
          for (const database of [loaded, usual]) await settle(database)
          expect(isSettled(loaded)).toBe(true)
          expect(dump(loaded, ANSWERS)).toEqual(dump(usual, ANSWERS))
          const marks = loaded.prepare('SELECT key, mark FROM listing ORDER BY key').lists()
          endLoad(loaded)
          expect([isLoading(loaded), allCalls(loaded)]).toEqual([false, 'calls'])
          expect(dump(loaded)).toEqual(dump(usual))
          expect(indexesOf(loaded)).toEqual(indexes)
          // Nothing is written anew for who pays by now: ids are those that were given when calls were packed.
          refreshSessions(
            loaded,
            marks.map(([key]) => String(key)),
          )
          expect(loaded.prepare('SELECT key, mark FROM listing ORDER BY key').lists()).toEqual(marks)
          loaded.close()
          usual.close()
        },
      ),
      { numRuns: 80 },
    )
  })

  it('keeps calls packed that nothing hangs on, and only these', async () => {
    const database = await state(4)
    const load = beginLoad(database, true)
    const one = (session: string, ...keys: string[]): Pass => ({
      calls: keys.map((key) => ({ session, key, usage: { output: 1, quality: 'reported' } })),
      facts: { sessions: [factsOf(session, 1)], mentions: [], damage: 0, drift: [] },
    })
    const passes = [one('s1', 'a', 'b'), one('s2', 'c'), one('s3', 'b', 'd'), one('s4', 'e')]
    for (const [at, pass] of passes.entries())
      putPacked(load?.begin(unit(at + 1), '/r') as Reading, { ...pass, facts: pass.facts })
    expect(isSettled(database)).toBe(false)
    load?.settle()
    const keys = (table: string): unknown =>
      database.prepare(`SELECT key FROM ${table} ORDER BY id`).lists().flat()
    expect(keys('calls')).toEqual(['a', 'b', 'b', 'd'])
    expect(allCalls(database)).toBe('all_calls')
    expect(keys('all_calls')).toEqual(['a', 'b', 'c', 'b', 'd', 'e'])
    await settle(database)
    expect(isSettled(database)).toBe(true)
    endLoad(database)
    expect(keys('calls')).toEqual(['a', 'b', 'c', 'b', 'd', 'e'])
    database.close()
  })

  it('keeps calls packed of a session that did something in vain in calls of its own', async () => {
    const database = await state(1)
    const load = beginLoad(database, true)
    // As `withFindings` has it, of the first of them.
    putPacked(load?.begin(unit(1), '/r') as Reading, {
      calls: ['m:1', 'm:2'].map((key) => ({ session: 's1', key, usage: { output: 1, quality: 'reported' } })),
      facts: { sessions: [factsOf('s1', 1)], mentions: [], damage: 0, drift: [] },
    })
    load?.settle()
    expect(isSettled(database)).toBe(true)
    expect(database.prepare('SELECT count(*) FROM calls').lists()).toEqual([[0]])
    expect(database.prepare(`SELECT count(*) FROM ${allCalls(database)}`).lists()).toEqual([[2]])
    endLoad(database)
    expect(database.prepare('SELECT kind FROM findings').lists()).toEqual([['re-reads']])
    database.close()
  })

  it('has no call, packed or not, of a unit that holds no session any more', async () => {
    const [packed, usual] = [await state(2), await state(2)]
    const one = (key: string, session: string): Pass => ({
      calls: [{ session, key, usage: { output: 1, quality: 'reported' } }],
      facts: { sessions: [factsOf(session, 1)], mentions: [], damage: 0, drift: [] },
    })
    const load = beginLoad(packed, true)
    for (const [at, pass] of [one('a', 's1'), one('b', 's2')].entries()) {
      putPacked(load?.begin(unit(at + 1), '/r') as Reading, pass)
      put(beginReading(usual, at + 1), pass)
    }
    for (const database of [packed, usual]) clearReading(database, 1, undefined)
    load?.settle()
    for (const database of [packed, usual]) await settle(database)
    endLoad(packed)
    expect(dump(packed)).toEqual(dump(usual))
    packed.close()
    usual.close()
  })

  it('packs no more once a pass has calls of a session that it says nothing of', async () => {
    const database = await state(3)
    const load = beginLoad(database, true)
    const one = (session: string, key: string): Pass => ({
      calls: [{ session, key, usage: { output: 1, quality: 'reported' } }],
      facts: { sessions: [factsOf('s1', 1)], mentions: [], damage: 0, drift: [] },
    })
    putPacked(load?.begin(unit(1), '/r') as Reading, one('s1', 'a'))
    expect([allCalls(database), load?.isPacking()]).toEqual(['all_calls', true])
    putPacked(load?.begin(unit(2), '/r') as Reading, one('s9', 'b'))
    expect([allCalls(database), load?.isPacking()]).toEqual(['calls', false])
    putPacked(load?.begin(unit(3), '/r') as Reading, one('s1', 'c'))
    load?.settle()
    await settle(database)
    expect([isLoading(database), isSettled(database)]).toEqual([false, true])
    expect(database.prepare('SELECT key FROM calls ORDER BY id').lists().flat()).toEqual(['a', 'b', 'c'])
    database.close()
  })

  it('is the same whether a pass tells of its sessions at once or in parts, also of one that died between them', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'load-'))
    let states = 0
    const passes = fc.array(fc.tuple(pass, fc.constantFrom('whole', 'in parts', 'died')), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(passes, fc.boolean(), async (passes, isAgain) => {
        const path = join(folder, `${(states += 1)}.db`)
        let parts = await state(6, path)
        const whole = await state(6)
        for (const round of isAgain ? [1, 2] : [1]) {
          for (const [at, [one, how]] of passes.entries()) {
            put(beginReading(whole, at + 1), one)
            if (how === 'died') {
              const reading = beginReading(parts, at + 1)
              reading.calls(createCallPacker().pack(one.calls))
              reading.sessions({ format: 'f', ...one.facts })
              const before = parts.prepare('SELECT count(*) FROM recordings').lists()
              // Whoever reads sees nothing of it, and whoever opens it next knows that it was not ended.
              parts.close()
              parts = await openDatabase(path)
              expect(parts.prepare('SELECT count(*) FROM recordings').lists(), `round ${round}`).toEqual(
                before,
              )
              expect(parts.prepare('SELECT count(*) FROM begun').lists()).toEqual([[1]])
              removeLeftovers(parts)
            }
            put(beginReading(parts, at + 1), one, how !== 'whole')
          }
          for (const database of [parts, whole]) await settle(database)
          expect(dump(parts)).toEqual(dump(whole))
        }
        parts.close()
        whole.close()
      }),
      { numRuns: 25 },
    )
    fs.rmSync(folder, { recursive: true })
  })

  it('lists the sessions that a pass told of in parts when it is settled, also by whoever opens it next', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'load-'))
    const path = join(folder, 'state.db')
    const died = await state(1, path)
    const keys = Array.from({ length: 450 }, (_, n) => `s${String(n).padStart(3, '0')}`)
    const sessions = keys.map((key) => ({
      key,
      session: { id: key, status: 'completed' as const },
      entries: 1,
      toolCalls: 0,
      work: createWorkFold().end(),
    }))
    const reading = beginReading(died, 1)
    for (let at = 0; at < 400; at += 200)
      reading.sessions({ format: 'f', sessions: sessions.slice(at, at + 200), mentions: [] })
    reading.end('f', { sessions: sessions.slice(400), mentions: [], damage: 0, drift: [] }, new Map())
    expect(isSettled(died)).toBe(false)
    died.close()
    const next = await openDatabase(path)
    removeLeftovers(next)
    await settle(next)
    expect(isSettled(next)).toBe(true)
    for (const table of ['sessions', 'listing'])
      expect(next.prepare(`SELECT key FROM ${table} ORDER BY key`).lists().flat()).toEqual(keys)
    next.close()
    fs.rmSync(folder, { recursive: true })
  })

  it('goes on with a unit that names many sessions and holds none, until that is more than is held', async () => {
    for (const [parts, isGoingOn] of [
      [8, true],
      [9, false],
    ] as const) {
      const database = await state(1)
      const load = beginLoad(database)
      const mentions = Array.from({ length: parts + 1 }, (_, n) => ({ session: `s${n}`, title: `t${n}` }))
      const reading = load?.begin(unit(1), '/r') as Reading
      for (let n = 0; n < parts; n += 1)
        reading.sessions({ format: 'f', sessions: [], mentions: mentions.slice(n, n + 1) })
      reading.end('f', { sessions: [], mentions: mentions.slice(parts), damage: 0, drift: [] }, new Map())
      expect(isLoading(database)).toBe(isGoingOn)
      expect(database.prepare('SELECT session, title FROM mentions ORDER BY session').all()).toEqual(mentions)
      database.close()
    }
  })

  it('says that it is not settled until its calls can be looked up', async () => {
    const database = await state(1)
    const load = beginLoad(database)
    expect([isLoading(database), isSettled(database)]).toEqual([true, false])
    load?.end()
    expect([isLoading(database), isSettled(database)]).toEqual([false, true])
    database.close()
  })

  it('goes on as usual with a unit that was read before, or has more calls than are held', async () => {
    // As long as names may be: a hundred such calls take as much memory as thousands.
    const toolsOf = (call: number) =>
      Array.from({ length: 50 }, (_, n) => `tool ${call} ${n} `.padEnd(190, 'x'))
    for (const [count, reading, named] of [
      [1, 1],
      [MOST_HELD + 1, undefined],
      [120, undefined, toolsOf],
    ] as const) {
      const database = await state(1)
      const load = beginLoad(database)
      const calls = Array.from({ length: count }, (_, n): Call => ({
        session: 's1',
        key: `k${n}`,
        usage: { output: 1, quality: 'reported' },
        ...(named && { tools: named(n) }),
      }))
      put(load?.begin({ ...unit(1), reading }, '/r') as Reading, {
        calls,
        facts: { sessions: [factsOf('s1', 1)], mentions: [], damage: 0, drift: [] },
      })
      expect(isLoading(database)).toBe(false)
      const billed = database.prepare(`SELECT count(*) AS n FROM calls WHERE billed_to = 's1'`).get()
      expect(billed?.['n']).toBe(count)
      database.close()
    }
  })

  it('takes in a session that is listed still, and of which no recording is left', async () => {
    const calls: Call[] = [{ session: 's1', key: 'k', usage: { output: 1, quality: 'reported' } }]
    const pass = { calls, facts: { sessions: [factsOf('s1', 1)], mentions: [], damage: 0, drift: [] } }
    const [database, fresh] = [await state(2), await state(2)]
    put(beginReading(database, 1), pass)
    await settle(database)
    for (const one of [database, fresh]) {
      clearReading(one, 1, undefined)
      const load = beginLoad(one)
      put(load?.begin(unit(2), '/r') as Reading, pass)
      load?.end()
      await settle(one)
    }
    // Which only one of them has read.
    fresh.exec(`UPDATE units SET format = 'f' WHERE id = 1`)
    expect(dump(database)).toEqual(dump(fresh))
    database.close()
    fresh.close()
  })

  it('is not filled again', async () => {
    const database = await state(2)
    const calls = Array.from({ length: 1001 }, (_, n): Call => ({
      session: 's1',
      key: `k${n}`,
      usage: { output: 1, quality: 'reported' },
    }))
    const facts = { sessions: [factsOf('s1', 1)], mentions: [], damage: 0, drift: [] }
    put(beginReading(database, 1), { calls, facts })
    expect(beginLoad(database)).toBeUndefined()
    database.close()
  })
})
