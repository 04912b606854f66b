/**
 * `npm run bench -- replay`: how fast a recording of 1,000 calls answers, and is there, turn about with `@copilotkit/aimock` that serves
 * the same answers. Two recordings: agents side by side, each with tools and a history that grows, and one conversation that never
 * ends. Each server is a process of its own, and the client waits for the last byte.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCallLog } from '../src/capture/calls/call-log.ts'
import type { Json } from '../src/transcript/json.ts'
import { startAimock, type Fixture } from './aimock.ts'
import type { Bench } from './bench.ts'
import { atLeast, atMost, median, type Result } from './measure.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')

type Call = Fixture & { readonly body: string; readonly session: string }

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-replay-bench-'))
  const children: ChildProcess[] = []
  const count = quick ? 200 : 1000
  const shapes = [
    { name: `${count} calls of 20 agents`, run: 'run-agents', calls: callsOf(count, count / 20) },
    { name: `${count} calls of one conversation`, run: 'run-one', calls: callsOf(count, count) },
  ]
  try {
    const home = join(folder, 'home')
    for (const { run, calls } of shapes) await record(home, run, calls)
    const results: Result[] = []
    const peer = await startAimock(
      join(folder, 'aimock'),
      shapes.flatMap(({ calls }) => calls),
    )
    if (peer === undefined) console.error('no registry: @copilotkit/aimock is not measured')
    else children.push(peer.child)
    for (const { name, run, calls } of shapes) {
      const session = sessionOf(home, run)
      const starts: number[] = []
      let url = ''
      for (let round = 0; round < 5; round += 1) {
        const started = await start(children, home, session)
        starts.push(started.ms)
        url = started.url
        if (round < 4) children.pop()?.kill('SIGKILL')
      }
      const [ours, theirs]: [number[], number[]] = [[], []]
      for (const call of calls) {
        ours.push(await ask(`${url}/anthropic`, call))
        if (peer !== undefined) theirs.push(await ask(peer.url, call))
      }
      const detail = `ms; p99 ${quantile(ours, 0.99).toFixed(2)}`
      results.push(atMost(`${name}: answered at p50`, median(ours), 2, detail))
      results.push(
        atMost(`${name}: there after`, Math.min(...starts), 300, `ms; median ${median(starts).toFixed(0)}`),
      )
      if (peer !== undefined)
        results.push(
          atLeast(
            `${name}: what @copilotkit/aimock takes by what we take`,
            median(theirs) / median(ours),
            1,
            `at p50; ${peer.version} takes ${median(theirs).toFixed(2)} ms`,
          ),
        )
      children.pop()?.kill('SIGKILL')
      if (peer !== undefined) children.push(peer.child)
    }
    return results
  } finally {
    for (const child of children) child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Of conversations of `length` calls each: every one has tools, a question and an answer more than the one before. */
function callsOf(count: number, length: number): readonly Call[] {
  const tools = Array.from({ length: 12 }, (_, n) => ({
    name: `tool_${n}`,
    description: 'what it does, and when it should be called. '.repeat(30),
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  }))
  let history: Json[] = []
  return Array.from({ length: count }, (_, n) => {
    if (n % length === 0) history = []
    const asked = `question number ${n} of ${count / length} agents`
    const said = `answer number ${n}: ${'some words that follow, '.repeat(12)}`
    history.push({ role: 'user', content: asked })
    const body = JSON.stringify({
      model: 'm',
      max_tokens: 99,
      stream: true,
      system: 'You are an agent.',
      tools,
      messages: history,
    })
    history.push({ role: 'assistant', content: said })
    return { asked, said, body, session: `0000-${length}` }
  })
}

/** As the proxy would, without one: the recorder has each call before the next is made. */
async function record(home: string, runId: string, calls: readonly Call[]): Promise<void> {
  const log = createCallLog({ home, runId })
  for (const [n, { body, said, session }] of calls.entries()) {
    const call = log.begin({
      api: 'anthropic-messages',
      body: JSON.parse(body) as Json,
      headers: headersOf(session),
      path: '/anthropic/v1/messages',
    })
    call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
    for (const event of eventsOf(n, said)) call.chunk(Buffer.from(event))
    call.ended()
    await new Promise((done) => setImmediate(done))
  }
  await log.end()
}

/** Names the session, as Claude Code does. */
function headersOf(session: string): { readonly [name: string]: string } {
  return { 'user-agent': 'claude-cli/2.1.0 (external, cli)', 'x-claude-code-session-id': session }
}

function eventsOf(n: number, said: string): readonly string[] {
  const line = (name: string, data: Json): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  const message = {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1 },
  }
  const pieces = said.match(/.{1,20}/gs) ?? []
  return [
    line('message_start', { type: 'message_start', message }),
    line('content_block_start', {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }),
    ...pieces.map((text) =>
      line('content_block_delta', {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      }),
    ),
    line('content_block_stop', { type: 'content_block_stop', index: 0 }),
    line('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 9 },
    }),
    line('message_stop', { type: 'message_stop' }),
  ]
}

/** One of the run: the others are served with it. */
function sessionOf(home: string, run: string): string {
  const sessions = join(home, 'sessions')
  const found = fs.readdirSync(sessions).find((id) =>
    fs.readdirSync(join(sessions, id)).some((name) => {
      return (
        name.startsWith('journal') &&
        fs
          .readFileSync(join(sessions, id, name), 'utf8')
          .slice(0, 4000)
          .includes(`"${run}"`)
      )
    }),
  )
  if (found === undefined) throw new Error(`${run} was not recorded`)
  return found
}

function start(
  children: ChildProcess[],
  home: string,
  session: string,
): Promise<{ readonly ms: number; readonly url: string }> {
  const began = performance.now()
  const child = spawn(process.execPath, [BIN, 'replay', session, '--serve', '--home', home], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`hansard replay ended with ${code}`)))
    child.stdout.once('data', (said: Buffer) =>
      resolve({ ms: performance.now() - began, url: said.toString().trim() }),
    )
  })
}

const agent = new http.Agent({ keepAlive: true })

/** How long until the last byte of the answer that is expected. */
function ask(url: string, { body, said, session }: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headersOf(session),
    }
    const request = http.request(`${url}/v1/messages`, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const ms = performance.now() - began
        const text = Buffer.concat(chunks).toString()
        const heard = [...text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece).join('')
        if (heard === said) resolve(ms)
        else reject(new Error(`${url} answers ${response.statusCode}: ${text.slice(0, 500)}`))
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN
}
