/**
 * One session of a million entries and a gigabyte behind the built server: how soon its first entries are there when nothing is known of
 * it, how long any others take, and what memory the server needs for it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { sync } from '../src/sources/sync.ts'
import type { Bench } from './bench.ts'
import { atMost, median, type Result } from './measure.ts'

const BIN = process.env['HANSARD_BIN'] ?? join(import.meta.dirname, '../bin/hansard.js')
const SESSION = '12121212-1111-4111-8111-111111111111'
const FIRST_MS = 1000
const RANGE_MS = 150
const GROWTH_MB = 100
const PATIENCE_MS = 10 * 60_000

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-outline-'))
  try {
    const entries = quick ? 100_000 : 1_000_000
    const logs = join(folder, 'claude', 'projects', '-p')
    fs.mkdirSync(logs, { recursive: true })
    const bytes = writeLog(join(logs, `${SESSION}.jsonl`), entries)
    const home = join(folder, 'home')
    await sync(openArchive(home, { write: true }), { paths: [join(folder, 'claude')] })
    return await measure(home, entries, bytes)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(home: string, entries: number, bytes: number): Promise<readonly Result[]> {
  const server = await start(home)
  try {
    const get = (path: string): Promise<unknown> => server.get(path)
    const { sessions } = (await get('/sessions')) as { sessions: readonly { id: string }[] }
    const path = `/sessions/${sessions[0]?.id}`
    // What every server needs, whatever it shows.
    await get('/health')
    const before = rssOf(server.child)
    const first = await timed(() => get(`${path}/entries?from=0&to=100`))
    let most = before
    const watch = setInterval(() => (most = Math.max(most, rssOf(server.child))), 50)
    const began = performance.now()
    while (((await get(path)) as { outline: { state: string } }).outline.state !== 'ready') {
      if (performance.now() - began > PATIENCE_MS) throw new Error('the outline was not made')
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    const made = performance.now() - began
    const building = most - before
    const times: number[] = []
    for (let n = 0; n < 40; n += 1) {
      const from = Math.floor(((n * 7919) % 1000) * 0.001 * (entries - 100))
      times.push(await timed(() => get(`${path}/entries?from=${from}&to=${from + 100}`)))
    }
    const outline = await timed(() => get(`${path}/outline`))
    clearInterval(watch)
    const size = `${entries} entries, ${(bytes / 1e6).toFixed(0)} MB`
    return [
      atMost('first entries, nothing known of the session', first, FIRST_MS, `ms; ${size}`),
      atMost('any 100 entries', median(times), RANGE_MS, `ms, the median of 40; ${size}`),
      atMost('any 100 entries, the slowest', Math.max(...times), RANGE_MS * 2, `ms; ${size}`),
      atMost(
        'growth of the server',
        most - before,
        GROWTH_MB,
        `MB; ${building.toFixed(0)} while it outlines`,
      ),
      atMost('the whole outline as columns', outline, 2000, `ms; made in ${(made / 1000).toFixed(1)} s`),
    ]
  } finally {
    server.child.kill()
  }
}

type Server = { readonly child: ChildProcess; get(path: string): Promise<unknown> }

async function start(home: string): Promise<Server> {
  const child = spawn(
    process.execPath,
    [BIN, 'serve', '--no-sync', '--json', '--port', '0', '--home', home],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const said = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('}')) resolve(text)
    })
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const { origin, tokenFile } = JSON.parse(said) as { origin: string; tokenFile: string }
  const headers = { authorization: `Bearer ${fs.readFileSync(tokenFile, 'utf8').trim()}` }
  return {
    child,
    async get(path) {
      const response = await fetch(`${origin}/api/v1${path}`, { headers })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Megabytes that are in memory. */
function rssOf({ pid }: ChildProcess): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** A kilobyte an entry: what people ask, what is answered, tools and what they return. */
function writeLog(path: string, entries: number): number {
  const fd = fs.openSync(path, 'w')
  let bytes = 0
  let text = ''
  for (let n = 0; n < entries; n += 1) {
    text += `${JSON.stringify(lineOf(n))}\n`
    if (text.length < 1_000_000 && n < entries - 1) continue
    bytes += fs.writeSync(fd, text)
    text = ''
  }
  fs.closeSync(fd)
  return bytes
}

const WORDS = 'the parser reads a line and gives what it found to whoever asked for it; '

function lineOf(n: number): object {
  const shared = {
    parentUuid: n === 0 ? null : uuid(n - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/me/project',
    sessionId: SESSION,
    version: '2.1.42',
    gitBranch: 'main',
    uuid: uuid(n),
    timestamp: new Date(1_770_000_000_000 + n * 1000).toISOString(),
  }
  const assistant = (content: object): object => ({
    ...shared,
    type: 'assistant',
    requestId: `req_${n}`,
    message: {
      id: `msg_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [content],
      usage: { input_tokens: 3, cache_read_input_tokens: 40_000 + (n % 100_000), output_tokens: 120 },
    },
  })
  const user = (content: unknown): object => ({ ...shared, type: 'user', message: { role: 'user', content } })
  if (n % 10 === 0) return user(`prompt ${n}: ${WORDS.repeat(4)}`)
  if (n % 3 === 0) return assistant({ type: 'text', text: `answer ${n}: ${WORDS.repeat(6)}` })
  if (n % 3 === 1)
    return assistant({ type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: `ls ${n}` } })
  return user([
    {
      type: 'tool_result',
      tool_use_id: `toolu_${n - 1}`,
      content: `${n} ${WORDS.repeat(14)}`,
      is_error: n % 97 === 0,
    },
  ])
}

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
