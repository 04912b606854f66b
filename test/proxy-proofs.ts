/**
 * The proxy's promises, tried: whatever fails inside of it, the client gets every byte, and the failure is seen; whatever passes reaches
 * the client as it was sent, and is recorded as what it means.
 */
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { startProxy, type ProxyOptions } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import type { Proof } from './byte-proofs.ts'
import { BIN } from './program.ts'
import { breaking, FAILURES, type BreakingData } from './proxy-failures.ts'
import { exchangeOf } from './proxy-exchanges.ts'
import { answerOf, ask, listen, sessionsIn, startProvider } from './proxy-provider.ts'

/** Of the build: a thread's script cannot be run from the sources. */
const RECORDER = pathToFileURL(join(dirname(BIN), 'recorder-worker.js'))
const BREAKING = pathToFileURL(join(dirname(BIN), '../test/proxy-breaking-recorder.js'))

/** What befalls the thread itself, or the way to it; the others happen inside of it. */
const OF_THE_THREAD: Readonly<Record<string, Partial<ProxyOptions>>> = {
  'no thread': { recorder: { script: new URL('nowhere.js', BREAKING) } },
  'no room': { recorder: { script: RECORDER }, budget: 2000 },
}

/**
 * `calls` through a proxy for each failure, alternating between streamed and whole, errors among them. `here`: what fails inside of the
 * recorder fails in this thread; starting one for each takes longer than all of their calls.
 */
export async function proveProxyFailures(calls: number, place: 'here' | 'apart' = 'apart'): Promise<Proof> {
  const broken: string[] = []
  const all = [...FAILURES, ...Object.keys(OF_THE_THREAD)]
  let seen = 0
  let tried = 0
  for (const failure of all) {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-chaos-'))
    const provider = await startProvider()
    const said: string[] = []
    const failed = new Int32Array(new SharedArrayBuffer(4))
    const data: BreakingData = { failure, failed }
    const isOfThread = failure.startsWith('thread.') || place === 'apart'
    const proxy = await startProxy({
      upstreams: toUpstreams([`anthropic=${provider.url}`]),
      home,
      onFailure: ({ message }) => said.push(message),
      ...(isOfThread
        ? // One that hangs is given up after this.
          { recorder: { script: BREAKING, data, silenceMs: 1000 } }
        : breaking(data)),
      ...OF_THE_THREAD[failure],
    })
    for (let call = 0; call < calls; call += 1) {
      tried += 1
      const through = await ask(proxy.url, call)
      if (through !== answerOf(call).body)
        broken.push(`${failure}: the client of call ${call} got something else`)
    }
    await proxy.close()
    const count = Atomics.load(failed, 0)
    if (said.length > 0) seen += 1
    // What cost nothing need not be said.
    else if (!(await isAllThere(home, calls)))
      broken.push(`${failure}: failed ${count} times, something is missing, and nobody said so`)
    if (new Set(said).size < said.length) broken.push(`${failure}: said twice: ${said.join('; ')}`)
    if (count === 0 && said.length === 0 && calls >= 10 && !RARE.has(failure))
      broken.push(`${failure}: never happened`)
    await provider.close()
    // A recorder that was given up may still write.
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  return {
    name: 'calls while the recorder fails',
    tried,
    counts: { failures: all.length, 'seen in a report': seen },
    broken,
  }
}

/** Done only where something else went wrong before. */
const RARE: ReadonlySet<string> = new Set([
  'truncate',
  'size',
  'list',
  'kind',
  'identity',
  'touch',
  'rename',
  'datasyncLater',
  'record.subagent',
])

/** Each question, and each answer that was one. */
async function isAllThere(home: string, calls: number): Promise<boolean> {
  if (!fs.existsSync(join(home, 'sessions'))) return false
  const { entries } = await sessionsIn(home)
  const count = (role: string): number => entries.filter((entry) => entry.role === role).length
  const errors = Math.floor(calls / 10)
  return count('user') >= calls && count('assistant') >= calls - errors
}

/** Conversations of which each has many of the exchanges: a session for each would mostly try the disk. */
const CONVERSATIONS = 16

/** Exchanges that reach the client byte for byte, head and body, and whose record says what was meant. */
export async function proveProxyBytes(exchanges: number): Promise<Proof> {
  const broken: string[] = []
  const home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-bytes-'))
  const provider = await listen((request, response) => {
    request.resume().on('end', () => {
      const { headers, chunks } = exchangeOf(Number(request.headers['x-serial']))
      response.sendDate = false
      response.writeHead(200, { ...headers, 'x-serial': String(request.headers['x-serial']) })
      const more = (at: number): void => {
        if (at >= chunks.length) return void response.end()
        response.write(chunks[at])
        // Often in one packet, often not.
        if (at % 3 === 0) setImmediate(() => more(at + 1))
        else more(at + 1)
      }
      more(0)
    })
  })
  const names = ['anthropic', 'openai', 'google', 'bedrock']
  const proxy = await startProxy({
    upstreams: toUpstreams(names.map((name) => `${name}=${provider.url}`)),
    home,
    recorder: { script: RECORDER },
    onFailure: ({ message }) => broken.push(message),
  })
  let bytes = 0
  for (let serial = 0; serial < exchanges; serial += 1) {
    const { path, question, headers, chunks } = exchangeOf(serial)
    const got = await post(`${proxy.url}${path}`, JSON.stringify(question), serial)
    const sent = Buffer.concat(chunks)
    bytes += sent.length
    if (!got.body.equals(sent)) broken.push(`${serial} ${path}: other bytes`)
    const head = { ...headers, 'x-serial': String(serial) }
    if (!isDeepStrictEqual(got.headers, head))
      broken.push(`${serial} ${path}: ${JSON.stringify(got.headers)}`)
  }
  await proxy.close()
  const { entries } = await sessionsIn(home)
  const answers = entries.filter(({ role }) => role === 'assistant')
  const recorded = new Map(answers.map((entry) => [markOf(entry.blocks), entry.blocks]))
  let same = 0
  for (let serial = 0; serial < exchanges; serial += 1) {
    const { path, blocks, mark } = exchangeOf(serial)
    if (isDeepStrictEqual(recorded.get(mark), blocks)) same += 1
    else
      broken.push(
        `${serial} ${path}: ${JSON.stringify(recorded.get(mark))} is recorded for ${JSON.stringify(blocks)}`,
      )
  }
  await provider.close()
  fs.rmSync(home, { recursive: true, force: true })
  return {
    name: 'exchanges through the proxy',
    tried: exchanges,
    counts: { 'bytes the same': bytes, 'messages as they were meant': same },
    broken,
  }
}

function markOf(blocks: readonly { readonly type: string; readonly text?: unknown }[]): string | undefined {
  const said = blocks.find(({ type, text }) => type === 'text' && typeof text === 'string')?.text
  return /^answer \d+\./.exec(String(said))?.[0]
}

type Got = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }

/** Of one connection, and not of the message. */
const OF_A_CONNECTION = /^(connection|keep-alive|transfer-encoding)$/i

function post(url: string, body: string, serial: number): Promise<Got> {
  const session = `00000000-0000-4000-8000-${String(serial % CONVERSATIONS).padStart(12, '0')}`
  const headers = {
    'x-serial': String(serial),
    'user-agent': 'claude-cli/2.1.0',
    'x-claude-code-session-id': session,
  }
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent: false, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { rawHeaders: raw } = response
        const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []))
        resolve({
          headers: Object.fromEntries(pairs.filter(([name]) => !OF_A_CONNECTION.test(name))),
          body: Buffer.concat(chunks),
        })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}
