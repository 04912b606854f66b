import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../sqlite/driver.ts'
import { tablesIn } from './head-tables.ts'

let folder = ''
beforeEach(() => void (folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-tables-'))))
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

async function make(sql: string, name = 'x.db'): Promise<Buffer> {
  const path = join(folder, name)
  const database = await openDatabase(path)
  database.exec(sql)
  database.close()
  return fs.readFileSync(path)
}

const wide = Array.from({ length: 300 }, (_, n) => `column_${n} TEXT`).join(', ')
const many = Array.from(
  { length: 60 },
  (_, n) => `CREATE TABLE t${n} (id INTEGER, ${'x'.repeat(40)}_${n} TEXT);`,
)

describe('the tables of a database by its first bytes', () => {
  it('are those that it has, with their columns', async () => {
    const head = await make(`
      CREATE TABLE session (id TEXT PRIMARY KEY, cost REAL DEFAULT (1 + 2), note TEXT DEFAULT 'a, b');
      CREATE TABLE "a ""b" ([x y] TEXT, \`z\` TEXT, 'q' INT, -- one, two
        last /* (c, */ NUMERIC(10, 2), CHECK (last > 0), UNIQUE (z, 'q'), CONSTRAINT k FOREIGN KEY (z) REFERENCES session (id));
      CREATE INDEX i ON session (cost);
      ALTER TABLE session ADD COLUMN added TEXT;`)
    const tables = tablesIn(head)
    expect(tables?.isTold).toBe(true)
    expect(tables?.columns('session')).toEqual(['id', 'cost', 'note', 'added'])
    expect(tables?.columns('a "b')).toEqual(['x y', 'z', 'q', 'last'])
    expect(tables?.columns('other')).toEqual([])
  })

  it('are found on other pages, and where a statement is longer than one', async () => {
    for (const size of [512, 1024, 4096]) {
      const head = await make(
        `PRAGMA page_size = ${size}; CREATE TABLE wide (${wide}); ${many.join('')}`,
        `${size}.db`,
      )
      expect(tablesIn(head)?.columns('wide')).toHaveLength(300)
      expect(tablesIn(head)?.columns('t59')).toEqual(['id', `${'x'.repeat(40)}_59`])
    }
  })

  it('are not all told of where the bytes end', async () => {
    const head = await make(`${many.join('')} CREATE TABLE wide (${wide});`)
    for (let end = 0; end < head.length; end += 97) {
      const tables = tablesIn(head.subarray(0, end))
      if (tables?.columns('wide').length !== 300) expect(tables?.isTold ?? false, String(end)).toBe(false)
    }
  })

  it('are none of what is no database, and never a reason to fail', async () => {
    expect(tablesIn(Buffer.from('{"a":1}'))).toBeUndefined()
    const head = await make(many.join(''))
    for (let at = 16; at < 4096; at += 13) {
      const damaged = Buffer.from(head)
      damaged[at] = 0xff
      expect(tablesIn(damaged)).toBeDefined()
    }
    expect(tablesIn(await make('PRAGMA user_version = 1', 'empty.db'))?.isTold).toBe(false)
  })
})
