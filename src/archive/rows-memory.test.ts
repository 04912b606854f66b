import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RowsKept } from '../formats/format.ts'
import { nodeFiles } from '../journal/files.ts'
import { openSourceDatabase } from '../sources/database.ts'
import { openDatabase } from '../sqlite/driver.ts'
import type { Row, RowOptions, SourceDatabase } from '../transcript/source.ts'
import type { ExportedRows } from './export-rows.ts'
import { exportRows, lookThrough, openRows } from './kept-rows.ts'
import { createRowsMemories, createRowsMemory, type RowsMemory } from './rows-memory.ts'

let folder = ''
let db = ''
let kept = ''
let memory: RowsMemory

beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-rows-memory-'))
  db = join(folder, 'a.db')
  kept = join(folder, 'a.rows.jsonl')
  memory = createRowsMemory()
})
afterEach(() => {
  memory.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const ROWS: readonly RowsKept[] = [
  { table: 't', changedAt: 'at' },
  { table: 'log', isAppended: true },
  { table: 'few', changedAt: 'at' },
]
const SCHEMA = `CREATE TABLE t (id TEXT PRIMARY KEY, at INTEGER, data TEXT);
  CREATE TABLE log (id TEXT PRIMARY KEY, data TEXT); CREATE TABLE few (id TEXT PRIMARY KEY, data TEXT)`

async function sql(text: string): Promise<void> {
  const database = await openDatabase(db)
  database.exec(text)
  database.close()
}

/** `asked`: filled with what each table was asked. */
async function exported(
  to: string = kept,
  using: RowsMemory | undefined = memory,
  asked: (RowOptions | undefined)[] = [],
): Promise<ExportedRows> {
  const database = await openSourceDatabase(db, () => {})
  const watched: SourceDatabase = {
    ...database,
    rows(table, options) {
      asked.push(options)
      return database.rows(table, options)
    },
  }
  try {
    return await exportRows(nodeFiles, to, watched, ROWS, using)
  } finally {
    await database.close()
  }
}

/** True where some rows were asked for, and not all. */
async function isQuick(): Promise<boolean> {
  const asked: (RowOptions | undefined)[] = []
  await exported(kept, memory, asked)
  return asked.some((one) => one?.since !== undefined)
}

async function rowsIn(path: string): Promise<Row[]> {
  const database = await openRows(nodeFiles, path)
  try {
    const rows: Row[] = []
    for (const table of database.tables())
      for await (const batch of database.rows(table, { orderBy: ['id'] })) rows.push(...batch)
    return rows
  } finally {
    await database.close()
  }
}

describe('an export of a database that is followed', () => {
  it('keeps what one that asks for all rows keeps, whatever was written between two of them', async () => {
    const now = Date.now()
    const id = fc.integer({ min: 0, max: 12 }).map((n) => `i${n}`)
    const at = fc.integer({ min: -100_000, max: 3_600_000 }).map((later) => now + later)
    const change = fc.oneof(
      fc.tuple(id, at).map(([i, t]) => `INSERT OR REPLACE INTO t VALUES ('${i}', ${t}, 'replaced ${t}')`),
      fc.tuple(id, at).map(([i, t]) => `UPDATE t SET data = 'updated ${t}', at = ${t} WHERE id = '${i}'`),
      fc.tuple(id, at).map(([i, t]) => `INSERT OR IGNORE INTO log VALUES ('${i}-${t}', 'logged')`),
      fc.tuple(id, at).map(([i, t]) => `INSERT OR REPLACE INTO few VALUES ('${i}', 'few ${t}')`),
      id.map((i) => `UPDATE few SET data = 'changed' WHERE id = '${i}'`),
      id.map((i) => `DELETE FROM t WHERE id = '${i}'`),
      fc.constant('VACUUM'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        async (steps) => {
          for (const path of fs.readdirSync(folder)) fs.rmSync(join(folder, path), { force: true })
          memory.close()
          await sql(SCHEMA)
          // No row comes and goes unseen: the other export is made as often.
          const whole = join(folder, 'whole.rows.jsonl')
          await exported()
          await exportedWhole(whole)
          for (const step of steps) {
            await sql(step.join(';'))
            await exported()
            await exportedWhole(whole)
            expect(await rowsIn(kept)).toEqual(await rowsIn(whole))
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('asks for what was written since, and for all where the file is not as it left it', async () => {
    await sql(`${SCHEMA}; INSERT INTO t VALUES ('a', 1, 'x'), ('b', 2, 'y')`)
    expect(await isQuick()).toBe(false)
    expect(await isQuick()).toBe(true)
    fs.appendFileSync(kept, '{"torn')
    expect(await isQuick()).toBe(false)
    expect(await isQuick()).toBe(true)
    await sql('ALTER TABLE t ADD COLUMN more TEXT')
    expect(await isQuick()).toBe(false)
    expect(await isQuick()).toBe(true)
  })

  it('asks for all rows from time to time: a program may change one and not say when', async () => {
    memory = createRowsMemory({ dueMs: 0 })
    await sql(`${SCHEMA}; INSERT INTO t VALUES ('a', 1, 'x'), ('b', ${Date.now()}, 'y')`)
    await exported()
    await sql(`UPDATE t SET data = 'changed' WHERE id = 'a'`)
    expect((await exported()).changed).toBe(0)
    expect((await exported()).changed).toBe(1)
  })

  it('knows where it is after a look at all rows, and nothing once one of them is not kept', async () => {
    memory = createRowsMemory({ lookMs: 0 })
    await sql(`${SCHEMA}; INSERT INTO t VALUES ('a', 1, 'x'), ('b', ${Date.now()}, 'y')`)
    await exportedWhole(kept)
    const before = fs.readFileSync(kept)
    expect(await looked()).toBe(true)
    expect(memory.mayLook()).toBe(false)
    expect(await isQuick()).toBe(true)
    expect(memory.mayLook()).toBe(true)
    const stopped = AbortSignal.abort()
    expect(await looked(stopped)).toBe(false)
    expect(await isQuick()).toBe(true)
    await sql(`UPDATE t SET data = 'changed' WHERE id = 'a'`)
    expect(await isQuick()).toBe(true)
    expect(await looked()).toBe(false)
    expect(fs.readFileSync(kept)).toEqual(before)
    expect(await isQuick()).toBe(false)
    expect((await rowsIn(kept))[0]).toMatchObject({ data: 'changed' })
  })

  it('asks for all rows of a table that does not say when they changed and has many', async () => {
    await sql(`${SCHEMA}; INSERT INTO few WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
      SELECT i, 'x' FROM n`)
    await exported()
    expect(await isQuick()).toBe(false)
  })

  it('sees what is written while a time that is still to come is the highest', async () => {
    await sql(`${SCHEMA}; INSERT INTO t VALUES ('a', ${Date.now() + 86_400_000}, 'x'), ('b', 2, 'y')`)
    await exported()
    await sql(`UPDATE t SET data = 'changed', at = ${Date.now()} WHERE id = 'b'`)
    expect((await exported()).changed).toBe(1)
  })
})

it('what was left of databases that were asked for long ago is let go of', async () => {
  await sql(`${SCHEMA}; INSERT INTO t VALUES ('a', 1, 'x')`)
  const memories = createRowsMemories(1)
  memory = memories.of('one')
  await exported()
  memories.of('two')
  expect(memories.of('one')).not.toBe(memory)
  expect(await isQuick()).toBe(false)
})

async function looked(signal?: AbortSignal): Promise<boolean> {
  const database = await openSourceDatabase(db, () => {})
  try {
    return await lookThrough(nodeFiles, kept, database, ROWS, memory, signal)
  } finally {
    await database.close()
  }
}

async function exportedWhole(path: string): Promise<void> {
  const database = await openSourceDatabase(db, () => {})
  try {
    await exportRows(nodeFiles, path, database, ROWS)
  } finally {
    await database.close()
  }
}
