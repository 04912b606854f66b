import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IN_MEMORY, openDatabase } from '../sqlite/driver.ts'
import { CALL_COLUMNS, rowsOf, toTable } from './call-rows.ts'
import { packCalls, unpackCalls } from './packed-calls.ts'
import { SCHEMA } from './state-schema.ts'
import { putPacked, unpackAll } from './state-packed-calls.ts'
import type { SessionFacts } from './unit-facts.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '["Bash"]', 'null', '0', '"', '\\', '\u2028', '{"a":1}', '1e5'),
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

it('is asked by SQLite as the rows that become of it', async () => {
  const database = await openDatabase(IN_MEMORY)
  database.exec(SCHEMA)
  const columns = `id, reading, billed_to, ${CALL_COLUMNS.join(', ')}`
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 3 }), (passes) => {
      database.exec('DELETE FROM calls')
      let first = 1
      for (const [at, rows] of passes.entries()) {
        const packed = packCalls(toTable(rows), facts('s'))
        if (packed !== undefined) putPacked(database, at + 1, first, packed)
        first += rows.length
      }
      const before = database.prepare(`SELECT ${columns} FROM all_calls ORDER BY id`).lists()
      unpackAll(database)
      expect(database.prepare(`SELECT ${columns} FROM calls ORDER BY id`).lists()).toEqual(before)
      expect(before.length).toBe(first - 1)
    }),
  )
  database.close()
})

it('is not made of calls of a session that nothing is said of', () => {
  const one = (session: string, key: string) =>
    CALL_COLUMNS.map((name) => ({ session, key, provider: '', quality: 0 })[name as string] ?? null)
  const table = toTable([one('s', 'k1'), one('t', 'k2'), one('s', 'k3')])
  expect(packCalls(table, facts('s'))).toBeUndefined()
  expect(packCalls(table, facts('s', 't'))?.sessions).toEqual(
    new Map([
      ['s', { count: 2, places: 2 }],
      ['t', { count: 1, places: 1 }],
    ]),
  )
})

it('is not made of calls that say what SQLite would take out of JSON as something else', () => {
  const one = (key: string, said: object) =>
    CALL_COLUMNS.map((name) => {
      const row: Record<string, string | number> = { session: 's', key, provider: '', quality: 0, ...said }
      return row[name] ?? null
    })
  const isPacked = (said: object, other: object): boolean =>
    packCalls(toTable([one('k1', said), one('k2', other)]), facts('s')) !== undefined
  for (const text of ['a\0b', '\ud800', 'x\udfff', '\ud83d\ud83d\ude00']) {
    expect(isPacked({ model: text }, {})).toBe(false)
    expect(isPacked({ source: text }, { source: text })).toBe(false)
  }
  for (const text of ['\u{1F600}', '\u0001', '\uffff', '\\']) expect(isPacked({ model: text }, {})).toBe(true)
})
