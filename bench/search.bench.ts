/**
 * The index: how fast it is built on all cores, how large it is, and how long a fixed mix of searches takes. Speeds are given beside
 * splitting lines and JSON.parse of the same bytes in this thread, for machines differ.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex } from '../src/search/search.ts'
import type { Bench } from './bench.ts'
import type { IndexReport } from './index-child.ts'
import { atLeast, atMost, median, type Result } from './measure.ts'
import { findSearcher, timeProgram, timeSearcher } from './search-peers.ts'
import { prepareSearchArchives } from './search-archive.ts'
import { word } from './search-logs.ts'

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
  const prepared = await prepareSearchArchives(quick ? 100 : 2000)
  const { folder, logs } = prepared
  try {
    const archive = openArchive(prepared.home)
    // The disk's own speed is nobody's here: all that is read lies in memory before anything is timed.
    for (const place of [logs.config, join(prepared.home, 'kept')]) readAll(place)
    const before = parseAll(logs.config)
    // By itself: this process has read a gigabyte to compare with, and still holds some of it.
    const built = buildIndex(prepared.home)
    // Once more, and the least counts: whatever else a machine does only adds.
    const after = parseAll(logs.config)
    const parse = logs.bytes / 1000 / Math.min(before.ms, after.ms)
    const { bytes } = built
    const build = bytes / 1000 / built.ms
    const size = sizeOf(join(archive.home, 'index'))
    const index = await openSearchIndex(archive)
    const results: Result[] = [
      atLeast(
        'index: built, against JSON.parse',
        build / parse,
        BUILD_THERE / PARSE_THERE,
        `${build.toFixed(1)} MB/s, JSON.parse ${parse.toFixed(0)} MB/s`,
      ),
      // Twice as much on two cores: what the speed above comes to when nobody else is at the machine.
      atMost(
        'index: processor time, times JSON.parse',
        built.processorMs / Math.min(before.processorMs, after.processorMs),
        (2 * PARSE_THERE) / BUILD_THERE,
        `${(built.processorMs / 1000).toFixed(1)} s`,
      ),
      atMost('index: size, against the logs', size / bytes, 0.45, `${(size / 1e6).toFixed(0)} MB`),
      atMost('index: peak memory, MB', built.peakMb, 400, 'of a process of its own'),
      ...(await searches(index, 'newest', PARSE_THERE / parse)),
      ...(await searches(index, 'ranked', PARSE_THERE / parse)),
    ]
    results.push(...(await withinTexts(index, PARSE_THERE / parse)))
    results.push(...(await besideOthers(index, folder, logs.config)))
    index.close()
    results.push(...cold(archive.home))
    results.push(...(await packed(openArchive(await prepared.moveToPacked()), PARSE_THERE / parse)))
    return results
  } finally {
    prepared.end()
  }
}

function buildIndex(home: string): IndexReport {
  const child = join(import.meta.dirname, 'index-child.js')
  const said = execFileSync(process.execPath, [child, home], { encoding: 'utf8' })
  return JSON.parse(said) as IndexReport
}

/** Within words, by a file's name, and by patterns: what no word of the index answers. */
const WITHIN = [
  `'${word(50_000).slice(1)}'`,
  `file:${word(30_000)}.ts`,
  `/${word(41_000).slice(1)}\\w{1,9}/`,
  // Of which there are fewer than are asked for: all has to be gone over.
  `'${word(30_000)}.ts'`,
]
/** Milliseconds: what takes longer is said to take as long. */
const PATIENCE_MS = 20_000

/** Each once: of words made of two dozen syllables, as these logs are, three letters tell little, and much is read. */
async function withinTexts(index: SearchIndex, slower: number): Promise<Result[]> {
  const times: number[] = []
  for (const text of WITHIN) {
    const { tookMs } = await index.search(parseQuery(text), { deadline: Date.now() + PATIENCE_MS })
    times.push(tookMs)
  }
  const detail = times.map((ms, at) => `${WITHIN[at]} ${ms.toFixed(0)}`).join(', ')
  return [atMost('search: within words, p50 ms', percentile(times, 0.5) / Math.max(1, slower), 1000, detail)]
}

