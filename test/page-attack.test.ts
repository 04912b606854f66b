/**
 * Another page in the same browser, which even knows the pass: on another port of this machine, on another site, and under a name that was
 * made to point here. It tries whatever a page can try, reads nothing, and changes nothing.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectBrowser, passOf, webFolder } from './browser.ts'
import { serveSample, type Served } from './serving.ts'

let browser: Browser
let served: Served
let attacker: http.Server
let port: number
/** What browsers told the other server. */
const sent: unknown[] = []
/** Requests that changed something. */
let syncs = 0

beforeAll(async () => {
  served = await serveSample({ webFolder, write: true })
  const { sync } = served.server.context.options
  // What the door lets through is counted where it would be done.
  Object.assign(served.server.context.options, { sync: () => ((syncs += 1), sync?.()) })
  attacker = http.createServer((request, response) => {
    sent.push(request.url, request.headers)
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>another page</title><body></body>')
  })
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve))
  port = (attacker.address() as AddressInfo).port
  browser = await connectBrowser()
})
afterAll(async () => {
  await browser?.close()
  attacker?.close()
  await served?.close()
})

/** A browser that is let in, and a page of somebody else in it. */
async function visit(origin: string): Promise<{ readonly page: Page; readonly pass: string }> {
  const context = await browser.newContext()
  const own = await context.newPage()
  await own.goto(served.server.newUrl())
  const pass = await passOf(own)
  const page = await context.newPage()
  await page.goto(origin)
  return { page, pass }
}

/** All that a page can do to another server without being asked, and what it learnt. */
async function attack(page: Page, target: string, pass: string): Promise<readonly string[]> {
  return page.evaluate(
    async ([at = '', known = '']) => {
      const learnt: string[] = []
      const api = (path: string): string => `${at}/api/v1/${path}?pass=${known}`
      const tried = (name: string, work: () => Promise<string | undefined>): Promise<void> =>
        work().then(
          (text) => void (text !== undefined && learnt.push(`${name}: ${text}`)),
          () => undefined,
        )
      const loads = (
        tag: 'img' | 'script' | 'link' | 'iframe',
        attribute: string,
      ): Promise<string | undefined> =>
        new Promise((resolve) => {
          const element = document.createElement(tag)
          if (tag === 'link') element.setAttribute('rel', 'stylesheet')
          element.addEventListener('load', () => {
            const frame = element instanceof HTMLIFrameElement ? element.contentWindow : null
            try {
              // What refuses to be framed has a document of nobody, which nobody reads.
              resolve(tag === 'iframe' ? frame?.document.body.textContent || undefined : 'loaded')
            } catch {
              resolve(undefined)
            }
          })
          element.addEventListener('error', () => resolve(undefined))
          element.setAttribute(attribute, api('sessions'))
          document.body.append(element)
          setTimeout(() => resolve(undefined), 1500)
        })
      const json = { 'content-type': 'application/json' }
      /** That it was refused may be known. */
      const read = async (response: Response): Promise<string | undefined> =>
        response.ok ? response.text() : undefined
      await Promise.all([
        tried('fetch', async () => read(await fetch(api('sessions')))),
        tried('with cookies', async () => read(await fetch(api('sessions'), { credentials: 'include' }))),
        tried('post', async () =>
          read(
            await fetch(api('sync'), { method: 'POST', credentials: 'include', headers: json, body: '{}' }),
          ),
        ),
        // Goes out without asking first; what comes back is hidden.
        tried('simple post', async () => {
          await fetch(api('sync'), { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })
          return undefined
        }),
        tried('beacon', async () => {
          navigator.sendBeacon(api('sync'), new Blob(['{}'], { type: 'application/json' }))
          navigator.sendBeacon(api('sync'), '{}')
          return undefined
        }),
        tried('image', () => loads('img', 'src')),
        tried('script', () => loads('script', 'src')),
        tried('style', () => loads('link', 'href')),
        tried('frame', () => loads('iframe', 'src')),
        tried(
          'events',
          () =>
            new Promise((resolve) => {
              const source = new EventSource(api('live'), { withCredentials: true })
              source.addEventListener('open', () => resolve('open'))
              source.addEventListener('error', () => (source.close(), resolve(undefined)))
            }),
        ),
        tried(
          'socket',
          () =>
            new Promise((resolve) => {
              const socket = new WebSocket(`${at.replace('http:', 'ws:')}/api/v1/live`)
              socket.addEventListener('open', () => resolve('open'))
              socket.addEventListener('error', () => resolve(undefined))
            }),
        ),
      ])
      return learnt
    },
    [target, pass],
  )
}

