/** Exported sessions, opened from a disk in a real browser that has no network: the same reader, nothing run, nothing asked of anybody. */
import fs from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record, type RecordOptions } from '../src/capture/record.ts'
import { sync } from '../src/sources/sync.ts'
import { findBarriers, hashOf, connectBrowser, openPage, press } from './browser.ts'
import { HOSTILE } from './hostile-payloads.ts'
import { hostileSession } from './hostile-session.ts'
import { servePage, type ServedPage } from './page-archive.ts'
import { run, temporaryFolder } from './program.ts'
import { SECRET } from './serving.ts'
import { createLines, richSession, subagentLog } from './session-sample.ts'

const RICH = '11111111-1111-4111-8111-111111111111'
const EVIL = '33333333-3333-4333-8333-333333333333'
const PARENT = 'parent'
const LONG = '44444444-4444-4444-8444-444444444444'

let browser: Browser
let served: ServedPage
const folder = temporaryFolder()
const ids = new Map<string, string>()

beforeAll(async () => {
  served = await servePage([])
  const put = (name: string, text: string): void => fs.writeFileSync(join(served.logs, `${name}.jsonl`), text)
  put(RICH, richSession(RICH))
  fs.mkdirSync(join(served.logs, RICH, 'subagents'), { recursive: true })
  fs.writeFileSync(join(served.logs, RICH, 'subagents', 'agent-a1.jsonl'), subagentLog(RICH, 'a1'))
  put(EVIL, hostileSession(EVIL))
  put(LONG, longSession())
  await recordFamily()
  const root = join(served.logs, '../../..')
  await sync(served.archive, { userHome: root, env: {}, cwd: root })
  const { sessions } = JSON.parse((await get('/api/v1/sessions?limit=100')).toString()) as {
    sessions: { id: string; prompt?: string }[]
  }
  for (const [name, mark] of [
    [RICH, 'login timeout'],
    [EVIL, 'hostile'],
    [LONG, 'a long one'],
  ] as const)
    ids.set(name, sessions.find(({ prompt = '' }) => prompt.includes(mark))?.id ?? `no session of ${mark}`)
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

/** A session that started two others, of which one started a third, and the other is more than an export takes along. */
async function recordFamily(): Promise<void> {
  const { home } = served.archive
  const start = (title: string, more: Pick<RecordOptions, 'parent'> = {}) =>
    record({ home, cwd: '/p', title, agent: 'mine', ...more })
  const parent = await start('the whole family')
  parent.user('split the work')
  parent.assistant('two others do it')
  const { id } = await parent.end()
  ids.set(PARENT, id)
  const child = await start('a child of it', {
    parent: { session: id, citation: `${id}#1`, relation: 'subagent' },
  })
  for (let at = 0; at < 150; at += 1) child.user(`the child says ${at}`)
  const ended = await child.end()
  const third = await start('a grandchild', {
    parent: { session: ended.id, citation: `${ended.id}#0`, relation: 'subagent' },
  })
  third.user(`the grandchild says hello, with ${SECRET}`)
  await third.end()
  const large = await start('a large child', {
    parent: { session: id, citation: `${id}#1`, relation: 'subagent' },
  })
  for (let at = 0; at < 3; at += 1) large.assistant('y'.repeat(25_000_000))
  await large.end()
}

async function get(path: string): Promise<Buffer> {
  const { origin, token } = served.server
  const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect([path, response.status]).toEqual([path, 200])
  return Buffer.from(await response.arrayBuffer())
}

async function exported(name: string): Promise<string> {
  const path = join(folder, `${name}.html`)
  fs.writeFileSync(path, await get(`/api/v1/sessions/${ids.get(name)}/export?as=html`))
  return path
}

/** Opens a file with the network cut, and keeps what must not happen. */
async function openFile(path: string, hash = '', options: { colorScheme?: 'dark'; width?: number } = {}) {
  const { colorScheme = 'light', width = 1280 } = options
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, offline: true })
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(`console: ${message.text()}`)
  })
  const address = pathToFileURL(path).href
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(address) && !url.startsWith('data:')) wrong.push(`request: ${url.slice(0, 100)}`)
  })
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      console.error(`policy: ${violatedDirective} ${blockedURI} ${sample}`),
    )
  })
  await page.goto(`${address}${hash}`)
  await page.locator('.entry:not(.is-loading)').first().waitFor()
  return { page, expectClean: () => expect(wrong).toEqual([]) }
}

const entry = (page: Page, position: number) => page.locator(`.transcript-list [data-position="${position}"]`)

