import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDisk, withFault } from '../../test/faulty-files.ts'
import type { RowsKept } from '../formats/format.ts'
import { nodeFiles } from '../journal/files.ts'
import { openSourceDatabase } from '../sources/database.ts'
import { openDatabase } from '../sqlite/driver.ts'
import {
  type Row,
  type RowOptions,
  type SourceDatabase,
  type SqlValue,
  TextBytes,
} from '../transcript/source.ts'
import { exportRows, openRows, ROWS_SUFFIX } from './kept-rows.ts'
import { createRowHashes, hashOf } from './row-hashes.ts'

let folder = ''
let db = ''
let kept = ''

beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-kept-rows-'))
  db = join(folder, 'a.db')
  kept = join(folder, 'kept', `a.db${ROWS_SUFFIX}`)
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

async function sql(text: string): Promise<void> {
  const database = await openDatabase(db)
  database.exec(text)
  database.close()
}

async function exported(rows: readonly RowsKept[] = [{ table: 't' }]): ReturnType<typeof exportRows> {
  const database = await openSourceDatabase(db, () => {})
  try {
    return await exportRows(nodeFiles, kept, database, rows)
  } finally {
    await database.close()
  }
}

async function all(database: SourceDatabase, table: string, options?: RowOptions): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of database.rows(table, options)) rows.push(...batch)
  return rows
}

async function opened(table = 't', options?: RowOptions): Promise<Row[]> {
  const database = await openRows(nodeFiles, kept)
  try {
    return await all(database, table, options)
  } finally {
    await database.close()
  }
}

