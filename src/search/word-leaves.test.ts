import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withShard } from '../../test/shard.ts'
import type { Database } from '../sqlite/driver.ts'
import { createTextFinder } from './text-finder.ts'
import { readLeaves, type AskedWords } from './word-leaves.ts'
import { createWordLookup } from './word-lookup.ts'
import { openWordWriter, readWordTables } from './word-tables.ts'

/** The same every time: words of few syllables, of which many begin and end alike, some of them long, some beyond ASCII. */
function createWords(): () => string {
  let seed = 7
  const pick = (most: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * most)
  }
  const syllables = ['ba', 'ce', 'do', 'fu', 'ga', 'xi', '0', '7a', 'é', '語', 'tr']
  return () => {
    const count = pick(50) === 0 ? 30 : 1 + pick(5)
    return Array.from({ length: count }, () => syllables[pick(syllables.length)]).join('')
  }
}

type Rounds = { readonly rounds: number; readonly docs: number; readonly isRemoving?: boolean }

/** One transaction a round: entries come, and some of those before go. */
function fill(database: Database, { rounds, docs, isRemoving = false }: Rounds): void {
  const word = createWords()
  for (let round = 0; round < rounds; round += 1) {
    database.transaction(() => {
      const writer = openWordWriter(database)
      for (let nth = 0; nth < docs; nth += 1) {
        const text = Array.from({ length: 40 }, word).join(' ')
        writer.add(round * docs + nth, Buffer.from(text), `every: file:${word()}`)
      }
      if (isRemoving && round > 0)
        for (let nth = 0; nth < docs; nth += 3) writer.remove((round - 1) * docs + nth)
    })
  }
}

function vocabulary(database: Database): readonly string[] {
  database.exec('CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words_1, row)')
  const rows = database.prepare('SELECT term FROM temp.vocabulary').all()
  database.exec('DROP TABLE temp.vocabulary')
  return rows.map(({ term }) => String(term))
}

const lookupIn = (database: Database) =>
  createWordLookup(
    (sql) => database.prepare(sql),
    (sql) => database.exec(sql),
    () => readWordTables((sql) => database.prepare(sql)),
  )

const isRead = (database: Database, asked: AskedWords): boolean =>
  readLeaves(
    (sql) => database.prepare(sql),
    'words_1',
    asked,
    () => true,
  )

const NO_LENGTH = [1, 0] as const
const ANY = { texts: ['cedo', 'fuga'], isWanted: () => true }

describe('the leaves of a table of words', () => {
  it.each([true, false])(
    'give every word that FTS5 gives, over many leaves and lists that were put together (with some deleted: %s)',
    async (isRemoving) => {
      await withShard((database) => {
        fill(database, { rounds: 40, docs: 60, isRemoving })
        const leaves = Number(database.prepare('SELECT count(*) AS n FROM words_1_data').get()?.['n'])
        expect(leaves).toBeGreaterThan(50)
        const all = vocabulary(database)
        const found = new Set<string>()
        const read = (asked: AskedWords): boolean => {
          found.clear()
          return readLeaves(
            (sql) => database.prepare(sql),
            'words_1',
            asked,
            (word) => !!found.add(word),
          )
        }
        expect(read({ texts: ['nothing'], lengths: [0, 100_000] })).toBe(true)
        expect(all.filter((word) => !found.has(word))).toEqual([])
        // Words of what was deleted are there until their list is put together with others.
        const there = isRemoving ? [...found] : all
        if (isRemoving) expect(found.size).toBeGreaterThan(all.length)
        expect([...found].sort()).toEqual(there.toSorted())
        for (const text of ['cedo', 'xi0', '0', 'ba7aba', 'trtrtr', 'gagagagaga']) {
          read({ texts: [text], lengths: NO_LENGTH })
          expect([...found].sort()).toEqual(there.filter((word) => word.includes(text)).sort())
        }
      })
    },
  )

  it('are not read where a table says that they are of another kind, and the words are the same', async () => {
    await withShard((database) => {
      fill(database, { rounds: 3, docs: 40 })
      const before = lookupIn(database).wordsHaving('words_1', ANY, 100_000)
      database.exec(`UPDATE words_1_config SET v = 5 WHERE k = 'version'`)
      const asked = { texts: ['cedo'], lengths: NO_LENGTH }
      expect(isRead(database, asked)).toBe(false)
      const after = lookupIn(database).wordsHaving('words_1', ANY, 100_000)
      expect(before?.length).toBeGreaterThan(10)
      expect(before?.toSorted()).toEqual(after?.toSorted())
    })
  })

  it('are told from bytes that are none', async () => {
    await withShard((database) => {
      fill(database, { rounds: 1, docs: 60 })
      const asked = { texts: ['cedo'], lengths: NO_LENGTH }
      database.exec(`UPDATE words_1_data SET block = x'0000ffff' || substr(block, 5) WHERE id > ${2 ** 37}`)
      expect(isRead(database, asked)).toBe(false)
      database.exec(`UPDATE words_1_data SET block = x'00' WHERE id > ${2 ** 37}`)
      expect(isRead(database, asked)).toBe(false)
    })
  })

  it('are told from such as would have words that are longer than any', async () => {
    await withShard((database) => {
      fill(database, { rounds: 1, docs: 60 })
      const number = (value: number): number[] => [
        0x80 | (value >> 14),
        0x80 | ((value >> 7) & 0x7f),
        value & 0x7f,
      ]
      const word = (length: number): Buffer => Buffer.alloc(length, 'a')
      // Each has all of the one before, and the third lies within the second.
      const third = Buffer.from([...number(65_001), ...number(2000)])
      const leaf = Buffer.concat([
        Buffer.alloc(4),
        Buffer.from([...number(32_001), 0x30]),
        word(32_000),
        Buffer.from([...number(32_001), ...number(33_000)]),
        Buffer.concat([third, word(33_000 - third.length)]),
      ])
      leaf.writeUInt16BE(leaf.length, 2)
      const places = Buffer.from([4, ...number(32_004), 6])
      const block = Buffer.concat([leaf, places])
      database.prepare(`UPDATE words_1_data SET block = ? WHERE id > ${2 ** 37}`).run(block)
      const asked = { texts: ['nothing'], lengths: NO_LENGTH }
      expect(isRead(database, asked)).toBe(false)
    })
  })

  it('are left when there are more words than were asked for', async () => {
    await withShard((database) => {
      fill(database, { rounds: 1, docs: 60 })
      const lookup = lookupIn(database)
      const all = lookup.wordsHaving('words_1', ANY, 100_000) ?? []
      expect(lookup.wordsHaving('words_1', ANY, all.length)).toHaveLength(all.length)
      expect(lookup.wordsHaving('words_1', ANY, all.length - 1)).toBeUndefined()
      const few = { ...ANY, isWanted: (word: string) => word === all[0] }
      expect(lookup.wordsHaving('words_1', few, 1)).toEqual([all[0]])
    })
  })
})

describe('texts within words', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '0'), minLength: 1, maxLength: 5 })
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '0', 'é'), maxLength: 9 })

  it('are found where one of them is, for words in any order that say what they have of the one before', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), fc.array(word), (texts, words) => {
        const finder = createTextFinder(texts)
        let before = Buffer.alloc(0)
        for (const one of words.toSorted()) {
          const bytes = Buffer.from(one)
          let kept = 0
          while (kept < bytes.length && kept < before.length && bytes[kept] === before[kept]) kept += 1
          expect(finder(bytes, kept, bytes.length)).toBe(texts.some((each) => one.includes(each)))
          before = bytes
        }
      }),
    )
  })
})
