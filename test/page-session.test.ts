/** A session on the page, in a real browser on a real server: read, opened, gone through by keys, followed as it grows, attacked. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sync } from '../src/sources/sync.ts'
import { deleteKept } from '../src/sources/clean-kept.ts'
import {
  findBarriers,
  hashOf,
  connectBrowser,
  openPage,
  press,
  type OpenOptions,
  type OpenPage,
} from './browser.ts'
import { HOSTILE } from './hostile-payloads.ts'
import { hostileSession } from './hostile-session.ts'
import { servePage, type ServedPage } from './page-archive.ts'
import { createLines, richSession, subagentLog } from './session-sample.ts'

const RICH = '11111111-1111-4111-8111-111111111111'
const LONG = '22222222-2222-4222-8222-222222222222'
const EVIL = '33333333-3333-4333-8333-333333333333'
const LIVE = '44444444-4444-4444-8444-444444444444'
const DOOMED = '55555555-5555-4555-8555-555555555555'

let browser: Browser
let served: ServedPage
const ids = new Map<string, string>()

beforeAll(async () => {
  served = await servePage([], { follow: true })
  const put = (name: string, text: string): void => fs.writeFileSync(join(served.logs, `${name}.jsonl`), text)
  put(RICH, richSession(RICH))
  fs.mkdirSync(join(served.logs, RICH, 'subagents'), { recursive: true })
  fs.writeFileSync(join(served.logs, RICH, 'subagents', 'agent-a1.jsonl'), subagentLog(RICH, 'a1'))
  put(LONG, longSession())
  put(EVIL, hostileSession(EVIL))
  put(LIVE, liveSession().text())
  put(DOOMED, `${oneMore(DOOMED, 'doomed')}{"type":"user","mess\n`)
  await takeIn()
  const { sessions } = await api<{ sessions: { id: string; prompt?: string }[] }>(
    '/api/v1/sessions?limit=100',
  )
  const marks = [
    [RICH, 'login timeout'],
    [LONG, 'a long one'],
    [EVIL, 'hostile'],
    [LIVE, 'live'],
    [DOOMED, 'doomed'],
  ] as const
  for (const [name, mark] of marks)
    ids.set(name, sessions.find(({ prompt = '' }) => prompt.includes(mark))?.id ?? `no session of ${mark}`)
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

async function takeIn(): Promise<void> {
  const root = join(served.logs, '../../..')
  await sync(served.archive, { userHome: root, env: {}, cwd: root })
}

async function api<T>(path: string): Promise<T> {
  const { origin, token } = served.server
  const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
  // What the test expects of it is what it then looks at.
  return (await response.json()) as T
}

const address = (name: string, rest = ''): string => `/session/${ids.get(name)}${rest}`
async function open(name: string, rest = '', options: OpenOptions = {}): Promise<OpenPage> {
  const opened = await openPage(browser, served.server, { path: address(name, rest), ...options })
  await opened.page.locator('.entry:not(.is-loading)').first().waitFor()
  return opened
}
/** Whoever asks for `path` next is answered, but gets the answer only when it is passed on. */
async function answerLate(page: Page, path: string) {
  let pass = async (): Promise<void> => {}
  let answered = (): void => {}
  const isAnswered = new Promise<void>((resolve) => void (answered = resolve))
  const isAsked = (url: URL): boolean => url.pathname === path
  await page.route(
    isAsked,
    async (route) => {
      const response = await route.fetch()
      pass = async () => {
        await route.fulfill({ response })
        await page.waitForTimeout(200)
      }
      answered()
    },
    { times: 1 },
  )
  return { isAnswered, pass: () => pass() }
}

const entry = (page: Page, position: number) => page.locator(`.transcript-list [data-position="${position}"]`)
const selected = (page: Page): Promise<string | null> =>
  page.locator('.transcript-list > * > * > * > .entry.is-selected').first().getAttribute('data-position')