describe('an exported session', () => {
  it('reads as on the page: folded, opened, found, jumped through, gone to by its address', async () => {
    const { page, expectClean } = await openFile(await exported(RICH))
    expect(await page.locator('h1').innerText()).toContain('login timeout')
    expect(await page.locator('.session-facts').innerText()).toContain('claude-sonnet-4-5')
    await entry(page, 9).locator('.fold-line').click()
    expect(await entry(page, 9).locator('.ansi-bold.ansi-fg-1').innerText()).toBe('FAIL')
    await entry(page, 7).locator('.fold-line').click()
    await expect.poll(() => entry(page, 7).locator('.diff-row.is-new').count()).toBe(2)
    await entry(page, 13).locator('.fold-line').click()
    await entry(page, 13).locator('img.picture').waitFor()
    await press(page, 'g g', 'e')
    expect(await hashOf(page)).toBe('#9')
    await press(page, '/')
    await page.keyboard.type('three others')
    await page.waitForFunction(() => /\d/.test(document.querySelector('.find-says')?.textContent ?? ''))
    await page.keyboard.press('Escape')
    await page.locator('.minimap canvas').waitFor()
    await press(page, '?')
    expect(await page.locator('dialog').innerText()).toContain('Next prompt')
    expectClean()
  })

  it('has subagents in place, and where each record lies', async () => {
    const { page, expectClean } = await openFile(await exported(RICH), '#17')
    await entry(page, 17).locator('.lane-button').click()
    await entry(page, 17).locator('.lane-body .entry').first().waitFor()
    expect(await entry(page, 17).locator('.lane-body').innerText()).toContain('Three others, all fine.')
    await page.evaluate(() => void (location.hash = '#7'))
    await entry(page, 7).waitFor()
    await press(page, 'r')
    const said = await page.locator('dialog').innerText()
    expect(said).toMatch(/[\d,]+ bytes from byte [\d,]+/)
    expect(said).toContain(`${RICH}.jsonl`)
    expectClean()
  })

  it('has the record of each entry as it lies, without secrets', async () => {
    const { page, expectClean } = await openFile(await exported(RICH), '#7')
    await entry(page, 7).and(page.locator('.is-selected')).waitFor()
    await press(page, 'r')
    const dialog = page.locator('dialog')
    await dialog.getByText('bytes from byte').waitFor()
    const line = fs.readFileSync(join(served.logs, `${RICH}.jsonl`), 'utf8').split('\n')[7] ?? ''
    const { uuid } = JSON.parse(line) as { uuid: string }
    expect(await dialog.innerText()).toContain(uuid)
    expectClean()
  })

  it('has the sessions that it started, in place and by themselves; of one that is too large it says so', async () => {
    const path = await exported(PARENT)
    expect(fs.readFileSync(path, 'utf8').includes(SECRET)).toBe(false)
    const { page, expectClean } = await openFile(path)
    const lanes = entry(page, 1).locator('.lane')
    expect(await lanes.filter({ hasText: 'a large child' }).innerText()).toContain('not in this file')
    const child = lanes.filter({ hasText: 'a child of it' })
    await child.getByRole('button').first().click()
    await child.getByText('the child says 99').first().waitFor()
    expect(await child.getByText('50 more entries').count()).toBe(1)
    await child.getByRole('link', { name: 'Open' }).first().click()
    await page.locator('h1').filter({ hasText: 'a child of it' }).waitFor()
    await entry(page, 0).locator('.lane').getByRole('button').first().click()
    await entry(page, 0).getByText('the grandchild says hello').waitFor()
    await press(page, 'G')
    await entry(page, 149).filter({ hasText: 'the child says 149' }).waitFor()
    expect(await entry(page, 149).locator('.entry-number').getAttribute('href')).toMatch(/^#149\?session=/)
    await page.reload()
    await entry(page, 149).filter({ hasText: 'the child says 149' }).waitFor()
    await page.getByRole('link', { name: /Back to the session/ }).click()
    await page.locator('h1').filter({ hasText: 'the whole family' }).waitFor()
    expectClean()
  })

  it('has them as Markdown and as JSON', async () => {
    const md = (await get(`/api/v1/sessions/${ids.get(PARENT)}/export?as=md`)).toString()
    expect(md).toContain('the child says 149')
    expect(md).toContain('the grandchild says hello')
    const json = JSON.parse((await get(`/api/v1/sessions/${ids.get(PARENT)}/export?as=json`)).toString()) as {
      readonly started: readonly {
        readonly session: { readonly title: string }
        readonly entries: unknown[]
      }[]
    }
    const held = json.started.map(({ session, entries }) => [session.title, entries.length])
    expect(held).toEqual([
      ['a child of it', 150],
      ['a large child', 3],
      ['a grandchild', 1],
    ])
  })

  it('leads nowhere: no link leaves it, nothing of a server is offered', async () => {
    const { page, expectClean } = await openFile(await exported(RICH), '#15')
    await entry(page, 15).waitFor()
    const links = await page.evaluate(() =>
      [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href') ?? ''),
    )
    expect(links.filter((link) => !link.startsWith('#'))).toEqual([])
    expect(await entry(page, 15).innerText()).toContain('https://example.com/guide')
    for (const gone of ['Export', 'Insight', 'Live'])
      expect(await page.getByText(gone, { exact: true }).count()).toBe(0)
    expectClean()
  })

  it('holds more than two hundred payloads in every field, and none of them does anything', async () => {
    const path = await exported(EVIL)
    const html = fs.readFileSync(path, 'utf8')
    const [, policy = ''] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html) ?? []
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-/)
    expect(policy).not.toContain('unsafe')
    // Whatever is in the session stands in blocks that no browser runs: no tag but ours.
    const tags = [
      ...html
        .replace(/<script>[\s\S]*?<\/script>|<style>[\s\S]*?<\/style>/g, '')
        .matchAll(/<[a-z!/][^>]*>/gi),
    ]
    const ours =
      /^<(?:!doctype html|html lang="en"|\/?(?:html|head|body|title|noscript)|meta [^<>]*|div id="app"|\/div|script type="application\/json" id="[\w-]+"|\/script)>$/
    for (const [tag] of tags) expect(tag).toMatch(ours)
    const { page, expectClean } = await openFile(path)
    await press(page, 'x')
    expect(HOSTILE.length).toBeGreaterThan(200)
    const length = await page.evaluate(() =>
      Number(JSON.parse(document.getElementById('about')?.textContent ?? '').length),
    )
    expect(length).toBeGreaterThan(HOSTILE.length)
    for (let at = 0; at < length; at += 20) {
      await page.evaluate((to) => void (location.hash = `#${to}`), at)
      await page.waitForTimeout(60)
    }
    await press(page, 'G', 'r')
    expect(await page.evaluate(() => 'hansardWasHere' in window)).toBe(false)
    expect(
      await page.evaluate(
        () =>
          document.querySelectorAll(
            'main script, main iframe, main object, main embed, main style, main link, main form',
          ).length,
      ),
    ).toBe(0)
    expectClean()
  })

  it('has no secret in it that was known as one', async () => {
    const html = fs.readFileSync(await exported(LONG), 'utf8')
    // Said without the file: it is long.
    expect([html.includes('number 1500'), html.includes(SECRET)]).toEqual([true, false])
  })

  it('holds only what is in sight of a long one, and goes anywhere', async () => {
    const { page, expectClean } = await openFile(await exported(LONG))
    for (const position of [1500, 100, 1998]) {
      await page.evaluate((to) => void (location.hash = `#${to}`), position)
      await entry(page, position)
        .filter({ hasText: `number ${position}` })
        .waitFor()
      expect(await page.locator('.transcript-list [data-row]').count()).toBeLessThan(80)
    }
    expectClean()
  })

  it.each([{}, { colorScheme: 'dark' as const }, { width: 400 }])(
    'has nothing serious in the way: %j',
    async (options) => {
      const { page, expectClean } = await openFile(await exported(RICH), '', options)
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(options.width ?? 1280)
      expectClean()
    },
  )

  it('is had from the page, by a button', async () => {
    const { page, expectClean } = await openPage(browser, served.server, {
      path: `/session/${ids.get(RICH)}`,
    })
    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'One HTML file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`hansard-${ids.get(RICH)}.html`)
    const path = join(folder, 'download.html')
    await download.saveAs(path)
    const opened = await openFile(path)
    expect(await opened.page.locator('h1').innerText()).toContain('login timeout')
    opened.expectClean()
    expectClean()
  })

  it('is made by the command line: a page, Markdown and JSON, and replaces nothing unasked', async () => {
    const out = join(folder, 'by-command.html')
    const args = ['export', ids.get(RICH) ?? '', '--home', served.archive.home]
    expect(await run([...args, '--out', out])).toMatchObject({ code: 0, stdout: `${out}\n` })
    const { page, expectClean } = await openFile(out)
    expect(await page.locator('h1').innerText()).toContain('login timeout')
    expectClean()
    expect(await run([...args, '--out', out])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--force') as string,
    })
    const md = await run([...args, '--as', 'md', '--out', '-'])
    expect(md.stdout).toContain('Fix the')
    const json = await run([...args, '--as', 'json', '--out', '-'])
    expect(JSON.parse(json.stdout)).toMatchObject({ entries: expect.any(Array) as unknown[] })
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})

function longSession(): string {
  const to = createLines(LONG)
  to.user(`This is a long one, with ${SECRET}`)
  for (let at = 1; at <= 2000; at += 1) {
    if (at % 2 === 0) to.user(`number ${at}`)
    else to.assistant([{ type: 'text', text: `this is number ${at}` }])
  }
  return to.text()
}
