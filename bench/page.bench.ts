/**
 * The page in a real browser on the built server: a session of a million entries and one or two gigabytes, a list of twenty thousand sessions, a
 * thousand who listen, and what is appended to a log on its way to the screen.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import type { Bench } from './bench.ts'
import { BIN, rssOf, startBuilt, type BuiltServer } from './built-server.ts'
import { tellThousand } from './live-clients.ts'
import { writeSessions } from './listed-sessions.ts'
import { isShownAlone, LONG_SESSION, promptLine, writeLongLog } from './long-session.ts'
import { atMost, median, type Result } from './measure.ts'
import {
  ENTRY,
  firstPaint,
  framesDuring,
  heapOf,
  jump,
  launch,
  openAt,
  ROW,
  whenShown,
} from './page-probe.ts'

const PAINT_MS = 1000
const LIST_PAINT_MS = 500
const JUMP_MS = 150
const FRAME_MS = 50
const GROWTH_MB = 100
const HEAP_MB = 150
const SCRIPT_KB = 150
const LIVE_MS = 1000
const VISITS = 7
const LISTENERS = 1000
const LIVE_SESSION = '34343434-1111-4111-8111-111111111111'
const LIVE_ENTRIES = 2000

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-page-'))
  const browser = await launch()
  try {
    return [
      ...(await longSession(browser, join(folder, 'long'), quick ? 100_000 : 1_000_000, 1)),
      ...(await longSession(browser, join(folder, 'longer'), quick ? 100_000 : 1_000_000, 2)),
      ...(await longList(browser, join(folder, 'list'), 20_000)),
      ...(await live(browser, join(folder, 'live'))),
    ]
  } finally {
    await browser.close()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function longSession(
  browser: Browser,
  folder: string,
  entries: number,
  kilobytes: number,
): Promise<readonly Result[]> {
  const logs = join(folder, '.claude', 'projects', '-p')
  fs.mkdirSync(logs, { recursive: true })
  const path = join(logs, `${LONG_SESSION}.jsonl`)
  const bytes = writeLongLog(path, entries, { kilobytes })
  const home = join(folder, 'home')
  // With its index, so that the server has nothing to do but to show.
  takeIn(folder, home)
  const server = await startBuilt(home, { follow: true, userHome: folder })
  const size = `${entries} entries, ${(bytes / 1e6).toFixed(0)} MB`
  try {
    const id = await onlySession(server)
    await server.get('/health')
    const before = rssOf(server.child)
    let most = before
    const watch = setInterval(() => (most = Math.max(most, rssOf(server.child))), 50)
    const made = await outlined(server, id)
    const page = await openAt(browser, server.url)
    const address = `${server.origin}/session/${id}`
    const results = [
      ...(await painted(page, `transcript, ${size}`, address, ENTRY, PAINT_MS)),
      ...(await jumped(page, entries)),
      ...(await scrolled(page, entries)),
      atMost('heap of the page after all that', await heapOf(page), HEAP_MB, `MB; ${size}`),
    ]
    clearInterval(watch)
    results.push(
      atMost(
        'growth of the server',
        most - before,
        GROWTH_MB,
        `MB over ${before.toFixed(0)}; outlined in ${(made / 1000).toFixed(1)} s`,
      ),
      ...(await kept(server)),
      await appended(page, address, path, { n: entries, name: `append to pixel, ${size}` }),
    )
    await page.context().close()
    return results
  } finally {
    await server.end()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function takeIn(userHome: string, home: string): void {
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'sync', '--home', home], {
    env: { PATH: process.env['PATH'], HOME: userHome },
    cwd: userHome,
  })
  if (status !== 0) throw new Error(`sync: ${String(stderr)}`)
}

async function onlySession(server: BuiltServer): Promise<string> {
  const { sessions } = (await server.get('/sessions')) as { sessions: readonly { id: string }[] }
  return sessions[0]?.id ?? ''
}

/** Milliseconds until any entry can be had. */
async function outlined(server: BuiltServer, id: string): Promise<number> {
  const began = performance.now()
  const isReady = async (): Promise<boolean> =>
    ((await server.get(`/sessions/${id}`)) as { outline: { state: string } }).outline.state === 'ready'
  while (!(await isReady())) await sleep(250)
  return performance.now() - began
}

/** Visits after one that does not count. */
async function painted(
  page: Page,
  what: string,
  address: string,
  selector: string,
  most: number,
): Promise<readonly Result[]> {
  const scripts = new Map<string, number>()
  page.on('response', (response) => {
    if (!response.url().endsWith('.js') || response.status() !== 200) return
    void response.body().then(
      (body) => scripts.set(response.url(), gzipSync(body).length),
      () => {},
    )
  })
  const times: number[] = []
  for (let visit = -1; visit < VISITS; visit += 1) {
    const ms = await firstPaint(page, address, selector)
    if (visit >= 0) times.push(ms)
  }
  const kilobytes = [...scripts.values()].reduce((sum, size) => sum + size, 0) / 1000
  return [
    atMost(
      `first paint of the ${what}`,
      median(times),
      most,
      `ms, the median of ${VISITS}; the slowest ${Math.max(...times).toFixed(0)}`,
    ),
    atMost(`script for it`, kilobytes, SCRIPT_KB, 'kB, each file by gzip'),
  ]
}

/** From end to end, and then here and there. */
async function jumped(page: Page, entries: number): Promise<readonly Result[]> {
  const times: number[] = []
  const go = async (part: number): Promise<void> => {
    let to = Math.min(entries - 1, Math.floor(part * entries))
    while (!isShownAlone(to)) to -= 1
    times.push(await jump(page, to))
  }
  for (let n = 1; n <= 60; n += 1) await go(n / 60)
  for (let n = 1; n <= 40; n += 1) await go(((n * 7919) % 1000) / 1000)
  const sorted = times.toSorted((a, b) => a - b)
  const detail = `ms, 95 of 100; the median ${median(times).toFixed(0)}, the slowest ${Math.max(...times).toFixed(0)}`
  return [atMost('jump to any entry', sorted[94] ?? Number.NaN, JUMP_MS, detail)]
}