describe('a transcript', () => {
  it('reads as a conversation, with a line for each tool call', async () => {
    const { page, expectClean } = await open(RICH)
    expect(await page.locator('h1').innerText()).toContain('login timeout')
    const facts = await page.locator('.session-facts').innerText()
    for (const fact of ['claude-code', 'claude-sonnet-4-5', 'shop', 'fix/login', '$0.2'])
      expect(facts).toContain(fact)
    expect(await entry(page, 0).innerText()).toContain('Fix the login timeout on slow networks.')
    const lines = await page.locator('.transcript-list .fold-line').allInnerTexts()
    const said = lines.join('\n')
    for (const part of [
      'timeout in src',
      '/work/shop/src/login.ts',
      '+2',
      'npm test -- login',
      'failed',
      '1 of 2 done · Testing',
    ])
      expect(said).toContain(part)
    // Results stand with their calls.
    expect(await entry(page, 4).count()).toBe(0)
    expect(await entry(page, 9).innerText()).toMatch(/≥ \$0\.\d+.*Σ ≥ \$0\.\d+/s)
    await press(page, 'G')
    const all = await page.locator('.transcript').innerText()
    for (const part of ['Damage: ', 'The context was compacted here', '2 h 58 later'])
      expect(all).toContain(part)
    expectClean()
  })

  it('opens a call to what it was given and what it gave back, in its colours, edits as differences', async () => {
    const { page, expectClean } = await open(RICH)
    await entry(page, 1).locator('.fold-line').click()
    expect(await entry(page, 1).locator('.md').innerText()).toContain('The user wants the timeout fixed.')
    await entry(page, 9).locator('.fold-line').click()
    const output = entry(page, 9).locator('.output')
    expect(await output.innerText()).toContain('100% done')
    expect(await output.innerText()).not.toContain('50%')
    expect(await output.locator('.ansi-bold.ansi-fg-1').innerText()).toBe('FAIL')
    await entry(page, 7).locator('.fold-line').click()
    expect(await entry(page, 7).locator('.diff-row.is-gone .diff-mark').innerText()).toBe('3000')
    expect(await entry(page, 7).locator('.diff-row.is-new').count()).toBe(2)
    await entry(page, 13).locator('.fold-line').click()
    await entry(page, 13).locator('img.picture').waitFor()
    await entry(page, 7).locator('.fold-line').click()
    await expect.poll(() => entry(page, 7).locator('.diff').count()).toBe(0)
    expectClean()
  })

  it('draws Markdown, with code in colours', async () => {
    const { page, expectClean } = await open(RICH, '#15')
    const answer = entry(page, 15)
    await answer.locator('.hl-keyword').first().waitFor()
    expect(await answer.locator('table td').allInnerTexts()).toEqual([
      'connect',
      '3 s',
      '10 s',
      'retry',
      'none',
      '2',
    ])
    const link = answer.locator('a[href="https://example.com/guide"]')
    expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual([
      'noreferrer noopener nofollow',
      '_blank',
    ])
    expect(await answer.locator('.md-host').innerText()).toContain('https://example.com/guide')
    expectClean()
  })

  it('opens a subagent in place, at the call that started it', async () => {
    const { page, expectClean } = await open(RICH, '#17')
    await entry(page, 17).locator('.lane-button').click()
    await entry(page, 17).locator('.lane-body .entry').first().waitFor()
    expect(await entry(page, 17).locator('.lane-body').innerText()).toContain('Three others, all fine.')
    const folded = page.locator('button.lane-head')
    expect(await folded.getAttribute('aria-expanded')).toBe('false')
    await folded.click()
    await entry(page, 25).waitFor()
    expectClean()
  })

  it('shows the record of an entry and where it lies', async () => {
    const { page, expectClean } = await open(RICH, '#7')
    await entry(page, 7).waitFor()
    await press(page, 'r')
    const dialog = page.locator('dialog')
    await dialog.locator('.raw').waitFor()
    const text = await dialog.innerText()
    expect(text).toContain(`${RICH}.jsonl`)
    expect(text).toMatch(/[\d,]+ bytes from byte [\d,]+/)
    expect(text).toContain('"old_string"')
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    expectClean()
  })
})

