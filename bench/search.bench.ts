/**
 * The index: how fast it is built on all cores, how large it is, and how long a fixed mix of searches takes. Speeds are given beside
 * splitting lines and JSON.parse of the same bytes in this thread, for machines differ.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex } from '../src/search/search.ts'
import { sync } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { atLeast, atMost, type Result } from './measure.ts'
import { word, writeSearchLogs } from './search-logs.ts'

/** MB/s of JSON.parse on the machine that the budget of 45 MB/s was set on. */
const PARSE_THERE = 365
const BUILD_THERE = 45

const MIX: Readonly<Record<string, readonly string[]>> = {
  rare: [59_000, 50_000, 41_000].map(word),
  common: [0, 1, 2, 5].map(word),
  several: [`${word(0)} ${word(3)}`, `${word(1)} ${word(900)}`],
  phrase: [`"${word(0)} ${word(1)}"`, `"${word(2)} ${word(7)}"`],
  CJK: ['文件', '搜索函数', '错误'],
  field: [`role:user ${word(1)}`, `tool:webfetch ${word(0)}`, `model:opus ${word(4)}`],
}
const PREFIXES = [word(900), word(5000)].map((text) => `${text.slice(0, 5)}*`)

export const bench: Bench = async ({ quick }) => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-search-'))
  try {
    const logs = writeSearchLogs(join(folder, 'claude'), { files: quick ? 100 : 2000, bytesEach: 500_000 })
    const archive = openArchive(join(folder, 'home'), { write: true })
    await sync(archive, { env: { CLAUDE_CONFIG_DIR: logs.config }, userHome: folder, cwd: folder })
    const parse = logs.bytes / 1000 / parseAll(logs.config)
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
    const { ms, bytes } = await catchUpIndex(archive)
    clearInterval(watch)
    const build = bytes / 1000 / ms
    const size = sizeOf(join(archive.home, 'index'))
    const index = await openSearchIndex(archive)
    const results: Result[] = [
      atLeast(
        'index: built, against JSON.parse',
        build / parse,
        BUILD_THERE / PARSE_THERE,
        `${build.toFixed(1)} MB/s, JSON.parse ${parse.toFixed(0)} MB/s`,
      ),
      atMost('index: size, against the logs', size / bytes, 0.45, `${(size / 1e6).toFixed(0)} MB`),
      atMost('index: peak memory, MB', peak / 1e6, 400, ''),
      ...(await searches(index, 'newest', PARSE_THERE / parse)),
      ...(await searches(index, 'ranked', PARSE_THERE / parse)),
    ]
    index.close()
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const LIMITS = { newest: [2, 60], ranked: [10, 100] } as const
const ROUNDS = 20

/** Milliseconds as they would be there: `slower` is how many times slower this machine is now. */
async function searches(index: SearchIndex, order: 'newest' | 'ranked', slower: number): Promise<Result[]> {
  const all: number[] = []
  const details: string[] = []
  for (const [name, queries] of Object.entries(MIX)) {
    const times = await timesOf(index, queries, order)
    all.push(...times)
    details.push(`${name} ${percentile(times, 0.5).toFixed(1)}/${percentile(times, 0.99).toFixed(1)}`)
  }
  const prefix = await timesOf(index, PREFIXES, order)
  const scale = Math.max(1, slower)
  const [p50, p99] = LIMITS[order]
  return [
    atMost(`search: ${order}, p50 ms`, percentile(all, 0.5) / scale, p50, details.join(', ')),
    atMost(
      `search: ${order}, p99 ms`,
      percentile(all, 0.99) / scale,
      p99,
      `this machine ${scale.toFixed(1)}× slower`,
    ),
    atMost(
      `search: ${order}, prefix p50 ms`,
      percentile(prefix, 0.5) / scale,
      p99,
      `p99 ${percentile(prefix, 0.99).toFixed(1)}`,
    ),
  ]
}

async function timesOf(
  index: SearchIndex,
  queries: readonly string[],
  order: 'newest' | 'ranked',
): Promise<number[]> {
  const times: number[] = []
  for (const text of queries) {
    const query = parseQuery(text)
    for (let round = -2; round < ROUNDS; round += 1) {
      const { tookMs } = await index.search(query, { order })
      if (round >= 0) times.push(tookMs)
    }
  }
  return times
}

function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Milliseconds. */
function parseAll(config: string): number {
  const started = performance.now()
  const folder = join(config, 'projects')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.jsonl')) continue
    const bytes = readFileSync(join(folder, name))
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      JSON.parse(bytes.toString('utf8', from, end))
      from = end + 1
    }
  }
  return performance.now() - started
}

function sizeOf(folder: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith('search-'))
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
