/** Two sessions beside each other in a real browser: chosen in the list, from a session and by their ids; where they part; each step. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { record } from '../src/capture/record.ts'
import { startServer, type RunningServer } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import {
  findBarriers,
  hashOf,
  connectBrowser,
  openPage,
  press,
  webFolder,
  type OpenOptions,
  type OpenPage,
} from './browser.ts'

let browser: Browser
let server: RunningServer
const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-page-diff-'))
let [before, after, other] = ['', '', '']

beforeAll(async () => {
  const home = join(root, 'home')
  before = await work(home, 'Fix the total', {
    command: 'npm test',
    answer: 'All tests pass.\nThe total is right.',
  })
  after = await work(home, 'Fix the total', {
    command: 'npm test -- cart',
    answer: 'All tests pass.\nThe total is wrong.',
    file: 'src/cart.ts',
  })
  other = await work(home, 'Something else', { command: 'ls', answer: 'Done.' })
  const archive = openArchive(home, { write: true })
  const here = { userHome: root, env: {}, cwd: root }
  await sync(archive, here)
  server = await startServer(archive, { port: 0, follow: false, sync: here, webFolder })
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  fs.rmSync(root, { recursive: true, force: true })
})

let now = Date.UTC(2026, 10, 14, 9)
type Work = { readonly command: string; readonly answer: string; readonly file?: string }

async function work(home: string, title: string, { command, answer, file }: Work): Promise<string> {
  now += 3_600_000
  const session = await record({ home, cwd: '/work/shop', title, agent: 'mine', now: () => (now += 1000) })
  session.user(title)
  const callId = session.toolCall({ name: 'Bash', input: { command } })
  session.toolResult({ callId, output: 'ok' })
  if (file !== undefined) {
    const readId = session.toolCall({ name: 'Read', input: { file_path: file } })
    session.toolResult({ callId: readId, output: 'export const total = 1' })
  }
  session.assistant(answer)
  return (await session.end()).id
}

const open = (path: string, options: OpenOptions = {}): Promise<OpenPage> =>
  openPage(browser, server, { path, ...options })
const pair = (): string => `/diff?a=${before}&b=${after}`

describe('two sessions', () => {
  it('are shown with where they part, what each came to, and their tools and files', async () => {
    const { page, expectClean } = await open(pair())
    const parting = page.getByRole('region', { name: 'Where they part' })
    await parting.waitFor()
    expect(await parting.innerText()).toContain('Call of Bash')
    expect(await parting.locator('.diff-row.is-gone').innerText()).toContain('npm test')
    expect(await parting.locator('.diff-row.is-new').innerText()).toContain('npm test -- cart')
    const facts = page.getByRole('table', { name: 'What each session came to' })
    expect(await facts.getByRole('row', { name: /^Tool calls/ }).innerText()).toMatch(
      /1\s+2\s+\+1 \(\+100 %\)/,
    )
    expect(await page.getByRole('region', { name: 'Tools', exact: true }).innerText()).toContain('Read')
    expect(await page.getByRole('region', { name: 'Files that differ' }).innerText()).toContain('src/cart.ts')
    expect(await page.getByRole('region', { name: 'Session A' }).getByRole('link').getAttribute('href')).toBe(
      `/session/${before}`,
    )
    expectClean()
    await page.context().close()
  })

  it('lead to the entries of both', async () => {
    const { page, expectClean } = await open(pair())
    await page.locator('.steps li').first().waitFor()
    await page.locator('.steps li').first().getByRole('link', { name: /^B #/ }).click()
    await page.locator('.entry.is-selected').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/session/${after}`)
    expect(await page.locator('.entry.is-selected').innerText()).toContain('npm test -- cart')
    expectClean()
    await page.context().close()
  })

  it('open step by step with keys, and the address has the step', async () => {
    const { page, expectClean } = await open(pair())
    await page.locator('.steps li').first().waitFor()
    await press(page, 'j', 'j', 'o')
    const second = page.locator('.steps li').nth(1)
    await expect.poll(() => second.locator('.diff-row').count()).toBeGreaterThan(0)
    expect(await hashOf(page)).toBe('#2')
    await page.reload()
    await page.locator('.steps li').nth(1).locator('.diff-row').first().waitFor()
    await page.getByRole('button', { name: /^only in B/ }).click()
    expect(page.url()).toContain('type=come')
    for (const text of await page.locator('.steps .step-head').allInnerTexts())
      expect(text).toContain('only in B')
    await press(page, 's')
    await page.waitForURL((url) => url.searchParams.get('a') === after)
    expectClean()
    await page.context().close()
  })

  it('of which one is the other are the same', async () => {
    const { page, expectClean } = await open(`/diff?a=${before}&b=${before}`)
    await page.getByText('The same was asked and done in both').waitFor()
    expect(await page.locator('.steps').count()).toBe(0)
    expectClean()
    await page.context().close()
  })

  it('that are not there are said to be', async () => {
    const { page } = await open(`/diff?a=${before}&b=nobody`, { mayBreak: true })
    expect(await page.getByRole('alert').innerText()).toContain('nobody')
    await page.context().close()
  })
})

describe('ways to compare', () => {
  it('from the list, by choosing two', async () => {
    const { page, expectClean } = await open('/')
    await page.locator('.session-row').nth(2).waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    const boxes = page.getByRole('checkbox', { name: 'Compare Fix the total' })
    await boxes.nth(0).check()
    await boxes.nth(1).check()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Compare (2 of 2)' }).click()
    await page.getByRole('heading', { name: 'Two sessions' }).waitFor()
    expect(new URL(page.url()).searchParams.get('a')).toBe(after)
    expectClean()
    await page.context().close()
  })

  it('from the list, with keys alone', async () => {
    const { page, expectClean } = await open('/')
    await page.locator('.session-row').nth(2).waitFor()
    await press(page, 'j', 'c', 'j', 'c', 'C')
    await page.getByRole('region', { name: 'Where they part' }).waitFor()
    expectClean()
    await page.context().close()
  })

  it('from a session: those of its project before it come first, or by search, or by id', async () => {
    const { page, expectClean } = await open(`/session/${after}`)
    await page.getByRole('link', { name: 'Compare' }).click()
    const rows = page.locator('.choose li')
    await rows.nth(1).waitFor()
    expect(await rows.first().innerText()).toContain('Fix the total')
    expect(await findBarriers(page)).toEqual([])
    await press(page, '/')
    await page.keyboard.type('Something')
    await expect.poll(() => rows.allInnerTexts()).toHaveLength(1)
    expect(page.url()).toContain('q=Something')
    await rows.first().getByRole('link').click()
    await page.getByRole('heading', { name: 'Two sessions' }).waitFor()
    expect(new URL(page.url()).searchParams.get('b')).toBe(other)
    await page.goto(`${server.origin}/diff?a=${after}`)
    await page.getByRole('searchbox').fill(before)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Where they part' }).waitFor()
    expectClean()
    await page.context().close()
  })
})

describe('for everybody', () => {
  it('it has no barriers, in light and dark, wide and narrow', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 400]) {
        const { page, expectClean } = await open(pair(), { colorScheme, viewport: { width, height: 800 } })
        await page.locator('.steps li').first().waitFor()
        await press(page, 'x')
        expect(await findBarriers(page), `${colorScheme} ${width}`).toEqual([])
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect(wide).toBeLessThanOrEqual(0)
        // What was said stays in its column.
        const over = await page.evaluate(() =>
          [...document.querySelectorAll('.diff-facts td')]
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
            .map(({ textContent }) => textContent),
        )
        expect(over).toEqual([])
        const pictures = process.env['HANSARD_PICTURES']
        if (pictures !== undefined)
          await page.screenshot({ path: join(pictures, `diff-${colorScheme}-${width}.png`), fullPage: true })
        expectClean()
        await page.context().close()
      }
  })
})
