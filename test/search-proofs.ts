/** Promises about the index: killed at any moment, or on a disk that fills up, it gives the answers of a fresh one. Real processes. */
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { isHansardError } from '../src/errors.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex } from '../src/search/search.ts'
import { few, type Proof } from './byte-proofs.ts'
import { createSearched, line, readAnswer, writeLog } from './searched-archive.ts'
import type { Tried } from './system-proofs.ts'

const CHILD = fileURLToPath(
  new URL(
    'index-child.js',
    import.meta.url.endsWith('.ts') ? new URL('../dist/test/', import.meta.url) : import.meta.url,
  ),
)
const QUERIES = ['needle7', 'common', '"common words"', 'tool:bash common', "'ommon word'"]

/** Kills a process that indexes, again and again, while the logs grow: after each, answers are those of reading everything. */
export async function proveIndexKills(kills: number, progress?: (done: number) => void): Promise<Proof> {
  const searched = createSearched('hansard-index-kills')
  const texts = (count: number, n: number): string[] =>
    Array.from({ length: count }, (_, at) => `common words ${at} needle${n} ${'more to index '.repeat(20)}`)
  for (let n = 0; n < 16; n += 1) writeLog(searched.config, n, texts(24, n))
  const broken: string[] = []
  let answers = await answersOf(searched)
  let searches = 0
  let grown = 0
  for (let kill = 0; kill < kills; kill += 1) {
    if (kill % 10 === 0) {
      const path = writeLog(searched.config, kill % 16, texts(24, kill % 16))
      const session = path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length)
      grown += 1
      const lines = Array.from({ length: grown }, (_, at) =>
        line(session, kill % 16, 24 + at, 'common words grown'),
      )
      fs.appendFileSync(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
      answers = await answersOf(searched)
    }
    await killOne(searched.archive.home)
    const query = QUERIES[kill % QUERIES.length] as string
    const found = await search(searched.archive, query)
    searches += 1
    if (found !== answers.get(query)) broken.push(`kill ${kill}: ${query} has other answers`)
    progress?.(kill + 1)
  }
  await catchUpIndex(searched.archive)
  const healed = new Map<string, string>()
  for (const query of QUERIES) healed.set(query, await search(searched.archive, query))
  removeIndex(searched.archive.home)
  await catchUpIndex(searched.archive)
  for (const query of QUERIES) {
    const fresh = await search(searched.archive, query)
    if (fresh !== healed.get(query) || fresh !== answers.get(query))
      broken.push(`${query}: not as a fresh index`)
  }
  fs.rmSync(join(searched.archive.home, '..'), { recursive: true, force: true })
  return { name: 'kill -9 while indexing', tried: kills, counts: { searches, grown }, broken: few(broken) }
}

async function answersOf(searched: ReturnType<typeof createSearched>): Promise<Map<string, string>> {
  await searched.sync()
  const answers = new Map<string, string>()
  for (const query of QUERIES) answers.set(query, (await readAnswer(searched.archive, query)).join())
  return answers
}

async function search(archive: Archive, query: string): Promise<string> {
  const index = await openSearchIndex(archive)
  try {
    const { hits } = await index.search(parseQuery(query), { limit: 10_000 })
    return hits
      .map(({ citation }) => citation)
      .sort()
      .join()
  } finally {
    index.close()
  }
}

function killOne(home: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, home], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 300))
    child.on('error', reject)
    child.on('close', (_code, signal) =>
      signal === 'SIGKILL' ? resolve() : reject(new Error('indexing ended before it was killed')),
    )
  })
}

function removeIndex(home: string): void {
  for (const name of fs.readdirSync(join(home, 'index')))
    if (name.startsWith('search')) fs.rmSync(join(home, 'index', name), { force: true })
}

/** What lets it go on until the system says no. */
const ENDLESS = { free: Number.POSITIVE_INFINITY, total: 1 }

/** The index's folder on a file system of its own that is too small for it. */
export async function proveFullIndexDisk(): Promise<Tried> {
  const name = 'a disk that fills while indexing'
  const searched = createSearched('hansard-index-full')
  const words = (n: number): string =>
    Array.from({ length: 400 }, (_, at) => `w${(n * 7919 + at * 104_729).toString(36)}`).join(' ')
  for (let n = 0; n < 40; n += 1)
    writeLog(
      searched.config,
      n,
      Array.from({ length: 20 }, (_, at) => `common words ${words(n * 20 + at)}`),
    )
  const answers = await answersOf(searched)
  const index = join(searched.archive.home, 'index')
  const aside = `${index}-aside`
  fs.cpSync(index, aside, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', index], { stdio: 'ignore' })
  } catch {
    return { name, unavailable: 'a file system may not be mounted here' }
  }
  const broken: string[] = []
  let failures = 0
  try {
    fs.cpSync(aside, index, { recursive: true })
    for (let round = 0; round < 5; round += 1) {
      try {
        await catchUpIndex(openArchive(searched.archive.home), { batchBytes: 200_000, disk: () => ENDLESS })
        broken.push('it fits: the disk is too large for this proof')
      } catch (error) {
        failures += 1
        if (!isHansardError(error) || error.code !== 'disk-full')
          broken.push(`not disk-full: ${String(error)}`)
      }
      for (const [query, answer] of answers)
        if ((await search(searched.archive, query)) !== answer) broken.push(`${query} has other answers`)
    }
    execFileSync('mount', ['-o', 'remount,size=64m', index], { stdio: 'ignore' })
    await catchUpIndex(searched.archive)
    for (const [query, answer] of answers)
      if ((await search(searched.archive, query)) !== answer)
        broken.push(`${query} has other answers with room again`)
  } finally {
    execFileSync('umount', ['-l', index], { stdio: 'ignore' })
    fs.rmSync(join(searched.archive.home, '..'), { recursive: true, force: true })
  }
  return { name, tried: 5, counts: { failures }, broken: few(broken) }
}
