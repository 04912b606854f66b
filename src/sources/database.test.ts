import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import { type Row, type RowOptions, type SourceDatabase, TextBytes } from '../transcript/source.ts'
import { openSourceDatabase } from './database.ts'

let folder: string
let path: string
let damage: string[]
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-source-db-'))
  path = join(folder, 'a.db')
  damage = []
})

const report = (kind: string, reason: string): void => void damage.push(`${kind}: ${reason}`)

async function made(sql: string, at = path): Promise<void> {
  const database = await openDatabase(at)
  database.exec(sql)
  database.close()
}

async function rowsOf(database: SourceDatabase, table: string, options?: RowOptions): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of database.rows(table, options)) rows.push(...batch)
  return rows
}

async function read(table: string, options?: RowOptions): Promise<Row[]> {
  const database = await openSourceDatabase(path, report)
  try {
    return await rowsOf(database, table, options)
  } finally {
    await database.close()
  }
}

const many = (count: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i,`

const temporary = (): string[] => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('hansard-db-'))

describe('a database', () => {
  it('gives long rows of tables with many columns, and those behind them', async () => {
    const names = Array.from({ length: 900 }, (_, n) => `c${n}`)
    await made(`CREATE TABLE t (${names.join(', ')}); INSERT INTO t (c0, c1, c899) VALUES (1, zeroblob(1200000), 'end');
                INSERT INTO t (c0) VALUES (2)`)
    const rows = await read('t')
    expect(damage).toEqual([])
    expect(rows.map(({ c0, c1, c899 }) => [c0, (c1 as Buffer | null)?.length, c899])).toEqual([
      [1, 1_200_000, 'end'],
      [2, undefined, null],
    ])
  })

  it('gives its tables, columns and values, and none of its views', async () => {
    await made(`CREATE TABLE b (id INTEGER PRIMARY KEY, text TEXT, "__proto__" BLOB, real REAL, big INT,
                  made AS (id + 1));
                CREATE TABLE a (k TEXT, n INT, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
                CREATE VIEW v AS SELECT * FROM b;
                INSERT INTO b VALUES (1, 'ä' || char(0) || 'x', x'00ff', 1.5, 9223372036854775807),
                  (2, '', x'', NULL, -1);
                INSERT INTO a VALUES ('y', 2, 'c'), ('y', 1, 'b'), ('x', 9, 'a');`)
    const database = await openSourceDatabase(path, report)
    expect(database.tables()).toEqual(['a', 'b'])
    expect(database.columns('b')).toEqual(['id', 'text', '__proto__', 'real', 'big'])
    expect(database.columns('none')).toEqual([])
    const [first, second] = await rowsOf(database, 'b')
    expect(Object.values(first ?? {})).toEqual([1, 'ä\0x', Buffer.from([0, 255]), 1.5, 9223372036854775807n])
    expect(second?.['text']).toBe('')
    expect((await rowsOf(database, 'a')).map(({ v }) => v)).toEqual(['a', 'b', 'c'])
    expect(await rowsOf(database, 'none')).toEqual([])
    await database.close()
    expect(damage).toEqual([])
  })

  it('gives its rows in batches, in its own order or the one asked for', async () => {
    await made(`CREATE TABLE t (a INT, b TEXT); INSERT INTO t ${many(3000)} 'k' || (i % 7) FROM n;`)
    const database = await openSourceDatabase(path, report)
    let batches = 0
    for await (const batch of database.rows('t')) batches += Math.sign(batch.length)
    expect(batches).toBeGreaterThan(4)
    expect((await rowsOf(database, 't')).map(({ a }) => a)).toEqual(
      Array.from({ length: 3000 }, (_, i) => i + 1),
    )
    const sorted = await rowsOf(database, 't', { orderBy: ['b', 'none'] })
    expect(sorted.slice(0, 2)).toEqual([
      { a: 7, b: 'k0' },
      { a: 14, b: 'k0' },
    ])
    expect(sorted).toHaveLength(3000)
    const some = await rowsOf(database, 't', { where: { column: 'b', equals: 'k3' }, orderBy: ['a'] })
    expect(some.map(({ a }) => a).slice(0, 2)).toEqual([3, 10])
    expect(await rowsOf(database, 't', { where: { column: 'b', prefix: 'k' } })).toHaveLength(3000)
    expect(await rowsOf(database, 't', { where: { column: 'b', prefix: 'x' } })).toEqual([])
    expect(await rowsOf(database, 't', { where: { column: 'none', equals: 1 } })).toEqual([])
    await database.close()
  })

  it('never holds more than some MB of rows that are large', async () => {
    await made(`CREATE TABLE t (a INT, b BLOB); INSERT INTO t ${many(30)} zeroblob(1000000) FROM n;`)
    const database = await openSourceDatabase(path, report)
    const counts: number[] = []
    for await (const batch of database.rows('t', { orderBy: ['a'] })) counts.push(batch.length)
    expect(Math.max(...counts)).toBeLessThanOrEqual(5)
    expect(counts.reduce((a, b) => a + b)).toBe(30)
    await database.close()
  })
})

describe('a row of many MB', () => {
  const LONG = `replace(hex(zeroblob(1500000)), '00', 'ä"')`

  it('has its text as bytes, and everything else as it is', async () => {
    await made(`CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b BLOB, c, n INT);
                INSERT INTO t VALUES ('x', ${LONG} || '😀', zeroblob(2000000), 'short', 7),
                  ('y', CAST(x'ff' || zeroblob(1100000) AS TEXT), NULL, '', NULL)`)
    const large: number[] = []
    const noted = async (bytes: number): Promise<void> => void large.push(bytes)
    for (const options of [{}, { orderBy: ['id'] }, { where: { column: 'c', in: ['short', ''] } }]) {
      const [x, y] = await read('t', { ...options, large: noted })
      const said = `${'ä"'.repeat(1_500_000)}😀`
      expect(x?.['a']).toBeInstanceOf(TextBytes)
      expect(String(x?.['a']) === said).toBe(true)
      expect(Buffer.alloc(2_000_000).equals(x?.['b'] as Buffer)).toBe(true)
      expect([x?.['c'], x?.['n'], y?.['c'], y?.['n']]).toEqual(['short', 7, '', null])
      // No text: the bytes it is.
      expect(y?.['a']).not.toBeInstanceOf(TextBytes)
      expect(Buffer.from(y?.['a'] as Buffer).subarray(0, 2)).toEqual(Buffer.from([0xff, 0]))
    }
    expect(large.slice(0, 2)).toEqual([6_500_011, 1_100_002])
    expect(new Set(damage)).toEqual(new Set(['not-utf8: text in the table t is not text']))
  })

  it('is told of by its key where it is too large, and others are given', async () => {
    await made(`CREATE TABLE t (id TEXT PRIMARY KEY, a); CREATE TABLE u (a); INSERT INTO u VALUES (zeroblob(70000000));
                INSERT INTO t VALUES ('before', 1), ('it', zeroblob(70000000)), ('behind', 2)`)
    expect((await read('t')).map(({ id }) => id)).toEqual(['before', 'behind'])
    expect(await read('u')).toEqual([])
    expect(damage).toEqual([
      'too-large: a row of the table t is 70000002 bytes, over 67108864: id "it"',
      'too-large: a row of the table u is 70000000 bytes, over 67108864: number 1',
    ])
  })
})

describe('a question', () => {
  const partsOf = async (database: SourceDatabase, ids: readonly string[]): Promise<unknown[]> =>
    (await rowsOf(database, 'p', { where: { column: 'm', in: ids }, orderBy: ['k'] })).map(({ k }) => k)

  it('by a list is answered in the order of the list, each row once', async () => {
    await made(`CREATE TABLE p (k TEXT PRIMARY KEY, m TEXT COLLATE NOCASE, n INT);
                INSERT INTO p (n, k, m) ${many(300)} printf('k%03d', i), 'm' || (i % 100) FROM n;
                INSERT INTO p VALUES ('upper', 'M5', 0), ('none', NULL, 0);`)
    const database = await openSourceDatabase(path, report)
    expect(await partsOf(database, ['m7', 'nobody', 'm5', 'm7'])).toEqual([
      'k007',
      'k107',
      'k207',
      'k005',
      'k105',
      'k205',
    ])
    expect(await partsOf(database, ['M5'])).toEqual(['upper'])
    expect(await partsOf(database, [])).toEqual([])
    const all = Array.from({ length: 100 }, (_, n) => `m${99 - n}`)
    expect((await partsOf(database, all)).slice(-3)).toEqual(['k100', 'k200', 'k300'])
    expect(await partsOf(database, all)).toHaveLength(300)
    expect(await database.count?.('p')).toBe(302)
    expect(await database.count?.('none')).toBe(0)
    await database.close()
  })

  it('by how text begins is answered with the newest, or with those from a number on', async () => {
    await made(`CREATE TABLE p (k TEXT UNIQUE, n INT);
                INSERT INTO p (n, k) ${many(3000)} iif(i % 2, 'a', 'b') || printf('%04d', 9999 - i) FROM n;
                INSERT INTO p VALUES (CAST('a' AS BLOB), 0), ('a', 3001), ('A', 3002)`)
    const numbers = async (options: RowOptions): Promise<unknown[]> =>
      (await read('p', options)).map(({ n }) => n)
    expect(await numbers({ where: { column: 'k', prefix: 'a', newest: 3 } })).toEqual([3001, 2999, 2997])
    expect(await numbers({ where: { column: 'k', prefix: 'b9', newest: 1 } })).toEqual([998])
    const most = await numbers({ where: { column: 'k', prefix: 'a', newest: 1200 } })
    expect([most.length, most[0], most.at(-1)]).toEqual([1200, 3001, 603])
    expect(await numbers({ where: { column: 'k', prefix: 'c', newest: 3 } })).toEqual([])
    const begins = { column: 'k', prefix: 'b' }
    expect(await numbers({ since: { number: 2997, begins } })).toEqual([2998, 3000])
    const changed = { column: 'n', least: 2995 }
    expect(await numbers({ since: { number: 2999, changed, begins } })).toEqual([2996, 2998, 3000])
    expect(damage).toEqual([])
  })

  it('of a table whose rows have no numbers is answered with all that begin so', async () => {
    await made(
      `CREATE TABLE p (k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO p VALUES ('a1'), ('a2'), ('b')`,
    )
    expect(await read('p', { where: { column: 'k', prefix: 'a', newest: 1 } })).toHaveLength(2)
  })

  it('asked again and again by a column without an index has the same answer, and is soon cheap', async () => {
    await made(`CREATE TABLE p (k TEXT PRIMARY KEY, m TEXT, n INT);
                INSERT INTO p (n, k, m) ${many(60_000)} printf('k%05d', i), 'm' || (i % 12000) FROM n;`)
    const database = await openSourceDatabase(path, report)
    const before = fs.readFileSync(path)
    const times: number[] = []
    for (let n = 0; n < 1500; n += 1) {
      const started = performance.now()
      const k = String(n === 0 ? 12_000 : n).padStart(5, '0')
      const where = { column: 'm', equals: `m${n}` }
      const rows = await rowsOf(database, 'p', { where, orderBy: ['k'] })
      times.push(performance.now() - started)
      expect(rows).toHaveLength(5)
      expect(rows[0]?.['k']).toBe(`k${k}`)
    }
    // The first few read the table each time.
    const first = Math.min(...times.slice(0, 3))
    expect(times.slice(4).toSorted((a, b) => a - b)[700]).toBeLessThan(first / 3)
    expect(await partsOf(database, ['m8', 'm7'])).toHaveLength(10)
    expect(await rowsOf(database, 'p', { where: { column: 'm', prefix: 'm1199' } })).toHaveLength(55)
    await database.close()
    expect(fs.readFileSync(path).equals(before)).toBe(true)
    expect(damage).toEqual([])
  })

  it('about rows of any size and kind gives them whole and in order', async () => {
    await made(`CREATE TABLE t (id TEXT PRIMARY KEY, s TEXT, v);
                INSERT INTO t (id, s, v) SELECT printf('%04d', i), 's' || (i % 2), CASE i % 5
                  WHEN 0 THEN replace(hex(zeroblob(10000)), '00', 'äx') WHEN 1 THEN 0.1 + i WHEN 2 THEN x'00ff'
                  WHEN 3 THEN 9007199254740993 ELSE 'a' || char(0) || char(65533) END
                FROM (${many(2500)} 1 FROM n);`)
    const database = await openSourceDatabase(path, report)
    const plain = await rowsOf(database, 't')
    expect(plain.map(({ id }) => Number(id))).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1))
    expect(plain.slice(0, 5).map(({ v }) => v)).toEqual([
      1.1,
      Buffer.from([0, 255]),
      9007199254740993n,
      'a\0\uFFFD',
      'äx'.repeat(10_000),
    ])
    expect(await rowsOf(database, 't', { orderBy: ['id'] })).toEqual(plain)
    const odd = { where: { column: 's', equals: 's1' }, orderBy: ['id'] }
    expect(await rowsOf(database, 't', odd)).toEqual(plain.filter(({ s }) => s === 's1'))
    await database.close()
    expect(damage).toEqual([])
  })

  it('about rows whose key is text, or is not, gives every one', async () => {
    await made(`CREATE TABLE t (a, b TEXT, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
                INSERT INTO t SELECT i, 'k' || i, i FROM (${many(1500)} 1 FROM n);
                INSERT INTO t VALUES ('', '', 1501), ('x' || char(0) || 'y', 'z', 1502), (CAST(x'ff' AS TEXT), '', 1503),
                  (x'00', 'b', zeroblob(20000)), ('large', '', zeroblob(30000));`)
    const database = await openSourceDatabase(path, report)
    expect(await rowsOf(database, 't')).toHaveLength(1505)
    expect(await rowsOf(database, 't', { orderBy: ['b'] })).toHaveLength(1505)
    await database.close()
  })
})

describe('a database in use by another program', () => {
  async function held(sql: string): Promise<Database> {
    const database = await openDatabase(path)
    database.exec(sql)
    return database
  }

  it('is read with what is only in its log, and stays as it was', async () => {
    const writer = await held(
      'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1)',
    )
    const before = fs.readFileSync(`${path}-wal`)
    expect(before.length).toBeGreaterThan(0)
    expect(await read('t')).toEqual([{ a: 1 }])
    expect(fs.readFileSync(`${path}-wal`).equals(before)).toBe(true)
    writer.close()
  })

  it('is read whole while most of it is in its log', async () => {
    const writer = await held(
      'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER PRIMARY KEY, a)',
    )
    writer.exec(`INSERT INTO t ${many(3000)} 'some text' FROM n`)
    expect(fs.statSync(path).size).toBeLessThan(10_000)
    expect(await read('t')).toHaveLength(3000)
    expect(damage).toEqual([])
    writer.close()
  })

  it('is read from a copy when it is locked, and the copy is gone afterwards', async () => {
    await made('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    const writer = await held('BEGIN EXCLUSIVE')
    const before = temporary().length
    expect(await read('t')).toEqual([{ a: 1 }])
    expect(temporary()).toHaveLength(before)
    writer.close()
  })

  it('can be written while rows are being read', async () => {
    await made(`CREATE TABLE t (a INT, b); INSERT INTO t ${many(2000)} 'x' FROM n;`)
    const writer = await openDatabase(path, { busyMs: 0 })
    const reader = await openSourceDatabase(path, report)
    let rows = 0
    for await (const batch of reader.rows('t')) {
      rows += batch.length
      writer.exec(`UPDATE t SET b = 'y' WHERE a = 1`)
    }
    expect(rows).toBe(2000)
    await reader.close()
    writer.close()
  })
})

describe('a database that another program locks for a moment', () => {
  it('is waited for in the middle of a table', async () => {
    await made(`CREATE TABLE t (a INT, b); INSERT INTO t ${many(2000)} 'x' FROM n;`)
    const reader = await openSourceDatabase(path, report)
    const writer = await openDatabase(path)
    let rows = 0
    for await (const batch of reader.rows('t')) {
      if (rows === 0) {
        writer.exec('BEGIN EXCLUSIVE')
        setTimeout(() => writer.exec('COMMIT'), 30)
      }
      rows += batch.length
    }
    expect(rows).toBe(2000)
    await reader.close()
    writer.close()
  })
})

describe('a database whose program died', () => {
  it('is read with the log that was left, and nothing new lies beside it', async () => {
    const other = join(folder, 'other.db')
    const writer = await openDatabase(other)
    writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)')
    writer.exec('INSERT INTO t VALUES (1)')
    fs.copyFileSync(other, path)
    fs.copyFileSync(`${other}-wal`, `${path}-wal`)
    const before = fs.readdirSync(folder)
    expect(await read('t')).toEqual([{ a: 1 }])
    expect(fs.readdirSync(folder)).toEqual(before)
    writer.close()
  })

  it('is read without making a log beside it', async () => {
    await made('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    for (const beside of ['-wal', '-shm']) fs.rmSync(path + beside, { force: true })
    expect(await read('t')).toEqual([{ a: 1 }])
    expect(fs.readdirSync(folder)).toEqual(['a.db'])
  })

  it('ends with a note when that program starts again and writes meanwhile', async () => {
    await made(
      `PRAGMA journal_mode = WAL; CREATE TABLE t (a INT, b); INSERT INTO t ${many(2000)} 'x' FROM n;`,
    )
    for (const beside of ['-wal', '-shm']) fs.rmSync(path + beside, { force: true })
    const reader = await openSourceDatabase(path, report)
    let rows = 0
    for await (const batch of reader.rows('t')) {
      rows += batch.length
      await made(`UPDATE t SET b = 'y' || ${rows}; PRAGMA wal_checkpoint(TRUNCATE)`)
    }
    expect(rows).toBeLessThan(2000)
    expect(damage).toEqual([expect.stringContaining('written to while it was read')])
    await reader.close()
  })

  it('is not helped to delete a file that its journal names', async () => {
    await made('CREATE TABLE t (a)')
    const victim = join(folder, 'victim')
    fs.writeFileSync(victim, 'mine')
    fs.writeFileSync(
      `${path}-journal`,
      Buffer.concat([
        Buffer.from('d9d505f920a163d7', 'hex'),
        Buffer.alloc(600),
        Buffer.from('d9d505f920a163d7', 'hex'),
      ]),
    )
    await expect(openSourceDatabase(path, report)).rejects.toMatchObject({ code: 'locked' })
    expect(fs.readFileSync(victim, 'utf8')).toBe('mine')
  })
})

describe('a damaged database', () => {
  it('gives what is whole of one cut off or changed anywhere, and says so', async () => {
    await made(`PRAGMA page_size = 512; CREATE TABLE t (a INT, b TEXT);
                INSERT INTO t ${many(200)} 'some text ' || i FROM n;`)
    const whole = fs.readFileSync(path)
    let best = 0
    for (let at = 0; at < whole.length; at += 397) {
      damage = []
      fs.writeFileSync(path, whole.subarray(0, at))
      const cut = await read('t')
      expect(damage.length > 0 || at === 0).toBe(true)
      best = Math.max(best, cut.length)
      const changed = Buffer.from(whole)
      changed.fill(0xff, at, at + 16)
      fs.writeFileSync(path, changed)
      await read('t', { orderBy: ['b'] })
    }
    expect(best).toBeGreaterThan(150)
  })

  it('cannot hurt with names, text or declarations that are not text', async () => {
    await made(`CREATE TABLE good (a TEXT); INSERT INTO good VALUES (CAST(x'ff41' AS TEXT)), ('fine');
                CREATE TABLE bad_name (a); CREATE TABLE bad_column (aaaa); CREATE TABLE bad_type (a tttt);
                INSERT INTO bad_type VALUES (1);`)
    const bytes = fs.readFileSync(path).toString('latin1')
    const changed = bytes
      .replaceAll('bad_name', 'bad\xff\xfename'.slice(0, 8))
      .replaceAll('aaaa', '\xff\xfeaa')
    fs.writeFileSync(path, Buffer.from(changed.replaceAll('tttt', 't\xff\xfet'), 'latin1'))
    const database = await openSourceDatabase(path, report)
    expect(await rowsOf(database, 'good')).toEqual([{ a: Buffer.from([0xff, 0x41]) }, { a: 'fine' }])
    expect(await rowsOf(database, 'bad_type')).toEqual([{ a: 1 }])
    expect(database.tables()).toEqual(['bad_type', 'good'])
    expect(damage.some((line) => line.startsWith('not-utf8'))).toBe(true)
    await database.close()
  })

  it('cannot hurt with a schema that is not SQL, or not text', async () => {
    await made('CREATE TABLE t (a); CREATE TABLE u (a)')
    const bytes = fs.readFileSync(path).toString('latin1')
    for (const sql of ['CREATE TABLE \xff (a)', 'CREATE BANANA \xff(a)', 'CREATE TABLE t (\xff']) {
      damage = []
      const changed = bytes.replace('CREATE TABLE t (a)', sql.padEnd(18).slice(0, 18))
      fs.writeFileSync(path, Buffer.from(changed, 'latin1'))
      const database = await openSourceDatabase(path, report)
      await rowsOf(database, 't')
      await database.close()
    }
    expect(damage).toHaveLength(1)
  })

  it('ends, when its pages point in circles', async () => {
    await made(`PRAGMA page_size = 512; CREATE TABLE t (a INT, b TEXT);
                INSERT INTO t ${many(5000)} 'some text ' || i FROM n;`)
    const bytes = fs.readFileSync(path)
    // Interior pages of a table: every child of each is made the one before it, and so on down.
    const interior = Array.from({ length: bytes.length / 512 }, (_, page) => page).filter(
      (page) => page > 0 && bytes[page * 512] === 5,
    )
    for (const page of interior) {
      const start = page * 512
      const first = bytes.readUInt16BE(start + 12)
      const child = bytes.readUInt32BE(start + first)
      for (let cell = 0; cell < bytes.readUInt16BE(start + 3); cell += 1) {
        bytes.writeUInt32BE(child, start + bytes.readUInt16BE(start + 12 + cell * 2))
      }
      bytes.writeUInt32BE(child, start + 8)
    }
    fs.writeFileSync(path, bytes)
    await read('t')
    await read('t', { orderBy: ['b'] })
    expect(damage.length).toBeGreaterThan(0)
  })
})
