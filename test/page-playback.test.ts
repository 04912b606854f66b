/** A session played back in a real browser: entries come as they came, long waits are shortened and said, and what is later is not there yet. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { createCallLog } from '../src/capture/calls/call-log.ts'
import { record, type Recorder } from '../src/capture/record.ts'
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
let archive: Archive
let live: Recorder
const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-page-playback-'))
const home = join(root, 'home')
let [worked, long, typed] = ['', '', '']
const LONG = 20_000

beforeAll(async () => {
  worked = await work()
  long = await workLong()
  typed = await workTyped()
  live = await record({ home, cwd: '/work/shop', title: 'Still at it', agent: 'mine' })
  live.user('go on')
  live.assistant('I am at it')
  await live.flush()
  archive = openArchive(home, { write: true })
  const here = { userHome: root, env: {}, cwd: root }
  await sync(archive, here)
  server = await startServer(archive, { port: 0, follow: true, sync: here, webFolder })
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await live?.end()
  await server?.close()
  fs.rmSync(root, { recursive: true, force: true })
})

let clock = Date.UTC(2026, 10, 14, 9)
const now = (): number => clock

/** Entries 0 to 7: a prompt, a call and its result, an answer after more than four minutes, and as much again. */
async function work(): Promise<string> {
  const session = await record({ home, cwd: '/work/shop', title: 'Fix the total', agent: 'mine', now })
  const wait = (seconds: number): void => void (clock += seconds * 1000)
  session.user('fix the total')
  wait(1)
  const test = session.toolCall({ name: 'Bash', input: { command: 'npm test' } })
  wait(1)
  session.toolResult({ callId: test, output: 'two tests fail', error: 'exit 1' })
  wait(252)
  session.assistant('The sum was wrong.')
  wait(1)
  session.user('and the tax?')
  wait(1)
  const edit = session.toolCall({
    name: 'Edit',
    input: { file_path: 'src/tax.ts', old_string: 'a', new_string: 'b' },
  })
  wait(1)
  session.toolResult({ callId: edit, output: 'edited' })
  wait(1)
  session.assistant('The tax is right.')
  return (await session.end()).id
}

async function workLong(): Promise<string> {
  const session = await record({ home, cwd: '/work/shop', title: 'A long one', agent: 'mine', now })
  for (let at = 0; at < LONG / 2; at += 1) {
    session.user(`question ${at}`)
    session.assistant(`answer ${at}`)
    clock += 1000
  }
  return (await session.end()).id
}

const WORDS = ['Let me ', 'think about ', 'that for ', 'a while.']

/** An answer of which the frames were kept, 400 ms apart. */
async function workTyped(): Promise<string> {
  const log = createCallLog({ home, runId: 'typed', agent: 'mine' })
  const began = performance.now() - 5000
  const call = log.begin({
    api: 'openai-chat',
    body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'how is it?' }] },
    headers: {},
    path: '/openai/v1/chat/completions',
    began,
  })
  call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  for (const [at, content] of WORDS.entries()) {
    const data = { id: 'c', model: 'm', choices: [{ index: 0, delta: { content } }] }
    call.chunk(Buffer.from(`data: ${JSON.stringify(data)}\n\n`), began + 1000 + at * 400)
  }
  call.chunk(Buffer.from('data: [DONE]\n\n'), began + 3000)
  call.ended(began + 3000)
  const [session] = await log.end()
  return session?.id ?? ''
}

const open = async (id: string, rest = '', options: OpenOptions = {}): Promise<OpenPage> => {
  const opened = await openPage(browser, server, { path: `/session/${id}${rest}`, ...options })
  await opened.page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  return opened
}
const entry = (page: Page, position: number) => page.locator(`.entry[data-position="${position}"]`)
const place = (page: Page): Promise<string> => page.locator('.player-says').innerText()

/** Every text that `selector` has from now on: what is there for a moment is seen on a busy machine, too. */
async function watchTexts(page: Page, selector: string): Promise<() => Promise<readonly string[]>> {
  const texts = await page.evaluateHandle((selector) => {
    const seen: string[] = []
    const look = (): void =>
      void seen.push([...document.querySelectorAll(selector)].map((one) => one.textContent).join('\n'))
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
    return seen
  }, selector)
  return () => texts.jsonValue()
}

