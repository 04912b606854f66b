/** Searches of every kind over recordings of every format, wherever they lie: what is found is what reading everything finds. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { sync } from '../src/sources/sync.ts'
import { ASKED, type Asked } from './asked-searches.ts'
import { compareSearches } from './compared-searches.ts'
import { madeOf } from './made-searches.ts'
import { readPlainly, type PlainEntry } from './plain-search.ts'
import { RECORDINGS } from './recordings.ts'
import { createSearched, packAll, writeLog, type SearchedArchive } from './searched-archive.ts'

/** Without signs that JSON would spell otherwise. */
const PLANTED = [
  'import { everything } from it, Error: none of src/main.py',
  'the error: no such file in src/main.ts, const f = (a) => { return parseSessionId }',
  'the Error was not found by HTTPServer 12345, max_tokens is MAX_TOKENS or utf8Decode, URLs',
  'Café, cafe\u0301 and CAFÉ in İstanbul or istanbul or ISTANBUL, Straße STRASSE STRAẞE … ærø',
  'οδός ΟΔΟΣ οδος, привет ПРИВЕТ, שלום שָׁלוֹם, مرحبا مَرْحَبًا',
  '错误 修复错误 出现, ガイド ｶﾞｲﾄﾞ カ\u3099イト\u3099 かな, 한국 한국어 \u1112\u1161\u11ab국, ภาษาไทย',
  'done ✅ by 👩\u200d💻 and 👩🏽\u200d💻, 🇩🇪 ⚠️ warning function class struct',
  `${'x1y2'.repeat(30)} and a ｆｕｌｌ width, ﬁle ligature, \u200fright\u200e to left, soft\u00adhyphen`,
]

type Way = 'kept' | 'compressed' | 'read where it lies'

async function create(way: Way): Promise<SearchedArchive & { end(): Promise<void> }> {
  const searched = createSearched('search-truth')
  const { archive, config } = searched
  const folder = join(config, '..', 'recordings')
  for (const [nth, { path, text }] of RECORDINGS.entries()) {
    const file = join(folder, String(nth), path)
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(
      file,
      text.replaceAll('I look.', () => `I look. ${PLANTED[nth % PLANTED.length]}`),
    )
  }
  const options = { paths: [folder], env: {}, userHome: folder, cwd: folder }
  await sync(archive, { ...options, keep: way !== 'read where it lies' })
  writeLog(config, 1, [...PLANTED, ...PLANTED, ...PLANTED])
  await sync(archive, { env: { CLAUDE_CONFIG_DIR: config }, userHome: folder, cwd: folder })
  if (way === 'compressed') await packAll(archive)
  const live = await record({
    home: archive.home,
    cwd: archive.home,
    durability: 'os',
    title: 'the title, error',
  })
  for (const text of PLANTED) live.user(text)
  live.subagent('helper').assistant('the error of another')
  await live.flush()
  return { ...searched, end: async () => void (await live.end()) }
}

const WAYS: readonly Way[] = ['kept', 'compressed', 'read where it lies']

/** Without an index each search reads everything: each is asked in one of the ways, unless values are asked for that are new. */
const askedUnindexed = (way: Way): readonly Asked[] =>
  process.env['HANSARD_SEED'] === undefined
    ? ASKED.filter((_, nth) => nth % WAYS.length === WAYS.indexOf(way))
    : ASKED

describe.each(WAYS)('what is %s', (way) => {
  let searched: Awaited<ReturnType<typeof create>>
  let all: readonly PlainEntry[]
  beforeAll(async () => {
    searched = await create(way)
    all = await readPlainly(searched.archive.home)
  })
  afterAll(() => searched.end())

  it('is there to be asked for: most searches find something', () => {
    expect(all.length).toBeGreaterThan(RECORDINGS.length * 2)
    const inVain = ASKED.filter(({ means }) => !all.some(means)).map(({ query }) => query)
    expect(inVain).toEqual(IN_VAIN)
  })

  it.each([
    ['before it is indexed', false],
    ['when it is', true],
  ])(
    'is found as reading everything finds it, %s',
    async (_, isIndexed) => {
      if (isIndexed) await catchUpIndex(searched.archive)
      const asked = [
        ...(isIndexed ? ASKED : askedUnindexed(way)),
        ...madeOf(all, isIndexed ? 20 : 5, way.length),
      ]
      const differences = await compareSearches(searched.archive, all, asked)
      const told = differences.map(({ query, missing, extra }) => [
        query,
        missing.slice(0, 3),
        extra.slice(0, 3),
      ])
      expect(told).toEqual([])
    },
    240_000,
  )
})

/** What no recording of ours has. */
const IN_VAIN: readonly string[] = ['until:2025-09-01T00:00:00Z error', 'file:src/*.py']
