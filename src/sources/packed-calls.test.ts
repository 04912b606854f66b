import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IN_MEMORY, openDatabase } from '../sqlite/driver.ts'
import { allCalls } from './all-calls.ts'
import { CALL_COLUMNS, rowsOf, toTable } from './call-rows.ts'
import { packCalls, unpackCalls } from './packed-calls.ts'
import { SCHEMA } from './state-schema.ts'
import { putPacked, unpackAll } from './state-packed-calls.ts'
import type { SessionFacts } from './session-facts.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '["Bash"]', 'null', '0', '"', '\\', '\u2028', '{"a":1}', '1e5', 'a\0b', '\ud800'),
)
const count = fc.option(fc.nat(1_000_000_000))
/** Of one session, each with another key. */
const rows = fc
  .array(fc.tuple(fc.option(text), fc.option(text), count, count, fc.option(text)), {
    minLength: 1,
    maxLength: 9,
  })
  .map((all) =>
    all.map(([model, at, input, pico, tools], n) =>
      CALL_COLUMNS.map((name) => {
        const said = { session: 's', key: `k${n}`, provider: '', model, at, input, pico, tools, quality: 0 }
        return (said as Record<string, string | number | null>)[name] ?? null
      }),
    ),
  )

const facts = (...keys: string[]): readonly SessionFacts[] =>
  keys.map((key) => ({ key, work: { findings: [] } }) as unknown as SessionFacts)

it('gives back the calls that it was made of', () => {
  fc.assert(
    fc.property(rows, (rows) => {
      const packed = packCalls(toTable(rows), facts('s'))
      expect(packed && rowsOf(unpackCalls(packed))).toEqual(rows)
      expect(packed?.sessions.get('s')).toEqual({
        count: rows.length,
        places: (rows.length * (rows.length - 1)) / 2,
      })
    }),
  )
})

it('is asked for, while it is packed, as the rows that become of it', async () => {
  const columns = `id, reading, billed_to, ${CALL_COLUMNS.join(', ')}`
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { minLength: 1, maxLength: 3 }), async (passes) => {
      const database = await openDatabase(IN_MEMORY)
      database.exec(SCHEMA)
      const ask = (table: string): unknown =>
        database.prepare(`SELECT ${columns} FROM ${table} ORDER BY id`).lists()
      let first = 1
      for (const [at, rows] of passes.entries()) {
        const packed = packCalls(toTable(rows), facts('s'))
        if (packed !== undefined) putPacked(database, at + 1, first, packed)
        first += rows.length
        // Whoever asked before asks again.
        expect(database.prepare(`SELECT count(*) FROM ${allCalls(database)}`).lists()).toEqual([[first - 1]])
      }
      const before = ask(allCalls(database))
      unpackAll(database)
      // Also who was told before that they are packed.
      expect([ask('calls'), ask('all_calls')]).toEqual([before, before])
      expect(allCalls(database)).toBe('calls')
      database.close()
    }),
    { numRuns: 50 },
  )
})

it('is told from what nobody packed', () => {
  const packed = packCalls(toTable(['k1', 'k2'].map((key) => row('s', key))), facts('s'))
  const calls = packed?.calls ?? ''
  expect(unpackCalls({ count: 2, calls }).count).toBe(2)
  const others = [
    '',
    '{}',
    'null',
    '[]',
    calls.slice(1),
    calls.replace('"k1"', '{}'),
    calls.replace('"k1",', ''),
  ]
  for (const other of others) {
    expect(other).not.toBe(calls)
    expect(() => unpackCalls({ count: 2, calls: other })).toThrow('damaged')
  }
  expect(() => unpackCalls({ count: 3, calls })).toThrow('damaged')
})

it('is told from what nobody packed as often as it is asked for', async () => {
  const database = await openDatabase(IN_MEMORY)
  database.exec(SCHEMA)
  putPacked(database, 1, 1, { count: 1, calls: '["a"' })
  for (let time = 0; time < 2; time += 1) expect(() => allCalls(database)).toThrow('damaged')
  database.close()
})

const row = (session: string, key: string) =>
  CALL_COLUMNS.map((name) => ({ session, key, provider: '', quality: 0 })[name as string] ?? null)

it('is not made of calls of a session that nothing is said of', () => {
  const table = toTable([row('s', 'k1'), row('t', 'k2'), row('s', 'k3')])
  expect(packCalls(table, facts('s'))).toBeUndefined()
  expect(packCalls(table, facts('s', 't'))?.sessions).toEqual(
    new Map([
      ['s', { count: 2, places: 2 }],
      ['t', { count: 1, places: 1 }],
    ]),
  )
})

it('is made without looking at all sessions for each of them', () => {
  const keys = Array.from({ length: 200 }, (_, n) => `s${n}`)
  let asked = 0
  const watch = (one: SessionFacts, n: number): SessionFacts =>
    Object.defineProperty({ ...one }, 'key', {
      get() {
        asked += 1
        return keys[n]
      },
    })
  const packed = packCalls(toTable(keys.map((key) => row(key, key))), facts(...keys).map(watch))
  expect(packed?.sessions.size).toBe(keys.length)
  expect(asked).toBeLessThan(10 * keys.length)
})