/** A form goes where it is sent, cookies of the same site with it. */
async function sendForm(page: Page, target: string, enctype: string): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.url().includes('/api/v1/sync')),
    page.evaluate(
      ([at, type]) => {
        const form = document.createElement('form')
        form.method = 'post'
        form.action = at ?? ''
        form.enctype = type ?? ''
        const field = document.createElement('input')
        field.name = '{"a":"'
        field.value = '"}'
        form.append(field)
        document.body.append(form)
        form.submit()
      },
      [target, enctype] as const,
    ),
  ])
  return response.status()
}

describe('another page in a browser that is let in', () => {
  // Cookies do not tell ports apart: to them, the first two are the same site.
  it.each(['http://127.0.0.1', 'http://localhost', 'http://evil.test'])(
    'at %s reads nothing and changes nothing',
    async (site) => {
      const before = syncs
      for (const target of [served.server.origin, `http://localhost:${served.server.port}`]) {
        const { page, pass } = await visit(`${site}:${port}/`)
        expect(await attack(page, target, pass)).toEqual([])
        expect(await sendForm(page, `${target}/api/v1/sync?pass=${pass}`, 'text/plain')).toBe(403)
        await page.context().close()
      }
      expect(syncs).toBe(before)
    },
  )

  it('under a name that was made to point here is not let in at all', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(served.server.newUrl())
    const pass = await passOf(page)
    const target = `http://evil.test:${served.server.port}`
    expect((await page.goto(`${target}/`))?.status()).toBe(403)
    // The attacker's own server answered under that name until a moment ago; now it leads here, and is the same origin.
    await page.route(`${target}/`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<body>another page</body>' }),
    )
    await page.goto(`${target}/`)
    expect(await page.innerText('body')).toBe('another page')
    expect(await attack(page, target, pass)).toEqual([])
    await context.close()
  })

  it('is told nothing that lets its server in, and shuts nobody out', async () => {
    sent.length = 0
    const { page, pass } = await visit(`http://127.0.0.1:${port}/`)
    const stored = await page.evaluate(() => {
      for (const path of ['/', '/api', '/api/v1', '/session'])
        document.cookie = `hansard-pass=x; path=${path}; max-age=9999`
      localStorage.setItem('hansard-pass', 'x')
      return document.cookie
    })
    expect(stored).toBe('hansard-pass=x')
    await page.goto(`http://127.0.0.1:${port}/again`)
    expect(sent.length).toBeGreaterThan(1)
    expect(JSON.stringify(sent)).not.toContain(pass)
    expect(JSON.stringify(sent)).not.toContain(served.server.token)
    await page.goto(`${served.server.origin}/`)
    await page.locator('.session-row').first().waitFor()
    await page.reload()
    await page.locator('.session-row').first().waitFor()
    expect(page.url()).toBe(`${served.server.origin}/`)
    await page.context().close()
  })

  it('of our own is let in: what is refused to others works', async () => {
    const { page, pass } = await visit(`${served.server.origin}/`)
    const learnt = await attack(page, served.server.origin, pass)
    const names = learnt.map((one) => one.split(':', 1)[0])
    expect(names).toEqual(expect.arrayContaining(['fetch', 'with cookies', 'post', 'events']))
    expect(names).not.toContain('socket')
    expect(syncs).toBeGreaterThan(0)
    await page.context().close()
  })
})
