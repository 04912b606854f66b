import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { canWriteLists, writeList } from './word-bulk.ts'
import { createPostings } from './word-postings.ts'
import { readStructure } from './word-structure.ts'
import { createTable } from './word-tables.ts'

type Doc = { readonly number: number; readonly text: string; readonly facets: string }

/** Two tables with the same entries: one that FTS5 has made, one that was written as lists, of so many entries each. */
async function twice(docs: readonly Doc[], listed = docs.length): Promise<Database> {
  const database = await openDatabase(IN_MEMORY)
  createTable(database, 'theirs')
  createTable(database, 'ours')
  database.exec('BEGIN')
  const add = database.prepare('INSERT INTO theirs (rowid, text, facets) VALUES (?, ?, ?)')
  for (const { number, text, facets } of docs) add.run(number, Buffer.from(text), facets)
  expect(canWriteLists(database, 'ours')).toBe(true)
  const postings = createPostings()
  for (let from = 0; from < docs.length; from += listed) {
    for (const { number, text, facets } of docs.slice(from, from + listed))
      postings.add(number, Buffer.from(text), facets)
    writeList(database, 'ours', postings)
    postings.clear()
  }
  database.exec('COMMIT')
  return database
}

/** Every place of every word, the size of every entry, and what a few queries find, by FTS5's own word. */
function saidOf(database: Database, table: string, queries: readonly string[]): unknown {
  database.exec(`CREATE VIRTUAL TABLE temp.places_${table} USING fts5vocab(main, ${table}, instance)`)
  const places = database.prepare(`SELECT * FROM temp.places_${table}`).lists()
  database.exec(`DROP TABLE temp.places_${table}`)
  const found = queries.map((query) => [
    database
      .prepare(`SELECT rowid, bm25(${table}) FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC`)
      .lists(query),
    database
      .prepare(`SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND rowid < 400 ORDER BY rowid LIMIT 3`)
      .lists(query),
  ])
  const sizes = database.prepare(`SELECT id, hex(sz) FROM ${table}_docsize ORDER BY id`).lists()
  const totals = database.prepare(`SELECT hex(block) FROM ${table}_data WHERE id = 1`).lists()
  // Throws when anything in it does not fit together.
  database.exec(`INSERT INTO ${table} (${table}) VALUES ('integrity-check')`)
  return { places, found, sizes, totals }
}

function expectSame(database: Database, queries: readonly string[]): void {
  const [ours, theirs] = ['ours', 'theirs'].map((table) => JSON.stringify(saidOf(database, table, queries)))
  // Not by `toEqual`: they are lists of a hundred thousand.
  expect(ours === theirs).toBe(true)
}

