/** Tokens and costs that are not exact, in a real browser: whatever the page sums up bears the sign of the worst in it, and no other does. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { record, type Recorder, type RecordOptions } from '../src/capture/record.ts'
import { startServer, type RunningServer } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import type { Quality } from '../src/transcript/usage.ts'
import { findBarriers, connectBrowser, openPage, webFolder } from './browser.ts'
import { createLines, richSession } from './session-sample.ts'

let browser: Browser
let server: RunningServer
const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-page-signs-'))
let [mixed, child, exact] = ['', '', '']
const LOG = '11111111-1111-4111-8111-111111111111'

const MODEL = 'claude-sonnet-4-5'
/** 100,000 tokens read and 1,000 written are $0.315. */
const used = (quality: Quality, output = 1000) => ({ input: 100_000, output, quality })
let now = Date.UTC(2026, 10, 14, 9)
let calls = 0
const call = () => ({ provider: 'anthropic', messageId: `msg_${(calls += 1)}` })
const begin = (title: string, options: RecordOptions = {}): Promise<Recorder> =>
  record({
    home: join(root, 'home'),
    cwd: '/work/shop',
    agent: 'mine',
    model: MODEL,
    title,
    now: () => (now += 1000),
    ...options,
  })
const answer = (session: Pick<Recorder, 'assistant'>, quality: Quality, output?: number): void =>
  session.assistant(`an answer, ${quality}`, { model: MODEL, call: call(), usage: used(quality, output) })

