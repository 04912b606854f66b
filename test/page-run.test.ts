/** The run view in a real browser: the list, one run on its timeline, two side by side. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  findBarriers,
  connectBrowser,
  openPage,
  passOf,
  webFolder,
  type OpenOptions,
  type OpenPage,
} from './browser.ts'
import {
  AGAIN,
  HELPED,
  HOSTILE,
  leaveHostile,
  LEFT,
  RECORDED,
  serveRuns,
  STUB,
  type ServedRuns,
} from './run-archive.ts'

let served: ServedRuns
let browser: Browser
beforeAll(async () => {
  served = await serveRuns({ webFolder }, leaveHostile)
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser.close()
  await served.close()
})

const open = (path: string, options: OpenOptions = {}): Promise<OpenPage> =>
  openPage(browser, served.server, { path, ...options })

/** Pictures to look at, where somebody asks for them. */
async function picture({ page }: OpenPage, name: string): Promise<void> {
  const folder = process.env['HANSARD_PICTURES']
  if (folder === undefined) return
  fs.mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

describe('the runs', () => {
  it('are listed with what they came to, and stub runs are marked', async () => {
    const opened = await open('/runs')
    const { page } = opened
    await page.getByRole('link', { name: LEFT }).waitFor()
    const stub = page.getByRole('row', { name: new RegExp(STUB) })
    expect(await stub.textContent()).toContain('stub')
    expect(await page.getByRole('row', { name: new RegExp(LEFT) }).textContent()).toContain('failed')
    await picture(opened, 'runs')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })

  it('are compared when two of them are chosen', async () => {
    const opened = await open('/runs')
    const { page } = opened
    await page.getByLabel(`Compare ${LEFT}`).check()
    await page.getByLabel(`Compare ${AGAIN}`).check()
    await page.getByRole('button', { name: /Compare/ }).click()
    await page.getByRole('heading', { name: 'Two runs' }).waitFor()
    const row = page.getByRole('row', { name: /run-checks/ })
    await row.waitFor()
    const text = (await row.textContent()) ?? ''
    expect([text.includes('failed'), text.includes('completed')]).toEqual([true, true])
    await picture(opened, 'runs-compared')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })
})

describe('one run', () => {
  it('stands on a timeline, flow by flow, with status, time, tokens and receipt of each step', async () => {
    const opened = await open(`/runs/${LEFT}`)
    const { page } = opened
    await page.getByRole('link', { name: 'scope-work' }).waitFor()
    const names = await page.locator('.timeline-name a').allTextContents()
    expect(names).toEqual(['scope-work', 'context-load', 'impl-loop', 'impl-loop', 'run-checks'])
    expect(await page.locator('.timeline-flow').allTextContents()).toEqual(['plan', 'build', 'gate'])
    const failed = (await page.getByRole('row', { name: /run-checks/ }).textContent()) ?? ''
    expect(failed).toContain('two checks failed')
    expect(failed).toContain('33 s')
    expect(failed).toContain('9.9k')
    const boxes = await Promise.all(
      (await page.locator('.timeline-step').all()).map(async (bar) => (await bar.boundingBox())?.x ?? 0),
    )
    expect(boxes).toEqual(boxes.toSorted((a, b) => a - b))
    await picture(opened, 'run')
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('button', { name: 'Receipt of run-checks' }).click()
    await page.getByText('"status": "failed"').waitFor()
    await picture(opened, 'run-receipt')
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'context-load' }).click()
    await page.waitForURL(/\/session\/[\w-]+/)
    opened.expectClean()
    await page.close()
  })

  it('has the receipt of each of a step’s agents', async () => {
    const opened = await open(`/runs/${HELPED}`)
    const { page } = opened
    await page.getByRole('button', { name: 'Receipt of impl' }).click()
    await page.locator('.receipt').nth(1).waitFor()
    const receipts = (await page.locator('.receipt').allTextContents()).map(
      (text) => JSON.parse(text) as object,
    )
    expect(receipts).toMatchObject([
      { agent_key: 'lead', tokens: { total: 9 } },
      { agent_key: 'Helper-1', tokens: { total: 6 } },
    ])
    await picture(opened, 'run-receipts')
    opened.expectClean()
    await page.close()
  })

  it('is marked as a stub, in the dark and on a narrow page', async () => {
    const opened = await open(`/runs/${STUB}`, { colorScheme: 'dark', viewport: { width: 400, height: 800 } })
    const { page } = opened
    await page.getByRole('link', { name: 'scope-work' }).waitFor()
    expect(await page.locator('.timeline-step.is-stub').count()).toBe(5)
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBeLessThanOrEqual(400)
    await picture(opened, 'run-stub-narrow-dark')
    expect(await findBarriers(page)).toEqual([])
    opened.expectClean()
    await page.close()
  })

  it('is gone through by keys, and one that is not there is said to be so', async () => {
    const opened = await open(`/runs/${LEFT}`, { mayBreak: true })
    const { page } = opened
    await page.getByRole('link', { name: 'scope-work' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('context-load')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.goto(`${served.server.origin}/runs/nope`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('there is no run')
    opened.expectClean()
    await page.close()
  })
})

describe('a run whose every name is hostile', () => {
  it('is text and nothing but text', async () => {
    const opened = await open('/runs/run-hostile')
    const { page } = opened
    await page
      .locator('.timeline-name a')
      .nth(HOSTILE.length - 1)
      .waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    const hrefs = await page
      .locator('main a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    expect(hrefs.filter((href) => href === null || !/^\/(?!\/)/.test(href))).toEqual([])
    expect(await page.locator('.timeline').textContent()).toContain('<img src=x onerror=alert(1)>')
    await page
      .getByRole('button', { name: /^Receipt of/ })
      .first()
      .click()
    await page.locator('.receipt').waitFor()
    await page.keyboard.press('Escape')
    await picture(opened, 'run-hostile')
    for (const path of [
      `/runs/run-hostile?with=${LEFT}`,
      '/runs?id=%3Cscript%3Ealert(1)%3C%2Fscript%3E&with=javascript:alert(1)',
      '/insight?period=all&q=tool:%22%3Cimg%20src=x%20onerror=alert(1)%3E%22',
      '/cost?period=all&by=step&q=run:run-hostile',
    ]) {
      await page.goto(`${served.server.origin}${path}`)
      await page.locator('main .panel, main .empty, main .error-note').first().waitFor()
    }
    // Of runs that are not there, the browser says so itself.
    expect(opened.wrong.filter((one) => !one.includes('404') && !one.includes('400'))).toEqual([])
    await page.close()
  })
})

describe("Flow Studio's own readers, run on the page as its document prints them", () => {
  const source = fs.readFileSync(join(import.meta.dirname, '../fixtures/flow-studio/load.js.txt'), 'utf8')
  const IMPLEMENTED = ['build', 'impl-loop', 'code-implementer']
  const FAILED = ['gate', 'run-checks', 'gatekeeper']

  it('get what the files hold, of a failed step too', async () => {
    const opened = await open('/runs')
    await passOf(opened.page)
    for (const [run, ...step] of [
      [RECORDED, ...IMPLEMENTED],
      [LEFT, ...IMPLEMENTED],
      [LEFT, ...FAILED],
    ] as const) {
      const names = JSON.stringify([run, ...step])
      const read = await opened.page.evaluate<{ lines: object[]; receipt: object }>(
        `(async () => {
          ${source}
          return { lines: await loadTranscript(...${names}, 'claude'), receipt: await loadReceipt(...${names}) }
        })()`,
      )
      const [flow = '', ...ids] = step
      const folder = join(served.root, 'swarm/runs', run, flow)
      const receipt = fs.readFileSync(join(folder, 'receipts', `${ids.join('-')}.json`), 'utf8')
      const lines = fs
        .readFileSync(join(folder, 'llm', `${ids.join('-')}-claude.jsonl`), 'utf8')
        .trim()
        .split('\n')
      // What a flow left says a secret, which the server takes out.
      const isSafe = (line: object): boolean => !JSON.stringify(line).includes('The key is')
      expect(read.receipt).toEqual(JSON.parse(receipt))
      expect(read.lines.filter(isSafe)).toEqual(
        lines.map((line) => JSON.parse(line) as object).filter(isSafe),
      )
      expect(read.lines).toHaveLength(lines.length)
    }
    opened.expectClean()
    await opened.page.close()
  })
})
