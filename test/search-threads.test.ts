/** Indexing in threads, by the built program: a thread is another one after some batches, and nobody can tell from the answers. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex } from '../src/search/search.ts'
import { listShards } from '../src/search/shard.ts'
import type { ThreadsReport } from './index-threads-child.ts'
import { createSearched, readAnswer, writeLog } from './searched-archive.ts'

const CHILD = fileURLToPath(new URL('../dist/test/index-threads-child.js', import.meta.url))
const BATCHES_A_THREAD = 5
const UNITS = 24

it('ends a thread after five batches, goes on with another, and has all of it in the end', async () => {
  const searched = createSearched('search-threads')
  for (let n = 0; n < UNITS; n += 1) writeLog(searched.config, n, [`needle${n} common`, 'common words'])
  await searched.sync()
  const said = execFileSync(process.execPath, [CHILD, searched.archive.home], { encoding: 'utf8' })
  const { units, batches, threads, together } = JSON.parse(said) as ThreadsReport
  const shards = listShards(searched.archive).length
  expect({ units, batches }).toEqual({ units: UNITS, batches: UNITS })
  expect(threads).toBeGreaterThanOrEqual(Math.ceil(UNITS / BATCHES_A_THREAD))
  // Each shard's last one may be ended with nothing left to do, and none but it writes to the shard.
  expect(threads).toBeLessThanOrEqual(Math.ceil(UNITS / BATCHES_A_THREAD) + shards)
  expect(together).toBeLessThanOrEqual(shards)
  const index = await openSearchIndex(searched.archive)
  for (const query of ['common', 'needle0', 'needle11', 'needle23', "'eedle1'"]) {
    const { hits, scanned } = await index.search(parseQuery(query), { limit: 1000 })
    expect(hits.map(({ citation }) => citation).sort()).toEqual(await readAnswer(searched.archive, query))
    expect(scanned.units).toBe(0)
  }
  index.close()
})