async function scrolled(page: Page, entries: number): Promise<readonly Result[]> {
  const results: Result[] = []
  await page.mouse.move(600, 400)
  const wheel = async (): Promise<void> => {
    for (let n = 0; n < 150; n += 1) {
      await page.mouse.wheel(0, 160)
      await sleep(16)
    }
  }
  const drag = async (): Promise<void> => {
    for (let n = 0; n <= 60; n += 1) {
      await page.evaluate(`(() => {
        const list = document.querySelector('.transcript-list')
        list.scrollTop = (list.scrollHeight - list.clientHeight) * ${n / 60}
      })()`)
      await sleep(33)
    }
  }
  const quiet = await framesDuring(page, () => sleep(1500))
  for (const [name, work] of [
    ['by wheel', wheel],
    ['by the scrollbar, end to end', drag],
  ] as const) {
    // Another place each time: an address that is there already leads nowhere.
    await jump(page, Math.floor(entries / (name === 'by wheel' ? 20 : 30)) * 10)
    await sleep(500)
    const { longest, over50, count } = await framesDuring(page, work)
    const detail = `ms, the longest of ${count} frames; ${over50} over ${FRAME_MS}; with nothing going on ${quiet.longest.toFixed(0)}`
    results.push(atMost(`scrolling ${name}`, longest, FRAME_MS, detail))
  }
  return results
}

/** How long the server keeps others waiting while it answers what is hard. */
async function kept(server: BuiltServer): Promise<readonly Result[]> {
  const asked = {
    'what the session cost': '/cost?by=session&q=project',
    'what tools did': '/stats?q=parser',
    'a search that matches everything': '/search?q=parser+line&limit=50',
    'a search by pattern': `/search?q=${encodeURIComponent('p[a-z]rser r.ads')}&regex=true`,
  }
  const results: Result[] = []
  for (const [name, path] of Object.entries(asked)) {
    const asking = { isDone: false }
    const began = performance.now()
    const answer = server.get(path).finally(() => (asking.isDone = true))
    const waits: number[] = []
    while (!asking.isDone) {
      const started = performance.now()
      await server.get('/health')
      waits.push(performance.now() - started)
      await sleep(5)
    }
    await answer
    const took = `answered in ${(performance.now() - began).toFixed(0)} ms`
    results.push(atMost(`others wait during ${name}`, Math.max(0, ...waits), 100, `ms; ${took}`))
  }
  return results
}

type Growing = { readonly n: number; readonly name: string }

/** The page at the newest entry, a line appended to the log, and when its text is on the screen. */
async function appended(page: Page, address: string, path: string, { n, name }: Growing): Promise<Result> {
  await page.goto(`${address}#${n - 1}`)
  await sleep(2000)
  await page.keyboard.press('G')
  await sleep(1000)
  const times: number[] = []
  for (let turn = 0; turn < 5; turn += 1) {
    const text = `appended ${turn} just now`
    const seen = whenShown(page, text)
    const at = Date.now()
    fs.appendFileSync(
      path,
      promptLine(n + turn, text, path.includes(LIVE_SESSION) ? LIVE_SESSION : LONG_SESSION),
    )
    const shown = await Promise.race([seen, sleep(120_000).then(() => Number.NaN)])
    times.push(shown - at)
    if (Number.isNaN(shown)) break
    await sleep(700)
  }
  const slowest = times.some(Number.isNaN) ? Number.POSITIVE_INFINITY : Math.max(...times)
  return atMost(
    name,
    slowest,
    LIVE_MS,
    `ms, the slowest of ${times.length}; the median ${median(times).toFixed(0)}`,
  )
}

async function longList(browser: Browser, folder: string, count: number): Promise<readonly Result[]> {
  const home = join(folder, 'home')
  await writeSessions(home, count)
  const server = await startBuilt(home, { follow: false })
  try {
    const page = await openAt(browser, server.url)
    const results = await painted(page, `list of ${count} sessions`, `${server.origin}/`, ROW, LIST_PAINT_MS)
    await page.context().close()
    return results
  } finally {
    await server.end()
  }
}

async function live(browser: Browser, folder: string): Promise<readonly Result[]> {
  const logs = join(folder, '.claude', 'projects', '-p')
  fs.mkdirSync(logs, { recursive: true })
  const path = join(logs, `${LIVE_SESSION}.jsonl`)
  writeLongLog(path, LIVE_ENTRIES, { session: LIVE_SESSION })
  const home = join(folder, 'home')
  takeIn(folder, home)
  const server = await startBuilt(home, { follow: true, userHome: folder })
  try {
    const id = await onlySession(server)
    await outlined(server, id)
    const page = await openAt(browser, server.url)
    const name = `append to pixel, ${LIVE_ENTRIES} entries`
    const first = await appended(page, `${server.origin}/session/${id}`, path, { n: LIVE_ENTRIES, name })
    await page.context().close()
    let n = LIVE_ENTRIES + 100
    const told = await tellThousand(server, LISTENERS, () => {
      n += 1
      fs.appendFileSync(path, promptLine(n, `one more: ${n}`, LIVE_SESSION))
    })
    return [
      first,
      atMost(
        `an update told to ${LISTENERS} who listen`,
        told.slowest,
        LIVE_MS,
        `ms from the append, the slowest of ${told.updates} updates; ${told.memory.toFixed(0)} MB more in the server`,
      ),
    ]
  } finally {
    await server.end()
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
