import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withShard } from '../../test/shard.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Doc } from './doc-pages.ts'
import { openIndexDocs, removeDocs } from './index-docs.ts'
import { createNumbers } from './index-numbers.ts'
import { TOP } from './shard-blocks.ts'
import type { ListedUnit } from './unit-list.ts'
import { createWordLookup, type WordLookup } from './word-lookup.ts'
import { openWordWriter, readWordTables } from './word-tables.ts'

const SIZES = { up: 300, down: 150 }

/** One transaction: units by their numbers, with the words of each entry. New ones are `time` old. */
function write(
  database: Database,
  units: ReadonlyMap<number, readonly string[]>,
  time: number,
  isMuch: boolean,
): void {
  database.transaction(() => {
    const words = openWordWriter(database, { sizes: SIZES, isMuch, fewest: time % 2 === 0 ? 0 : 500 })
    const fresh = [...units].filter(
      ([id]) => database.prepare('SELECT 1 FROM pieces WHERE unit = ?').get(id) === undefined,
    )
    const numbers = createNumbers(
      database,
      fresh.map(([, texts]) => ({ bytes: texts.length * 200, endedAt: time }) as ListedUnit),
    )
    for (const [id, texts] of units) {
      const docs = openIndexDocs(database, id, numbers, { grams: { take: () => undefined }, words })
      for (const text of texts) {
        const mark = Array.from(text).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 0)
        docs.put({ ...DOC, at: time, mark }, time, () => ({ text: Buffer.from(text), facets: ['all'] }))
      }
      docs.end()
    }
    words.flush()
  })
}

const DOC: Doc = {
  session: 1,
  source: 1,
  sequence: 0,
  file: 0,
  version: undefined,
  byteOffset: 0,
  byteLength: 0,
  at: 0,
  hasAt: true,
  role: undefined,
  identity: 1n,
  mark: 0,
  isLarge: false,
}

const lookupIn = (database: Database): WordLookup =>
  createWordLookup(
    (sql) => database.prepare(sql),
    (sql) => database.exec(sql),
    () => readWordTables((sql) => database.prepare(sql)),
  )

/** The entries of the units by number, from the highest down. */
function expected(database: Database, units: ReadonlyMap<number, readonly string[]>) {
  const found: { number: number; text: string }[] = []
  for (const [id, texts] of units) {
    const pieces = database.prepare('SELECT low, high FROM pieces WHERE unit = ? ORDER BY low').all(id)
    const numbers = pieces.flatMap(({ low, high }) =>
      Array.from({ length: Number(high) - Number(low) }, (_, at) => Number(low) + at),
    )
    expect(numbers.length).toBe(texts.length)
    for (const [at, number] of numbers.entries()) found.push({ number, text: texts[at] as string })
  }
  return found.sort((a, b) => b.number - a.number)
}