describe('playing a session', () => {
  it('shows entries as they came: results after their calls, and long waits shortened and said', async () => {
    const { page, expectClean } = await open(worked)
    await entry(page, 7).waitFor()
    const seen = await watchTexts(page, '.entry, .player-says')
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByRole('button', { name: 'Play (Space)' }).waitFor()
    await page.getByText('4m12s later').waitFor()
    await entry(page, 7).waitFor()
    const texts = await seen()
    expect(texts.some((text) => text.includes('npm test') && !text.includes('two tests fail'))).toBe(true)
    const waits = texts.filter((text) => text.includes('4m12s pass'))
    expect(waits.length).toBeGreaterThan(0)
    for (const text of waits) expect(text).not.toContain('The sum was wrong.')
    await expect.poll(() => place(page)).toContain('8 of 8')
    await expect.poll(() => place(page)).toContain('4m18s of 4m18s')
    expectClean()
    await page.context().close()
  })

  it('types an answer as it was typed, where its frames were kept', async () => {
    const { page, expectClean } = await open(typed, '?records=1')
    const whole = WORDS.join('').trim()
    await page.getByText(whole).waitFor()
    const seen = await watchTexts(page, '.entry')
    await press(page, 'P')
    await page.getByRole('button', { name: 'Play (Space)' }).waitFor()
    await page.getByText(whole).waitFor()
    const texts = await seen()
    expect(texts.some((text) => text.includes('Let me') && !text.includes('a while'))).toBe(true)
    expectClean()
    await page.context().close()
  })

  it('goes by the keys of the session, and leaving it shows everything again', async () => {
    const { page, expectClean } = await open(worked)
    await entry(page, 7).waitFor()
    await press(page, 'P', 'Space', 'g g')
    await expect.poll(() => place(page)).toContain('1 of 8')
    await press(page, 'n')
    await expect.poll(() => place(page)).toContain('5 of 8')
    expect(await entry(page, 5).count()).toBe(0)
    await press(page, 'e')
    await expect.poll(() => place(page)).toContain('5 of 8')
    await press(page, 'E')
    await expect.poll(() => place(page)).toContain('3 of 8')
    await press(page, 'd', 'k')
    await expect.poll(() => place(page)).toContain('5 of 8')
    await press(page, 'g g')
    await expect.poll(() => place(page)).toContain('1 of 8')
    await press(page, 'j', 'j')
    await expect.poll(() => place(page)).toContain('3 of 8')
    await expect.poll(() => hashOf(page)).toBe('#2')
    await press(page, 'Escape')
    await entry(page, 7).waitFor()
    await expect.poll(() => page.locator('.player').count()).toBe(0)
    expect(page.url()).not.toContain('play=')
    expectClean()
    await page.context().close()
  })

  it('is faster, and without waiting', async () => {
    const { page, expectClean } = await open(worked)
    await press(page, 'P', '+', '+', '+', '+')
    expect(await page.getByRole('combobox', { name: 'Speed' }).inputValue()).toBe('16')
    await expect.poll(() => place(page)).toContain('8 of 8')
    await page.getByRole('combobox', { name: 'Speed' }).selectOption({ label: 'instant' })
    await page.getByRole('slider', { name: 'Moment' }).fill('0')
    await expect.poll(() => place(page)).toContain('1 of 8')
    await page.getByRole('button', { name: 'Play (Space)' }).click()
    await expect.poll(() => place(page)).toContain('8 of 8')
    expectClean()
    await page.context().close()
  })

  it('is in the address: a link shows the moment', async () => {
    const { page, expectClean } = await open(worked, '?play=2#3')
    await page.locator('.player').waitFor()
    await expect.poll(() => place(page)).toContain('4 of 8')
    expect(await page.getByRole('combobox', { name: 'Speed' }).inputValue()).toBe('2')
    await entry(page, 3).waitFor()
    expect(await entry(page, 4).count()).toBe(0)
    expectClean()
    await page.context().close()
  })

  it('is told in the help', async () => {
    const { page } = await open(worked)
    await press(page, '?')
    expect(await page.getByRole('dialog').innerText()).toContain('Play the session as it happened')
    await page.context().close()
  })

  it('follows a session that goes on', async () => {
    const { page, expectClean } = await open(live.id)
    await entry(page, 1).waitFor()
    await press(page, 'P')
    await page.getByText('following').waitFor()
    live.user('one more thing')
    await page.getByText('one more thing').waitFor()
    live.assistant('done with it')
    await page.getByText('done with it').waitFor()
    await page.getByText('following').waitFor()
    expectClean()
    await page.context().close()
  })

  it('flies through a long session, and holds no more of it than is in sight', async () => {
    const { page, expectClean } = await open(long, '?play=Infinity#0')
    await page.locator('.player').waitFor()
    await press(page, 'Space')
    const total = LONG.toLocaleString('en')
    await expect.poll(() => place(page), { interval: 500 }).toContain(`${total} of ${total}`)
    await entry(page, LONG - 1).waitFor()
    expect(await page.locator('.entry').count()).toBeLessThan(200)
    await page.getByRole('slider', { name: 'Moment' }).fill('10001')
    await entry(page, 10_001).waitFor()
    expect(await entry(page, 10_002).count()).toBe(0)
    expectClean()
    await page.context().close()
  })
})

describe('for everybody', () => {
  it('has no barriers in light and dark, wide and narrow, and moves nothing for who wants that', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 400]) {
        const { page, expectClean } = await open(worked, '?play=1#4', {
          colorScheme,
          reducedMotion: 'reduce',
          viewport: { width, height: 800 },
        })
        await entry(page, 4).waitFor()
        expect(await findBarriers(page), `${colorScheme} ${width}`).toEqual([])
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        ).toBeLessThanOrEqual(0)
        expect(await entry(page, 4).evaluate((one) => getComputedStyle(one).animationName)).toBe('none')
        const pictures = process.env['HANSARD_PICTURES']
        if (pictures !== undefined)
          await page.screenshot({ path: join(pictures, `playback-${colorScheme}-${width}.png`) })
        expectClean()
        await page.context().close()
      }
  })

  it('works in an exported file', async () => {
    const url = `${server.origin}/api/v1/sessions/${worked}/export?as=html`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${server.token}` } })
    const file = join(root, 'exported.html')
    fs.writeFileSync(file, await answer.text())
    const page = await browser.newPage()
    await page.goto(pathToFileURL(file).href)
    await entry(page, 7).waitFor()
    await press(page, 'P', 'Space', 'n')
    await expect.poll(() => place(page)).toContain('5 of 8')
    expect(await entry(page, 5).count()).toBe(0)
    await press(page, 'Escape')
    await entry(page, 7).waitFor()
    await page.close()
  })
})
