/** What the index has to catch up with, told by what was written since: the same as comparing all there is. */
import fs from 'node:fs'
import { expect, describe, it } from 'vitest'
import { changesSince } from '../src/search/index-changes.ts'
import { makePlan, openShards, planChanges, shardNumbers, type IndexPlan } from '../src/search/index-plan.ts'
import { readIndexRecord } from '../src/search/index-record.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { knownUnits } from '../src/search/known-units.ts'
import { stateMark } from '../src/search/state-mark.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { openState, peekState } from '../src/sources/state.ts'
import { createSearched, recordSession, writeLog } from './searched-archive.ts'

const searched = createSearched('search-changes')
const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `ordinary number${at}`)
const home = (): string => searched.archive.home

describe('what changed since the index was caught up', () => {
  type Planned = {
    readonly changed: readonly string[]
    readonly fresh: readonly string[]
    readonly gone: number
  }
  const planned = ({ own, fresh }: IndexPlan): Planned => ({
    changed: [...own.values()].flatMap(({ units }) => units.map(({ name }) => name)).sort(),
    fresh: fresh.map(({ name }) => name).sort(),
    gone: [...own.values()].reduce((sum, { gone }) => sum + gone.length, 0),
  })
  /** By comparing all, and by what was written since: undefined where that does not tell. */
  const plans = async (): Promise<readonly [Planned, Planned | undefined]> => {
    const { archive } = searched
    const state = await peekState(archive)
    if (state === undefined) throw new Error('no state')
    const shards = openShards(archive, shardNumbers(archive))
    try {
      const before = readIndexRecord(archive)?.mark ?? ''
      const changes = changesSince(state.database, home(), { before, now: stateMark(state.database) })
      const few = changes && (await planChanges(shards, changes))
      return [planned(await makePlan(shards, knownUnits(state.database, home()))), few && planned(few)]
    } finally {
      shards.close()
      state.close()
    }
  }

  it('is indexed a few units at a time, when there are many', async () => {
    for (let n = 0; n < 7; n += 1) writeLog(searched.config, n, texts(3))
    await searched.sync()
    const seen: number[] = []
    const onProgress = ({ bytes, of }: { bytes: number; of: number }): void => void seen.push(bytes / of)
    expect(await catchUpIndex(searched.archive, { unitsAtOnce: 2, onProgress })).toMatchObject({ units: 7 })
    expect(seen.at(-1)).toBe(1)
    expect((await plans())[0]).toEqual({ changed: [], fresh: [], gone: 0 })
    for (let n = 2; n < 9; n += 1) writeLog(searched.config, n, texts(4))
    await searched.sync()
    const state = await openState(searched.archive)
    state.database.exec('UPDATE units SET reading = NULL WHERE id = (SELECT min(id) FROM units)')
    state.close()
    expect((await plans())[0]).toMatchObject({ gone: 1 })
    expect(await catchUpIndex(searched.archive, { unitsAtOnce: 1 })).toMatchObject({ units: 7 })
    expect((await plans())[0]).toEqual({ changed: [], fresh: [], gone: 0 })
  })

  it('is what comparing all units tells, or is not told', async () => {
    for (let n = 0; n < 6; n += 1) writeLog(searched.config, n, texts(3))
    await searched.sync()
    await recordSession(searched.archive, ['ordinary journal'])
    ;(await openSessions(home())).close()
    await catchUpIndex(searched.archive)
    const steps: readonly (readonly [string, () => unknown, boolean])[] = [
      ['nothing', () => {}, true],
      ['one that grew', () => writeLog(searched.config, 2, texts(5)), true],
      ['a new one', () => writeLog(searched.config, 9, texts(2)), true],
      ['both', () => [writeLog(searched.config, 3, texts(4)), writeLog(searched.config, 10, texts(1))], true],
      ['a title', () => fs.appendFileSync(writeLog(searched.config, 4, texts(4)), titleLine(4)), true],
      ['a session that was removed', () => remove(4), false],
      ['one more after that', () => writeLog(searched.config, 11, texts(2)), true],
    ]
    for (const [what, change, isTold] of steps) {
      await change()
      await searched.sync()
      const [all, few] = await plans()
      expect([what, few]).toEqual([what, isTold ? all : undefined])
      await catchUpIndex(searched.archive)
      expect([what, (await plans())[0]]).toEqual([what, { changed: [], fresh: [], gone: 0 }])
    }
  })

  const titleLine = (number: number): string => {
    const sessionId = `${number.toString(16).padStart(8, '0')}-3333-4333-8333-333333333333`
    return `${JSON.stringify({ type: 'custom-title', customTitle: 'another title', sessionId })}\n`
  }
  const remove = async (number: number): Promise<void> => {
    const path = writeLog(searched.config, number, [])
    fs.rmSync(path)
    const state = await openState(searched.archive)
    state.database.exec(`DELETE FROM sessions WHERE session LIKE '%another title%'`)
    state.close()
  }
})
