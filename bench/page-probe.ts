/**
 * A real browser that measures the page from within: when something is first painted, how long a jump takes, how long frames are, what
 * memory it holds. What runs in the page is text, for this is compiled without the types of browsers.
 */
import { chromium, type Browser, type Page } from 'playwright-core'

export const ENTRY = '.transcript-list .entry:not(.is-loading)'
export const ROW = '.session-rows [data-row] a'

export async function launch(): Promise<Browser> {
  const executablePath = process.env['CHROME_PATH']
  if (executablePath === undefined) throw new Error('no browser: say where one is in CHROME_PATH')
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
}

/** The page as a user opens it, with what measures it in every document. */
export async function openAt(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(60_000)
  await context.addInitScript(PROBE)
  const page = await context.newPage()
  await page.goto(url)
  await page.waitForFunction("localStorage.getItem('hansard-pass')")
  return page
}

/** Milliseconds from the beginning of the visit until the first of what the selector means was on the screen. */
export async function firstPaint(page: Page, url: string, selector: string): Promise<number> {
  // Away in between: an address that differs by its hash alone is no visit.
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'commit' })
  return page.evaluate<number>(`bench.painted(${JSON.stringify(selector)})`)
}

/** Milliseconds from a change of the address until the entry is on the screen. */
export const jump = (page: Page, position: number): Promise<number> =>
  page.evaluate<number>(`bench.jump(${position})`)

export type Frames = { readonly longest: number; readonly over50: number; readonly count: number }

/** Frames while `work` goes on. */
export async function framesDuring(page: Page, work: () => Promise<void>): Promise<Frames> {
  await page.evaluate('bench.watchFrames()')
  await work()
  return page.evaluate<Frames>('bench.frames()')
}

/** When a text was first on the screen, in milliseconds since 1970. */
export const whenShown = (page: Page, text: string): Promise<number> =>
  page.evaluate<number>(`bench.shown(${JSON.stringify(text)})`)

/** Megabytes that are in use after a collection: objects, documents, and the bytes of arrays. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  // Newer than the types: what arrays hold is beside the heap.
  const used = (await session.send('Runtime.getHeapUsage')) as {
    readonly usedSize: number
    readonly embedderHeapUsedSize?: number
    readonly backingStorageSize?: number
  }
  await session.detach()
  return (used.usedSize + (used.embedderHeapUsedSize ?? 0) + (used.backingStorageSize ?? 0)) / 1e6
}

const PROBE = `(() => {
  const afterPaint = (run) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => run()
    port2.postMessage(0)
  })
  const when = (isThere, mostMs = 30000) => new Promise((resolve) => {
    setTimeout(() => resolve(Infinity), mostMs)
    const done = () => afterPaint(() => resolve(performance.now()))
    if (isThere()) return done()
    const look = new MutationObserver(() => {
      if (!isThere()) return
      look.disconnect()
      done()
    })
    look.observe(document, { childList: true, subtree: true, characterData: true, attributes: true })
  })
  const isInSight = (element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  }
  const first = new Map()
  const entry = ${JSON.stringify(ENTRY)}
  const row = ${JSON.stringify(ROW)}
  for (const selector of [entry, row]) first.set(selector, when(() => document.querySelector(selector) !== null))
  let frames = []
  let isWatching = false
  const frame = (now) => {
    if (!isWatching) return
    frames.push(now)
    requestAnimationFrame(frame)
  }
  globalThis.bench = {
    painted: (selector) => first.get(selector) ?? when(() => document.querySelector(selector) !== null),
    async jump(position) {
      const began = performance.now()
      location.hash = '#' + position
      const selector = '.transcript-list .entry[data-position="' + position + '"]:not(.is-loading)'
      const at = await when(() => [...document.querySelectorAll(selector)].some(isInSight))
      return at - began
    },
    watchFrames() {
      frames = []
      isWatching = true
      requestAnimationFrame(frame)
    },
    frames() {
      isWatching = false
      const times = frames.slice(1).map((now, at) => now - frames[at])
      return { longest: Math.max(0, ...times), over50: times.filter((ms) => ms > 50).length, count: times.length }
    },
    shown: async (text) => {
      const isShown = () => [...document.querySelectorAll(entry)].some((one) => one.textContent.includes(text))
      const at = await when(isShown, 120000)
      return performance.timeOrigin + at
    },
  }
})()`
