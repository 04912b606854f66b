/**
 * Sizes and accidents in a real browser: a session taller than a browser can lay out, an entry of fifty megabytes, a session that is
 * deleted and a server that is gone and comes back under the page, an index that is being built. The page goes on answering, and says
 * what is going on.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { isIndexed } from '../src/search/index-record.ts'
import { deleteKept } from '../src/sources/clean-kept.ts'
import { sync } from '../src/sources/sync.ts'
import { connectBrowser, expectLight, openPage, type OpenOptions, type OpenPage } from './browser.ts'
import { sampleId, sampleSessions, servePage, type ServedPage } from './page-archive.ts'

const TALL = '66666666-6666-4666-8666-666666666666'
const LARGE = '77777777-7777-4777-8777-777777777777'
const RECORDED = 'recorded'
const MEDIUM = 'medium'
/** Of 44 pixels each, eight million and more: what scrolls is shrunk. */
const TALL_ENTRIES = 200_000
const LARGE_BYTES = 50_000_000

let browser: Browser
let served: ServedPage
const ids = new Map<string, string>()

beforeAll(async () => {
  served = await servePage(sampleSessions(3))
  fs.writeFileSync(join(served.logs, `${TALL}.jsonl`), tallLog())
  fs.writeFileSync(join(served.logs, `${LARGE}.jsonl`), largeLog())
  // What was written a moment ago may still change, and is read twice.
  const before = new Date(Date.now() - 60_000)
  for (const name of [TALL, LARGE]) fs.utimesSync(join(served.logs, `${name}.jsonl`), before, before)
  const recorded = await record({
    home: served.archive.home,
    cwd: '/p',
    title: 'a recorded one',
    agent: 'mine',
  })
  recorded.user('read it all')
  const callId = recorded.toolCall({ name: 'Bash', input: { command: 'cat all.txt' } })
  recorded.toolResult({ callId, output: largeText() })
  recorded.assistant('and that was it')
  ids.set(RECORDED, (await recorded.end()).id)
  const medium = await record({ home: served.archive.home, cwd: '/p', title: 'a medium one', agent: 'mine' })
  medium.user('read a part of it')
  const read = medium.toolCall({ name: 'Bash', input: { command: 'head -c 1M all.txt' } })
  medium.toolResult({ callId: read, output: `${largeText().slice(0, 1_000_000)} the end of it` })
  ids.set(MEDIUM, (await medium.end()).id)
  const root = join(served.logs, '../../..')
  await sync(served.archive, { userHome: root, env: {}, cwd: root })
  const { sessions } = await api<{ sessions: { id: string; prompt?: string }[] }>('/api/v1/sessions')
  for (const { id, prompt = '' } of sessions) {
    if (prompt.startsWith('a tall one')) ids.set(TALL, id)
    if (prompt.startsWith('a large one')) ids.set(LARGE, id)
    if (prompt.startsWith('Fix the login')) ids.set(sampleId(0), id)
  }
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

async function api<T>(path: string): Promise<T> {
  const { origin, token } = served.server
  const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
  // What the test expects of it is what it then looks at.
  return (await response.json()) as T
}

async function open(name: string, rest = '', options: OpenOptions = {}): Promise<OpenPage> {
  const path = `/session/${ids.get(name)}${rest}`
  const opened = await openPage(browser, served.server, { path, ...options })
  await opened.page.locator('.entry:not(.is-loading)').first().waitFor()
  return opened
}

const entry = (page: Page, position: number) =>
  page.locator(`.transcript-list .entry[data-position="${position}"]:not(.is-loading)`)

describe('a session taller than a browser can lay out', () => {
  it('is there from end to end: by address, by scrollbar, by keys', async () => {
    const { page, expectClean } = await open(TALL)
    await expect
      .poll(
        async () =>
          (await api<{ outline: { state: string } }>(`/api/v1/sessions/${ids.get(TALL)}`)).outline.state,
      )
      .toBe('ready')
    const { space, count } = await page.evaluate(() => ({
      space: document.querySelector('.virtual-space')?.clientHeight ?? 0,
      count: document.querySelectorAll('.transcript-list [data-row]').length,
    }))
    expect(space).toBeLessThan(TALL_ENTRIES * 44)
    expect(space).toBeGreaterThan(1_000_000)
    expect(count).toBeLessThan(100)
    for (const position of [100_000, 150_001, 1, TALL_ENTRIES - 1]) {
      await page.evaluate((to) => void (location.hash = `#${to}`), position)
      await entry(page, position)
        .filter({ hasText: `number ${position}` })
        .waitFor()
    }
    const list = page.locator('.transcript-list')
    await list.evaluate((one) => void (one.scrollTop = one.scrollHeight / 2))
    await page.waitForFunction(() => {
      const [first] = document.querySelectorAll<HTMLElement>('.transcript-list .entry:not(.is-loading)')
      return Math.abs(Number(first?.dataset['position']) - 100_000) < 5000
    })
    await list.evaluate((one) => void (one.scrollTop = one.scrollHeight))
    await entry(page, TALL_ENTRIES - 1).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('g')
    await entry(page, 0).waitFor()
    await expectLight(page)
    expectClean()
    await page.context().close()
  })
})

describe('an entry of fifty megabytes', () => {
  it('shows its beginning at once, says how much more there is, and the page goes on answering', async () => {
    const { page, expectClean } = await open(RECORDED)
    await entry(page, 3).filter({ hasText: 'and that was it' }).waitFor()
    await page.keyboard.press('x')
    await page.getByText('line 0 of it').waitFor()
    expect((await page.locator('.transcript-list').innerText()).length).toBeLessThan(60_000)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expectLight(page)
    await page.evaluate(() => void (location.hash = '#3'))
    await entry(page, 3).waitFor()
    await expectLight(page)
    expectClean()
    await page.context().close()
  })

  it('is had to its last line, a part at a time, and as a file', async () => {
    const { page, expectClean } = await open(RECORDED)
    await page.keyboard.press('x')
    await page.getByRole('button', { name: /Show all \(5\d(?:\.\d)? MB\)/ }).click()
    await page.getByText(/Part 1 of 4\d\d/).waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await page.getByText(/Part 2 of 4\d\d/).waitFor()
    await page.locator('.long-text .output').waitFor()
    const last = Math.floor((LARGE_BYTES - 1) / 95)
    await page.getByRole('button', { name: 'Last' }).click()
    await page
      .locator('.long-text .output')
      .filter({ hasText: `line ${last} of it` })
      .waitFor()
    expect((await page.locator('.long-text').innerText()).length).toBeLessThan(140_000)
    // Also when what is around it was asked for again.
    served.server.context.hub.tell('reset', {})
    await page.waitForTimeout(500)
    expect(await page.locator('.long-text .output').innerText()).toContain(`line ${last} of it`)
    await expectLight(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.long-text').getByRole('link', { name: 'Download' }).click(),
    ])
    const file = join(served.archive.home, 'downloaded.txt')
    await download.saveAs(file)
    expect(fs.readFileSync(file, 'utf8') === largeText()).toBe(true)
    expectClean()
    await page.context().close()
  })

  it('of one megabyte is shown whole, and stays so when its page is asked for again', async () => {
    const { page, expectClean } = await open(MEDIUM)
    await page.keyboard.press('x')
    await page.getByRole('button', { name: /Show all \(1\.0 MB\)/ }).click()
    await page
      .getByText('1.0 MB more')
      .or(page.getByText(/Show the rest \(\d+ kB\)/))
      .first()
      .waitFor()
    served.server.context.hub.tell('reset', {})
    await page.waitForTimeout(500)
    expect(await page.getByRole('button', { name: /Show all/ }).count()).toBe(0)
    await page.getByRole('button', { name: /Show the rest/ }).click()
    await page.getByText('the end of it').waitFor()
    expectClean()
    await page.context().close()
  })

  it('that is more than a log may have in a line is said to be there', async () => {
    const { page, expectClean } = await open(LARGE)
    await entry(page, 2).filter({ hasText: 'and that was it' }).waitFor()
    await page
      .getByText(/a record of 5\d+ bytes, over the limit/)
      .first()
      .waitFor()
    expectClean()
    await page.context().close()
  })
})

describe('while a session is looked at', () => {
  it('it may be deleted: the page says so, and keeps what it shows', async () => {
    const { page } = await open(TALL, '#5000', { mayBreak: true })
    await entry(page, 5000).waitFor()
    const before = await page.locator('.transcript-list .entry').count()
    const id = ids.get(TALL) ?? ''
    await served.stop()
    await page.locator('.shell-status.is-gone').waitFor()
    fs.rmSync(join(served.logs, `${TALL}.jsonl`))
    await deleteKept(served.archive, [id], { at: '2026-11-15T10:00:00.000Z', reason: 'clean' })
    await served.startAgain()
    await page.locator('.session-note.is-bad').waitFor()
    expect(await page.locator('.session-note.is-bad').innerText()).toContain('deleted')
    expect(await page.locator('.transcript-list .entry').count()).toBeGreaterThan(before / 2)
    // What is not on the page is nowhere any more: that is said once, and not as an error.
    await page.evaluate(() => void (location.hash = '#90000'))
    await page.waitForTimeout(500)
    expect(await page.locator('.session-note.is-bad').count()).toBe(1)
    expect(await page.locator('main .error-note').count()).toBe(0)
    await expectLight(page)
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.locator('.session-row, .session-rows a').first().waitFor()
    await page.context().close()
  })

  it('the server may be gone and come back: what was asked meanwhile is answered then', async () => {
    const { page } = await open(LARGE, '', { mayBreak: true })
    await served.stop()
    await page.locator('.shell-status.is-gone').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page
      .getByText(/The server is gone/)
      .first()
      .waitFor()
    await expectLight(page)
    await served.startAgain()
    await page.locator('main .panel').first().waitFor()
    await page.locator('.shell-status:not(.is-gone)').waitFor()
    await page.context().close()
  })
})

describe('while the index is built', () => {
  it('the page says how far it is, also to one who comes later, and searches go on', async () => {
    const opened = await openPage(browser, served.server)
    const { page } = opened
    const { hub, progress } = served.server.context
    // What the server itself indexes is over first.
    await expect.poll(() => isIndexed(served.archive)).toBe(true)
    await page.waitForTimeout(300)
    progress.indexing = { bytes: 1_000_000, of: 4_000_000 }
    hub.tell('index', { state: 'running', ...progress.indexing })
    await page.getByText(/Indexing for search; searches read what is not yet in it/).waitFor()
    await page.getByText('1.0 MB of 4.0 MB').waitFor()
    await page.locator('input[type=search]').first().fill('pagination')
    await page.locator('.hit').first().waitFor()
    // One who comes now is told as well.
    await page.reload()
    await page.getByText(/Indexing for search/).waitFor()
    progress.indexing = undefined
    hub.tell('index', { state: 'done' })
    await page.getByText('Live', { exact: true }).waitFor()
    opened.expectClean()
    await page.context().close()
  })
})

function tallLog(): string {
  const parts: string[] = []
  for (let n = 0; n < TALL_ENTRIES; n += 1)
    parts.push(
      `{"type":"user","uuid":"t-${n}","parentUuid":${n === 0 ? 'null' : `"t-${n - 1}"`},"isSidechain":false,"version":"2.1.90","sessionId":"${TALL}","timestamp":"${new Date(1_790_000_000_000 + n * 1000).toISOString()}","cwd":"/p","message":{"role":"user","content":"${n === 0 ? 'a tall one: ' : ''}number ${n}"}}\n`,
    )
  return parts.join('')
}

function largeLog(): string {
  const said = (n: number, role: string, content: unknown): string =>
    `${JSON.stringify({
      type: role,
      uuid: `l-${n}`,
      parentUuid: n === 0 ? null : `l-${n - 1}`,
      isSidechain: false,
      version: '2.1.90',
      sessionId: LARGE,
      timestamp: new Date(1_790_000_000_000 + n * 1000).toISOString(),
      cwd: '/p',
      message: { role, content },
    })}\n`
  return said(0, 'user', 'a large one') + said(1, 'user', largeText()) + said(2, 'user', 'and that was it')
}

function largeText(): string {
  const parts: string[] = []
  for (let n = 0; n * 95 < LARGE_BYTES; n += 1) parts.push(`line ${n} of it ${'x'.repeat(80)}\n`)
  return parts.join('')
}