async function withTempFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'word-bulk-'))
  try {
    await work(folder)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

const listOf = (words: readonly string[]): string => words.map((word) => `${word} `).join('')

/** Words of a few letters, some of which are everywhere. */
function sample(count: number, wordsEach: number, first = 0): Doc[] {
  let seed = 7
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  return Array.from({ length: count }, (_, nth) => ({
    number: first + nth * 3 + (nth % 3),
    text: listOf(
      Array.from({ length: next(wordsEach * 2) + 1 }, () =>
        next(3) === 0 ? 'the' : `w${next(next(2) === 0 ? 40 : 5000).toString(36)}`,
      ),
    ),
    facets: `role:user Tool:N${next(5)} file:a'b`,
  }))
}

const QUERIES = ['the', '"the the"', 'w1*', 'text : the AND facets : "role:user"', 'the NOT wa', '"file:a"']

describe('entries written as a list of FTS5', () => {
  it('are what FTS5 would have made of them', async () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'é', '漢', '0', '¶'),
      minLength: 1,
      maxLength: 12,
    })
    const doc = fc.record({
      step: fc.integer({ min: 1, max: 100_000 }),
      text: fc.array(word, { maxLength: 30 }).map(listOf),
      facets: fc.array(fc.constantFrom('role:user', 'tool:Bash', "a'b", 'É', 'every:'), { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(doc, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
        async (drafts, first) => {
          let number = first
          const docs = drafts.map(({ step, text, facets }) => ({
            number: (number += step),
            text,
            facets: facets.join(' '),
          }))
          const database = await twice(docs)
          expectSame(database, ['a', '"a b"', 'ab*', '"role:user"'])
          database.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it.each([
    ['many short ones', sample(3000, 5), 3000],
    ['below zero', sample(2000, 20, -1_000_000), 2000],
    ['across zero', sample(2000, 20, -3000), 2000],
    ['few long ones', sample(5, 30_000), 20],
    ['of several lists', sample(3000, 10), 700],
    [
      'with words that take leaves of their own',
      [
        {
          number: 5,
          text: listOf(['b', 'x'.repeat(40_000), 'c', 'x'.repeat(39_999), 'y'.repeat(9000)]),
          facets: '',
        },
        ...sample(50, 10, 6),
      ],
      100,
    ],
  ])('are the same for %s', async (_, docs, listed) => {
    const database = await twice(docs, listed)
    expectSame(database, QUERIES)
    database.close()
  })

  it('stay the same when FTS5 deletes, adds and puts together', async () => {
    const docs = sample(3000, 20)
    const database = await twice(docs, 1000)
    database.exec('BEGIN')
    for (const table of ['theirs', 'ours']) {
      const remove = database.prepare(`DELETE FROM ${table} WHERE rowid = ?`)
      const add = database.prepare(`INSERT INTO ${table} (rowid, text, facets) VALUES (?, ?, ?)`)
      for (const [nth, { number }] of docs.entries()) if (nth % 3 === 0) remove.run(number)
      for (const { text, facets, number } of sample(200, 10, 100_000))
        add.run(number, Buffer.from(text), facets)
    }
    database.exec('COMMIT')
    expectSame(database, QUERIES)
    for (const table of ['theirs', 'ours'])
      database.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`)
    expectSame(database, QUERIES)
    const block = database.prepare('SELECT block FROM ours_data WHERE id = 10').get()?.['block'] as Uint8Array
    expect(readStructure(block)?.levels.flatMap(({ segments }) => segments)).toHaveLength(1)
    database.close()
  })

  it('follow what FTS5 has put there, removed and put together before, on any connection', async () => {
    await withTempFolder(async (folder) => {
      const path = join(folder, 'words.db')
      const tables = ['theirs', 'ours']
      const used = async (work: (database: Database) => void): Promise<void> => {
        const database = await openDatabase(path)
        database.transaction(() => work(database))
        database.close()
      }
      const add = (database: Database, table: string, docs: readonly Doc[]): void => {
        for (const { number, text, facets } of docs)
          database
            .prepare(`INSERT INTO ${table} (rowid, text, facets) VALUES (?, ?, ?)`)
            .run(number, Buffer.from(text), facets)
      }
      const list = (database: Database, docs: readonly Doc[]): void => {
        add(database, 'theirs', docs)
        const postings = createPostings()
        for (const { number, text, facets } of docs) postings.add(number, Buffer.from(text), facets)
        expect(canWriteLists(database, 'ours')).toBe(true)
        writeList(database, 'ours', postings)
      }
      await used((database) => {
        for (const table of tables) createTable(database, table)
        list(database, sample(300, 20))
      })
      // Reads before and after the others have written: it holds nothing for true that was so.
      const reader = await openDatabase(path)
      for (let round = 1; round < 5; round += 1) {
        await used((database) => {
          for (const table of tables) {
            add(database, table, sample(150, 20, round * 10_000))
            for (const { number } of sample(300, 20).slice(round * 40, round * 40 + 40))
              database.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(number)
            database.exec(
              `INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${round % 2 === 0 ? -20 : 5})`,
            )
          }
        })
        expectSame(reader, QUERIES)
        await used((database) => list(database, sample(150, 20, round * 10_000 + 5000)))
        expectSame(reader, QUERIES)
      }
      reader.close()
      await used((database) => {
        for (const table of tables) database.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`)
        expectSame(database, QUERIES)
      })
    })
  })
})
