/**
 * Entries of some MB: found by everything that smaller ones are found by, from the index as from reading them, in little memory. Of
 * one there are all words, of the other more different ones than the index holds of an entry.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { TELL_PEAK, toldPeak } from '../bench/peak-memory.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import type { Order } from '../src/search/lookup.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchResult } from '../src/search/search.ts'
import { run, temporaryFolder } from './program.ts'
import { createSearched, writeLog, type SearchedArchive } from './searched-archive.ts'

let searched: SearchedArchive

const filler = 'lorem ipsum dolor 漢字 parseThing '
const many = filler.repeat(16_000)
/** Just more than the index holds: 2 MB. */
const numbers = Array.from({ length: 280_000 }, (_, at) => `n${at}`).join(' ')

async function search(text: string, order: Order = 'newest'): Promise<SearchResult> {
  const index = await openSearchIndex(searched.archive)
  try {
    return await index.search(parseQuery(text), { limit: 1000, order })
  } finally {
    index.close()
  }
}

beforeAll(async () => {
  searched = createSearched('search-large')
  writeLog(searched.config, 1, [
    `${many} alphaneedle beta ${many} gammaNeedle`,
    'a small one with lorem and alphaneedle',
    `${numbers} alphaneedle untoldneedle`,
    'beta alphaneedle',
    'nothing',
  ])
  await searched.sync()
})

const QUERIES = [
  'alphaneedle beta',
  '"alphaneedle beta"',
  '"beta dolor"',
  'alphaneedle -"dolor ipsum"',
  'untoldneedle OR gammaneedle',
  'n31999*',
  "'ammaNee'",
  'role:tool alphaneedle',
  '"lorem missingword"',
]

/** How many entries have each. */
const FOUND = [2, 1, 0, 4, 2, 1, 1, 1, 0]

describe('entries of some MB', () => {
  it('are found as by reading them, and only those that match', async () => {
    const answers = new Map<string, readonly string[]>()
    for (const query of QUERIES) {
      const { hits, scanned } = await search(query)
      answers.set(query, hits.map(({ citation }) => citation).sort())
      expect(scanned.units).toBe(1)
    }
    expect([...answers.values()].map((found) => found.length)).toEqual(FOUND)
    await catchUpIndex(searched.archive)
    for (const query of QUERIES) {
      // Ranking finds the same: asked of a few, for each is read again.
      const orders: readonly Order[] = query.startsWith('alphaneedle') ? ['newest', 'ranked'] : ['newest']
      for (const order of orders) {
        const { hits, scanned } = await search(query, order)
        expect([query, hits.map(({ citation }) => citation).sort()]).toEqual([query, answers.get(query)])
        // What has no word to look up is read as a whole.
        if (!query.startsWith('/') && !query.startsWith("'"))
          expect([query, scanned.units]).toEqual([query, 0])
      }
    }
  })

  it('are not written again when nothing changed in them, and are when a letter did', async () => {
    await catchUpIndex(searched.archive)
    const before = await search('gammaneedle')
    writeLog(searched.config, 1, [
      `${many} alphaneedle beta ${many} gammaNeedle`,
      'a small one with lorem and alphaneedle',
      `${numbers} alphaneedle untoldneedle`,
      'beta alphaneedle',
      'nothing',
      `${many} lateneedle ${many}`,
    ])
    await searched.sync()
    await catchUpIndex(searched.archive)
    expect((await search('gammaneedle')).hits).toHaveLength(before.hits.length)
    expect((await search('lateneedle lorem')).hits).toHaveLength(1)
    expect((await search('lateneedle lorem')).scanned.units).toBe(0)
  })
})

describe('hansard sync', () => {
  it('reads and indexes lines of 13 MB in bounded memory, on all cores', async () => {
    const folder = temporaryFolder()
    const config = join(folder, 'claude')
    const text = 'a漢 '.repeat(2_600_000)
    for (let n = 0; n < 3; n += 1) {
      writeLog(config, n, [`${text} needle${n}`])
    }
    const env = { CLAUDE_CONFIG_DIR: config, HOME: folder, HANSARD_HOME: join(folder, 'archive') }
    const { code, stderr } = await run(['sync'], {
      cwd: folder,
      env: { ...env, NODE_OPTIONS: `--import ${TELL_PEAK}` },
    })
    expect(code).toBe(0)
    const { mb } = toldPeak(stderr)
    expect(mb).toBeGreaterThan(50)
    expect(mb).toBeLessThan(350)
    const { stdout } = await run(['search', 'needle2', '--json'], { cwd: folder, env })
    expect(JSON.parse(stdout)).toMatchObject({ total: 1, scanned: { units: 0 } })
    fs.rmSync(folder, { recursive: true, force: true })
  })
})