describe('ways through a session', () => {
  it('go by keys from prompt to prompt, error to error, edit to edit, tool to tool', async () => {
    const { page, expectClean } = await open(RICH)
    const after = async (...keys: readonly string[]): Promise<string | null> => {
      await press(page, ...keys)
      return selected(page)
    }
    expect(await after('n')).toBe('0')
    expect(await after('n')).toBe('16')
    expect(await after('n')).toBe('20')
    expect(await after('p')).toBe('16')
    expect(await after('g g', 'e')).toBe('9')
    expect(await entry(page, 9).locator('.output').innerText()).toContain('FAIL')
    expect(await after('g g', 'd')).toBe('7')
    expect(await after('t')).toBe('9')
    expect(await after('T', 'T')).toBe('5')
    expect(await after('j')).toBe('7')
    expect(await after('k', 'k')).toBe('3')
    await press(page, 'o')
    expect(await entry(page, 3).locator('.output').innerText()).toContain('setTimeout')
    expect(await hashOf(page)).toBe('#3')
    await press(page, '?')
    expect(await page.locator('dialog').innerText()).toContain('Next prompt')
    expectClean()
  })

  it('lead to any entry by its address, also to what is shown with another', async () => {
    const { page, expectClean } = await open(RICH, '#16')
    await entry(page, 16).waitFor()
    expect(await selected(page)).toBe('16')
    await page.goto(`${served.server.origin}${address(RICH, '#10')}`)
    await entry(page, 9).locator('.output').waitFor()
    expect(await selected(page)).toBe('9')
    expectClean()
  })

  it('find words, count them, and mark them', async () => {
    const { page, expectClean } = await open(RICH)
    await press(page, '/')
    await page.keyboard.type('setTimeout')
    await page.waitForFunction(() => /\d/.test(document.querySelector('.find-says')?.textContent ?? ''))
    expect(new URL(page.url()).searchParams.get('find')).toBe('setTimeout')
    await page.keyboard.press('Enter')
    await entry(page, 3).locator('.output').waitFor()
    const marked = await page.evaluate(() => [...(CSS.highlights.get('found') ?? [])].map(String))
    expect(marked).toContain('setTimeout')
    expectClean()
  })

  it('leave out what is not asked for, as the address says', async () => {
    const { page, expectClean } = await open(RICH, '?role=user')
    await page.waitForFunction(() => document.querySelectorAll('.transcript-list .entry').length === 4)
    expect(await page.locator('.entry.is-user').count()).toBe(4)
    await page.locator('.session-filter .chip', { hasText: 'You' }).click()
    await page.locator('.session-filter .chip', { hasText: 'errors' }).click()
    await page.waitForFunction(() => document.querySelectorAll('.transcript-list [data-row]').length === 1)
    expect(new URL(page.url()).searchParams.get('only')).toBe('error')
    expectClean()
  })
})

