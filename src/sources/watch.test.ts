import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FoundPlace } from './places.ts'
import { watchPlaces, type WatchOptions } from './watch.ts'

let root: string
let controller: AbortController
let told: { readonly path: string | undefined }[]

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-watch-')))
  controller = new AbortController()
  told = []
})
afterEach(() => {
  controller.abort()
  fs.rmSync(root, { recursive: true, force: true })
})

const put = (path: string, text = 'x\n'): void => {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true })
  fs.appendFileSync(join(root, path), text)
}

function watching(
  options: Partial<WatchOptions> = {},
  files: readonly string[] = ['**/*.jsonl'],
  more: Partial<FoundPlace> = {},
): void {
  const place: FoundPlace = { agent: 'pi', root, files, ...more }
  watchPlaces([place], {
    onChange: (_, path) => told.push({ path }),
    signal: controller.signal,
    ...options,
  })
}

async function until(isDone: () => boolean, limitMs = 5000): Promise<void> {
  const from = performance.now()
  while (!isDone() && performance.now() - from < limitMs) await pause(10)
  expect(isDone()).toBe(true)
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const paths = (): (string | undefined)[] =>
  [...new Set(told.map(({ path }) => path))].sort((a = '', b = '') => (a < b ? -1 : 1))

describe.each([
  ['by folders', false],
  ['by the whole tree', true],
])('watching %s', (_, recursive) => {
  it('tells of a line that was appended', async () => {
    put('a/b/live.jsonl')
    watching({ recursive })
    await pause(50)
    for (let lines = 0; lines < 3; lines += 1) {
      told.length = 0
      put('a/b/live.jsonl')
      await until(() => told.length > 0)
      expect(told[0]?.path).toBe('a/b/live.jsonl')
      await pause(50)
    }
  })

  it('tells of a database whose log was written to', async () => {
    put('a.db')
    put('a.db-wal')
    watching({ recursive }, ['*.db'], { rows: [{ table: 't' }] })
    await pause(300)
    told.length = 0
    put('a.db-wal')
    await until(() => told.length > 0)
    expect(paths()).toEqual(['a.db'])
  })

  it('tells of files in folders that did not exist', async () => {
    put('a/one.jsonl')
    watching({ recursive })
    await pause(50)
    put('2026/01/02/new.jsonl')
    await until(() => paths().includes('2026/01/02/new.jsonl'))
    await pause(250)
    told = []
    put('2026/01/02/new.jsonl')
    put('2026/01/02/other.jsonl')
    await until(() => paths().includes('2026/01/02/new.jsonl') && paths().includes('2026/01/02/other.jsonl'))
  })

  it('tells of files that were put in place whole, and of those that are gone', async () => {
    put('a/one.jsonl')
    put('a/two.jsonl')
    watching({ recursive })
    await pause(50)
    fs.writeFileSync(join(root, 'a/.tmp'), 'new')
    fs.renameSync(join(root, 'a/.tmp'), join(root, 'a/one.jsonl'))
    fs.rmSync(join(root, 'a/two.jsonl'))
    await until(() => paths().includes('a/one.jsonl') && paths().includes('a/two.jsonl'))
    expect(paths()).toEqual(['a/one.jsonl', 'a/two.jsonl'])
  })

  it('is silent about what nobody asked for', async () => {
    put('a/one.jsonl')
    put('secret/one.jsonl')
    watching({ recursive, exclude: ['secret'] })
    await pause(50)
    put('a/one.txt')
    put('secret/one.jsonl')
    put('a/one.jsonl')
    await until(() => told.length > 0)
    await pause(300)
    expect(paths()).toEqual(['a/one.jsonl'])
  })
})

it('gathers what never rests, and tells of it all the same', async () => {
  put('live.jsonl')
  watching({ settleMs: 100 })
  await pause(50)
  const writing = setInterval(() => put('live.jsonl'), 5)
  await pause(1000)
  clearInterval(writing)
  expect(told.length).toBeGreaterThan(3)
  expect(told.length).toBeLessThan(12)
})

it('calls for a look at everything at intervals, and sees a root that was replaced', async () => {
  put('a/one.jsonl')
  watching({ rescanMs: 150, settleMs: 20 })
  await until(() => told.some(({ path }) => path === undefined))
  fs.rmSync(root, { recursive: true })
  put('a/one.jsonl')
  // One that falls together with a look at everything is told of by that.
  await until(() => {
    put('a/one.jsonl')
    return paths().includes('a/one.jsonl')
  })
})

it('looks again and again at what cannot be watched', async () => {
  const problems: string[] = []
  fs.rmSync(root, { recursive: true })
  fs.symlinkSync(root, root)
  watching({ pollMs: 30, settleMs: 10, recursive: false, onProblem: (_, { cause }) => problems.push(cause) })
  await until(() => told.length > 3)
  expect(paths()).toEqual([undefined])
  expect(problems).toContain('io')
  fs.unlinkSync(root)
})

it('ends at once, and says nothing afterwards', async () => {
  put('a/one.jsonl')
  watching({ settleMs: 50 })
  await pause(50)
  put('a/one.jsonl')
  controller.abort()
  put('a/one.jsonl')
  await pause(200)
  expect(told).toEqual([])
  watching()
  put('a/one.jsonl')
  await pause(300)
  expect(told).toEqual([])
})
