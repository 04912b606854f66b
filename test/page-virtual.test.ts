/** The virtual list in a real browser: a million rows of unknown heights, taller than a browser can lay out. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectBrowser } from './browser.ts'

const root = join(import.meta.dirname, '..')
const MILLION = 1_000_000

let browser: Browser
let script: string
beforeAll(async () => {
  const made = await build({
    configFile: false,
    root,
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      lib: { entry: join(root, 'test/page-long-list.tsx'), formats: ['iife'], name: 'made' },
    },
  })
  const [first] = Array.isArray(made) ? made : [made]
  if (first === undefined || !('output' in first)) throw new Error('nothing was built')
  script = first.output[0].code
  browser = await connectBrowser()
})
afterAll(() => browser?.close())

async function openList(count: number, options: { readonly followEnd?: boolean } = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 600, height: 700 } })
  const styles = ['theme', 'base', 'ui'].map((name) =>
    fs.readFileSync(join(root, `src/web/styles/${name}.css`), 'utf8'),
  )
  await page.setContent('<div id="app"></div>')
  await page.addStyleTag({ content: `${styles.join('\n')} .long { height: 600px }` })
  await page.addScriptTag({ content: script })
  await page.evaluate(([rows, given]) => window.list.draw(rows, given), [count, options] as const)
  await settled(page)
  await page.mouse.move(300, 300)
  return page
}

/** Longer than the pause after which the scrollbar is put right. */
const settled = (page: Page): Promise<void> => page.waitForTimeout(300)

/** Where rows are on the page, by number. */
const shown = (page: Page): Promise<ReadonlyMap<number, { top: number; bottom: number }>> =>
  page
    .evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-row]:not(.virtual-kept)')].map((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return [Number(row.dataset['row']), { top, bottom }] as const
      }),
    )
    .then((rows) => new Map(rows.filter(([, { top, bottom }]) => bottom > 0.5 && top < 599.5)))

const scrollTo = (page: Page, row: number, align: 'start' | 'center' | 'nearest'): Promise<void> =>
  page.evaluate(([to, how]) => window.list.handle.current?.scrollTo(to, how), [row, align] as const)

describe('a list of a million rows', () => {
  it('goes to any of them, exactly', async () => {
    const page = await openList(MILLION)
    for (const row of [1, 10, 999, 123_456, 500_000, 999_000, 77]) {
      await scrollTo(page, row, 'start')
      await settled(page)
      expect((await shown(page)).get(row)?.top, `row ${row}`).toBeCloseTo(0, -0.5)
    }
    await scrollTo(page, MILLION - 1, 'nearest')
    await settled(page)
    expect((await shown(page)).get(MILLION - 1)?.bottom).toBeCloseTo(600, -0.5)
    await scrollTo(page, 400_000, 'center')
    await settled(page)
    const at = (await shown(page)).get(400_000)
    expect(((at?.top ?? 0) + (at?.bottom ?? 0)) / 2).toBeCloseTo(300, -0.5)
    expect(await page.locator('[data-row]').count()).toBeLessThan(60)
  })

  it('scrolls one to one with the wheel, in the middle and at both ends', async () => {
    const page = await openList(MILLION)
    for (const row of [50, 500_000, MILLION - 100]) {
      await scrollTo(page, row, 'start')
      await settled(page)
      for (const step of [120, 120, -60]) {
        const before = await shown(page)
        await page.mouse.wheel(0, step)
        await page.waitForTimeout(60)
        const after = await shown(page)
        const common = [...before.keys()].filter((key) => after.has(key))
        expect(common.length).toBeGreaterThan(1)
        for (const key of common) {
          const moved = (before.get(key)?.top ?? 0) - (after.get(key)?.top ?? 0)
          expect(Math.abs(moved - step), `row ${key} at ${row}`).toBeLessThan(2)
        }
      }
      // Putting the scrollbar right moves nothing.
      const before = await shown(page)
      await settled(page)
      for (const [key, { top }] of await shown(page))
        expect(Math.abs((before.get(key)?.top ?? top) - top)).toBeLessThan(2)
    }
  })

  it('is all within reach of the scrollbar', async () => {
    const page = await openList(MILLION)
    const drag = (part: number): Promise<void> =>
      page.locator('.long').evaluate((list, to) => {
        list.scrollTop = (list.scrollHeight - list.clientHeight) * to
      }, part)
    await drag(0.5)
    await settled(page)
    const [middle = 0] = (await shown(page)).keys()
    expect(Math.abs(middle - MILLION / 2)).toBeLessThan(MILLION / 100)
    await drag(1)
    await settled(page)
    expect((await shown(page)).has(MILLION - 1)).toBe(true)
    await drag(0)
    await settled(page)
    expect((await shown(page)).get(0)?.top).toBeCloseTo(0, -0.5)
  })

  it('reaches its ends by wheel from near them, without a hole or a jump', async () => {
    const page = await openList(MILLION)
    await scrollTo(page, MILLION - 30, 'start')
    await settled(page)
    for (let times = 0; times < 40; times += 1) await page.mouse.wheel(0, 200)
    await settled(page)
    expect((await shown(page)).get(MILLION - 1)?.bottom).toBeCloseTo(600, -0.5)
    await scrollTo(page, 30, 'start')
    await settled(page)
    for (let times = 0; times < 40; times += 1) await page.mouse.wheel(0, -200)
    await settled(page)
    expect((await shown(page)).get(0)?.top).toBeCloseTo(0, -0.5)
  })
})

describe('what is looked at', () => {
  it('stays while rows above it turn out taller', async () => {
    const page = await openList(5000)
    await scrollTo(page, 2000, 'start')
    await settled(page)
    const before = (await shown(page)).get(2002)?.top
    await page.evaluate(() => window.list.grow(1999, 900))
    await settled(page)
    expect((await shown(page)).get(2002)?.top).toBeCloseTo(before ?? -1, -0.5)
  })

  it('is the end while that is followed, until somebody scrolls away', async () => {
    const page = await openList(300, { followEnd: true })
    await scrollTo(page, 299, 'nearest')
    await settled(page)
    await page.evaluate(() => window.list.draw(340, { followEnd: true }))
    await settled(page)
    expect((await shown(page)).get(339)?.bottom).toBeCloseTo(600, -0.5)
    await page.mouse.wheel(0, -400)
    await settled(page)
    const before = await shown(page)
    await page.evaluate(() => window.list.draw(400, { followEnd: true }))
    await settled(page)
    expect([...(await shown(page))]).toEqual([...before])
  })

  it('keeps the focus of a row out of sight, and no longer than it has it', async () => {
    const page = await openList(5000)
    await page.evaluate(() => window.list.handle.current?.focusRow(3))
    await settled(page)
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '')
    expect(await focused()).toBe('row 3')
    await scrollTo(page, 3000, 'start')
    await settled(page)
    expect(await focused()).toBe('row 3')
    await page.evaluate(() => window.list.handle.current?.focusRow(3001))
    await settled(page)
    expect(await focused()).toBe('row 3001')
    expect(await page.locator('[data-row="3"]').count()).toBe(0)
  })
})