describe('a session that is still going on', () => {
  it('grows on the page: at the end by itself, else when it is asked for', async () => {
    const { page, expectClean } = await open(LIVE)
    await page.waitForTimeout(500)
    await press(page, 'G')
    for (const text of ['the first that came', 'the second that came']) {
      fs.appendFileSync(join(served.logs, `${LIVE}.jsonl`), oneMore(LIVE, text))
      await page.locator('.entry', { hasText: text }).waitFor()
    }
    await page.locator('.transcript-list').evaluate((list) => void (list.scrollTop = 0))
    await page.waitForTimeout(300)
    fs.appendFileSync(join(served.logs, `${LIVE}.jsonl`), oneMore(LIVE, 'the third that came'))
    const newest = page.locator('.newest')
    await newest.filter({ hasText: '1 new' }).waitFor()
    await newest.click()
    await page.locator('.entry', { hasText: 'the third that came' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('transcript-list')
    expectClean()
  })

  it('goes on after the server was away, and says when it is deleted', async () => {
    const { page } = await open(DOOMED, '', { mayBreak: true })
    // What is damaged after the last entry is told, too.
    expect(await page.locator('.between.is-damage').innerText()).toContain('Damage: ')
    await served.stop()
    await page.locator('.shell-status.is-gone').waitFor()
    expect(await page.locator('.entry').count()).toBeGreaterThan(0)
    const id = ids.get(DOOMED) ?? ''
    const late = await answerLate(page, `/api/v1/sessions/${id}`)
    await served.startAgain()
    await page.locator('.shell-status:not(.is-gone)').waitFor()
    expect(await page.locator('.entry').count()).toBeGreaterThan(0)
    // Asked for before it was deleted, answered after: what is known by then stays known.
    await late.isAnswered
    await deleteKept(served.archive, [id], { at: '2026-11-15T10:00:00.000Z', reason: 'clean' })
    await page.locator('.session-note.is-bad').waitFor()
    await late.pass()
    expect(await page.locator('.session-note.is-bad').innerText()).toContain('deleted')
  })
})

describe('hostile content', () => {
  it('stays text in every field: nothing runs, nothing is asked of anybody else', async () => {
    const { page, expectClean } = await open(EVIL)
    await press(page, 'x')
    const { length } = await api<{ length: number }>(`/api/v1/sessions/${ids.get(EVIL)}`)
    expect(HOSTILE.length).toBeGreaterThan(200)
    expect(length).toBeGreaterThan(HOSTILE.length)
    for (let at = 0; at < length; at += 20) {
      await page.evaluate((to) => void (location.hash = `#${to}`), at)
      await page.waitForTimeout(60)
    }
    await press(page, 'G', 'r')
    expect(await page.evaluate(() => 'hansardWasHere' in window)).toBe(false)
    const found = await page.evaluate(() => ({
      scripts: document.querySelectorAll(
        'main script, main iframe, main object, main embed, main style, main link, main form',
      ).length,
      links: [...document.querySelectorAll<HTMLAnchorElement>('main a[href]')].map(
        ({ protocol }) => protocol,
      ),
    }))
    expect(found.scripts).toBe(0)
    expect(found.links.filter((protocol) => !['http:', 'https:', 'mailto:'].includes(protocol))).toEqual([])
    expectClean()
  })
})

describe('a long session', () => {
  it('holds only what is in sight, and goes anywhere at once', async () => {
    const { page, expectClean } = await open(LONG)
    const count = (): Promise<number> => page.locator('.transcript-list [data-row]').count()
    expect(await count()).toBeLessThan(80)
    for (const position of [1500, 100, 2998, 1321]) {
      await page.evaluate((to) => void (location.hash = `#${to}`), position)
      await entry(page, position)
        .filter({ hasText: `number ${position}` })
        .waitFor()
      expect(await count()).toBeLessThan(80)
    }
    expectClean()
  })

  it('shows the first part of what is huge, and all of it when that is asked for', async () => {
    const { page, expectClean } = await open(LONG, '#3001')
    const huge = entry(page, 3001)
    await huge.waitFor()
    expect((await huge.innerText()).length).toBeLessThan(60_000)
    await huge.getByRole('button', { name: /Show all \(3\.\d MB\)/ }).click()
    await huge.getByRole('button', { name: /Show the rest/ }).click()
    await page.waitForFunction(() =>
      (document.querySelector('[data-position="3001"]')?.textContent ?? '').includes('the very end'),
    )
    expectClean()
  })
})

describe('everybody', () => {
  it.each(['light', 'dark'] as const)(
    'can use it in the %s, with nothing serious in the way',
    async (colorScheme) => {
      const { page, expectClean } = await open(RICH, '', { colorScheme })
      expect(await findBarriers(page)).toEqual([])
      await press(page, 'x', 'e')
      expect(await findBarriers(page)).toEqual([])
      expectClean()
    },
  )

  it('can use it at 400 pixels', async () => {
    const { page, expectClean } = await open(RICH, '', { viewport: { width: 400, height: 800 } })
    await press(page, 'x')
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBe(400)
    const list = await page.locator('.transcript-list').evaluate((one) => one.scrollWidth - one.clientWidth)
    expect(list).toBeLessThanOrEqual(0)
    expect(await findBarriers(page)).toEqual([])
    expectClean()
  })
})

function longSession(): string {
  const to = createLines(LONG)
  to.user('This is a long one')
  for (let at = 1; at <= 3000; at += 1) {
    if (at % 2 === 0) to.user(`number ${at}`)
    else to.assistant([{ type: 'text', text: `this is number ${at}` }])
  }
  to.user(`${'lorem ipsum '.repeat(250_000)}the very end`)
  return to.text()
}

function liveSession() {
  const to = createLines(LIVE)
  to.user('Something live')
  for (let at = 0; at < 60; at += 1) to.assistant([{ type: 'text', text: `step ${at}` }])
  return to
}

let more = 0
function oneMore(id: string, text: string): string {
  const to = createLines(id)
  more += 1
  to.user(text, {
    uuid: `more-${id}-${more}`,
    parentUuid: null,
    timestamp: new Date(Date.UTC(2026, 10, 14, 10) + more * 1000).toISOString(),
  })
  return to.text()
}