describe.each([false, true])('tables of words (sorted here: %s)', (isMuch) => {
  const step = fc.record({
    /** Older than all before it, or newer. */
    isNewer: fc.boolean(),
    sizes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 }),
    grown: fc.option(fc.tuple(fc.nat(), fc.integer({ min: -200, max: 700 }))),
    removed: fc.option(fc.nat()),
    isOther: fc.boolean(),
  })

  it('have every entry once, whatever comes above, below, grows, shrinks or goes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), (steps) =>
        withShard((database) => {
          const units = new Map<number, readonly string[]>()
          let [oldest, newest, made] = [1000, 1000, 0]
          const texts = (count: number): string[] =>
            Array.from({ length: count }, () => `word${(made += 1) % 7} only${made}`)
          for (const { isNewer, sizes, grown, removed, isOther } of steps) {
            const batch = new Map<number, readonly string[]>()
            for (const size of sizes) batch.set(units.size + batch.size + 1, texts(size))
            const ids = [...units.keys()]
            const other = grown && ids.length > 0 ? ids[grown[0] % ids.length] : undefined
            const had = other === undefined ? undefined : units.get(other)
            if (other !== undefined && had !== undefined && grown !== null)
              batch.set(other, [
                ...had.slice(0, had.length + Math.min(0, grown[1])),
                ...texts(Math.max(0, grown[1])),
              ])
            write(database, batch, isNewer ? (newest += 1) : (oldest -= 1), isMuch && !isOther)
            for (const [id, own] of batch) units.set(id, own)
            const gone = removed === null ? undefined : [...units.keys()][removed % units.size]
            if (gone === undefined) continue
            database.transaction(() => removeDocs(database, gone, openWordWriter(database, { sizes: SIZES })))
            units.set(gone, [])
          }
          const all = expected(database, units)
          const lookup = lookupIn(database)
          expect(lookup.matches('"all"', TOP, 100_000)).toEqual(all.map(({ number }) => number))
          expect(lookup.count('"word3"')).toBe(all.filter(({ text }) => text.startsWith('word3')).length)
          for (const { number, text } of all.filter((_, at) => at % 97 === 0))
            expect(lookup.matches(`"${text}"`, TOP, 5)).toEqual([number])
          const middle = all[all.length >> 1]?.number ?? 0
          const below = all.filter(({ number }) => number < middle).slice(0, 50)
          expect(lookup.matches('"all"', middle, 50)).toEqual(below.map(({ number }) => number))
          const words = lookup.words([['word', 'word9']], [5, 5])
          expect([...words.values()].reduce((sum, count) => sum + count, 0)).toBe(all.length)
        }),
      ),
      { numRuns: 12 },
    )
  })

  it('are no larger than is said, and as few as that takes, in a new index and in one that grows', async () => {
    await withShard((database) => {
      const units = new Map<number, readonly string[]>()
      const add = (time: number): void => {
        const batch = new Map<number, readonly string[]>()
        for (let unit = 0; unit < 4; unit += 1)
          batch.set(
            units.size + batch.size + 1,
            Array.from({ length: 50 }, (_, at) => `word${at}`),
          )
        write(database, batch, time, isMuch)
        for (const [id, own] of batch) units.set(id, own)
      }
      for (let round = 0; round < 6; round += 1) add(1000 - round)
      const tables = () => readWordTables((sql) => database.prepare(sql))
      // A batch of 200 each.
      expect(tables().length).toBe(6)
      for (let round = 0; round < 6; round += 1) add(2000 + round)
      expect(tables().length).toBeLessThanOrEqual(10)
      for (const { name } of tables()) {
        const held = Number(database.prepare(`SELECT count(*) AS held FROM ${name}_docsize`).get()?.['held'])
        expect(held).toBeLessThanOrEqual(SIZES.up + 64)
        expect(held).toBeGreaterThan(0)
      }
    })
  })

  it('give an entry the same score in whichever it stands, however rare its words are there', async () => {
    await withShard((database) => {
      const filler = (count: number): string[] => Array.from({ length: count }, () => 'some other words here')
      write(database, new Map([[1, [...filler(180), 'apple pear words here']]]), 1000, isMuch)
      const many = Array.from({ length: 90 }, () => 'apple apple apple words')
      write(database, new Map([[2, [...many, ...filler(90), 'apple pear words here']]]), 900, isMuch)
      const lookup = lookupIn(database)
      const asked = { below: TOP, among: 1000, limit: 1000, ideal: -8.8 }
      const scores = (fts: string): number[] => lookup.ranked(fts, asked).best.map(({ score }) => score)
      const apples = scores('"apple"')
      expect(apples.length).toBe(92)
      // Those that say it three times come first; the two that say it once are equal, the newer one first.
      expect(new Set(apples.slice(0, 90).map((score) => score.toFixed(6))).size).toBe(1)
      expect(apples[90]?.toFixed(6)).toBe(apples[91]?.toFixed(6))
      expect(apples[0]).toBeLessThan(apples[91] as number)
      expect(apples[0]).toBeGreaterThan(-8.8)
      const both = lookup.ranked('"apple" AND "pear"', asked)
      expect(both.count).toBe(2)
      expect(both.best[0]?.score.toFixed(6)).toBe(both.best[1]?.score.toFixed(6))
    })
  })

  it('are asked no further than the newest that are ranked', async () => {
    await withShard((database) => {
      const words = (about: string, count: number): string[] =>
        Array.from({ length: count }, (_, at) => `${about} number${at}`)
      write(database, new Map([[1, words('same', 200)]]), 1000, isMuch)
      write(database, new Map([[2, words('same', 200)]]), 900, isMuch)
      const lookup = lookupIn(database)
      const ranked = lookup.ranked('"same"', { below: TOP, among: 230, limit: 5, ideal: -8.8 })
      const all = lookup.matches('"same"', TOP, 230)
      expect(ranked).toEqual({ best: expect.anything(), count: 230, last: all.at(-1) })
      expect(ranked.best.map(({ number }) => number)).toEqual(all.slice(0, 5))
    })
  })
})