describe('rows that are kept', () => {
  it('are the rows of the database, in its order, with the types and columns they had', async () => {
    await sql(`CREATE TABLE t ("10" TEXT, b BLOB, "__proto__" INT, id TEXT PRIMARY KEY, r REAL);
               INSERT INTO t VALUES ('z', x'00ff', 9007199254740993, 'b', 1e999), ('', x'', -5, 'a', 0.5),
                 (NULL, CAST(x'410042' AS TEXT), NULL, 'c', NULL), (CAST(x'ff41' AS TEXT), NULL, 0, 'd', 2.0)`)
    const live = await openSourceDatabase(db, () => {})
    const { changed } = await exportRows(nodeFiles, kept, live, [{ table: 't' }])
    const back = await openRows(nodeFiles, kept)
    expect(changed).toBe(4)
    expect(back.tables()).toEqual(['t'])
    expect(back.columns('t')).toEqual(['10', 'b', '__proto__', 'id', 'r'])
    expect(back.key('t')).toEqual(['id'])
    expect(await all(back, 't')).toEqual(await all(live, 't'))
    expect((await all(back, 't', { orderBy: ['id'] })).map((row) => row['id'])).toEqual(['a', 'b', 'c', 'd'])
    expect(await all(back, 't', { where: { column: 'id', equals: 'b' } })).toHaveLength(1)
    await live.close()
    await back.close()
    expect(fs.statSync(kept).mode & 0o777).toBe(0o600)
  })

  it('are any values that a column can have', async () => {
    const value: fc.Arbitrary<SqlValue> = fc.oneof(
      fc.string({ unit: 'binary' }).filter((text) => !/\p{Surrogate}/u.test(text)),
      fc.double({ noNaN: true }),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.uint8Array(),
      fc.constant(null),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(value, value), { maxLength: 20 }), async (values) => {
        fs.rmSync(kept, { force: true })
        const rows = values.map(([a, b]): Row => ({ a, b }))
        const database: SourceDatabase = {
          tables: () => ['t'],
          columns: () => ['a', 'b'],
          key: () => [],
          async *rows() {
            yield rows
          },
          close: async () => {},
        }
        await exportRows(nodeFiles, kept, database, [{ table: 't' }])
        // What SQLite itself makes of an integer: a number where one can hold it.
        const plain = (one: SqlValue | undefined): unknown =>
          one instanceof Uint8Array ? Buffer.from(one) : Object.is(one, -0) ? 0 : one
        const same = (await opened()).map((row) => [row['a'], row['b']].map(plain))
        const given = rows.map((row) => [row['a'], row['b']].map(plain).map(asNumber))
        expect(same).toEqual(given)
      }),
      { numRuns: 30 },
    )
  })

  it('are written once: a second export writes nothing, a third what is new or changed', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY, n); INSERT INTO t VALUES ('a', 1), ('b', 1), ('c', 1)`)
    const first = await exported()
    const bytes = fs.readFileSync(kept)
    expect(await exported()).toEqual({ bytesWritten: 0, changed: 0, tail: first.tail })
    expect(fs.readFileSync(kept)).toEqual(bytes)
    await sql(`UPDATE t SET n = 2 WHERE id = 'a'; INSERT INTO t VALUES ('d', 1)`)
    const third = await exported()
    expect(third.changed).toBe(2)
    expect(third.bytesWritten).toBe(fs.statSync(kept).size - bytes.length)
    expect((await opened()).map(({ id, n }) => `${String(id)}${String(n)}`)).toEqual(['a2', 'b1', 'c1', 'd1'])
  })

  it('are what they are now when they are what they were before last', async () => {
    await sql(`CREATE TABLE t (id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 'x')`)
    await exported()
    await sql(`UPDATE t SET n = 'y'`)
    await exported()
    await sql(`UPDATE t SET n = 'x'`)
    expect((await exported()).changed).toBe(1)
    expect(await opened()).toEqual([{ id: 1, n: 'x' }])
  })

  it('are read in their last version, each where it first stood, however many versions there are', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY, n INT, b); CREATE TABLE u (id TEXT PRIMARY KEY, n INT);`)
    for (let version = 1; version <= 4; version += 1) {
      await sql(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100)
        INSERT OR REPLACE INTO t SELECT 'k' || i, ${version}, CASE i % 3 WHEN 0 THEN 'a' || char(0) END FROM c
        WHERE i <= 25 * ${version} AND (i % 2 = 0 OR ${version} < 3);
        INSERT OR REPLACE INTO u VALUES ('k1', ${version})`)
      await exported([{ table: 't' }, { table: 'u' }])
    }
    const rows = await opened()
    const ids = rows.map(({ id }) => Number(String(id).slice(1)))
    const odd = (id: number): boolean => id % 2 === 1
    expect(ids.filter((id) => id <= 50)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1))
    expect(rows.map(({ n }) => n)).toEqual(ids.map((id) => (odd(id) ? 2 : 4)))
    expect(rows.every(({ id, b }) => b === (Number(String(id).slice(1)) % 3 === 0 ? 'a\0' : null))).toBe(true)
    expect(ids).toHaveLength(75)
    expect(await opened('u')).toEqual([{ id: 'k1', n: 4 }])
  })

  it('let others have their turn while many of them are opened', async () => {
    await sql(`CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
               INSERT INTO t SELECT i, hex(zeroblob(50000)) FROM n`)
    await exported()
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const atReads: number[] = []
    const read: typeof nodeFiles.read = (...given) => {
      atReads.push(turns)
      return nodeFiles.read(...given)
    }
    const database = await openRows({ ...nodeFiles, read }, kept)
    expect(await all(database, 't')).toHaveLength(40)
    isOver = true
    await database.close()
    // Twice four MB, half a MB at a time; that nothing is left is found out in the same turn.
    expect(new Set(atReads).size).toBeGreaterThanOrEqual(15)
  })

  it('stay when the source deletes them, drops the table, or begins again', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('a'), ('b')`)
    await exported()
    await sql(`DELETE FROM t WHERE id = 'a'; VACUUM`)
    await exported()
    expect(await opened()).toHaveLength(2)
    await sql('DROP TABLE t')
    await exported()
    fs.rmSync(db)
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('c')`)
    await exported()
    expect((await opened()).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  it('are known by what is unique, and by what they hold where nothing is', async () => {
    await sql(`CREATE TABLE t (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
               INSERT INTO t VALUES ('a', 'x'), (NULL, 'n'), (NULL, 'n');
               CREATE TABLE u (v); INSERT INTO u VALUES ('same'), ('same'), ('other')`)
    const both = [{ table: 't' }, { table: 'u' }]
    expect((await exported(both)).changed).toBe(6)
    await sql(`INSERT INTO t VALUES ('a', 'y'); DELETE FROM u; INSERT INTO u VALUES ('other'), ('same')`)
    expect((await exported(both)).changed).toBe(1)
    expect((await opened('t')).map(({ value }) => value)).toEqual(['y', 'n', 'n'])
    expect((await opened('u')).map(({ v }) => v)).toEqual(['same', 'same', 'other'])
  })

  it('are not all written again when a column is added', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY, a); INSERT INTO t VALUES ('x', 1), ('y', 2)`)
    await exported()
    await sql(`ALTER TABLE t ADD COLUMN b; UPDATE t SET b = 5 WHERE id = 'y'`)
    expect((await exported()).changed).toBe(1)
    await sql('ALTER TABLE t DROP COLUMN a')
    await exported()
    const back = await openRows(nodeFiles, kept)
    expect(back.columns('t')).toEqual(['id', 'b', 'a'])
    expect(await all(back, 't')).toEqual([
      { id: 'x', a: null, b: null },
      { id: 'y', a: null, b: 5 },
    ])
    await back.close()
  })
})

