import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isHansardError } from '../errors.ts'
import { type Database, openDatabase } from './driver.ts'
import { isDamagedDatabase } from './errors.ts'

let path: string
const open: Database[] = []
beforeEach(() => {
  path = join(fs.mkdtempSync(join(os.tmpdir(), 'hansard-sqlite-')), 'a b?#%.db')
})
afterEach(() => {
  for (const database of open.splice(0)) database.close()
})

async function opened(...args: Parameters<typeof openDatabase>): Promise<Database> {
  const database = await openDatabase(...args)
  open.push(database)
  return database
}
const errorOf = (work: () => unknown): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

describe('values', () => {
  it('come back as they were put, integers of 64 bits and all', async () => {
    const database = await opened(path)
    database.exec('CREATE TABLE t (a, b)')
    const put = database.prepare('INSERT INTO t VALUES (?, ?)')
    const values = [0, -1, 2 ** 53 - 1, 2n ** 62n, -(2n ** 63n), 1.5, 'ä', '', null, Buffer.from([0, 255])]
    for (const [at, value] of values.entries()) expect(put.run(at, value)).toEqual({ changes: 1 })
    expect(
      database
        .prepare('SELECT b FROM t ORDER BY a')
        .all()
        .map(({ b }) => b),
    ).toEqual(values)
    expect(database.prepare('SELECT b FROM t WHERE a = ?').get(99)).toBeUndefined()
    expect(database.prepare('SELECT count(*) AS n FROM t').get()).toEqual({ n: values.length })
  })

  it('keep a column called __proto__ a column', async () => {
    const database = await opened(path)
    const row = database.prepare('SELECT 1 AS "__proto__", 2 AS "constructor"').get()
    expect(Object.getPrototypeOf(row)).toBeNull()
    expect(Object.entries(row ?? {})).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
  })

  it('come one by one over many rows', async () => {
    const database = await opened(path)
    const many =
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n'
    let sum = 0
    for (const { i } of database.prepare(many).iterate()) sum += Number(i)
    expect(sum).toBe(500_500)
  })
})

describe('a statement that failed', () => {
  it('works the next time it is asked for something that can be done', async () => {
    const database = await opened(path)
    const half = database.prepare('SELECT abs(?) AS a')
    const failed = errorOf(() => half.all(-(2n ** 63n)))
    expect(isHansardError(failed) && failed.code).toBe('io')
    expect(half.all(-1)).toEqual([{ a: 1 }])
  })
})

describe('a transaction', () => {
  it('is all or nothing, one inside another too', async () => {
    const database = await opened(path)
    database.exec('CREATE TABLE t (a UNIQUE)')
    const put = database.prepare('INSERT INTO t VALUES (?)')
    expect(database.transaction(() => database.transaction(() => put.run(1).changes))).toBe(1)
    const failed = errorOf(() =>
      database.transaction(() => {
        put.run(2)
        database.transaction(() => put.run(1))
      }),
    )
    expect(isHansardError(failed) && failed.code).toBe('io')
    database.transaction(() => put.run(3))
    expect(database.prepare('SELECT a FROM t').all()).toEqual([{ a: 1 }, { a: 3 }])
  })

  it('among others that are gathered takes all of them back when it fails, and is seen by nobody until they are settled', async () => {
    const database = await opened(path)
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a UNIQUE)')
    const reader = await opened(path)
    const seen = (): unknown => reader.prepare('SELECT a FROM t ORDER BY a').all()
    const put = database.prepare('INSERT INTO t VALUES (?)')
    const settle = database.gather()
    database.transaction(() => put.run(1))
    database.transaction(() => database.transaction(() => put.run(3)))
    expect(seen()).toEqual([])
    settle()
    expect(seen()).toEqual([{ a: 1 }, { a: 3 }])
    const settleFailed = database.gather()
    database.transaction(() => put.run(5))
    const failed = errorOf(() =>
      database.transaction(() => {
        put.run(2)
        put.run(1)
      }),
    )
    expect(isHansardError(failed) && failed.code).toBe('io')
    expect(errorOf(() => database.transaction(() => put.run(6)))).toBe(failed)
    expect(errorOf(settleFailed)).toBe(failed)
    database.transaction(() => put.run(4))
    expect(seen()).toEqual([{ a: 1 }, { a: 3 }, { a: 4 }])
  })
})

describe('opening', () => {
  it('for reading writes nothing, and makes no file', async () => {
    const writer = await opened(path)
    writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    for (const mode of ['read-only', 'immutable'] as const) {
      const reader = await opened(path, { mode })
      if (mode === 'read-only') expect(reader.prepare('SELECT a FROM t').all()).toEqual([{ a: 1 }])
      const error = errorOf(() => reader.exec('CREATE TABLE u (a)'))
      expect(isHansardError(error) && error.code).toBe('read-only')
    }
    const none = `${path}.none`
    await expect(openDatabase(none, { mode: 'read-only' })).rejects.toMatchObject({ code: 'not-found' })
    expect(fs.existsSync(none)).toBe(false)
  })

  it('as immutable leaves nothing beside a database that was closed', async () => {
    const writer = await openDatabase(path)
    writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    writer.close()
    // An engine may leave its own behind until it is collected; reading adds none.
    const beside = fs.readdirSync(join(path, '..')).filter((name) => /-(wal|shm)$/.test(name))
    const reader = await opened(path, { mode: 'immutable' })
    expect(reader.prepare('SELECT a FROM t').all()).toEqual([{ a: 1 }])
    expect(fs.readdirSync(join(path, '..')).filter((name) => /-(wal|shm)$/.test(name))).toEqual(beside)
  })

  it('does not wait for a lock for ever', async () => {
    const writer = await opened(path)
    writer.exec('CREATE TABLE t (a); BEGIN EXCLUSIVE')
    const reader = await opened(path, { mode: 'read-only', busyMs: 100 })
    const error = errorOf(() => reader.prepare('SELECT a FROM t').all())
    expect(isHansardError(error) && error.code).toBe('locked')
    writer.exec('ROLLBACK')
  })

  it('tells bytes that are no database, and one that is damaged, from other trouble', async () => {
    fs.writeFileSync(path, 'no database, whatever its name says, and longer than a header is '.repeat(20))
    const database = await opened(path, { mode: 'read-only' }).catch((error: unknown) => error as Database)
    const error =
      database instanceof Error
        ? database
        : errorOf(() => database.prepare('SELECT * FROM sqlite_schema').all())
    expect(isDamagedDatabase(error)).toBe(true)
    expect(isDamagedDatabase(new Error('else'))).toBe(false)
  })

  it('loads without a word on stderr', () => {
    const script = `import('${join(import.meta.dirname, 'node-engine.ts')}').then(({ nodeEngine }) => nodeEngine())`
    const { stderr } = spawnSync(process.execPath, ['--experimental-strip-types', '-e', script], {
      encoding: 'utf8',
    })
    expect(stderr.includes('SQLite is an experimental')).toBe(false)
  })
})
