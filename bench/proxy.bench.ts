/**
 * `npm run bench -- proxy`: what the recording proxy costs a call, turn about with a direct connection and with the least that anybody
 * could put in between, to the same provider in a process of its own.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { rssOf } from './built-server.ts'
import { atLeast, atMost, median, type Result } from './measure.ts'

const PARTS = join(import.meta.dirname, 'proxy-parts.js')
const BIN = join(import.meta.dirname, '../bin/hansard.js')

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-proxy-'))
  const children: ChildProcess[] = []
  try {
    const direct = await start(children, [PARTS, 'provider'])
    const tee = await start(children, [PARTS, 'tee', direct, join(folder, 'tee.log')])
    const ours = await start(children, [
      BIN,
      'proxy',
      '--home',
      join(folder, 'home'),
      '--upstream',
      `anthropic=${direct}`,
    ])
    const recorder = children[2] as ChildProcess
    const ways = { direct, tee, ours }
    const rounds = quick ? 200 : 2000
    const results: Result[] = []
    for (const [name, size] of [
      ['2 KB', 2000],
      ['200 KB', 200_000],
    ] as const) {
      const some = size > 10_000 ? Math.ceil(rounds / 4) : rounds
      results.push(...latencyRows(`JSON, ${name} asked`, await latencies(ways, some, size, 0), size))
      results.push(
        ...latencyRows(`first byte of a stream, ${name} asked`, await latencies(ways, some, size, 5), size),
      )
    }
    const chunks = await chunkDelays(ways, quick ? 300 : 3000)
    results.push(
      atMost(
        'each chunk of a stream, added at p99',
        quantile(chunks['ours'] ?? [], 0.99) - quantile(chunks['direct'] ?? [], 0.99),
        0.3,
        `ms; direct p99 ${quantile(chunks['direct'] ?? [], 0.99).toFixed(2)}, tee ${quantile(chunks['tee'] ?? [], 0.99).toFixed(2)}`,
      ),
    )
    const rates: Record<string, number> = {}
    for (const [name, url] of Object.entries(ways)) rates[name] = await rate(url, quick ? 500 : 5000)
    results.push(
      atLeast(
        'requests a second, 50 at once',
        rates['ours'] ?? 0,
        1500,
        `direct ${rates['direct']?.toFixed(0)}, tee ${rates['tee']?.toFixed(0)}`,
      ),
    )
    results.push(...(await manyStreams(ours, recorder, quick)))
    results.push(await nothingLost(folder, recorder))
    return results
  } finally {
    for (const child of children) child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function start(children: ChildProcess[], args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)))
    child.stdout?.once('data', (said: Buffer) => {
      const line = said.toString().trim()
      resolve(line.startsWith('http') ? line : `http://127.0.0.1:${line}`)
    })
  })
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 })
let serial = 0

type Asked = { readonly firstMs: number; readonly ms: number; readonly bytes: number }

/** As an agent asks: `agentAt` tells the conversations apart; each question is new. */
function ask(
  base: string,
  size: number,
  { agentAt = 0, ...headers }: http.OutgoingHttpHeaders & { readonly agentAt?: number },
  onChunk?: (chunk: Buffer) => void,
): Promise<Asked> {
  serial += 1
  const content = `${serial} ${'x'.repeat(size)}`
  const tools = [{ name: 'Bash', input_schema: { type: 'object' } }]
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages: [{ role: 'user', content }] })
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let firstMs: number | undefined
    let bytes = 0
    const request = http.request(
      `${base}/v1/messages`,
      {
        method: 'POST',
        agent,
        headers: {
          ...headers,
          'user-agent': 'claude-cli/2.1.0',
          'x-claude-code-session-id': `00000000-0000-4000-8000-${String(agentAt).padStart(12, '0')}`,
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          firstMs ??= performance.now() - began
          bytes += chunk.length
          onChunk?.(chunk)
        })
        response.on('end', () =>
          resolve({ firstMs: firstMs ?? Number.NaN, ms: performance.now() - began, bytes }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

type Times = Readonly<Record<string, readonly number[]>>

async function latencies(
  ways: Readonly<Record<string, string>>,
  rounds: number,
  size: number,
  chunks: number,
): Promise<Times> {
  const times: Record<string, number[]> = {}
  for (let round = -50; round < rounds; round += 1) {
    for (const [name, url] of Object.entries(ways)) {
      const { firstMs, ms } = await ask(url, size, chunks > 0 ? { 'x-stream': chunks } : {})
      if (round >= 0) (times[name] ??= []).push(chunks > 0 ? firstMs : ms)
    }
  }
  return times
}

function latencyRows(name: string, times: Times, size: number): Result[] {
  const at = (way: string, part: number): number => quantile(times[way] ?? [], part)
  const added = (way: string, part: number): number => at(way, part) - at('direct', part)
  const detail = `ms; direct ${at('direct', 0.5).toFixed(2)}, a bare tee adds ${added('tee', 0.5).toFixed(2)}`
  // A millisecond, or a third more than the least that can be done.
  const most = Math.max(1, added('tee', 0.5) * 1.3)
  const rows = [atMost(`${name}, added at p50`, added('ours', 0.5), Number(most.toFixed(2)), detail)]
  if (size < 10_000)
    rows.push(
      atMost(
        `${name}, added at p99`,
        added('ours', 0.99),
        5,
        `ms; direct ${at('direct', 0.99).toFixed(2)}, a bare tee adds ${added('tee', 0.99).toFixed(2)}`,
      ),
    )
  return rows
}

/** How long each chunk is on its way, in milliseconds: it says when it was sent. */
async function chunkDelays(ways: Readonly<Record<string, string>>, count: number): Promise<Times> {
  const delays: Record<string, number[]> = {}
  for (const [name, url] of Object.entries(ways)) {
    const own: number[] = (delays[name] = [])
    await ask(url, 2000, { 'x-stream': count, 'x-every': 1 }, (chunk) => {
      const now = process.hrtime.bigint()
      for (const [, sent] of chunk.toString().matchAll(/"text":"(\d{10,}) "/g))
        own.push(Number(now - BigInt(sent as string)) / 1e6)
    })
  }
  return delays
}

async function rate(url: string, count: number): Promise<number> {
  let left = count
  const began = performance.now()
  const work = async (agentAt: number): Promise<void> => {
    while (left > 0) {
      left -= 1
      await ask(url, 2000, { agentAt })
    }
  }
  await Promise.all(Array.from({ length: 50 }, (_, n) => work(n + 1)))
  return (count / (performance.now() - began)) * 1000
}

const STREAMS = 200

async function manyStreams(url: string, recorder: ChildProcess, quick: boolean): Promise<Result[]> {
  const chunks = quick ? 500 : 10_000
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, rssOf(recorder))
  }, 50)
  const all = await Promise.all(
    Array.from({ length: STREAMS }, (_, n) => ask(url, 2000, { agentAt: n + 1, 'x-stream': chunks })),
  )
  clearInterval(watch)
  const bytes = all.reduce((sum, one) => sum + one.bytes, 0)
  return [
    atMost(
      `${STREAMS} streams of ${chunks.toLocaleString('en')} chunks at once`,
      most,
      200,
      `MB; ${(bytes / 1e6).toFixed(0)} MB passed`,
    ),
  ]
}

