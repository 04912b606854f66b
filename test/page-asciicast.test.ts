/** An exported asciicast in asciinema's own player, in a real browser: it is parsed, played to its end, and shows what was said. */
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAsciicast } from '../src/replay/playback/asciicast.ts'
import { createTimeline } from '../src/replay/playback/timeline.ts'
import { createTextView } from '../src/replay/text.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { connectBrowser } from './browser.ts'

const PLAYER = join(import.meta.dirname, '../node_modules/asciinema-player/dist/bundle')

/** Half an hour of it, with what a terminal must not be sent, and what takes two columns. */
function cast(): string {
  const said = ['Why does it fail?', 'Let me look: \x1b[2J\x07', '日本語 and 🎉', 'The last word.']
  const view = createTextView({ timeZone: 'UTC' })
  const next = createTimeline({ speed: 1, idleMs: Infinity })
  const writer = createAsciicast()
  const session = { id: 's', status: 'completed', startedAt: '2026-01-02T03:04:05Z' } as const
  const frames = said.map((text, sequence) => {
    const entry: Entry = {
      id: `e${sequence}`,
      source: 'primary',
      sequence,
      kind: 'message',
      role: sequence % 2 === 0 ? 'user' : 'assistant',
      at: new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + sequence * 600_000).toISOString(),
      blocks: [{ type: 'text', text }],
    }
    return writer.frame(next(entry), view.entry(entry))
  })
  return [writer.begin(session), ...frames, writer.end(session)].join('')
}

const PAGE = `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/asciinema-player.css"><div id="place"></div>
<script src="/asciinema-player.min.js"></script><script>
  window.events = []
  const player = AsciinemaPlayer.create('/session.cast', document.getElementById('place'), { preload: true, fit: false })
  for (const name of ['play', 'ended', 'marker', 'error']) player.addEventListener(name, (event) => window.events.push([name, event]))
  window.player = player
</script>`

let server: http.Server
let browser: Browser
beforeAll(async () => {
  server = http.createServer(({ url }, response) => {
    const name = (url ?? '/').slice(1)
    if (name === '') return void response.setHeader('content-type', 'text/html').end(PAGE)
    if (name === 'session.cast') return void response.end(cast())
    const path = join(PLAYER, name.replaceAll('/', ''))
    if (!fs.existsSync(path)) return void response.writeHead(404).end()
    response.setHeader('content-type', name.endsWith('.css') ? 'text/css' : 'text/javascript')
    response.end(fs.readFileSync(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser.close()
  server.close()
})

/** Wide characters stand in elements of their own. */
const squeezed = (text: string): string => text.replaceAll(/\s+/g, '')

type Player = {
  play(): Promise<void>
  seek(to: number | string): Promise<boolean>
  getDuration(): Promise<number>
}
type Opened = { readonly player: Player; readonly events: readonly [string, unknown][] }

it("an exported session plays in asciinema's own player, with its waits shortened and its markers met", async () => {
  const page = await browser.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text())
  })
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.waitForFunction(() => 'player' in globalThis)
  const seconds = await page.evaluate(async () => {
    const { player } = globalThis as unknown as Opened
    await player.play()
    return player.getDuration()
  })
  // Three waits of ten minutes, of which the header says that each be two seconds.
  expect(seconds).toBeCloseTo(6, 1)
  await page.waitForFunction(
    () => (globalThis as unknown as Opened).events.some(([name]) => name === 'ended'),
    undefined,
  )
  const shown = await page.locator('.ap-term').innerText()
  for (const text of ['Why does it fail?', String.raw`\x1b[2J\x07`, '日本語 and', 'The last word.'])
    expect(squeezed(shown)).toContain(squeezed(text))
  const markers = await page.evaluate(() =>
    (globalThis as unknown as Opened).events.filter(([name]) => name === 'marker').map(([, event]) => event),
  )
  // The first stands at the beginning, where nobody comes by.
  expect(markers).toMatchObject([{ index: 1, label: 'prompt #2' }])
  expect(wrong).toEqual([])
  await page.close()
})
