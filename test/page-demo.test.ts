/** Every view of the page on the sample archive, in a real browser: what it shows, its keys, its addresses, and that nobody is shut out. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { playLive } from '../src/cli/demo/live-story.ts'
import { makeSample } from '../src/cli/demo/make.ts'
import type { SessionsAnswer } from '../src/server/api.ts'
import type { RunsAnswer } from '../src/server/api-runs.ts'
import { startServer, type RunningServer } from '../src/server/start.ts'
import { findBarriers, connectBrowser, openPage, press, webFolder, type OpenOptions } from './browser.ts'
import { temporaryFolder } from './program.ts'

let browser: Browser
let server: RunningServer
let home: string
let sessions: SessionsAnswer['sessions']
let runs: RunsAnswer['runs']

beforeAll(async () => {
  const archive = await makeSample(temporaryFolder())
  server = await startServer(archive, { port: 0, follow: false, webFolder })
  home = archive.home
  const ask = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${server.token}` }
    return (await fetch(`${server.origin}/api/v1/${path}`, { headers })).json()
  }
  // What the tests expect of them is what they then look at.
  sessions = ((await ask('sessions?limit=200')) as SessionsAnswer).sessions
  runs = ((await ask('runs')) as RunsAnswer).runs
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

const open = (path: string, options: OpenOptions = {}) => openPage(browser, server, { path, ...options })
const sessionOf = (prompt: string): string =>
  sessions.find((row) => (row.prompt ?? '').includes(prompt))?.id ?? `no session of ${prompt}`
const runOf = (end: string): string => runs.find(({ id }) => id.endsWith(end))?.id ?? `no run ${end}`
const entry = (page: Page, position: number) => page.locator(`.transcript-list [data-position="${position}"]`)

describe('a session of the sample', () => {
  it('says at each prompt what came of it, in entries, time, tokens and dollars', async () => {
    const { page, expectClean } = await open(`/session/${sessionOf('wrong total')}`)
    const sums = entry(page, 0).locator('.turn-sums')
    await sums.waitFor()
    expect(await sums.innerText()).toMatch(
      /\d+ entries · \d+ min · ~ \d+k tokens · ~ \$0\.\d+ · 3 edits · 1 error$/,
    )
    expect(await page.locator('h1').innerText()).toMatch(/^The checkout shows a wrong total when/)
    expectClean()
  })

  it('has a map that says what is where, and goes there', async () => {
    const { page, expectClean } = await open(`/session/${sessionOf('wrong total')}`)
    const map = page.locator('.minimap canvas')
    await map.waitFor()
    await page.locator('.turn-sums').first().waitFor()
    await map.hover({ position: { x: 20, y: 3 } })
    expect(await page.locator('.minimap-says').innerText()).toMatch(/^#0 · prompt · \d\d:\d\d:\d\d$/)
    const { height = 0 } = (await map.boundingBox()) ?? {}
    await map.click({ position: { x: 20, y: height - 30 } })
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.transcript-list [data-position]')].some(
        (one) => Number(one.getAttribute('data-position')) > 40,
      ),
    )
    expectClean()
  })

  it('has its subagent in place, with what it came to', async () => {
    const { page, expectClean } = await open(`/session/${sessionOf('wrong total')}`)
    const lane = page.locator('.entry .lane').first()
    await lane.locator('.fold-end').waitFor()
    expect(await lane.innerText()).toMatch(/Subagent a7c31e\s+8 entries\s*· 1 error · \d+ s · ~ \$0\.\d+/)
    await lane.locator('.lane-button').click()
    await lane.locator('.lane-body .entry').first().waitFor()
    expect(await lane.locator('.lane-body').innerText()).toContain('Three places')
    expectClean()
  })

  it('shows what is no part of the conversation when it is asked for, as a quiet line, which opens', async () => {
    const { page, expectClean } = await open(`/session/${sessionOf('export of berths')}`)
    const records = page.locator('.fold.is-record')
    await entry(page, 3).waitFor()
    expect(await records.count()).toBe(0)
    await page.getByRole('button', { name: 'Records' }).click()
    await records.first().waitFor()
    expect(new URL(page.url()).searchParams.get('records')).toBe('1')
    expect(await page.locator('.transcript').innerText()).not.toContain('Not understood')
    const lines = await records.locator('.fold-line').allInnerTexts()
    expect(lines[0]).toMatch(/^3 records\s+session_meta, turn_context, task_started$/)
    expect(await entry(page, 1).count()).toBe(0)
    await records.first().locator('.fold-line').click()
    expect(await records.first().innerText()).toContain('"cli_version": "0.140.0"')
    // One of them has an address, too.
    await page.goto(`${server.origin}/session/${sessionOf('export of berths')}#1`)
    await page.locator('.fold.is-record.is-open').first().waitFor()
    expectClean()
  })

  it('opens at an entry that is named by its citation', async () => {
    const id = sessionOf('wrong total')
    const { page, expectClean } = await open(`/session/${id}?at=${encodeURIComponent(`${id}#24`)}`)
    await entry(page, 24).waitFor()
    await page.waitForURL(/#24$/)
    expect(await entry(page, 24).getAttribute('aria-current')).toBe('true')
    expectClean()
  })

  it('is one of a list that [ and ] go through', async () => {
    const { page, expectClean } = await open('/?q=agent:codex')
    await page.locator('.session-row').nth(2).waitFor()
    const titles = await page.locator('.session-row .cell-title a').allInnerTexts()
    await press(page, 'j', 'Enter')
    await page.locator('.entry').first().waitFor()
    await press(page, ']')
    await page.locator('h1', { hasText: (titles[1] ?? '').slice(0, 20) }).waitFor()
    await press(page, '[')
    await page.locator('h1', { hasText: (titles[0] ?? '').replace('↳ ', '').slice(0, 20) }).waitFor()
    expectClean()
  })

  it('is found by a word, and opens at the entry with the word marked', async () => {
    const { page, expectClean } = await open('/?q=round_half_up')
    const hit = page.locator('.hit-link').first()
    await hit.waitFor()
    await hit.click()
    await page.waitForURL(/\/session\/.*#\d+$/)
    await page.locator('.entry.is-selected').waitFor()
    await page.waitForFunction(() =>
      [...(CSS.highlights.get('found') ?? [])].some(
        (range) => range instanceof Range && range.toString().includes('round_half_up'),
      ),
    )
    expectClean()
  })
})

describe('every view', () => {
  const views: readonly (readonly [string, () => string, string])[] = [
    ['sessions', () => '/', '.session-row'],
    ['a search', () => '/?q=voucher', '.hit-link'],
    ['a session', () => `/session/${sessionOf('wrong total')}`, '.turn-sums'],
    [
      'a session with records',
      () => `/session/${sessionOf('export of berths')}?records=1`,
      '.fold.is-record',
    ],
    ['runs', () => '/runs', 'table'],
    ['a run', () => `/runs/${runOf('m7w2p4')}`, '.timeline-step'],
    ['a run that failed', () => `/runs/${runOf('k3q9x1')}`, '.timeline-error:visible'],
    ['two runs', () => `/runs/${runOf('k3q9x1')}?with=${runOf('m7w2p4')}`, 'table'],
    ['cost', () => '/cost', '.chart-bar'],
    ['cost by step', () => '/cost?by=step', '.chart-bar'],
    ['insight', () => '/insight', 'table'],
    ['the context of a session', () => `/insight/${sessionOf('wrong total')}`, '.chart-layer'],
  ]
  it.each(views)(
    '%s has nothing serious in the way, light and wide, dark and narrow',
    async (_, path, ready) => {
      for (const options of [{}, { colorScheme: 'dark' as const, viewport: { width: 400, height: 800 } }]) {
        const { page, expectClean } = await open(path(), options)
        await page.locator(ready).first().waitFor()
        await page.waitForTimeout(200)
        expect(await findBarriers(page)).toEqual([])
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        expect(wide).toBe(options.viewport?.width ?? 1280)
        expectClean()
        await page.context().close()
      }
    },
  )

  it('tells of its keys, also in the order of two', async () => {
    const { page, expectClean } = await open('/')
    await page.locator('.session-row').first().waitFor()
    for (const [key, view] of [
      ['r', 'Runs'],
      ['c', 'Cost'],
      ['i', 'Insight'],
      ['s', 'Sessions'],
    ] as const) {
      await press(page, 'g', key)
      await page.locator('nav [aria-current=page]', { hasText: view }).waitFor()
    }
    await press(page, 'L', '?')
    expect(await page.locator('dialog').innerText()).toContain('Go to Runs')
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light')
    expectClean()
  })
})

describe('the session that goes on', () => {
  it('stands at the top as running, and grows while it is looked at', async () => {
    const { page, expectClean } = await open('/')
    const ending = new AbortController()
    const playing = playLive({ home, cwd: home, signal: ending.signal })
    const first = page.locator('.session-row').first()
    await first.locator('.status.is-live').waitFor()
    await first.locator('a').click()
    await page.locator('.entry').first().waitFor()
    const last = async (): Promise<number> =>
      Number(await page.locator('.transcript-list [data-position]').last().getAttribute('data-position'))
    const before = await last()
    await page.waitForFunction(
      (than) =>
        [...document.querySelectorAll('.transcript-list [data-position]')].some(
          (one) => Number(one.getAttribute('data-position')) > than + 2,
        ),
      before,
    )
    ending.abort()
    await playing
    expectClean()
  })
})
