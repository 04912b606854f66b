/**
 * More than two hundred hostile texts in every field that somebody else fills, through every view, every export opened from the disk,
 * and the API opened as if it were a page: nothing runs, nothing is asked of anybody else, nothing becomes an element.
 */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectBrowser, openPage, webFolder, type OpenPage } from './browser.ts'
import { HOSTILE_RUN, NEEDLE, serveHostile, type ServedHostile } from './hostile-archive.ts'
import { HOSTILE } from './hostile-payloads.ts'
import { ask } from './serving.ts'

let browser: Browser
let served: ServedHostile
beforeAll(async () => {
  served = await serveHostile({ webFolder })
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

const open = (path: string): Promise<OpenPage> => openPage(browser, served.server, { path })

/** To another address of the page without loading it again, as links go. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

/** What in the page is not ours: elements, handlers and addresses that only a payload could have brought. */
async function foreignParts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    if ('hansardWasHere' in window) found.push('a payload ran')
    const elements =
      'script, iframe, object, embed, style, link, base, meta, form, video, audio, math, template'
    for (const element of document.body.querySelectorAll(`main :is(${elements})`))
      found.push(element.outerHTML)
    for (const element of document.body.querySelectorAll('main *')) {
      for (const { name, value } of element.attributes) {
        if (name.startsWith('on')) found.push(`${name}=${value}`)
        if (name === 'href' && !/^(?:#|\/(?!\/)|https?:|mailto:)/.test(value)) found.push(`href=${value}`)
        if (name === 'src' && !/^(?:data:image\/(?:png|jpeg|gif|webp);|blob:|\/api\/v1\/blobs\/)/.test(value))
          found.push(`src=${value}`)
      }
    }
    return found
  })
}

/** Of the session that is shown, all of it opened: its first entries, its last, and with `isThrough` all between. */
async function expectTextOnly(page: Page, id: string, { isThrough = false } = {}): Promise<void> {
  await page.locator(`[data-position="0"]:not(.is-loading)`).waitFor()
  await page.keyboard.press('x')
  await page.waitForTimeout(50)
  expect(await foreignParts(page), id).toEqual([])
  const list = page.locator('.transcript-list')
  const goOn = (): Promise<boolean> =>
    list.evaluate((one) => {
      const before = one.scrollTop
      one.scrollTop += one.clientHeight
      return one.scrollTop > before
    })
  for (let isMore = isThrough && (await goOn()); isMore; isMore = await goOn()) {
    await list.locator('.entry.is-loading').first().waitFor({ state: 'detached' })
    await page.waitForTimeout(50)
    expect(await foreignParts(page), id).toEqual([])
  }
  await page.keyboard.press('G')
  await page.locator('.entry.is-selected').waitFor()
  expect(await foreignParts(page), id).toEqual([])
}

/** Every step of a comparison, as far as a key opens them. */
async function openSteps(page: Page): Promise<void> {
  await page.locator('main :is(.panel, .error-note)').first().waitFor()
  await page.keyboard.press('x')
  if ((await page.locator('.steps').count()) > 0) await page.locator('.steps .diff-row').first().waitFor()
}

describe('hostile text', () => {
  it('is noticed where it does something: what the other tests look for can be seen', async () => {
    const { page, wrong } = await open('/')
    await page.locator('.session-rows a').first().waitFor()
    await page.evaluate(() => {
      const image = document.createElement('img')
      image.setAttribute('src', 'https://elsewhere.example/x.png')
      document.querySelector('main')?.append(image)
    })
    // Handlers cannot even be set.
    await expect(
      page.evaluate(() => document.querySelector('main')?.setAttribute('onclick', 'window.hansardWasHere=1')),
    ).rejects.toThrow('TrustedScript')
    await page.waitForTimeout(200)
    expect(wrong.some((one) => one.startsWith('console: policy:'))).toBe(true)
    expect(await foreignParts(page)).toEqual(['src=https://elsewhere.example/x.png'])
    await page.context().close()
  })

  it('is text in the list, its filters and what a search finds', async () => {
    const { page, expectClean } = await open('/')
    const list = page.locator('.session-rows')
    await list.locator('a').first().waitFor()
    for (const more = page.locator('.facet-more'); (await more.count()) > 0;) await more.first().click()
    const shown = new Set<string>()
    for (let down = 0; down <= 1; down += 0.1) {
      await list.evaluate((one, part) => {
        one.scrollTop = (one.scrollHeight - one.clientHeight) * part
      }, down)
      await page.waitForTimeout(100)
      for (const text of await list.locator('a').allInnerTexts()) shown.add(text)
    }
    expect(shown.size).toBeGreaterThanOrEqual(served.ids.length)
    expect(await foreignParts(page)).toEqual([])
    await go(page, `/?q=${NEEDLE}`)
    await page.locator('.hit').first().waitFor()
    for (const text of HOSTILE.filter((one) => /^[\w ]{3,}/.test(one)).slice(0, 5)) {
      await go(page, `/?q=${encodeURIComponent(`${NEEDLE} ${text}`)}`)
      await page.waitForTimeout(150)
    }
    await go(
      page,
      `/?q=${encodeURIComponent(`title:"${HOSTILE[0]}"`)}&agent=${encodeURIComponent(HOSTILE[1] ?? '')}`,
    )
    await page.waitForTimeout(300)
    expect(await foreignParts(page)).toEqual([])
    expectClean()
    await page.context().close()
  })

  it('is text in every session, all of it opened', async () => {
    const { page, expectClean } = await open(`/session/${served.ids[0]}`)
    // Tall enough for much of a session at once.
    await page.setViewportSize({ width: 1280, height: 6000 })
    for (const id of served.ids) {
      await go(page, `/session/${id}`)
      await expectTextOnly(page, id, { isThrough: true })
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.keyboard.press('r')
    await page.getByRole('dialog').waitFor()
    expect(await foreignParts(page)).toEqual([])
    expectClean()
    await page.context().close()
  })

  it('is text in runs, costs, insights and comparisons', async () => {
    // Of sessions that there are not, the browser says so itself.
    const { page, expectClean } = await openPage(browser, served.server, {
      path: `/runs/${HOSTILE_RUN}`,
      mayBreak: true,
    })
    await page.locator('.timeline-name a').last().waitFor()
    expect(await page.locator('.timeline-name a').count()).toBeGreaterThan(200)
    expect(await foreignParts(page)).toEqual([])
    const receipts = page.getByRole('button', { name: /^Receipt of/ })
    for (const at of [0, 3, 60, 150]) {
      await receipts.nth(at).click()
      await page.locator('.receipt').waitFor()
      expect(await foreignParts(page)).toEqual([])
      await page.keyboard.press('Escape')
    }
    const views = [
      '/runs',
      `/runs/${HOSTILE_RUN}?with=${HOSTILE_RUN}`,
      ...['model', 'project', 'agent', 'run', 'flow', 'step'].map((by) => `/cost?period=all&by=${by}`),
      `/cost?period=all&q=${encodeURIComponent(`project:"${HOSTILE[0]}"`)}`,
      '/insight?period=all',
      ...served.ids.slice(0, 5).map((id) => `/insight/${id}`),
      ...served.ids.slice(1, 5).map((id, at) => `/diff?a=${served.ids[at]}&b=${id}`),
      `/diff?a=${served.ids[0]}`,
      `/diff?a=${served.ids[0]}&q=${encodeURIComponent(HOSTILE[0] ?? '')}`,
      `/diff?a=${encodeURIComponent(HOSTILE[0] ?? '')}&b=${encodeURIComponent(HOSTILE[1] ?? '')}`,
    ]
    for (const view of views) {
      await go(page, view)
      await page.locator('main :is(.panel, .empty, .table, .error-note)').first().waitFor()
      await page.waitForTimeout(200)
      if (view.startsWith('/diff')) await openSteps(page)
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('details')) fold.open = true
      })
      expect(await foreignParts(page), view).toEqual([])
    }
    expectClean()
    await page.context().close()
  })

  it('is text in every export that is opened from the disk', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-exports-'))
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.setViewportSize({ width: 1280, height: 6000 })
    const wrong: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(pathToFileURL(folder).href) && !request.url().startsWith('data:'))
        wrong.push(request.url())
    })
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('dialog', (dialog) => {
      wrong.push(dialog.message())
      void dialog.dismiss()
    })
    for (const id of served.ids) {
      const { text } = await get(`/api/v1/sessions/${id}/export?as=html`)
      const path = join(folder, `${id}.html`)
      fs.writeFileSync(path, text)
      await page.goto(pathToFileURL(path).href)
      await expectTextOnly(page, id)
    }
    expect(wrong).toEqual([])
    await context.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  it('is data in every answer of the API, also to a browser that opens it as a page', async () => {
    // Of what there is not, the browser says so itself.
    const { page, expectClean } = await openPage(browser, served.server, { mayBreak: true })
    const [id = ''] = served.ids
    const session = `/api/v1/sessions/${id}`
    const answers = [
      '/api/v1/sessions?limit=500',
      session,
      `${session}/entries`,
      `${session}/entries/1`,
      `${session}/entries/1/raw`,
      `${session}/outline`,
      `${session}/insight`,
      `${session}/tree`,
      `${session}/find?q=${NEEDLE}`,
      `/api/v1/search?q=${NEEDLE}&limit=100`,
      '/api/v1/cost?by=model',
      '/api/v1/cost?by=project',
      '/api/v1/stats',
      `/api/v1/diff?a=${id}&b=${served.ids[1]}`,
      `/api/v1/runs/${HOSTILE_RUN}`,
      `/api/v1/runs/${HOSTILE_RUN}/receipts`,
      `/api/runs/${HOSTILE_RUN}/transcripts`,
      `/api/runs/${HOSTILE_RUN}/receipts`,
      `/api/v1/sessions/${encodeURIComponent('<script>alert(1)</script>')}`,
      `/api/v1/search?q=${encodeURIComponent('<img src=x onerror=alert(1)>')}`,
    ]
    for (const path of answers) {
      const { headers } = await get(path)
      expect(headers['content-type'], path).toMatch(/^application\/(?:json|x-ndjson|jsonl)/)
      expect(headers['x-content-type-options'], path).toBe('nosniff')
      await page.goto(`${served.server.origin}${path}`)
      const found = await page.evaluate(() => ({
        ran: 'hansardWasHere' in window,
        // How the browser shows text that is no page.
        elements:
          document.querySelectorAll('body *').length -
          document.querySelectorAll('body > pre, body > div').length,
      }))
      expect(found.ran, path).toBe(false)
      expect(found.elements, path).toBeLessThan(2)
    }
    for (const path of [
      `/api/v1/blobs/${served.blob}`,
      `${session}/export?as=html`,
      `${session}/export?as=md`,
    ]) {
      const { headers } = await get(path)
      expect(headers['content-disposition'], path).toMatch(/^attachment; filename="[\w.-]+"$/)
      expect(headers['content-security-policy'], path).toContain("default-src 'none'")
    }
    expectClean()
    await page.context().close()
  })
})

function get(path: string) {
  const { port, token } = served.server
  return ask(port, { path, headers: { authorization: `Bearer ${token}` } })
}
