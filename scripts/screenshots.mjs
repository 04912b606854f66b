// Pictures of every view, light and dark, of the page on the sample: `npm run screenshots` puts them into docs/pictures.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { findBrowser } from './browser.mjs'
import { build, root } from './prepare.mjs'

/** Another build, or another folder for the pictures, may be named. */
const [from = root, to = join(root, 'docs', 'pictures')] = process.argv.slice(2)
if (from === root) build()
const { makeSample } = await import(`${from}/dist/src/cli/demo/make.js`)
const { playLive } = await import(`${from}/dist/src/cli/demo/live-story.js`)
const { startServer } = await import(`${from}/dist/src/server/start.js`)

const executablePath = findBrowser()
if (executablePath === undefined)
  throw new Error('no browser: install Chromium or Chrome, or name it in CHROME_PATH')
const folder = mkdtempSync(join(tmpdir(), 'hansard-pictures-'))
const archive = await makeSample(folder)
const server = await startServer(archive, { port: 0, follow: false, webFolder: join(from, 'dist', 'web') })
const ending = new AbortController()
const playing = playLive({ home: archive.home, cwd: folder, signal: ending.signal, speed: 0.8 })
const ask = async (path) =>
  (
    await fetch(`${server.origin}/api/v1/${path}`, { headers: { authorization: `Bearer ${server.token}` } })
  ).json()
const idOf = async (q) => (await ask(`sessions?q=${encodeURIComponent(q)}`)).sessions[0].id
const voucher = await idOf('wrong total')
const { runs } = await ask('runs')
const [second, first] = ['m7w2p4', 'k3q9x1'].map((end) => runs.find(({ id }) => id.endsWith(end)))
/** The same step of both. */
const checksOf = async ({ id }) =>
  (await ask(`runs/${id}`)).steps.find(({ step }) => step === 'run-checks').session
const [before, after] = [await checksOf(first), await checksOf(second)]

/** Name, address, and what to do there before the picture is taken. */
const VIEWS = [
  ['sessions', '/', async (page) => page.locator('.session-row').nth(5).waitFor()],
  ['search', '/?q=voucher', async (page) => page.locator('.hit-link').first().waitFor()],
  [
    'session',
    `/session/${voucher}`,
    async (page) => {
      await page.locator('.minimap canvas').waitFor()
    },
  ],
  [
    'session-tools',
    `/session/${voucher}#8`,
    async (page) => {
      for (const says of [/^Edit .*cart\/total\.ts/, /^Bash npx vitest run src\/cart(?! &&)/])
        await page.locator('.fold-line').filter({ hasText: says }).first().click()
      await page.locator('.diff').first().waitFor()
      await page.locator('.transcript-list').evaluate((list) => {
        const first = list.querySelector('[data-position="14"]')
        if (first !== null)
          list.scrollTop += first.getBoundingClientRect().top - list.getBoundingClientRect().top
      })
    },
  ],
  ['session-answer', `/session/${voucher}#24`, async (page) => page.locator('.hl-keyword').first().waitFor()],
  ['run', `/runs/${second.id}`, async (page) => page.locator('.timeline-step').first().waitFor()],
  ['compare', `/runs/${first.id}?with=${second.id}`, async (page) => page.locator('table').first().waitFor()],
  ['diff', `/diff?a=${before}&b=${after}`, async (page) => page.locator('.diff').first().waitFor()],
  [
    'playback',
    `/session/${voucher}?play=4#9`,
    async (page) => {
      await page.locator('.player').waitFor()
      await page.locator('.entry[data-position="8"]').waitFor()
    },
  ],
  ['cost', '/cost', async (page) => page.locator('.chart-bar').first().waitFor()],
  ['insight', '/insight', async (page) => page.locator('table').nth(1).waitFor()],
  ['context', `/insight/${voucher}`, async (page) => page.locator('.chart-layer').first().waitFor()],
]

mkdirSync(to, { recursive: true })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const sizes = []
for (const colorScheme of ['light', 'dark']) {
  for (const [width, height, suffix, only] of [
    [1280, 800, '', VIEWS],
    [400, 760, '-narrow', VIEWS.filter(([name]) => name === 'sessions' || name === 'session')],
  ]) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await page.goto(server.newUrl())
    await page.waitForFunction(() => localStorage.getItem('hansard-pass'))
    for (const [name, path, ready] of only) {
      await page.goto(`${server.origin}${path}`)
      await ready(page)
      await page.mouse.move(0, 0)
      await page.waitForTimeout(700)
      const file = `${name}${suffix}-${colorScheme}.webp`
      const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
      writeFileSync(join(to, file), Buffer.from(data, 'base64'))
      sizes.push(`${Math.round(statSync(join(to, file)).size / 1000)} kB  ${file}`)
    }
    await context.close()
  }
}
await browser.close()
ending.abort()
await playing
await server.close()
rmSync(folder, { recursive: true, force: true })
console.log(sizes.join('\n'))
