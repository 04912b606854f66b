/** What a session reads like where it is not made of plain prompts and answers, and what menus and dialogs leave alone. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sync } from '../src/sources/sync.ts'
import { hashOf, connectBrowser, openPage, press, type OpenOptions, type OpenPage } from './browser.ts'
import { servePage, type ServedPage } from './page-archive.ts'
import { createLines, richSession, subagentLog } from './session-sample.ts'

const RICH = '11111111-1111-4111-8111-111111111111'
const GIVEN = '22222222-2222-4222-8222-222222222222'
const NOTES = '33333333-3333-4333-8333-333333333333'

let browser: Browser
let served: ServedPage
const ids = new Map<string, string>()

beforeAll(async () => {
  served = await servePage([])
  const put = (name: string, text: string): void => fs.writeFileSync(join(served.logs, `${name}.jsonl`), text)
  put(RICH, richSession(RICH))
  fs.mkdirSync(join(served.logs, RICH, 'subagents'), { recursive: true })
  fs.writeFileSync(join(served.logs, RICH, 'subagents', 'agent-a1.jsonl'), subagentLog(RICH, 'a1'))
  put(GIVEN, given())
  put(NOTES, notes())
  const root = join(served.logs, '../../..')
  await sync(served.archive, { userHome: root, env: {}, cwd: root })
  const { origin, token } = served.server
  const headers = { authorization: `Bearer ${token}` }
  const reply = await fetch(`${origin}/api/v1/sessions`, { headers })
  const { sessions } = (await reply.json()) as { sessions: { id: string; prompt?: string }[] }
  const named = (word: string): string =>
    sessions.find((row) => (row.prompt ?? 'nothing').includes(word))?.id ?? ''
  ids.set(RICH, named('login timeout'))
  ids.set(GIVEN, named('/debug'))
  ids.set(NOTES, named('nothing'))
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served?.close()
})

/** What programs say in a person's place, an answer that says nothing, lists. */
function given(): string {
  const lines = createLines(GIVEN)
  lines.user(`<system-reminder>\n${'Mind the gap between the rules.\n'.repeat(30)}</system-reminder>`)
  lines.user(
    '<command-message>debug</command-message>\n<command-name>/debug</command-name>\n<command-args>the page stays empty</command-args>',
  )
  lines.assistant([])
  const todos = [
    { content: 'Look at the console', status: 'completed', activeForm: 'Looking' },
    { content: 'Find the cause', status: 'in_progress', activeForm: 'Finding' },
  ]
  lines.tool('TodoWrite', { todos }, 'noted')
  lines.assistant([{ type: 'text', text: 'It was a <b>.' }])
  return lines.text()
}

/** A log in which nobody says anything. */
function notes(): string {
  const lines = createLines(NOTES)
  for (let at = 0; at < 4; at += 1)
    lines.line({ type: 'file-history-snapshot', messageId: `m${at}`, snapshot: {} })
  return lines.text()
}

async function open(name: string, rest = '', options: OpenOptions = {}): Promise<OpenPage> {
  const path = `/session/${ids.get(name)}${rest}`
  const opened = await openPage(browser, served.server, { path, ...options })
  await opened.page.locator('.entry:not(.is-loading)').first().waitFor()
  return opened
}
const entry = (page: Page, position: number) => page.locator(`.transcript-list [data-position="${position}"]`)

describe('a session that is more than talk', () => {
  it('is known by the command that began it, not by the context before', async () => {
    const { page, expectClean } = await open(GIVEN)
    expect(await page.locator('h1').innerText()).toBe('/debug the page stays empty')
    expect(await page.locator('.jump').first().innerText()).toContain('1 prompt')
    expectClean()
  })

  it('has context folded to a line, under its own name, which opens where a word in it is found', async () => {
    const { page, expectClean } = await open(GIVEN)
    const context = entry(page, 0)
    expect(await context.innerText()).toMatch(/^Context/)
    expect((await context.boundingBox())?.height).toBeLessThan(80)
    await press(page, '/')
    // Who does not wait until it is found is not made to press it again.
    await page.keyboard.type('gap\n')
    await page.locator('.find-says', { hasText: '1 of 1' }).waitFor()
    await expect.poll(() => context.locator('.fold.is-open').count()).toBe(1)
    expectClean()
  })

  it('says so where an answer says nothing, and shows a list of things to do as one', async () => {
    const { page, expectClean } = await open(GIVEN)
    expect(await page.locator('.entry-nothing').innerText()).toContain('Assistant')
    await page.locator('.fold-line', { hasText: 'TodoWrite' }).click()
    expect(await page.locator('.todos li').allInnerTexts()).toEqual([
      expect.stringContaining('Look at the console'),
      expect.stringContaining('Find the cause'),
    ])
    expectClean()
  })

  it('has what was read of a file in the colours of its language, with its numbers', async () => {
    const { page, expectClean } = await open(RICH)
    await page.locator('.fold-line', { hasText: '/work/shop/src/login.ts' }).first().click()
    expect(await page.locator('.code-numbers').innerText()).toBe('12\n13')
    await page.locator('.code .hl-keyword', { hasText: 'const' }).waitFor()
    expectClean()
  })

  it('is not empty where there is nothing but the notes of a program', async () => {
    const { page, expectClean } = await open(NOTES)
    expect(await page.locator('.transcript-list').innerText()).toContain('4 records')
    expectClean()
  })

  it('has the entries of a subagent laid out as others are, each with buttons of its own alone', async () => {
    const { page, expectClean } = await open(RICH)
    await page.locator('.lane-button').first().click()
    const said = page.locator('.lane .entry.is-message').first()
    await said.waitFor()
    await page.locator('.lane-button').first().hover()
    const [head, body] = await Promise.all(
      ['.entry-head', '.entry-body'].map((part) => said.locator(part).first().boundingBox()),
    )
    expect((head?.y ?? 0) + (head?.height ?? 0)).toBeLessThanOrEqual((body?.y ?? 0) + 1)
    const shown = page.locator('.lane .entry-actions')
    expect(await shown.evaluateAll((all) => all.map((one) => getComputedStyle(one).opacity))).not.toContain(
      '1',
    )
    await said.hover()
    await said.getByRole('button', { name: /^Raw record/ }).click()
    await expect.poll(() => page.getByRole('dialog').innerText()).toContain('agent-a1.jsonl')
    expectClean()
  })
})

describe('what is in front', () => {
  it('of a menu goes away by Escape, which gives the focus back, and by a click elsewhere', async () => {
    const { page, expectClean } = await open(RICH)
    const button = page.getByRole('button', { name: 'Export' })
    const items = page.locator('.menu a')
    await button.click()
    expect(await items.allInnerTexts()).toContain('One HTML file')
    await press(page, 'Tab', 'Escape')
    await expect.poll(() => items.count()).toBe(0)
    expect(await button.evaluate((one) => one === document.activeElement)).toBe(true)
    await button.click()
    await page.locator('h1').click()
    await expect.poll(() => items.count()).toBe(0)
    expectClean()
  })

  it('of a dialog keeps keys from what is behind it', async () => {
    const { page, expectClean } = await open(RICH)
    await press(page, 'j', '?', 'j', 'j')
    expect(await hashOf(page)).toBe('#0')
    await press(page, 'Escape', 'j')
    expect(await hashOf(page)).not.toBe('#0')
    expectClean()
  })
})
