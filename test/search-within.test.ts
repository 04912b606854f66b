/** What is looked for within words, in an archive in which three letters that stand together are everywhere: as reading all of it. */
import fs from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchOptions, type SearchResult } from '../src/search/search.ts'
import { openShardReader } from '../src/search/shard-reader.ts'
import { createSearched, readAnswers, writeLog, type SearchedArchive } from './searched-archive.ts'

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe qui ra se ti'.split(' ')
const LOGS = 60
const ENTRIES = 70
const LAST_OF_ALL = '\u{10ffff}'

/** A word of some syllables, by number. */
const word = (number: number): string => {
  let text = ''
  for (let left = number + 20; left > 0; left = Math.floor(left / 16)) text += SYLLABLES[left % 16]
  return text
}

function textOf(log: number, entry: number): string {
  const number = log * ENTRIES + entry
  const some = Array.from({ length: 24 }, (_, at) => word((number * 7919 + at * 104_729) % 30_000))
  if (number % 1000 === 17) some.push('abcGulocamelNeedle')
  if (number % 1500 === 23) some.push(`${'x1y2'.repeat(30)}gulobehindneedle`)
  if (number % 1700 === 29) some.push(`src/Größe/${word(9)}gulofile.ts`)
  return `${some[0]} ${some.join(' ')}`
}

let searched: SearchedArchive
/** Of reading everything, by query. */
let answers: ReadonlyMap<string, readonly string[]>
const search = async (query: string, options: SearchOptions = {}): Promise<SearchResult> => {
  const index = await openSearchIndex(searched.archive)
  try {
    return await index.search(parseQuery(query), { limit: 100_000, ...options })
  } finally {
    index.close()
  }
}

beforeAll(async () => {
  searched = createSearched('search-within')
  for (let log = 0; log < LOGS; log += 1)
    writeLog(
      searched.config,
      log,
      Array.from({ length: ENTRIES }, (_, entry) => textOf(log, entry)),
    )
  // A file whose name is in no folder, and begins with the last of all characters.
  const log = writeLog(searched.config, LOGS, ['asked', `${LAST_OF_ALL}first`, 'answered'])
  fs.writeFileSync(log, fs.readFileSync(log, 'utf8').replaceAll('/p/0/src/', ''))
  await searched.sync()
  await catchUpIndex(searched.archive)
  answers = await readAnswers(searched.archive, [...QUERIES, ...LONG.map(([, query]) => query)])
})

const QUERIES = [
  `'${word(12_345).slice(1)}'`,
  `'${word((17 * 7919) % 30_000).slice(1)}' 'needle'`,
  "'gulocamel'",
  "'ocamelneed'",
  "'hindneedle'",
  "'ßegulo' OR 'lofile.t'",
  `/${word(20_000).slice(1)}\\w*/`,
  '/ulo(camel|behind|file)/',
  '/[C]amelNeed/',
  '/hind.eedle|ulofile/',
  "'amelneedle' role:user",
  "'amelneedle' tool:bash",
  "'amelneedle' -tool:bash",
  `'${word(777).slice(1)}' ${word(777)}`,
  "'nothinghasthis'",
  '/nothinghas\\w+/',
  `file:${word((4 * 7919) % 30_000)}`,
  `file:src/${word(104_729 % 30_000).slice(0, 4)}*.ts`,
  `-file:${word(1).slice(0, 2)} 'amelneedle'`,
  'file:nothinghasthis',
  'file:.ts -file:a',
  `file:${LAST_OF_ALL}first`,
  `-file:${LAST_OF_ALL} has:tool`,
]

const many = (count: number, one: (nth: number) => string, between: string): string =>
  Array.from({ length: count }, (_, nth) => one(nth)).join(between)

/** More than SQLite takes in one question. */
const LONG: readonly (readonly [name: string, query: string])[] = [
  ['a pattern of many sides', `/${many(1500, (nth) => `x${word(nth)}x`, '|')}|amelneedle/`],
  [
    'one within the other',
    `${many(30, (nth) => `('${word(9000 + nth)}' OR ('${word(12_345 + nth)}' `, '')}'${word(20_000)}'${'))'.repeat(30)}`,
  ],
  ['a file with many stars', `file:${many(2000, () => '*', 's')}rc*.ts`],
  ['many files', `file:${many(1500, (nth) => `x${nth}`, ',')},${word((4 * 7919) % 30_000)}`],
]

describe('a search within words', () => {
  it.each(QUERIES)('for %s finds what reading everything does', async (query) => {
    const answer = answers.get(query) ?? []
    expect(answer.length > 0).toBe(!query.includes('nothing'))
    const { hits, total, scanned } = await search(query)
    expect(hits.map(({ citation }) => citation).sort()).toEqual(answer)
    expect(total).toBe(answer.length)
    expect(scanned.units).toBe(0)
    const some = await search(query, { limit: 3 })
    expect(some.hits.map(({ at }) => at)).toEqual(hits.slice(0, 3).map(({ at }) => at))
  })

  it.each(LONG)('for %s finds what reading everything does', async (_, query) => {
    const answer = answers.get(query) ?? []
    const { hits } = await search(query)
    expect(hits.map(({ citation }) => citation).sort()).toEqual(answer)
  })

  it('says so when the deadline came before all words were gone over', async () => {
    const late = await search("'nothinghasthis'", { deadline: Date.now() - 1 })
    expect(late).toMatchObject({ isPartial: true, hits: [] })
    expect(late.total).toBeUndefined()
  })

  it('is one that pages alone would not answer: most of them have the bytes', async () => {
    const reader = await openShardReader(searched.archive, 0)
    if (reader === undefined) throw new Error('no shard')
    const { toGramTest } = await import('../src/search/query-literals.ts')
    const test = toGramTest(parseQuery(`'${word(12_345).slice(1)}'`))
    if (test === undefined) throw new Error('no test')
    expect(reader.pagesWith(test).length).toBeGreaterThan(48)
    reader.close()
  })
})
