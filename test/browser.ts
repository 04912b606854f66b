/**
 * A real browser on a real server's page. Every page that is opened here keeps what must not happen: scripts that fail, what the
 * page's policy had to stop, requests to anywhere else. `expectClean` says that none of it did.
 */
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import type { RunningServer } from '../src/server/start.ts'

/** How long a page may take on the busiest machine; a condition that holds is seen at once. */
const WAIT_MS = 120_000

/** The browser that all tests of the page share. Closing it closes what was opened through this connection. */
export async function connectBrowser(): Promise<Browser> {
  const endpoint = inject('browserEndpoint')
  if (endpoint === '')
    throw new Error('no browser: install Chromium or Chrome, or say where it is in CHROME_PATH')
  return chromium.connect(endpoint)
}

/** The page as it was built; another build may be named. */
export const webFolder = resolve(process.env['HANSARD_WEB'] ?? join(import.meta.dirname, '../dist/web'))

export type OpenPage = {
  readonly page: Page
  /** What must not happen, as it happened. */
  readonly wrong: readonly string[]
  readonly expectClean: () => void
}

export type OpenOptions = BrowserContextOptions & {
  /** Where to: `/cost`. */
  readonly path?: string
  /** Failed requests are meant to happen: the server is stopped. */
  readonly mayBreak?: boolean
}

/** Opens the page as a user does: with the address that the server prints. */
export async function openPage(
  browser: Browser,
  server: RunningServer,
  { path = '/', mayBreak = false, ...options }: OpenOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(WAIT_MS)
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const isNetwork = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !(mayBreak && isNetwork)) wrong.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    const isInside = origin === server.origin || protocol === 'data:' || protocol === 'blob:'
    if (!isInside) wrong.push(`request: ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      console.error(`policy: ${violatedDirective} ${blockedURI} ${sample}`),
    )
  })
  await page.goto(urlOf(server, path))
  return { page, wrong, expectClean: () => expect(wrong).toEqual([]) }
}

/** The address that the server prints leads to the list; the key in it opens any view. */
export function urlOf(server: RunningServer, path: string): string {
  const url = new URL(path, server.origin)
  url.searchParams.set('token', new URL(server.newUrl()).searchParams.get('token') ?? '')
  return url.href
}

/** What the page has got for the key. */
export async function passOf(page: Page): Promise<string> {
  const stored = await page.waitForFunction(() => localStorage.getItem('hansard-pass'))
  return String(await stored.jsonValue())
}

/**
 * Presses one key after the other, each when the page has drawn what the last one did, however busy the machine is. Keys that belong
 * together (`g g`) follow each other at once: the page forgets the first after a second.
 */
export async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const together of keys) {
    await Promise.all(together.split(' ').map((key) => page.keyboard.press(key)))
    await page.waitForTimeout(150)
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  }
}

/** Where the page's address points within the session: the browser says so a little later than the page does. */
export const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash)

/** However long a session or a text is, no more of it is laid out than a browser is quick with. */
export async function expectLight(page: Page): Promise<void> {
  const { elements, characters } = await page.evaluate(
    () =>
      new Promise<{ elements: number; characters: number }>((resolve) =>
        requestAnimationFrame(() =>
          resolve({
            elements: document.querySelectorAll('*').length,
            characters: document.body.textContent.length,
          }),
        ),
      ),
  )
  expect(elements).toBeLessThan(5000)
  expect(characters).toBeLessThan(300_000)
}

/** What axe-core finds that is serious or worse; run apart from the page, whose policy would not let it in. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  const source = fs.readFileSync(join(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')
  // Evaluated over the debugging protocol: no script element, nothing that the page would allow.
  await page.evaluate(source)
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map((one) => ({ id: one.id, impact: one.impact, nodes: one.nodes.map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).slice(0, 3) })))`,
  )
  const violations = found as { id: string; impact: string; nodes: string[] }[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.join(' | ')}`)
}