async function besideOthers(index: SearchIndex, folder: string, logs: string): Promise<Result[]> {
  const scratch = join(folder, 'peers')
  mkdirSync(scratch, { recursive: true })
  const searcher = findSearcher(scratch)
  const texts = [...(MIX['rare'] ?? []), ...(MIX['common'] ?? []), ...(MIX['CJK'] ?? [])]
  const theirs = timeSearcher(searcher, texts, logs)
  const ours = percentile(await timesOf(index, texts, 'ranked'), 0.5)
  return [
    atLeast(
      'search: faster than over the files',
      theirs / ours,
      10,
      `${searcher.name} ${theirs.toFixed(0)} ms, ranked ${ours.toFixed(1)} ms`,
    ),
  ]
}

const BIN = join(import.meta.dirname, '../bin/hansard.js')

/** A process from its start, beside one that does nothing. */
function cold(home: string): Result[] {
  const env = { ...process.env, HANSARD_HOME: home }
  const times: { node: number[]; search: number[]; mb: number } = { node: [], search: [], mb: 0 }
  for (let round = 0; round < 9; round += 1) {
    const started = performance.now()
    spawnSync(process.execPath, ['-e', '0'], { stdio: ['ignore', 'pipe', 'pipe'] })
    times.node.push(performance.now() - started)
    const { ms, mb } = timeProgram(BIN, ['search', word(41_000)], env)
    times.search.push(ms)
    times.mb = Math.max(times.mb, mb)
  }
  const [node, search] = [median(times.node), median(times.search)]
  return [
    atMost(
      'search: cold, against node -e 0',
      search / node,
      2.5,
      `${search.toFixed(0)} ms against ${node.toFixed(0)} ms`,
    ),
    atMost('search: cold, memory MB', times.mb, 120, ''),
  ]
}

/** The same files compressed: a hit's entry is read out of them. */
async function packed(archive: Archive, slower: number): Promise<Result[]> {
  const index = await openSearchIndex(archive)
  const times: number[] = []
  for (const text of [...(MIX['rare'] ?? []), ...(MIX['common'] ?? []), ...(MIX['phrase'] ?? [])]) {
    const query = parseQuery(text)
    for (let round = 0; round < ROUNDS / 2; round += 1) {
      const started = performance.now()
      const { hits, scanned } = await index.search(query, { order: 'newest', limit: 1 })
      if (scanned.units > 0) throw new Error('the index does not have the compressed files')
      for (const hit of hits) await index.entry(hit)
      times.push(performance.now() - started)
    }
  }
  index.close()
  return [
    atMost(
      'search: compressed, p50 ms',
      percentile(times, 0.5) / Math.max(1, slower),
      15,
      'with the entry of the first hit',
    ),
  ]
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
  rounds = ROUNDS,
): Promise<number[]> {
  const times: number[] = []
  for (const text of queries) {
    const query = parseQuery(text)
    for (let round = -2; round < rounds; round += 1) {
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

/** Milliseconds, by the clock and of processor, of all threads. */
function parseAll(folder: string): { readonly ms: number; readonly processorMs: number } {
  const started = performance.now()
  const before = process.cpuUsage()
  for (const path of filesBelow(folder)) {
    if (!path.endsWith('.jsonl')) continue
    const bytes = readFileSync(path)
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      JSON.parse(bytes.toString('utf8', from, end))
      from = end + 1
    }
  }
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - started, processorMs: (user + system) / 1000 }
}

function readAll(folder: string): void {
  for (const path of filesBelow(folder)) readFileSync(path)
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function sizeOf(folder: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith('search-'))
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
