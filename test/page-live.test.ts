/** The page while things happen: sessions that come and grow, a server that goes and comes back. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectBrowser, openPage } from './browser.ts'
import { sampleId, sampleSessions, servePage, toLog, type ServedPage } from './page-archive.ts'

let browser: Browser
let served: ServedPage
beforeAll(async () => {
  served = await servePage(sampleSessions(80), { follow: true })
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

const write = (id: string, prompt: string, turns: number): void =>
  fs.writeFileSync(
    join(served.logs, `${id}.jsonl`),
    toLog({ id, prompt, turns, startedAt: Date.UTC(2026, 10, 15, 9, 30) }),
  )
const rowOf = (page: Page, text: string) => page.locator('.session-row', { hasText: text })

it('shows a session that begins, with a quiet mark, and then what it grows to', async () => {
  const { page, expectClean } = await openPage(browser, served.server)
  await page.locator('.session-row').first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  write(sampleId(501), 'A session that begins now', 1)
  const row = rowOf(page, 'A session that begins now')
  await row.waitFor()
  expect(await row.getAttribute('aria-rowindex')).toBe('2')
  await row.getByRole('img', { name: 'new' }).waitFor()
  const before = await row.locator('.cell-tokens').innerText()
  write(sampleId(501), 'A session that begins now', 4)
  await expect.poll(() => row.locator('.cell-tokens').innerText()).not.toBe(before)
  await expect
    .poll(() => page.locator('[aria-live=polite]').innerText())
    .toContain('A session that begins now')
  expectClean()
})

it('moves nothing that is looked at: what comes meanwhile waits to be shown', async () => {
  const { page, expectClean } = await openPage(browser, served.server)
  await page.locator('.session-row').first().waitFor()
  await page.locator('.session-rows').evaluate((list) => void (list.scrollTop = 1500))
  await rowOf(page, '(30)').waitFor()
  const place = await rowOf(page, '(30)').boundingBox()
  write(sampleId(502), 'Another one, while reading', 1)
  const news = page.getByRole('button', { name: /1 new session/ })
  await news.waitFor()
  expect(await rowOf(page, '(30)').boundingBox()).toEqual(place)
  await news.click()
  await rowOf(page, 'Another one, while reading').waitFor()
  expectClean()
})

it('says that the server is gone, and goes on when it is back', async () => {
  const { page } = await openPage(browser, served.server, { mayBreak: true })
  await page.locator('.session-row').first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await served.stop()
  await page.getByText(/The server is gone/).waitFor()
  // Asked while nobody answers: answered as soon as somebody does.
  await page.keyboard.press('/')
  await page.keyboard.type('pagination')
  await page.waitForTimeout(500)
  await served.startAgain()
  await page.locator('.hit mark', { hasText: 'pagination' }).first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.locator('.session-row').first().waitFor()
  write(sampleId(503), 'After the server came back', 1)
  await rowOf(page, 'After the server came back').waitFor()
})

it('tells a browser that the server does not know how to be let in', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(served.server.origin)
  await page.getByText(/does not know this browser\. Open the address that hansard serve prints/).waitFor()
  expect(await page.locator('.session-row').count()).toBe(0)
})
