import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RowsKept } from '../formats/format.ts'
import { nodeFiles } from '../journal/files.ts'
import { openSourceDatabase } from '../sources/database.ts'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import type { SourceDatabase } from '../transcript/source.ts'
import type { ExportedRows } from './export-rows.ts'
import { exportRows, lookThrough, openRows } from './kept-rows.ts'
import { createLiveNames } from './live-names.ts'
import { createRowsMemory, type RowsMemory } from './rows-memory.ts'

const ROWS: readonly RowsKept[] = [
  { table: 'kv', where: { column: 'key', prefixes: ['head:', 'part:'], heads: 'head:' } },
]

let folder = ''
let kept = ''
let memory: RowsMemory
let writer: Database

beforeEach(async () => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-ask-since-'))
  kept = join(folder, 'a.rows.jsonl')
  memory = createRowsMemory()
  writer = await openDatabase(join(folder, 'a.db'))
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  begin()
})
afterEach(() => {
  writer.close()
  memory.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

function begin(): void {
  writer.exec('DROP TABLE IF EXISTS kv; CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)')
}
/** Under a number of its own, the highest. */
function replace(key: string, value: string): void {
  writer.prepare('INSERT INTO kv VALUES (?, ?)').run(key, value)
}
/** Where it is. */
function upsert(key: string, value: string): void {
  const sql = 'INSERT INTO kv VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'
  writer.prepare(sql).run(key, value)
}
function many(prefix: string, count: number): void {
  writer.exec(`INSERT INTO kv WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT '${prefix}' || printf('%06d', i), 'old ' || i FROM n`)
}

function opened(): Promise<SourceDatabase> {
  return openSourceDatabase(join(folder, 'a.db'), (kind, reason) => {
    throw new Error(`${kind}: ${reason}`)
  })
}

type Seen = { readonly keys: string[]; isQuick: boolean }

async function exported(to = kept, using: RowsMemory | null = memory): Promise<ExportedRows & Seen> {
  const database = await opened()
  const seen: Seen = { keys: [], isQuick: false }
  const watched: SourceDatabase = {
    ...database,
    async *rows(table, options) {
      if (options?.since !== undefined) seen.isQuick = true
      for await (const batch of database.rows(table, options)) {
        for (const { key } of batch) seen.keys.push(String(key))
        yield batch
      }
    },
  }
  try {
    return { ...(await exportRows(nodeFiles, to, watched, ROWS, using ?? undefined)), ...seen }
  } finally {
    await database.close()
  }
}

async function looked(): Promise<boolean> {
  const database = await opened()
  try {
    return await lookThrough(nodeFiles, kept, database, ROWS, memory)
  } finally {
    await database.close()
  }
}

async function valuesIn(path: string): Promise<ReadonlyMap<string, string>> {
  const database = await openRows(nodeFiles, path)
  const values = new Map<string, string>()
  try {
    for await (const batch of database.rows('kv', { orderBy: ['key'] }))
      for (const { key, value } of batch) values.set(String(key), String(value))
  } finally {
    await database.close()
  }
  return values
}

describe('of a table of keys that is followed', () => {
  it('is kept what asking for all rows keeps, when heads change with what is theirs', async () => {
    let n = 0
    const name = fc.integer({ min: 0, max: 5 }).map((at) => `name${at}`)
    const part = fc.tuple(name, fc.integer({ min: 0, max: 9 })).map(([of, at]) => `part:${of}:${at}`)
    const headOf = (key: string): string => `head:${key.split(':')[1] ?? ''}`
    const change = fc.oneof(
      part.map((key) => () => replace(key, `${(n += 1)}`)),
      part.map((key) => () => {
        upsert(key, `${(n += 1)}`)
        upsert(headOf(key), `${n}`)
      }),
      name.map((of) => () => upsert(`head:${of}`, `${(n += 1)}`)),
      name.map((of) => () => replace(`head:${of}`, `${(n += 1)}`)),
      part.map((key) => () => void writer.prepare('DELETE FROM kv WHERE key = ?').run(key)),
      name.map((of) => () => replace(`secret:${of}`, `${(n += 1)}`)),
      fc.constant(() => writer.exec('VACUUM')),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 5 }), { minLength: 1, maxLength: 8 }),
        async (steps) => {
          for (const file of ['a', 'whole']) fs.rmSync(join(folder, `${file}.rows.jsonl`), { force: true })
          memory.close()
          begin()
          const whole = join(folder, 'whole.rows.jsonl')
          for (const step of [[], ...steps]) {
            for (const one of step) one()
            await exported()
            await exported(whole, null)
            expect(await valuesIn(kept)).toEqual(await valuesIn(whole))
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('only the newest heads are asked for, and the newest of what was lately written to', async () => {
    many('other:', 3000)
    many('head:', 3000)
    for (const of of ['000007', '000008']) many(`part:${of}:`, 1000)
    many('other:2', 3000)
    // What is there when a watch begins is nothing that was lately written to.
    await exported(kept, null)
    expect(await looked()).toBe(true)
    const quiet = await exported()
    expect(quiet).toMatchObject({ isQuick: true, changed: 0 })
    expect(quiet.keys.length).toBeLessThan(200)
    upsert('head:002990', 'changed where it is')
    upsert('part:002990:1', 'changed where it is')
    expect(await exported()).toMatchObject({ isQuick: true, changed: 2 })
    upsert('part:002990:1', 'once more')
    upsert('head:002991', 'changed where it is')
    expect(await exported()).toMatchObject({ isQuick: true, changed: 2 })
    upsert('part:000007:new', 'x')
    upsert('part:000007:000999', 'changed where it is')
    upsert('head:000007', 'changed where it is')
    const after = await exported()
    expect(after).toMatchObject({ isQuick: true, changed: 3 })
    expect(after.keys.length).toBeLessThan(400)
    expect(after.keys.every((key) => !key.startsWith('other:') && !key.startsWith('part:000008'))).toBe(true)
    upsert('part:000007:000998', 'changed where it is')
    expect(await exported()).toMatchObject({ isQuick: true, changed: 1 })
  })

  it('what was changed elsewhere is found by the look at all rows', async () => {
    memory = createRowsMemory({ lookMs: 0 })
    many('part:a:', 1000)
    many('part:b:', 1000)
    replace('head:a', '1')
    await exported()
    upsert('part:a:000001', 'changed')
    expect(await exported()).toMatchObject({ isQuick: true, changed: 0 })
    expect(memory.mayLook()).toBe(true)
    expect(await looked()).toBe(false)
    expect(await exported()).toMatchObject({ isQuick: false, changed: 1 })
  })

  it('all rows are asked for where keys are not what tells them apart', async () => {
    writer.exec('DROP TABLE kv; CREATE TABLE kv (id INTEGER PRIMARY KEY, key TEXT, value BLOB)')
    writer.exec(`INSERT INTO kv VALUES (1, 'part:a:1', 'x')`)
    await exported()
    expect(await exported()).toMatchObject({ isQuick: false })
  })

  it('of rows of many MB no more than some are asked for again', async () => {
    for (let at = 0; at < 20; at += 1) replace(`head:${at}`, 'x'.repeat(1_500_000))
    await exported()
    memory = createRowsMemory()
    expect(await looked()).toBe(true)
    expect((await exported()).keys.length).toBeLessThan(8)
  })
})

it('what was written to is live for some minutes, the last first, and no more than a few', () => {
  let now = 0
  const live = createLiveNames(() => now)
  const keys = { column: 'key', prefixes: ['head:', 'part:'], heads: 'head:' }
  for (const key of ['head:a', 'part:b:1', 'part:a:2', 'other:c', 'head:', null]) live.note('kv', keys, key)
  expect(live.recent('kv')).toEqual(['a', 'b'])
  expect(live.recent('another')).toEqual([])
  now = 9 * 60_000
  for (let at = 0; at < 7; at += 1) live.note('kv', keys, `head:${at}`)
  expect(live.recent('kv')).toEqual(['6', '5', '4', '3', '2', '1', '0', 'a'])
  now = 11 * 60_000
  expect(live.recent('kv')).toEqual(['6', '5', '4', '3', '2', '1', '0'])
})
