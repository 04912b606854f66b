/**
 * One session of a million entries and a gigabyte behind the built server: how soon its first entries are there when nothing is known of
 * it, how long any others take, and what memory the server needs for it.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { sync } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { rssOf, startBuilt } from './built-server.ts'
import { LONG_SESSION, writeLongLog } from './long-session.ts'
import { atMost, median, type Result } from './measure.ts'

const FIRST_MS = 1000
const RANGE_MS = 150
const GROWTH_MB = 100
const PATIENCE_MS = 10 * 60_000

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-outline-'))
  try {
    const entries = quick ? 100_000 : 1_000_000
    const logs = join(folder, 'claude', 'projects', '-p')
    fs.mkdirSync(logs, { recursive: true })
    const bytes = writeLongLog(join(logs, `${LONG_SESSION}.jsonl`), entries)
    const home = join(folder, 'home')
    await sync(openArchive(home, { write: true }), { paths: [join(folder, 'claude')] })
    return await measure(home, entries, bytes)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(home: string, entries: number, bytes: number): Promise<readonly Result[]> {
  const server = await startBuilt(home, { follow: false })
  try {
    const get = (path: string): Promise<unknown> => server.get(path)
    const { sessions } = (await get('/sessions')) as { sessions: readonly { id: string }[] }
    const path = `/sessions/${sessions[0]?.id}`
    // What every server needs, whatever it shows.
    await get('/health')
    const before = rssOf(server.child)
    const first = await timed(() => get(`${path}/entries?from=0&to=100`))
    let most = before
    const watch = setInterval(() => (most = Math.max(most, rssOf(server.child))), 50)
    const began = performance.now()
    while (((await get(path)) as { outline: { state: string } }).outline.state !== 'ready') {
      if (performance.now() - began > PATIENCE_MS) throw new Error('the outline was not made')
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    const made = performance.now() - began
    const building = most - before
    const times: number[] = []
    for (let n = 0; n < 40; n += 1) {
      const from = Math.floor(((n * 7919) % 1000) * 0.001 * (entries - 100))
      times.push(await timed(() => get(`${path}/entries?from=${from}&to=${from + 100}`)))
    }
    const outline = await timed(() => get(`${path}/outline`))
    clearInterval(watch)
    const size = `${entries} entries, ${(bytes / 1e6).toFixed(0)} MB`
    return [
      atMost('first entries, nothing known of the session', first, FIRST_MS, `ms; ${size}`),
      atMost('any 100 entries', median(times), RANGE_MS, `ms, the median of 40; ${size}`),
      atMost('any 100 entries, the slowest', Math.max(...times), RANGE_MS * 2, `ms; ${size}`),
      atMost(
        'growth of the server',
        most - before,
        GROWTH_MB,
        `MB; ${building.toFixed(0)} while it outlines`,
      ),
      atMost('the whole outline as columns', outline, 2000, `ms; made in ${(made / 1000).toFixed(1)} s`),
    ]
  } finally {
    server.child.kill()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
