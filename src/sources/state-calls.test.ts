import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { toCallRow } from './call-rows.ts'
import { insertCalls, takeOverCalls } from './state-calls.ts'
import { SCHEMA } from './state-schema.ts'
import type { Call } from './session-facts.ts'

/** Few of each, so that calls are reported again, by others and with other counts. */
const call: fc.Arbitrary<Call> = fc
  .record({
    session: fc.constantFrom('s1', 's2'),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k\0'), { nil: undefined }),
    provider: fc.constantFrom(undefined, 'anthropic'),
    output: fc.constantFrom(undefined, 1, 2, Number.MAX_SAFE_INTEGER),
    pico: fc.constantFrom(undefined, 5n),
    tools: fc.constantFrom(undefined, ['Bash']),
  })
  .map(({ session, key, provider, output, pico, tools }) => ({
    session,
    ...(key !== undefined && { key }),
    ...(provider !== undefined && { provider }),
    usage: { ...(output !== undefined && { output }), quality: 'reported' as const },
    ...(pico !== undefined && { pico }),
    ...(tools !== undefined && { tools }),
  }))

describe('takeOverCalls', () => {
  it('leaves what writing all anew would, whatever the pass before said', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 8 }),
        fc.array(call, { maxLength: 8 }),
        async (old, now) => {
          const [taken, written] = await Promise.all([state(), state()])
          insertCalls(taken, 1, old.map(toCallRow))
          takeOverCalls(taken, { before: 1, reading: 2 }, now.map(toCallRow))
          insertCalls(written, 2, now.map(toCallRow))
          expect(rowsOf(taken)).toEqual(rowsOf(written))
          taken.close()
          written.close()
        },
      ),
      { numRuns: 200 },
    )
  })

  it('writes only what is new', async () => {
    const database = await state()
    const calls = Array.from({ length: 80 }, (_, n): Call => ({
      session: 's1',
      key: `k${n}`,
      usage: { output: n, quality: 'reported' },
      pico: BigInt(n),
    }))
    insertCalls(database, 1, calls.slice(0, -1).map(toCallRow))
    const idsOf = (reading: number) =>
      database.prepare('SELECT id FROM calls WHERE reading = ? ORDER BY id').lists(reading)
    const before = idsOf(1)
    takeOverCalls(database, { before: 1, reading: 2 }, calls.map(toCallRow))
    expect(idsOf(1)).toEqual([])
    expect(idsOf(2)).toHaveLength(80)
    expect(idsOf(2).slice(0, -1)).toEqual(before)
    database.close()
  })
})

async function state(): Promise<Database> {
  const database = await openDatabase(IN_MEMORY)
  database.exec(SCHEMA)
  return database
}

function rowsOf(database: Database): string[] {
  return database
    .prepare('SELECT * FROM calls WHERE reading = 2')
    .all()
    .map((row) => JSON.stringify({ ...row, id: 0 }))
    .toSorted()
}