describe('what is not asked for', () => {
  it('is never in the file: other tables, other rows, a column that is not there', async () => {
    await sql(`CREATE TABLE t (key TEXT UNIQUE, value); CREATE TABLE account (token TEXT);
               INSERT INTO account VALUES ('secret-1');
               INSERT INTO t VALUES ('auth:token', 'secret-2'), ('chat:1', 'hello'), ('Chat:2', 'secret-3')`)
    await exported([
      { table: 't', where: { column: 'key', prefixes: ['chat:', 'chat:1'] } },
      { table: 'account', where: { column: 'kind', prefixes: ['x'] } },
      { table: 'not there' },
    ])
    expect(fs.readFileSync(kept, 'utf8')).not.toContain('secret')
    expect(await opened()).toEqual([{ key: 'chat:1', value: 'hello' }])
  })
})

describe('a crash', () => {
  it('costs nothing that the next export does not write, wherever it cut the file', async () => {
    await sql(
      `CREATE TABLE t (id TEXT PRIMARY KEY, n TEXT); INSERT INTO t VALUES ('a', 'one'), ('b', 'zwei\n')`,
    )
    await exported()
    const whole = fs.readFileSync(kept)
    for (let cut = 0; cut < whole.length; cut += 1) {
      fs.writeFileSync(kept, whole.subarray(0, cut))
      await exported()
      expect(fs.readFileSync(kept).equals(whole)).toBe(true)
    }
  })

  it('is seen by no reader: a torn line is no row, and the file is left as it is', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('a'), ('b')`)
    await exported()
    const torn = fs.readFileSync(kept).subarray(0, -3)
    fs.writeFileSync(kept, torn)
    const said: string[] = []
    const database = await openRows(nodeFiles, kept, ({ line, reason }) => said.push(`${line}: ${reason}`))
    expect(await all(database, 't')).toEqual([{ id: 'a' }])
    expect(said).toEqual(['3: a line of the kept rows is torn'])
    await database.close()
    expect(fs.readFileSync(kept)).toEqual(torn)
  })

  it('or damage in the middle is made good by the next export while the source has the row', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('aaaa'), ('b')`)
    await exported()
    fs.writeFileSync(kept, fs.readFileSync(kept, 'utf8').replaceAll('aaaa', '\0\0\0\0'))
    expect((await exported()).changed).toBe(1)
    expect((await opened()).map(({ id }) => id)).toEqual(['b', 'aaaa'])
  })

  it('or a disk that fails at any call leaves whole lines, and the next export completes', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY); INSERT INTO t VALUES ('a'), ('b'), ('c')`)
    const path = '/kept/a.rows.jsonl'
    const clean = createDisk()
    const database = await openSourceDatabase(db, () => {})
    await exportRows(clean.files, path, database, [{ table: 't' }])
    const whole = clean.now().get(path)
    for (const kind of ['EIO', 'ENOSPC'] as const) {
      for (let at = 1; at < 25; at += 1) {
        const disk = createDisk()
        const faulty = withFault(disk, { at, kind, sticky: false })
        await exportRows(faulty.files, path, database, [{ table: 't' }]).catch((error: unknown) => {
          expect(error).toMatchObject({ name: 'HansardError' })
        })
        await exportRows(disk.files, path, database, [{ table: 't' }])
        expect(disk.now().get(path)).toEqual(whole)
      }
    }
    await database.close()
  })
})

describe('rows of many MB', () => {
  it('hold any text and bytes, and come by themselves', async () => {
    const some = '\\"\b\f\n\r\t\u0001\u007f/é漢😀\u2028'
    const text = `${some}${'0123456789'.repeat(70_000)}${some.repeat(60_000)}`
    const bytes = Buffer.alloc(1_500_001, 'any bytes\xff', 'latin1')
    const database = await openDatabase(db)
    database.exec('CREATE TABLE t (id INT PRIMARY KEY, a, b, c)')
    for (let id = 0; id < 3; id += 1)
      database.prepare('INSERT INTO t VALUES (?, ?, ?, ?)').run(id, text, bytes, 'mark')
    database.close()
    await exported()
    const [, line = ''] = fs.readFileSync(kept, 'utf8').split('\n')
    expect(line === JSON.stringify({ table: 't', key: [0], row: rowOf(0, text, bytes) })).toBe(true)
    const back = await openRows(nodeFiles, kept)
    const large: number[] = []
    let rows = 0
    for await (const batch of back.rows('t', { large: async (more) => void large.push(more) })) {
      const [{ a, b, c } = {}] = batch
      expect(batch).toHaveLength(1)
      expect(String(a) === text && bytes.equals(b as Buffer)).toBe(true)
      expect(c).toBe('mark')
      rows += 1
    }
    expect(rows).toBe(3)
    expect(large).toHaveLength(3)
    await back.close()
  })

  it('are kept as shorter ones are, once each, and told apart by keys as long as they', async () => {
    await sql(`CREATE TABLE t (id TEXT PRIMARY KEY, data TEXT, n INT); CREATE TABLE u (data TEXT)`)
    const long = `"quoted" \\ 😀 ${'many words '.repeat(120_000)}`
    const database = await openDatabase(db)
    const put = database.prepare('INSERT INTO t VALUES (?, ?, ?)')
    put.run('a', long, 1)
    put.run('b', 'short', null)
    for (const end of ['x', 'y']) put.run(`${long}${end}`, end, 2)
    for (let n = 0; n < 2; n += 1) database.prepare('INSERT INTO u VALUES (?)').run(long)
    database.close()
    const rows = [{ table: 't' }, { table: 'u' }]
    expect(await exported(rows)).toMatchObject({ changed: 6 })
    expect(await exported(rows)).toMatchObject({ changed: 0, bytesWritten: 0 })
    const lines = fs.readFileSync(kept, 'utf8').split('\n')
    expect(lines[1]).toBe(JSON.stringify({ table: 't', key: ['a'], row: { id: 'a', data: long, n: 1 } }))
    for (const table of ['t', 'u']) {
      const live = await openSourceDatabase(db, () => {})
      const [same, given] = [await opened(table), await all(live, table)].map((rows) => rows.map(asTexts))
      expect(JSON.stringify(same) === JSON.stringify(given)).toBe(true)
      await live.close()
    }
    await sql(`UPDATE t SET data = data || '!' WHERE id = 'a'`)
    expect(await exported(rows)).toMatchObject({ changed: 1 })
    expect((await opened()).map(({ data }) => String(data).length)).toEqual([long.length + 1, 5, 1, 1])
  })
})

describe('rows of many MB whose names are long', () => {
  const data = 'many words '.repeat(120_000)
  const put = async (keys: readonly string[]): Promise<void> => {
    await sql('CREATE TABLE t (key TEXT PRIMARY KEY, value TEXT)')
    const database = await openDatabase(db)
    for (const key of keys) database.prepare('INSERT INTO t VALUES (?, ?)').run(key, `${key.at(-1)}${data}`)
    database.close()
  }

  it('are each what they are, in their last version, and are asked for by them', async () => {
    const keys = ['x', 'y'].map((end) => `chat:${'k'.repeat(20_000)}${end}`)
    await put(keys)
    await exported()
    await sql(`UPDATE t SET value = 'short' WHERE key LIKE '%x'`)
    await exported()
    const values = (rows: readonly Row[]): readonly string[] =>
      rows.map((row) => String(row['value']).slice(0, 5))
    expect(values(await opened())).toEqual(['short', 'ymany'])
    expect(values(await opened('t', { where: { column: 'key', prefix: 'chat:' } }))).toEqual([
      'short',
      'ymany',
    ])
    expect((await opened()).map(({ key }) => key)).toEqual(keys)
  })

  it('are written once, even where what names them is more than a MB of escapes', async () => {
    await put(['\u0001'.repeat(200_000), '\u0001'.repeat(200_001)])
    expect(await exported()).toMatchObject({ changed: 2 })
    expect(await exported()).toMatchObject({ changed: 0, bytesWritten: 0 })
    expect(await opened()).toHaveLength(2)
  })

  it('are text even where the disk has made other bytes of them', async () => {
    await put(['a'])
    await exported()
    const bytes = fs.readFileSync(kept)
    fs.writeFileSync(kept, bytes.fill(0x80, bytes.indexOf('many'), bytes.indexOf('many') + 200_000))
    const other = join(folder, 'other')
    const back = await openRows(nodeFiles, kept)
    expect(await exportRows(nodeFiles, other, back, [{ table: 't' }])).toMatchObject({ changed: 1 })
    await back.close()
    expect(fs.readFileSync(other, 'utf8')).toContain('\ufffd'.repeat(200_000))
  })
})

describe('the hashes of rows', () => {
  it('tell new, changed and same apart for many', () => {
    const hashes = createRowHashes()
    const count = 20_000
    const numbers = Array.from({ length: count }, (_, n) => n)
    expect(numbers.filter((n) => hashes.note(`k${n}`, hashOf(`v${n}`)))).toHaveLength(count)
    const changed = numbers.filter((n) => hashes.note(`k${n}`, hashOf(n % 2 === 0 ? `v${n}` : 'w')))
    expect(changed).toEqual(numbers.filter((n) => n % 2 === 1))
    const counted = ['x', 'y', 'x'].map((text) => hashes.count(hashOf(`content ${text}`)))
    expect(counted).toEqual([1, 1, 2])
  })

  it('tell the same of rows that most are on disk of', () => {
    const hashes = createRowHashes(256)
    const known = new Map<string, number>()
    const wrong: string[] = []
    // Each is met several times, changed every third time, in an order that goes back and forth.
    for (let n = 0; n < 40_000; n += 1) {
      const name = `k${(n * 7919) % 9000}`
      const version = Math.floor(n / 9000 / 3)
      if (hashes.note(name, hashOf(`${name} ${version}`)) !== (known.get(name) !== version)) wrong.push(name)
      known.set(name, version)
    }
    hashes.close()
    expect(known.size).toBe(9000)
    expect(wrong).toEqual([])
  })

  it('count what most is on disk of', () => {
    const hashes = createRowHashes(256)
    const counted = Array.from({ length: 20_000 }, (_, n) => hashes.count(hashOf(`content ${n % 5000}`)))
    hashes.close()
    expect(counted).toEqual(Array.from({ length: 20_000 }, (_, n) => Math.floor(n / 5000) + 1))
  })
})

const rowOf = (id: number, a: string, b: Buffer): object => ({
  id,
  a,
  b: { $base64: b.toString('base64') },
  c: 'mark',
})

function asNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** Long text as a string, which is compared at once and not byte by byte. */
function asTexts(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof TextBytes ? `text: ${value.toString()}` : value,
    ]),
  )
}
