/** The cost and insight views in a real browser: what they say, and that every number leads to what it sums. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CostAnswer } from '../src/server/api-cost.ts'
import type { SessionsAnswer } from '../src/server/api.ts'
import {
  findBarriers,
  connectBrowser,
  openPage,
  webFolder,
  type OpenOptions,
  type OpenPage,
} from './browser.ts'
import { sampleSessions, toLog } from './page-archive.ts'
import { serveRuns, type ServedRuns } from './run-archive.ts'
import { ask } from './serving.ts'

let served: ServedRuns
let browser: Browser
beforeAll(async () => {
  served = await serveRuns({ webFolder }, (home) => {
    const logs = join(home, '.claude', 'projects', '-work-shop')
    fs.mkdirSync(logs, { recursive: true })
    const now = Date.now()
    for (const session of sampleSessions(60, now)) {
      // Over some weeks, one of them with a model that nobody has a price for.
      const number = Number(session.id.slice(0, 8))
      const startedAt = now - number * 11 * 3_600_000
      const model = number === 7 ? 'tomorrows-model' : (session.model ?? '')
      const failures = number === 3 ? 6 : (session.failures ?? 0)
      fs.writeFileSync(join(logs, `${session.id}.jsonl`), toLog({ ...session, startedAt, model, failures }))
    }
  })
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser.close()
  await served.close()
})

const open = (path: string, options: OpenOptions = {}): Promise<OpenPage> =>
  openPage(browser, served.server, { path, ...options })

async function json<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${served.server.token}` }
  return JSON.parse((await ask(served.server.port, { path, headers })).text) as T
}

/** Pictures to look at, where somebody asks for them. */
async function picture({ page }: OpenPage, name: string): Promise<void> {
  const folder = process.env['HANSARD_PICTURES']
  if (folder === undefined) return
  fs.mkdirSync(folder, { recursive: true })
  // The page itself does not scroll: all of it is shown at once on a higher one.
  const size = page.viewportSize()
  if (size !== null) await page.setViewportSize({ ...size, height: 2200 })
  await page.screenshot({ path: join(folder, `${name}.png`) })
  if (size !== null) await page.setViewportSize(size)
}

describe('the cost view', () => {
  it('says what was spent, by day and by model, and names what has no price', async () => {
    const opened = await open('/cost?period=all')
    const { page } = opened
    await page.getByRole('heading', { name: 'By day' }).waitFor()
    await page.getByRole('table', { name: 'Spend by model' }).waitFor()
    const { rows } = await json<CostAnswer>('/api/v1/cost?by=day')
    await page.getByText('As a table').first().click()
    const days = page.getByRole('table', { name: 'Spend by day' }).getByRole('row')
    await expect.poll(() => days.count()).toBe(rows.length + 1)
    expect(await page.getByText(/^No price is known for/).textContent()).toContain('tomorrows-model: what')
    await page.getByRole('table', { name: 'Most expensive calls' }).waitFor()
    await page.getByRole('heading', { name: 'Cache hit rate' }).waitFor()
    await page.getByText('As a table').first().click()
    await picture(opened, 'cost')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })

  it('leads from a number to exactly the sessions that it sums', async () => {
    const opened = await open('/cost?period=all')
    const { page } = opened
    const table = page.getByRole('table', { name: 'Spend by model' })
    await table.waitFor()
    const row = table.getByRole('row', { name: /claude-haiku-4-5/ })
    const href = (await row.getByRole('link').nth(1).getAttribute('href')) ?? ''
    const q = new URL(href, served.server.origin).searchParams.get('q') ?? ''
    const { sessions } = await json<SessionsAnswer>(`/api/v1/sessions?limit=1000&q=${encodeURIComponent(q)}`)
    const { rows } = await json<CostAnswer>('/api/v1/cost?by=model')
    const sum = sessions.reduce((all, { cost }) => all + Number(cost?.usd ?? 0), 0)
    expect(sum).toBeCloseTo(Number(rows.find(({ key }) => key === 'claude-haiku-4-5')?.cost.usd), 6)
    await row.getByRole('link').nth(1).click()
    await page.waitForURL(/\/\?q=model/)
    opened.expectClean()
    await page.close()
  })

  it('has no number in it that leads nowhere, and a call leads to its entry', async () => {
    const opened = await open('/cost?period=all&by=run')
    const { page } = opened
    await page.getByRole('table', { name: 'Spend by run' }).getByText('(none)').waitFor()
    const calls = page.getByRole('table', { name: 'Most expensive calls' })
    await calls.waitFor()
    for (const behind of await page.getByText('As a table').all()) await behind.click()
    const bare = page.locator('.page td.is-number:not(:has(a)), .page dd:not(:has(a))')
    expect(await bare.allInnerTexts()).toEqual([])
    const none = page.getByRole('row', { name: /^\(none\)/ }).getByRole('link')
    expect(await none.nth(1).getAttribute('href')).toContain('-run%3A*')
    const cost = calls.getByRole('row').nth(1).getByRole('link').last()
    const usd = await cost.locator('[title]').first().innerText()
    await cost.click()
    await page.waitForURL(/\/session\/[^?]*#\d+$/)
    await expect.poll(() => page.locator('.entry.is-selected .meta-cost').innerText()).toContain(usd)
    opened.expectClean()
    await page.close()
  })

  it('divides by everything that is asked for, as the address says', async () => {
    const opened = await open('/cost?period=all&by=step')
    const { page } = opened
    await page.getByRole('table', { name: 'Spend by step' }).getByText('build/impl-loop').waitFor()
    for (const by of ['Project', 'Agent', 'Run', 'Flow', 'Model']) {
      await page.getByRole('tab', { name: by }).click()
      await page.getByRole('table', { name: `Spend by ${by.toLowerCase()}` }).waitFor()
    }
    await page.getByRole('button', { name: '7 days' }).click()
    await page.waitForURL(/period=7d/)
    opened.expectClean()
    await page.close()
  })

  it('says so where nothing was spent, in the dark and on a narrow page', async () => {
    const opened = await open('/cost?q=project:nowhere', {
      colorScheme: 'dark',
      viewport: { width: 400, height: 800 },
    })
    const { page } = opened
    await page.getByText('Nothing was spent here').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('table', { name: 'Spend by model' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    await picture(opened, 'cost-narrow-dark')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })
})

describe('the insight view', () => {
  it('shows tools by use, failure and time, and sessions that fail with the evidence', async () => {
    const opened = await open('/insight?period=all')
    const { page } = opened
    const tools = page.getByRole('table', { name: 'Tools' })
    await tools.waitFor()
    await tools.getByRole('button', { name: /Failed/ }).click()
    expect(await tools.getByRole('columnheader', { name: /Failed/ }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    const findings = page.getByRole('table', { name: /Loops and failures/ })
    expect(await findings.textContent()).toContain('failures in a row')
    await picture(opened, 'insight')
    expect(await findBarriers(page)).toEqual([])
    await findings.getByRole('link', { name: '#', exact: false }).first().click()
    await page.waitForURL(/\/session\//)
    opened.expectClean()
    await page.close()
  })

  it('shows how full the context of a session was, and of what', async () => {
    const { sessions } = await json<SessionsAnswer>('/api/v1/sessions?q=status:completed&sort=errors&limit=1')
    const opened = await open(`/insight/${sessions[0]?.id}`)
    const { page } = opened
    await page.getByRole('img', { name: /Tokens that each call read/ }).waitFor()
    await page.getByText('As a table').click()
    await page.getByRole('table', { name: 'Tokens that each call read' }).getByRole('link').first().waitFor()
    await picture(opened, 'insight-session')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })
})