beforeAll(async () => {
  const session = await begin('all qualities')
  session.user('zero: what its last word made exact')
  const first = call()
  session.assistant('it begins', { model: MODEL, call: first, usage: used('partial', 1) })
  session.assistant('it ends', { model: MODEL, call: first, usage: used('reported') })
  session.user('three: never ended')
  answer(session, 'partial', 3)
  session.user('five: estimated')
  answer(session, 'estimated')
  session.user('seven: exact')
  answer(session, 'reported')
  session.user('nine: one of two was not counted')
  session.assistant('nobody counts this', { model: MODEL, call: call() })
  answer(session, 'reported')
  session.user('twelve: one of two has no price')
  session.assistant('at what price', { model: 'unheard-of-1', call: call(), usage: used('reported') })
  answer(session, 'reported')
  session.user('fifteen: by a subagent')
  const subagent = session.subagent('a')
  subagent.user('do it')
  answer(subagent, 'partial')
  ;({ id: mixed } = await session.end())

  const started = await begin('a child of it', {
    parent: { session: mixed, citation: `${mixed}#8`, relation: 'subagent' },
    runId: 'run-1',
    flow: 'build',
    step: 'plan',
  })
  started.user('do a part of it')
  answer(started, 'partial', 3)
  ;({ id: child } = await started.end())
  const other = await begin('exact', { runId: 'run-2', flow: 'build', step: 'plan' })
  other.user('do a part of it')
  answer(other, 'reported')
  ;({ id: exact } = await other.end())

  const logs = join(root, '.claude', 'projects', '-work-shop')
  fs.mkdirSync(join(logs, LOG, 'subagents'), { recursive: true })
  fs.writeFileSync(join(logs, `${LOG}.jsonl`), richSession(LOG))
  const lines = createLines(LOG, { agentId: 'a1', isSidechain: true })
  lines.user('Find every timeout')
  for (let n = 0; n < 150; n += 1) lines.assistant([{ type: 'text', text: `found ${n}` }])
  fs.writeFileSync(join(logs, LOG, 'subagents', 'agent-a1.jsonl'), lines.text())

  const archive = openArchive(join(root, 'home'), { write: true })
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

const open = (path: string) => openPage(browser, server, { path, viewport: { width: 1400, height: 2400 } })
const entry = (page: Page, position: number) => page.locator(`.transcript-list [data-position="${position}"]`)

/** Of the session with all qualities, however it is opened. */
async function expectSigns(page: Page): Promise<void> {
  const sum = (position: number) => entry(page, position).locator('.meta-sum')
  await sum(11).waitFor()
  const sums = new Map<number, string>()
  for (const position of [1, 2, 4, 6, 8, 11]) sums.set(position, await sum(position).innerText())
  expect(Object.fromEntries(sums)).toEqual({
    1: 'Σ ≥ $0.300',
    2: 'Σ $0.315',
    4: 'Σ ≥ $0.615',
    // Beside an estimate nothing vouches for a lower bound.
    6: 'Σ ~ $0.930',
    8: 'Σ ~ $1.25',
    // What is missing altogether is missing from the sum.
    11: 'Σ ≥ $1.56',
  })
  expect(await sum(4).getAttribute('title')).toBe(
    'all entries up to this one: at least US$ 0.615045\nsome answers were counted only in part',
  )
  expect(await entry(page, 10).locator('.meta-cost').innerText()).toBe('–\ncost not known')
  const turns = new Map<number, string>()
  for (const position of [0, 3, 5, 7, 9, 12]) {
    const text = await entry(page, position).locator('.turn-sums').innerText()
    turns.set(position, text.replace(/^.* s · /, ''))
  }
  expect(Object.fromEntries(turns)).toEqual({
    0: '101k tokens · $0.315',
    3: '≥ 100k tokens · ≥ $0.300',
    5: '~ 101k tokens · ~ $0.315',
    7: '101k tokens · $0.315',
    9: '≥ 101k tokens · ≥ $0.315',
    12: '202k tokens · ≥ $0.315',
  })
  expect(await entry(page, 9).locator('.turn-sums').getAttribute('title')).toBe(
    'Up to the next prompt\n1 answer was not counted',
  )
  expect(await page.locator('button.lane-head').innerText()).toMatch(/2 entries · 1\.0 s · ≥ \$0\.315$/)
  const lane = entry(page, 8).locator('.lane').filter({ hasText: 'a child of it' })
  expect(await lane.innerText()).toMatch(/2 entries\s+≥ \$0\.300\s/)
}

describe('what is not exact on the page', () => {
  it('is marked in sums that run, in those of prompts and of lanes, as sure as the worst in each', async () => {
    const { page, expectClean } = await open(`/session/${mixed}`)
    await expectSigns(page)
    expect(await findBarriers(page)).toEqual([])
    await page.locator('.minimap canvas').hover({ position: { x: 20, y: 4 * 12 + 6 } })
    expect(await page.locator('.minimap-says').innerText()).toMatch(/^#4 · assistant · ≥ \$0\.300 · /)
    await page.locator('.minimap canvas').hover({ position: { x: 20, y: 2 * 12 + 6 } })
    expect(await page.locator('.minimap-says').innerText()).toMatch(/^#2 · assistant · \$0\.015 · /)
    expectClean()
    await page.context().close()
  })

  it('is of all that a subagent did, also of what is not shown in place', async () => {
    const { page, expectClean } = await open('/')
    await page
      .getByRole('link', { name: /login timeout/ })
      .first()
      .click()
    const lane = page.locator('.entry .lane').filter({ hasText: 'Subagent a1' })
    await lane.waitFor()
    // Each is $0.0177, and none has its last word on what was written.
    await expect.poll(() => lane.innerText()).toMatch(/151 entries · 18 min · ≥ \$2\.6\d$/)
    expectClean()
    await page.context().close()
  })

  it('is marked the same in an exported file', async () => {
    const { origin, token } = server
    const answered = await fetch(`${origin}/api/v1/sessions/${mixed}/export?as=html`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const path = join(root, 'exported.html')
    fs.writeFileSync(path, Buffer.from(await answered.arrayBuffer()))
    const context = await browser.newContext({ viewport: { width: 1400, height: 2400 }, offline: true })
    const page = await context.newPage()
    await page.goto(pathToFileURL(path).href)
    await expectSigns(page)
    await context.close()
  })

  it('is marked where two sessions stand beside each other, and so is what one has more', async () => {
    const { page, expectClean } = await open(`/diff?a=${exact}&b=${child}`)
    const facts = page.getByRole('table', { name: 'What each session came to' })
    await facts.waitFor()
    const row = async (name: string): Promise<string> =>
      (await facts.getByRole('row', { name: new RegExp(`^${name}`) }).innerText()).replace(/\s+/g, ' ')
    expect(await row('Tokens in')).toBe('Tokens in 100k ≥ 100k ~ same')
    expect(await row('Tokens out')).toBe('Tokens out 1.0k ≥ 3 ~ −997 (−100 %)')
    expect(await row('Cost')).toBe('Cost $0.315 ≥ $0.300 ~ −$0.015 (−5 %)')
    expect(await row('Entries')).toBe('Entries 2 2 same')
    const out = facts.getByRole('row', { name: /^Tokens out/ }).getByText('≥ 3')
    expect(await out.getAttribute('title')).toBe('at least 3 tokens\nsome answers were counted only in part')
    expectClean()
    await page.context().close()
  })

  it('is marked in what changed from run to run', async () => {
    const { page, expectClean } = await open('/runs/run-2?with=run-1')
    const steps = page.getByRole('table', { name: /^Steps of both runs/ })
    await steps.waitFor()
    expect(await steps.locator('td.is-number').last().innerText()).toBe('~ −997 (−1 %)')
    expectClean()
    await page.context().close()
  })

  it('is marked in how full a context was, whose parts are estimates', async () => {
    const { page, expectClean } = await open(`/insight/${mixed}`)
    await page.getByText('As a table').click()
    const table = page.getByRole('table', { name: 'Tokens that each call read' })
    const tokens = async (name: string): Promise<readonly string[]> =>
      table.getByRole('row', { name }).locator('td.is-number').allInnerTexts()
    expect((await tokens('#4'))[0]).toBe('≥ 100k')
    expect((await tokens('#6'))[0]).toBe('~ 100k')
    const [whole, unseen] = await tokens('#8')
    expect([whole, unseen]).toEqual(['100k', expect.stringMatching(/^~ \d+k$/)])
    expectClean()
    await page.context().close()
  })

  it('is marked in what was read from caches, and anew', async () => {
    const { page, expectClean } = await open('/cost?period=all')
    const panel = page.getByRole('region', { name: 'Cache hit rate' })
    await panel.getByText('As a table').click()
    const row = panel.getByRole('table').getByRole('row').last()
    expect(await row.locator('td.is-number').nth(1).innerText()).toMatch(/^≥ \d\.\dM$/)
    expectClean()
    await page.context().close()
  })
})
