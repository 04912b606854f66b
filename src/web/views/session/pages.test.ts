import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPages, PAGE, type Pages } from './pages.ts'

afterEach(() => vi.unstubAllGlobals())

/** A server that has so many entries, and gives them when it is told to. */
function serve(length: number) {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  const own = { asked, length, isHeld: false, letGo: () => waiting.splice(0).forEach((go) => go()) }
  const answer = async (path: string, { signal }: { signal: AbortSignal }): Promise<Response> => {
    const { searchParams } = new URL(path, 'http://localhost')
    const [from, to] = [Number(searchParams.get('from')), Number(searchParams.get('to'))]
    asked.push(`${from}-${to}`)
    if (own.isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
    signal.throwIfAborted()
    const entries = Array.from({ length: Math.max(0, Math.min(to, own.length) - from) }, (_, at) => ({
      position: from + at,
      citation: `s#${from + at}`,
      entry: { id: `e${from + at}`, source: 'primary', sequence: from + at, kind: 'message', blocks: [] },
    }))
    return new Response(JSON.stringify({ from, length: own.length, entries }))
  }
  vi.stubGlobal('fetch', answer)
  return own
}

const open = (length: () => number): Pages =>
  createPages('s', { onChange() {}, onProblem() {}, onLength() {}, most: length })
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

describe('pages of a session', () => {
  it('that lie beside each other are had by one question', async () => {
    const server = serve(10 * PAGE)
    const pages = open(() => server.length)
    pages.want([5 * PAGE - 4, 5 * PAGE + 4])
    await soon()
    expect(server.asked).toEqual([`${4 * PAGE}-${6 * PAGE}`])
    expect(pages.get(5 * PAGE + 4)?.entry.id).toBe(`e${5 * PAGE + 4}`)
    pages.want([5 * PAGE - 4, 6 * PAGE + 1])
    await soon()
    expect(server.asked.slice(1)).toEqual([`${6 * PAGE}-${7 * PAGE}`])
  })

  it('that grew while somebody looked elsewhere are whole when they come into sight', async () => {
    const server = serve(3 * PAGE + 5)
    const pages = open(() => server.length)
    pages.want([3 * PAGE + 1])
    await soon()
    // What is new is asked for, and given up: somebody has scrolled to the beginning.
    server.isHeld = true
    server.length += 1
    pages.grow(3 * PAGE + 5)
    pages.want([0])
    server.isHeld = false
    server.letGo()
    await soon()
    pages.want([3 * PAGE + 5])
    await soon()
    expect(pages.get(3 * PAGE + 5)?.entry.id).toBe(`e${3 * PAGE + 5}`)
  })

  it('that a jump asked for come, also when what is still seen is asked for meanwhile', async () => {
    const server = serve(200 * PAGE)
    const pages = open(() => server.length)
    server.isHeld = true
    pages.want([150 * PAGE])
    pages.want([0])
    server.isHeld = false
    server.letGo()
    await soon()
    expect(pages.get(150 * PAGE)).toBeDefined()
    expect(pages.get(0)).toBeDefined()
  })

  it('that somebody passed long ago are given up', async () => {
    const server = serve(200 * PAGE)
    const pages = open(() => server.length)
    server.isHeld = true
    for (const at of [10, 20, 30, 40, 50]) pages.want([at * PAGE])
    server.isHeld = false
    server.letGo()
    await soon()
    const there = [10, 20, 30, 40, 50].filter((at) => pages.get(at * PAGE) !== undefined)
    expect(there).toEqual([30, 40, 50])
  })

  it('are no more than forty, whatever is looked at', async () => {
    const server = serve(150 * PAGE)
    const pages = open(() => server.length)
    for (let at = 0; at < 150; at += 1) {
      pages.want([at * PAGE])
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await soon()
    const held = Array.from({ length: 150 }, (_, at) => pages.get(at * PAGE)).filter(
      (row) => row !== undefined,
    )
    expect(held.length).toBeLessThanOrEqual(41)
    expect(pages.get(149 * PAGE)).toBeDefined()
    expect(pages.get(0)).toBeUndefined()
  })
})
