/** Indexing that is killed, and searches while another process indexes: real processes, real files. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { acquireLock } from '../src/archive/lock.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex } from '../src/search/search.ts'
import { openShard, listShards } from '../src/search/shard.ts'
import { seededRandom } from './faulty-files.ts'
import { readWordTables } from '../src/search/word-tables.ts'
import { createSearched, readAnswers, writeLog, type SearchedArchive } from './searched-archive.ts'

const CHILD = fileURLToPath(new URL('../dist/test/index-child.js', import.meta.url))
/** `npm run proof` has two hundred. */
const KILLS = 8
const QUERIES = ['needle7', 'common', '"common words"', 'tool:bash common']

let searched: SearchedArchive
let answers: ReadonlyMap<string, readonly string[]>

beforeAll(async () => {
  searched = createSearched('search-kill')
  for (let n = 0; n < 16; n += 1) {
    const texts = Array.from(
      { length: 24 },
      (_, at) => `common words ${at} needle${n} ${'more to index '.repeat(20)}`,
    )
    writeLog(searched.config, n, texts)
  }
  await searched.sync()
  answers = await readAnswers(searched.archive, QUERIES)
})

it('leaves whole units only, and the next run ends with what a fresh one would', async () => {
  const random = seededRandom(5)
  for (let round = 0; round < KILLS; round += 1) {
    const child = await startChild(searched.archive.home)
    await new Promise((resolve) => setTimeout(resolve, random() * 300))
    await kill(child)
    await expectAnswers()
  }
  await catchUpIndex(searched.archive)
  const healed = await contents()
  await expectAnswers()
  for (const number of listShards(searched.archive)) {
    for (const suffix of ['', '-wal', '-shm'])
      fs.rmSync(join(searched.archive.home, 'index', `search-${number}.db${suffix}`), { force: true })
  }
  await catchUpIndex(searched.archive)
  expect(await contents()).toEqual(healed)
})

it('answers the same while another process writes, and while it begins anew', async () => {
  const child = await startChild(searched.archive.home)
  const index = await openSearchIndex(searched.archive)
  const until = Date.now() + 1500
  let searches = 0
  while (Date.now() < until) {
    for (const [query, answer] of answers) {
      const { hits } = await index.search(parseQuery(query), { limit: 10_000 })
      expect(hits.map(({ citation }) => citation).sort()).toEqual(answer)
      searches += 1
    }
  }
  index.close()
  await kill(child)
  expect(searches).toBeGreaterThan(2)
})

it('leaves indexing to the one process that is at it', async () => {
  const { files, home } = searched.archive
  const release = acquireLock(files, join(home, 'index'))
  expect((await catchUpIndex(searched.archive)).isElsewhere).toBe(true)
  release()
  expect((await catchUpIndex(searched.archive)).isElsewhere).toBe(false)
})

async function expectAnswers(): Promise<void> {
  const index = await openSearchIndex(searched.archive)
  for (const [query, answer] of answers) {
    const { hits } = await index.search(parseQuery(query), { limit: 10_000 })
    expect(hits.map(({ citation }) => citation).sort()).toEqual(answer)
  }
  index.close()
}

/** Every unit with its version and how many entries of it are indexed, in whatever shard. */
async function contents(): Promise<readonly string[]> {
  const found: string[] = []
  for (const number of listShards(searched.archive)) {
    const shard = await openShard(searched.archive, number)
    const tables = readWordTables((sql) => shard.database.prepare(sql)).map(({ name }) => name)
    const words = ['SELECT NULL AS number', ...tables.map((name) => `SELECT rowid FROM ${name}`)].join(
      ' UNION ALL ',
    )
    const rows = shard.database
      .prepare(
        `SELECT name, version, (SELECT count(*) FROM (${words}), pieces WHERE number >= low AND number < high AND unit = units.id)
           AS docs FROM units`,
      )
      .all()
    found.push(...rows.map(({ name, version, docs }) => `${String(name)} ${String(version)} ${String(docs)}`))
    for (const name of tables)
      expect(() =>
        shard.database.exec(`INSERT INTO ${name} (${name}) VALUES ('integrity-check')`),
      ).not.toThrow()
    shard.close()
  }
  return found.sort()
}

function startChild(home: string): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, home], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.once('data', () => resolve(child))
    child.on('error', reject)
  })
}

function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve())
    child.kill('SIGKILL')
  })
}
