/** `hansard serve` and `hansard` alone, run as a user runs them. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { BIN, run, temporaryFolder } from './program.ts'
import { ask, FIRST, log } from './serving.ts'

const SECOND = '88888888-1111-4111-8111-111111111111'

type Started = {
  readonly child: ChildProcess
  readonly url: string
  readonly port: number
  readonly home: string
  stderr(): string
  /** Its exit code, after a signal. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** With a Claude Code log where its user would have one. */
function start(args: readonly string[]): Promise<Started> {
  const folder = temporaryFolder()
  const logs = join(folder, '.claude', 'projects', '-work-shop')
  fs.mkdirSync(logs, { recursive: true })
  fs.writeFileSync(join(logs, `${FIRST}.jsonl`), log(FIRST, 'fix the login', 2))
  const home = join(folder, 'archive')
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, HANSARD_HOME: home, TZ: 'UTC' },
  })
  children.push(child)
  let [text, notes] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => (notes += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`ended with ${code}: ${notes}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}/.exec(text) ?? []
      if (url === undefined) return
      resolve({
        child,
        url,
        port: Number(new URL(url).port),
        home,
        stderr: () => notes,
        end(signal) {
          child.kill(signal)
          return ended
        },
      })
    })
  })
}

async function login({ url, port }: Started): Promise<string> {
  const { text } = await ask(port, { path: `/key${new URL(url).search}` })
  return `Bearer ${JSON.parse(text).pass}`
}

/** Processes that this one started to work behind it. */
function behindOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return []
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.map(Number).filter((child) => {
    try {
      return fs.readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('behind-worker')
    } catch {
      return false
    }
  })
}

describe('hansard alone', () => {
  it('syncs, serves, says where to look, and ends with Ctrl-C', async () => {
    const started = await start([])
    const authorization = await login(started)
    const { status, text } = await ask(started.port, { path: '/api/v1/sessions', headers: { authorization } })
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { total: 1, sessions: [{ prompt: 'fix the login' }] },
    ])
    expect(started.stderr()).toContain('1 session and 4 entries taken in')
    expect(await started.end('SIGINT')).toBe(0)
  })
})

describe('hansard serve', () => {
  it('answers what takes long in threads of its own, as anybody else would, and ends with them', async () => {
    const started = await start(['serve', '--port', '0', '--json'])
    const authorization = await login(started)
    const get = (path: string) => ask(started.port, { path: `/api/v1${path}`, headers: { authorization } })
    await expect.poll(async () => (await get('/sessions')).text).toContain('fix the login')
    const threads = (): number => fs.readdirSync(`/proc/${started.child.pid}/task`).length
    const before = process.platform === 'linux' ? threads() : 0
    const [found, cost, stats, wrong] = await Promise.all([
      get('/search?q=login'),
      get('/cost?by=model'),
      get('/stats'),
      get(`/search?q=${encodeURIComponent('(')}&regex=true`),
    ])
    expect([found.status, cost.status, stats.status, wrong.status]).toEqual([200, 200, 200, 400])
    expect((JSON.parse(found.text) as { hits: unknown[] }).hits.length).toBeGreaterThan(0)
    expect((JSON.parse(cost.text) as { rows: { key: string }[] }).rows.map(({ key }) => key)).toEqual([
      'claude-sonnet-4-5',
    ])
    expect((JSON.parse(wrong.text) as { error: { code: string } }).error.code).toBe('invalid-argument')
    if (process.platform === 'linux') expect(threads()).toBeGreaterThan(before)
    expect(await started.end('SIGTERM')).toBe(0)
    expect(started.stderr()).not.toMatch(/Error|trouble/)
  })

  it('takes in what there is while it serves, and ends when it is told to', async () => {
    const started = await start(['serve', '--port', '0', '--json'])
    const authorization = await login(started)
    const total = async (): Promise<number> =>
      (
        JSON.parse(
          (await ask(started.port, { path: '/api/v1/sessions', headers: { authorization } })).text,
        ) as {
          total: number
        }
      ).total
    await expect.poll(total).toBe(1)
    expect(await started.end('SIGTERM')).toBe(0)
  })

  it('takes in a long log in a process of its own, which ends with it', async () => {
    const started = await start(['serve', '--port', '0', '--json'])
    const authorization = await login(started)
    const get = (path: string) => ask(started.port, { path: `/api/v1${path}`, headers: { authorization } })
    await expect.poll(async () => (await get('/sessions')).text).toContain('fix the login')
    const logs = join(started.home, '..', '.claude', 'projects', '-work-shop')
    fs.writeFileSync(join(logs, `${SECOND}.jsonl`), log(SECOND, 'a long one', 20_000))
    let seen = new Set<number>()
    await expect
      .poll(
        async () => {
          seen = new Set([...seen, ...behindOf(started.child.pid ?? 0)])
          return (await get('/sessions')).text
        },
        { interval: 20 },
      )
      .toContain('a long one')
    expect(await started.end('SIGTERM')).toBe(0)
    if (process.platform !== 'linux') return
    expect(seen.size).toBe(1)
    const isGone = (): boolean => [...seen].every((pid) => !fs.existsSync(`/proc/${pid}`))
    await expect.poll(isGone).toBe(true)
  })

  it('looks at no logs when it is not to', async () => {
    const started = await start(['serve', '--port', '0', '--no-sync'])
    const token = fs.readFileSync(join(started.home, 'server-token'), 'utf8').trim()
    await new Promise((resolve) => setTimeout(resolve, 700))
    const { text } = await ask(started.port, {
      path: '/api/v1/health',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(JSON.parse(text)).toMatchObject({ sessions: 0 })
    expect(await started.end('SIGINT')).toBe(0)
  })

  it('ends with listeners on the line', async () => {
    const started = await start(['serve', '--port', '0'])
    const authorization = await login(started)
    void ask(started.port, { path: '/api/v1/live', headers: { authorization } }).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await started.end('SIGINT')).toBe(0)
  })

  it('says what it means to be reached by others, and asks for more than the address', async () => {
    const env = { HANSARD_HOME: temporaryFolder() }
    const { code, stdout } = await run(['serve', '--host', '0.0.0.0', '--json'], { env })
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { error: { code: 'not-permitted', hint: expect.stringContaining('--expose') as string } },
    ])
  })

  it('says so when the port is taken', async () => {
    const started = await start(['serve', '--port', '0', '--no-sync'])
    const { code, stderr } = await run(['serve', '--port', String(started.port)], {
      env: { HANSARD_HOME: temporaryFolder() },
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('is in use')])
  })
})
