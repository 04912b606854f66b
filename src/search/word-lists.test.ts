import { describe, expect, it } from 'vitest'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { openListWriter, toldOf, type ListWriter } from './word-lists.ts'
import { fits } from './word-postings.ts'
import { createTable } from './word-tables.ts'

async function opened(): Promise<Database> {
  const database = await openDatabase(IN_MEMORY)
  createTable(database, 'words')
  return database
}

/** Gives to FTS5 what is no list. */
function writerOf(database: Database): ListWriter & { put(number: number, text: string): void } {
  const give = (table: string, number: number, text: Uint8Array, facets: string): void => {
    toldOf(database).add(table)
    database.prepare(`INSERT INTO ${table} (rowid, text, facets) VALUES (?, ?, ?)`).run(number, text, facets)
  }
  const writer = openListWriter(database, give, 1)
  const put = (number: number, text: string): void => {
    const bytes = Buffer.from(text)
    if (!writer.add('words', number, bytes, '')) give('words', number, bytes, '')
  }
  return { ...writer, put }
}

function found(database: Database, word: string): unknown[] {
  database.exec(`INSERT INTO words (words) VALUES ('integrity-check')`)
  return database.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid').lists(word).flat()
}

function lists(database: Database): number {
  return Number(database.prepare('SELECT count(DISTINCT segid) AS lists FROM words_idx').get()?.['lists'])
}

describe('lists of words', () => {
  it('are apart for two writers of one thread that write at once', async () => {
    const [one, other] = [await opened(), await opened()]
    const [first, second] = [writerOf(one), writerOf(other)]
    first.put(1, 'apple ')
    second.put(7, 'pear ')
    first.put(2, 'apple plum ')
    second.flush()
    first.flush()
    expect([found(one, 'apple'), found(one, 'plum'), found(one, 'pear')]).toEqual([[1, 2], [2], []])
    expect([found(other, 'apple'), found(other, 'pear')]).toEqual([[], [7]])
    one.close()
    other.close()
  })

  it('are no more than FTS5 would leave apart, however many batches there are', async () => {
    const database = await opened()
    for (let batch = 1; batch <= 40; batch += 1) {
      const writer = writerOf(database)
      writer.put(batch, `every w${batch} `)
      writer.flush()
    }
    expect(lists(database)).toBeLessThanOrEqual(17)
    expect(found(database, 'every')).toHaveLength(40)
    expect(found(database, 'w33')).toEqual([33])
    database.close()
  })

  it('have no entry with more words than can be told apart: FTS5 has it, and what came before is there', async () => {
    const database = await opened()
    const writer = writerOf(database)
    writer.put(1, 'apple ')
    writer.put(2, 'a '.repeat(1 << 20))
    writer.put(3, 'apple ')
    writer.flush()
    expect(toldOf(database).has('words')).toBe(true)
    expect([found(database, 'apple'), found(database, 'a')]).toEqual([[1, 3], [2]])
    database.close()
  })

  it.each([
    ['as many as there may be', 0, 'a '.repeat((1 << 20) - 3), true],
    ['one too many', 0, 'a '.repeat((1 << 20) - 2), false],
    ['long ones in a long text', 0, 'identifier '.repeat(300_000), true],
    ['few beside many', (1 << 20) - 10, 'a '.repeat(8), false],
  ])('count the words of an entry: %s', (_, others, text, isFitting) => {
    expect(fits(others, Buffer.from(text), '')).toBe(isFitting)
  })
})