/** All that was asked is in the archive, each call with its answer. */
async function nothingLost(folder: string, recorder: ChildProcess): Promise<Result> {
  const ended = new Promise((resolve) => recorder.on('exit', resolve))
  recorder.kill('SIGTERM')
  await ended
  const env = { ...process.env, HANSARD_HOME: join(folder, 'home'), HOME: folder }
  spawnSync(process.execPath, [BIN, 'sync', '--no-index'], { cwd: folder, env })
  const { stdout } = spawnSync(process.execPath, [BIN, 'cost', '--json'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  const calls = (JSON.parse(stdout) as { readonly total: { readonly calls: number } }).total.calls
  const asked = readCount(folder)
  return atLeast('calls recorded of those made', calls / asked, 1, `${calls} of ${asked}`)
}

/** Calls that went to us, by what the journals say was begun. */
function readCount(folder: string): number {
  let count = 0
  const sessions = join(folder, 'home/sessions')
  for (const session of fs.readdirSync(sessions))
    for (const name of fs.readdirSync(join(sessions, session)))
      if (name.startsWith('journal-'))
        count +=
          fs.readFileSync(join(sessions, session, name), 'utf8').split('"record":"call-started"').length - 1
  return count
}

function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return part === 0.5 ? median(sorted) : (sorted[Math.floor(sorted.length * part)] ?? Number.NaN)
}
