/** The page's frame and its list of sessions, in a real browser on a real server: read, searched, narrowed down, by keyboard, narrow. */
import fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  findBarriers,
  connectBrowser,
  openPage,
  webFolder,
  type OpenOptions,
  type OpenPage,
} from './browser.ts'
import { sampleId, sampleSessions, servePage, type ServedPage } from './page-archive.ts'

const HOSTILE = 'see <img src=x onerror=alert(1)>\u202e"><script>alert(2)</script>\u0007 end'

let browser: Browser
let served: ServedPage
beforeAll(async () => {
  const now = Date.UTC(2026, 10, 15, 9)
  const hostile = {
    id: sampleId(999),
    prompt: HOSTILE,
    startedAt: now + 60_000,
    cwd: '/x/<b>"\u202e',
    branch: "';--",
  }
  served = await servePage([...sampleSessions(160, now), hostile])
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

const open = (options?: OpenOptions): Promise<OpenPage> => openPage(browser, served.server, options)
const rows = (page: Page) => page.locator('.session-row')
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '')

describe('the list of sessions', () => {
  it('shows what each was, and what it came to', async () => {
    const { page, expectClean } = await open()
    const row = rows(page).nth(3)
    await row.waitFor()
    const text = await row.innerText()
    for (const part of [
      'Why does the nightly export run twice?',
      'claude-code',
      'claude-sonnet-4-5',
      'Website',
      '2 errors',
      '25 min',
      '$0.13',
    ])
      expect(text).toContain(part)
    expect(await row.locator('.sparkline').count()).toBe(1)
    expect(await page.locator('[role=table]').getAttribute('aria-rowcount')).toBe('162')
    await page.getByText('161 sessions').waitFor()
    expectClean()
  })

  it('shows hostile text as text', async () => {
    const { page, expectClean } = await open()
    const text = await rows(page).first().innerText()
    expect(text).toContain('see <img src=x onerror=alert(1)>RLO"><script>alert(2)</script>␇ end')
    expect(await page.locator('.session-row img, .session-row script, .facet b').count()).toBe(0)
    await page.waitForTimeout(200)
    expectClean()
  })

  it('is narrowed down by facets, which the address remembers', async () => {
    const { page, expectClean } = await open()
    const facet = page.getByRole('group', { name: 'Model' })
    await facet.getByRole('button', { name: /opus/ }).click()
    await page.waitForURL(/model=claude-opus-4-5/)
    await page.locator('[role=table][aria-rowcount="55"]').waitFor()
    // The others are still there to be chosen as well, with their counts.
    await facet.getByRole('button', { name: /haiku.*53/ }).click()
    await page.locator('[role=table][aria-rowcount="108"]').waitFor()
    await page.getByRole('group', { name: 'Project' }).getByRole('button', { name: /notes/ }).click()
    await page.locator('[role=table][aria-rowcount="28"]').waitFor()
    await page.reload()
    await page.locator('[role=table][aria-rowcount="28"]').waitFor()
    await expect.poll(() => facet.getByRole('button', { pressed: true }).count()).toBe(2)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.locator('[role=table][aria-rowcount="162"]').waitFor()
    expectClean()
  })

  it('finds by facet what has quotes and signs in its name', async () => {
    const { page, expectClean } = await open()
    await page.getByRole('group', { name: 'Project' }).getByRole('button', { name: /<b>/ }).click()
    await page.locator('[role=table][aria-rowcount="2"]').waitFor()
    await page
      .getByRole('group', { name: 'Branch' })
      .getByRole('button', { name: /main/ })
      .waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('group', { name: 'Branch' }).getByRole('button', { name: /';--/ }).click()
    await page.locator('[role=table][aria-rowcount="2"]').waitFor()
    expectClean()
  })

  it('is sorted by its head, both ways', async () => {
    const { page, expectClean } = await open()
    await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').click()
    await page.waitForURL(/sort=cost/)
    await page.locator('[aria-sort=descending]', { hasText: 'Cost' }).waitFor()
    const costs = async (): Promise<number[]> => {
      const texts = await page.locator('.session-row .cell-cost').allInnerTexts()
      return texts.map((text) => Number(text.replace('$', '')))
    }
    await expect.poll(async () => (await costs())[0]).toBeGreaterThan(0.1)
    const down = await costs()
    expect(down.toSorted((a, b) => b - a)).toEqual(down)
    await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').click()
    await page.waitForURL(/reverse=true/)
    await expect.poll(async () => (await costs())[0]).toBeLessThan(0.01)
    expectClean()
  })

  it('reaches the last session by scrolling, and finds its place again', async () => {
    const { page, expectClean } = await open()
    await rows(page).first().waitFor()
    await page.locator('.session-rows').evaluate((list) => void (list.scrollTop = list.scrollHeight))
    const last = page.locator('[aria-rowindex="162"]')
    await last.getByRole('link').waitFor()
    expect(await last.innerText()).toContain('(159)')
    expect(await rows(page).count()).toBeLessThan(60)
    await last.getByRole('link').click()
    await page.waitForURL(/\/session\//)
    await page.goBack()
    await last.getByRole('link').waitFor()
    expectClean()
  })
})

describe('a search', () => {
  it('is made while typing, and each entry found opens at its place', async () => {
    const { page, expectClean } = await open()
    await rows(page).first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('retry queue', { delay: 20 })
    await page.waitForURL(/q=retry\+queue/)
    await page.locator('.hit mark', { hasText: 'retry' }).first().waitFor()
    expect(await page.locator('.hit-session').first().innerText()).toContain(
      'Write tests for the retry queue',
    )
    const to = await page.locator('.hit-link').first().getAttribute('href')
    expect(to).toMatch(/^\/session\/[\w-]+\?find=[\w+]+(#\d+|&at=.+)$/)
    await page.getByRole('tab', { name: /Titles 20/ }).click()
    await page.locator('[role=table][aria-rowcount="21"]').waitFor()
    await page.reload()
    await page.locator('[role=table][aria-rowcount="21"]').waitFor()
    expectClean()
  })

  it('takes back what is no longer asked', async () => {
    const { page } = await open()
    await rows(page).first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/search?') && asked.push(request.url()))
    await page.keyboard.press('/')
    await page.keyboard.type('pagination orders', { delay: 15 })
    await page.locator('.hit mark', { hasText: 'orders' }).first().waitFor()
    expect(asked.length).toBeLessThan(8)
  })

  it('that finds nothing says why', async () => {
    const { page, expectClean } = await open({ path: '/?q=retry+zzzunheard' })
    await page.getByText('No entry has that').waitFor()
    await page.getByText(/entries of 161 sessions were searched/).waitFor()
    expectClean()
  })

  it('that cannot be meant says what would be right', async () => {
    const { page } = await open({ path: '/?q=status:nonsense', mayBreak: true })
    expect(await page.getByRole('alert').innerText()).toMatch(/running|completed/)
  })
})

describe('the keyboard', () => {
  it('goes through the list and opens a session', async () => {
    const { page, expectClean } = await open()
    await rows(page).first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await focused(page)).toBe('Fix the login timeout on slow networks')
    await page.keyboard.press('j')
    expect(await focused(page)).toBe('Add pagination to the orders list')
    await page.keyboard.press('k')
    await page.keyboard.press('End')
    await expect.poll(() => focused(page)).toContain('(159)')
    await page.keyboard.press('Home')
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Fix the login timeout on slow networks')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/session\//)
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.waitForURL(/\/cost$/)
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.waitForURL((url) => url.pathname === '/')
    expectClean()
  })

  it('keeps the focus on a row that is scrolled out of sight', async () => {
    const { page } = await open()
    await rows(page).first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.locator('.session-rows').evaluate((list) => void (list.scrollTop = 5000))
    await page.waitForTimeout(300)
    expect(await focused(page)).toBe('Fix the login timeout on slow networks')
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Add pagination to the orders list')
    await expect
      .poll(() => page.locator('.session-rows').evaluate((list) => list.scrollTop))
      .toBeLessThan(200)
  })

  it('shows its keys, reaches filters, and leaves fields to typing', async () => {
    const { page, expectClean } = await open()
    await rows(page).first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Go to Insight').waitFor()
    await page.getByRole('dialog').getByText('Next', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('x')
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('chip')
    await page.keyboard.press('/')
    await page.keyboard.type('j?x')
    expect(await page.getByRole('searchbox').inputValue()).toBe('j?x')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expectClean()
  })
})

describe('the page', () => {
  it('has no barriers that axe finds, in light and in dark, wide and narrow', async () => {
    const looks = [
      ['light', 1280],
      ['dark', 1600],
      ['light', 400],
    ] as const
    for (const [colorScheme, width] of looks) {
      const { page, expectClean } = await open({ colorScheme, viewport: { width, height: 700 } })
      await rows(page).first().waitFor()
      expect(await findBarriers(page)).toEqual([])
      expectClean()
      await page.context().close()
    }
    const { page } = await open({ path: '/?q=retry' })
    await page.locator('.hit').first().waitFor()
    await page.keyboard.press('?')
    expect(await findBarriers(page)).toEqual([])
  })

  it('fits a page of 400 pixels', async () => {
    const { page } = await open({ viewport: { width: 400, height: 700 } })
    await rows(page).first().waitFor()
    const tooWide = await page.evaluate(() =>
      [...document.querySelectorAll('.shell *')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && one.closest('.clip') === null)
        .map((one) => one.className),
    )
    expect(tooWide).toEqual([])
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByRole('group', { name: 'Model' }).waitFor()
  })

  it('is light or dark as the system has it, or as it is told', async () => {
    const { page } = await open({ colorScheme: 'dark' })
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await rows(page).first().waitFor()
    expect(await background()).toBe('rgb(18, 20, 22)')
    await page.getByRole('button', { name: /Theme/ }).click()
    expect(await background()).toBe('rgb(250, 250, 248)')
    await page.reload()
    await rows(page).first().waitFor()
    expect(await background()).toBe('rgb(250, 250, 248)')
  })

  it('loads less than 60 kB of script for the list', async () => {
    const { page } = await open()
    await rows(page).first().waitFor()
    const names: string[] = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.endsWith('.js')),
    )
    const bytes = names.reduce(
      (sum, name) => sum + gzipSync(fs.readFileSync(join(webFolder, name))).length,
      0,
    )
    expect(bytes).toBeGreaterThan(5000)
    expect(bytes).toBeLessThan(60_000)
  })
})

describe('an archive without sessions', () => {
  it('says what to do', async () => {
    const empty = await servePage([])
    try {
      const { page, expectClean } = await openPage(browser, empty.server)
      await page.getByText('Nothing was recorded yet').waitFor()
      await page.getByText('hansard demo').waitFor()
      expect(await findBarriers(page)).toEqual([])
      expectClean()
    } finally {
      await empty.close()
    }
  })
})
