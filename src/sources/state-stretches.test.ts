import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openState, type State } from './state.ts'
import { openStateFiles, type SeenFile } from './state-files.ts'
import { inStretches, openStretches } from './state-stretches.ts'

let folder: string
let states: State[]
const newState = async (): Promise<State> => {
  const state = await openState(openArchive(join(folder, String(states.length)), { write: true }))
  states.push(state)
  return state
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-stretches-'))
  states = []
})
afterEach(() => {
  for (const state of states) state.close()
  rmSync(folder, { recursive: true, force: true })
})

const files = (count: number, stamp: (at: number) => string): SeenFile[] =>
  Array.from({ length: count }, (_, at) => ({ path: `p${at % 7}/${at}.jsonl`, stamp: stamp(at), size: 1 }))

/** Looks as a sync does, and gives how many files were compared one by one. */
function look({ database }: State, seen: readonly SeenFile[], isToKeep = true): number {
  const known = openStateFiles(database)
  const place = known.place('claude-code', '/p')
  const stretches = openStretches(database, place, isToKeep)
  let compared = 0
  for (const stretch of inStretches(seen)) {
    if (stretches.isKnown(stretch)) continue
    compared += stretch.length
    stretches.compared(
      stretch,
      database.transaction(() => known.look(place, stretch, isToKeep)),
    )
  }
  stretches.settle()
  return compared
}

/** As if all that is pending had been taken in. */
function takeAll({ database }: State): void {
  database.exec('UPDATE files SET pending = 0, bytes = size')
}

describe('a stretch of files', () => {
  it('is compared until nothing in it has changed, and then no more', async () => {
    const state = await newState()
    const seen = files(2000, () => 's')
    expect(look(state, seen)).toBe(2000)
    takeAll(state)
    expect(look(state, seen)).toBe(2000)
    expect(look(state, seen)).toBe(0)
  })

  it('is the only one compared when one of its files changes, comes or goes', async () => {
    const state = await newState()
    const seen = files(5000, () => 's')
    look(state, seen)
    takeAll(state)
    look(state, seen)
    const changed = seen.map((file, at) => (at === 2500 ? { ...file, stamp: 't' } : file))
    expect(look(state, changed)).toBeLessThanOrEqual(1024)
    takeAll(state)
    look(state, changed)
    expect(look(state, changed)).toBe(0)
    expect(look(state, changed.toSpliced(1000, 1))).toBeLessThanOrEqual(2048)
    expect(
      look(state, [...changed.slice(0, 10), { path: 'new', stamp: 's', size: 1 }, ...changed.slice(10)]),
    ).toBeLessThanOrEqual(2048)
  })

  it('never hides what comparing every file would find', async () => {
    const act = fc.oneof(
      fc.record({ do: fc.constant('stamp' as const), at: fc.nat(11), to: fc.constantFrom('a', 'b') }),
      fc.record({ do: fc.constantFrom('remove' as const, 'forget' as const), at: fc.nat(11) }),
      fc.record({ do: fc.constantFrom('look' as const, 'read' as const, 'take' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const [fast, plain] = [await newState(), await newState()]
        const there = new Map<number, string>()
        const pending = ({ database }: State): unknown =>
          database.prepare('SELECT path, stamp FROM files WHERE pending > 0 ORDER BY path').all()
        for (const one of acts) {
          if (one.do === 'stamp') there.set(one.at, one.to)
          if (one.do === 'remove') there.delete(one.at)
          if (one.do === 'forget')
            for (const { database } of [fast, plain])
              database.exec(`DELETE FROM files WHERE path = 'f${one.at}'`)
          if (one.do === 'take') for (const state of [fast, plain]) takeAll(state)
          if (one.do !== 'look' && one.do !== 'read') continue
          const seen = [...there].map(([at, stamp]) => ({ path: `f${at}`, stamp, size: 1 }))
          look(fast, seen, one.do === 'look')
          const known = openStateFiles(plain.database)
          known.look(known.place('claude-code', '/p'), seen, one.do === 'look')
          expect(pending(fast)).toEqual(pending(plain))
        }
      }),
      { numRuns: 60 },
    )
  })
})
