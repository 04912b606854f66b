/** The index against reading everything: in whatever state it is, the answers are the same. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { INLINE_LIMIT } from '../src/archive/blobs.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex, type SearchResult } from '../src/search/search.ts'
import { INDEX_VERSION, shardPath } from '../src/search/index-record.ts'
import { listShards } from '../src/search/shard.ts'
import { STATE_VERSION } from '../src/sources/state-schema.ts'
import {
  packAll,
  createSearched,
  readAnswers,
  recordSession,
  writeLog,
  type SearchedArchive,
} from './searched-archive.ts'

const TEXTS = [
  'please look at parseSessionId in the reader',
  'wholeneedle max_tokens and src/search/words.ts here',
  'error: 文件不存在, naïve café',
  'ordinary words that come often 🚀 alphaneedle',
  'ordinary words that come often, and ParseSessionId again',
  'error common ordinary "quoted phrase" here',
]
const QUERIES = [
  'wholeneedle',
  'ordinary',
  'ordinary words',
  '"words that come"',
  '"often and"',
  '文件',
  '不存在',
  'naive cafe',
  '🚀',
  'session',
  'tokens',
  'parsesess*',
  'ordinary -quoted',
  'wholeneedle OR alphaneedle',
  "'leneed'",
  "'rdinary w'",
  '/par[s]eSession/',
  'role:user error',
  'tool:bash',
  'tool:b* ordinary',
  'model:haiku ordinary',
  'has:error',
  'has:thinking considering',
  'branch:main error',
  'project:p/1 ordinary',
  'agent:claude-code ordinary',
  'file:wholeneedle',
  'since:2026-03-05T00:00:00Z ordinary',
  'until:2026-03-05T00:00:00Z ordinary',
  '-ordinary',
  '-tool:bash ordinary',
  'titledneedle',
  'blobneedle',
  'nothinghasthis',
  'source:primary wholeneedle',
  'status:completed blobneedle',
]

const FEW = ['ordinary', '"words that come"', 'tool:b* ordinary', '-ordinary']

let searched: SearchedArchive
const answers = new Map<string, string[]>()

const asked = async (
  index: SearchIndex,
  query: string,
  order: 'newest' | 'ranked' = 'newest',
): Promise<SearchResult> => {
  const result = await index.search(parseQuery(query), { limit: 10_000, order })
  for (const hit of result.hits.slice(0, order === 'newest' ? 3 : 1))
    expect(await index.entry(hit)).toMatchObject({ sequence: hit.sequence })
  return result
}
const withIndex = async <T>(work: (index: SearchIndex) => Promise<T>): Promise<T> => {
  const index = await openSearchIndex(searched.archive)
  try {
    return await work(index)
  } finally {
    index.close()
  }
}
const search = (query: string): Promise<SearchResult> => withIndex((index) => asked(index, query))
const expectAll = (queries: readonly string[] = QUERIES): Promise<void> =>
  withIndex(async (index) => {
    for (const query of queries) {
      for (const order of ['newest', 'ranked'] as const) {
        const { hits, total } = await asked(index, query, order)
        expect([query, order, hits.map(({ citation }) => citation).sort()]).toEqual([
          query,
          order,
          answers.get(query),
        ])
        expect(total).toBe(hits.length)
        if (order === 'ranked') continue
        const times = hits.map(({ at }) => at ?? '')
        expect(times).toEqual(times.toSorted().toReversed())
      }
    }
  })
const learn = async (): Promise<void> => {
  for (const [query, found] of await readAnswers(searched.archive, QUERIES)) answers.set(query, found)
}

beforeAll(async () => {
  searched = createSearched('search-index')
  for (let n = 0; n < 12; n += 1)
    writeLog(
      searched.config,
      n,
      TEXTS.map((text) => `${text} s${n}`),
    )
  await searched.sync()
  await packAll(searched.archive)
  for (let n = 12; n < 16; n += 1) writeLog(searched.config, n, TEXTS.slice(n % 3))
  await searched.sync()
  await recordSession(searched.archive, ['ordinary journal', `${' '.repeat(INLINE_LIMIT)} blobneedle`])
  await learn()
})

describe('a search', () => {
  it('has answers to compare with', () => {
    for (const [query, found] of answers)
      expect([query, found.length > 0]).toEqual([query, query !== 'nothinghasthis'])
  })

  it('is complete without an index, and says what it read', async () => {
    await expectAll()
    const { scanned } = await search('ordinary')
    expect(scanned.units).toBe(17)
  })

  it('is complete where the disk has too little room for an index, which is not begun', async () => {
    const disk = () => ({ free: 9, total: 100 })
    await expect(catchUpIndex(searched.archive, { disk })).rejects.toMatchObject({ code: 'disk-full' })
    await expectAll(FEW)
    expect((await search('ordinary')).scanned.units).toBe(17)
  })

  it('is the same when half is indexed, and when all is', async () => {
    const controller = new AbortController()
    const half = await catchUpIndex(searched.archive, {
      batchBytes: 1,
      signal: controller.signal,
      onProgress: ({ bytes, of }) => bytes > of / 2 && controller.abort(),
    })
    expect(half.units).toBeGreaterThan(2)
    expect((await search('ordinary')).scanned.units).toBe(17 - half.units)
    await expectAll()
    const rest = await catchUpIndex(searched.archive)
    expect(rest.units + half.units).toBe(17)
    expect((await search('ordinary')).scanned.units).toBe(0)
    await expectAll()
    expect(await catchUpIndex(searched.archive)).toMatchObject({ units: 0, docs: 0 })
  })

  it('sees what has grown, was added, or is gone', async () => {
    const path = writeLog(searched.config, 3, [...TEXTS.map((text) => `${text} s3`), 'grownneedle ordinary'])
    writeLog(searched.config, 40, ['ordinary newcomer', 'wholeneedle again'])
    expect(fs.existsSync(path)).toBe(true)
    await searched.sync()
    await learn()
    expect((await search('ordinary')).scanned.units).toBe(2)
    await expectAll()
    expect(await catchUpIndex(searched.archive)).toMatchObject({ units: 2 })
    await expectAll()
    expect((await search('grownneedle')).hits).toHaveLength(1)
  })

  it('gives the newest first of what there is more of, and the record of each', async () => {
    const index = await openSearchIndex(searched.archive)
    const all = await index.search(parseQuery('ordinary'), { limit: 1000 })
    for (const limit of [1, 3, 10]) {
      const some = await index.search(parseQuery('ordinary'), { limit })
      expect(some.hits.map((hit) => hit.at)).toEqual(all.hits.slice(0, limit).map((hit) => hit.at))
    }
    for (const hit of all.hits) expect(String(await index.record(hit))).toContain('ordinary')
    index.close()
  })

  it('ends at its deadline with what it has', async () => {
    const index = await openSearchIndex(searched.archive)
    expect(await index.search(parseQuery('ordinary'), { deadline: Date.now() - 1 })).toMatchObject({
      isPartial: true,
      hits: [],
    })
    index.close()
  })
})

describe('an index', () => {
  const home = (): string => searched.archive.home

  it('that is deleted is built again', async () => {
    for (const name of fs.readdirSync(join(home(), 'index'))) {
      if (name.startsWith('search-')) fs.rmSync(join(home(), 'index', name))
    }
    await expectAll(FEW)
    expect((await catchUpIndex(searched.archive)).units).toBe(18)
    await expectAll(FEW)
  })

  it.each([
    ['no database', (path: string) => fs.writeFileSync(path, 'no database at all '.repeat(1000))],
    ['cut off', (path: string) => fs.truncateSync(path, 10_000)],
    [
      'gone',
      (path: string) => ['', '-wal', '-shm'].forEach((suffix) => fs.rmSync(path + suffix, { force: true })),
    ],
    ['empty', (path: string) => fs.truncateSync(path, 0)],
    ['overwritten in the middle', (path: string) => overwrite(path)],
  ])('with a shard that is %s answers all the same, and heals', async (_, damage) => {
    damage(shardPath(home(), 0))
    await expectAll(FEW)
    await catchUpIndex(searched.archive)
    await expectAll(FEW)
    expect((await search('ordinary')).scanned.units).toBe(0)
  })

  it('of an older version answers all the same, from what is read, and is built anew', async () => {
    const { openDatabase } = await import('../src/sqlite/driver.ts')
    for (const number of listShards(searched.archive)) {
      const database = await openDatabase(shardPath(home(), number))
      database.exec(`PRAGMA user_version = ${INDEX_VERSION - 1}`)
      database.close()
    }
    const path = join(home(), 'index/search.json')
    fs.writeFileSync(path, JSON.stringify({ version: INDEX_VERSION - 1, mark: 'of before', shards: [] }))
    await expectAll(FEW)
    expect((await search('ordinary')).scanned.units).toBeGreaterThan(0)
    await catchUpIndex(searched.archive)
    await expectAll(FEW)
    expect((await search('ordinary')).scanned.units).toBe(0)
  })

  it('beside a state of another version finds nothing rather than fail, until that is built again', async () => {
    const { openDatabase } = await import('../src/sqlite/driver.ts')
    const set = async (version: number): Promise<void> => {
      const database = await openDatabase(join(home(), 'index/state.db'))
      database.exec(`PRAGMA user_version = ${version}`)
      database.close()
    }
    await catchUpIndex(searched.archive)
    await set(STATE_VERSION - 1)
    const index = await openSearchIndex(searched.archive)
    try {
      for (const query of FEW) expect(await index.search(parseQuery(query))).toMatchObject({ hits: [] })
      await set(STATE_VERSION)
      expect((await index.search(parseQuery('ordinary'))).hits.length).toBeGreaterThan(0)
    } finally {
      index.close()
    }
  })

  it('that was begun since is asked by searches at once, none of which closes what another is asking', async () => {
    const fresh = createSearched('search-at-once')
    writeLog(fresh.config, 1, TEXTS)
    await fresh.sync()
    const index = await openSearchIndex(fresh.archive)
    try {
      await catchUpIndex(fresh.archive)
      const found = await Promise.all(QUERIES.map((query) => index.search(parseQuery(query))))
      const read = await readAnswers(fresh.archive, QUERIES)
      for (const [nth, query] of QUERIES.entries())
        expect([query, found[nth]?.hits.map((hit) => hit.citation).sort()]).toEqual([query, read.get(query)])
      const last = index.search(parseQuery('/o[r]dinary/'))
      await new Promise<void>((resolve) => void setImmediate(resolve))
      index.close()
      expect((await last).hits.length).toBeGreaterThan(0)
    } finally {
      index.close()
    }
  })

  it('of another version is moved aside, and its place taken', async () => {
    const { openDatabase } = await import('../src/sqlite/driver.ts')
    const database = await openDatabase(shardPath(home(), 1))
    database.exec('PRAGMA user_version = 999')
    database.close()
    await expectAll(FEW)
    await catchUpIndex(searched.archive)
    expect(fs.existsSync(`${shardPath(home(), 1)}.aside`)).toBe(true)
    await expectAll(FEW)
  })
})

function overwrite(path: string): void {
  const fd = fs.openSync(path, 'r+')
  const { size } = fs.fstatSync(fd)
  for (let at = 8192; at < size; at += 4096) fs.writeSync(fd, Buffer.alloc(2048, 0x5a), 0, 2048, at)
  fs.closeSync(fd)
}
