/**
 * The proxy's promises, tried: whatever fails inside of it, the client gets every byte, and the failure is seen; whenever it is killed,
 * what was asked is in the archive.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { readSession } from '../src/archive/read-session.ts'
import { PARTS, type Parts } from '../src/capture/calls/call-log.ts'
import { startProxy } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import { nodeFiles, type Files } from '../src/journal/files.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { asObject, type Json } from '../src/transcript/json.ts'
import type { Proof } from './byte-proofs.ts'
import { BIN } from './program.ts'

/** By name, what is made to fail: one of the recorder's parts, what one of them gives, or one of the disk's doings. */
const FAILURES: readonly string[] = (
  'clientOf parseRequest createAnswerReader createConversation record createAnswerReader.push createAnswerReader.end ' +
  'createConversation.ask createConversation.overlap createTapeDeck.begin record.answer record.message record.system ' +
  'record.event record.error record.aside record.subagent record.end openAppend write datasync datasyncLater makeFolder ' +
  'syncFolder rename truncate size list kind identity touch'
).split(' ')

/** `calls` through a proxy for each failure, alternating between streamed and whole, errors among them. */
export async function proveProxyFailures(calls: number): Promise<Proof> {
  const broken: string[] = []
  let seen = 0
  let tried = 0
  for (const failure of FAILURES) {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-chaos-'))
    const provider = await startProvider()
    const said: string[] = []
    let count = 0
    const fail = (): never => {
      count += 1
      throw Object.assign(new Error(`${failure} fails`), { code: 'EIO' })
    }
    const proxy = await startProxy({
      upstreams: toUpstreams([`anthropic=${provider.url}`]),
      home,
      ...(failure in nodeFiles
        ? { files: breakingFiles(failure as keyof Files, fail) }
        : { parts: breakingParts(failure, fail) }),
      onFailure: ({ message }) => said.push(message),
    })
    for (let call = 0; call < calls; call += 1) {
      tried += 1
      const through = await ask(proxy.url, call)
      if (through !== answerOf(call).body)
        broken.push(`${failure}: the client of call ${call} got something else`)
    }
    await proxy.close()
    if (said.length > 0) seen += 1
    // What cost nothing need not be said.
    else if (count > 0 && !(await isAllThere(home, calls)))
      broken.push(`${failure}: failed ${count} times, something is missing, and nobody said so`)
    await provider.close()
    fs.rmSync(home, { recursive: true, force: true })
  }
  return {
    name: 'calls while the recorder fails',
    tried,
    counts: { failures: FAILURES.length, 'seen in a report': seen },
    broken,
  }
}

/** Each question, and each answer that was one. */
async function isAllThere(home: string, calls: number): Promise<boolean> {
  const { entries } = await sessionsIn(home)
  const count = (role: string): number => entries.filter((entry) => entry.role === role).length
  const errors = Math.floor(calls / 10)
  return count('user') >= calls && count('assistant') >= calls - errors
}

function breakingFiles(name: keyof Files, fail: () => never): Files {
  // This one says later how it went.
  const later = (_: number, done: (error: Error | null) => void): void => {
    try {
      fail()
    } catch (error) {
      setImmediate(() => done(error as Error))
    }
  }
  return { ...nodeFiles, [name]: name === 'datasyncLater' ? later : fail }
}

/** `part`, or `part.method` of what it gives. */
function breakingParts(failure: string, fail: () => never): Parts {
  const [part = '', method] = failure.split('.')
  const real = PARTS[part as keyof Parts] as (...given: unknown[]) => unknown
  if (method === undefined) return { ...PARTS, [part]: fail }
  const broken = (made: unknown): unknown => ({ ...(made as object), [method]: fail })
  return {
    ...PARTS,
    [part]: (...given: unknown[]) => {
      const made = real(...given)
      return made instanceof Promise ? made.then(broken) : broken(made)
    },
  }
}

/**
 * Kills the recorder in the middle of streams: what was in a journal before is there, every call was as soon as it was asked, and those
 * that were open are there without an answer, in a session that says that it was cut off.
 */
export async function proveProxyKills(kills: number): Promise<Proof> {
  const broken: string[] = []
  let acknowledged = 0
  let interrupted = 0
  for (let kill = 0; kill < kills; kill += 1) {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-kill-'))
    const provider = await startProvider({ everyMs: 10 })
    const { child, url, exited } = await startProgram(home, provider.url)
    if ((await ask(url, 0)) !== answerOf(0).body) broken.push(`kill ${kill}: the client got something else`)
    const open = [1, 3, 5].map((call) => ask(url, call).catch(() => 'broken off'))
    const isThere = await isJournalled(
      home,
      (text) => text.includes('answer 0') && count(text, STARTED) === 4,
    )
    if (!isThere) broken.push(`kill ${kill}: what was asked is not in a journal`)
    await pause(kill % 40)
    const before = journalsIn(home)
    child.kill('SIGKILL')
    await exited
    if ((await Promise.all(open)).some((one) => one !== 'broken off'))
      broken.push(`kill ${kill}: it was over before it was killed`)
    const after = journalsIn(home)
    for (const [name, text] of before)
      if (!after.get(name)?.startsWith(text)) broken.push(`kill ${kill}: ${name} lost what it had`)
    const { statuses, entries } = await sessionsIn(home)
    acknowledged += entries.length
    if (statuses.some((status) => status !== 'interrupted'))
      broken.push(`kill ${kill}: sessions are ${statuses.join(', ')}`)
    const calls = entries.filter(({ metadata }) => metadata?.['record'] === 'call-started')
    const answered = new Set(
      entries.filter(({ role }) => role === 'assistant').map(({ metadata }) => metadata?.['call']),
    )
    const cutOff = calls.filter((call) => !answered.has(idOf(call)))
    interrupted += cutOff.length
    if (calls.length !== 4 || cutOff.length !== 3)
      broken.push(`kill ${kill}: of ${calls.length} calls ${cutOff.length} have no answer`)
    const questions = textsOf(entries, 'user')
    for (const asked of [0, 1, 3, 5])
      if (!questions.includes(`question ${asked}`))
        broken.push(`kill ${kill}: question ${asked} is not there`)
    await provider.close()
    fs.rmSync(home, { recursive: true, force: true })
  }
  return {
    name: 'recorders killed in a stream',
    tried: kills,
    counts: { 'entries kept': acknowledged, 'calls marked as cut off': interrupted },
    broken,
  }
}

const STARTED = '"record":"call-started"'

function idOf({ blocks: [block] }: Entry): Json | undefined {
  return block?.type === 'unknown' ? asObject(block.raw)?.['call'] : undefined
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}

function textsOf(entries: readonly Entry[], wanted: string): unknown[] {
  return entries.flatMap(({ role, blocks }) =>
    role === wanted ? blocks.map((block) => (block.type === 'text' ? block.text : '')) : [],
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms))
}

type Program = {
  readonly child: ChildProcess
  readonly url: string
  readonly exited: Promise<unknown>
}

/** The built program, as it is started by hand. */
async function startProgram(home: string, upstream: string): Promise<Program> {
  const args = [BIN, 'proxy', '--home', home, '--upstream', `anthropic=${upstream}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = new Promise((done) => child.on('exit', done))
  const url = await new Promise<string>((done, failed) => {
    child.stdout.once('data', (line) => done(String(line).trim()))
    child.on('exit', () => failed(new Error('the proxy did not start')))
  })
  return { child, url, exited }
}

/** Far above what it takes: a machine may be busy. */
const PATIENCE_MS = 10_000

async function isJournalled(home: string, isEnough: (text: string) => boolean): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS
  while (performance.now() < until) {
    if (isEnough([...journalsIn(home).values()].join('\n'))) return true
    await pause(2)
  }
  return false
}

function journalsIn(home: string): Map<string, string> {
  const journals = new Map<string, string>()
  const sessions = join(home, 'sessions')
  for (const session of fs.existsSync(sessions) ? fs.readdirSync(sessions) : [])
    for (const name of fs.readdirSync(join(sessions, session)))
      if (name.startsWith('journal-'))
        journals.set(join(session, name), fs.readFileSync(join(sessions, session, name), 'utf8'))
  return journals
}

async function sessionsIn(home: string): Promise<{ statuses: string[]; entries: Entry[] }> {
  const archive = openArchive(home)
  const entries: Entry[] = []
  const statuses: string[] = []
  for (const id of fs.readdirSync(join(home, 'sessions'))) {
    let status = 'unknown'
    for await (const items of readSession(archive, id))
      for (const item of items)
        if (item.type === 'entry') entries.push(item.entry)
        else if (item.type === 'session') status = item.session.status
    statuses.push(status)
  }
  return { statuses, entries }
}

type Provider = { readonly url: string; asked(count: number): Promise<void>; close(): Promise<void> }

async function startProvider({ everyMs = 0 } = {}): Promise<Provider> {
  let count = 0
  let waiting: { readonly count: number; readonly done: () => void } | undefined
  const server: Server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1
      if (waiting !== undefined && count >= waiting.count) waiting.done()
      const { status, headers, parts } = answerOf(Number(request.headers['x-call']))
      response.writeHead(status, headers)
      const more = (at: number): void => {
        if (at >= parts.length) return void response.end()
        response.write(parts[at])
        if (everyMs > 0) setTimeout(() => more(at + 1), everyMs)
        else more(at + 1)
      }
      more(0)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (wanted) =>
      new Promise((done) => {
        if (count >= wanted) done()
        else waiting = { count: wanted, done }
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly parts: readonly string[]
  readonly body: string
}

/** Streamed when odd, whole when even, an error now and then. */
function answerOf(call: number): Answer {
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = { id: `msg_${call}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', usage }
  const event = (value: { readonly type: string }): string =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
  const parts =
    call % 10 === 9
      ? [JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })]
      : call % 2 === 0
        ? [
            JSON.stringify({
              ...message,
              content: [{ type: 'text', text: `answer ${call}` }],
              stop_reason: 'end_turn',
            }),
          ]
        : [
            event({ type: 'message_start', message: { ...message, content: [] } } as { type: string }),
            event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
              type: string
            }),
            ...Array.from({ length: 60 }, (_, n) =>
              event({
                type: 'content_block_delta',
                index: 0,
                delta: { type: 'text_delta', text: `word ${n} ` },
              } as { type: string }),
            ),
            event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }),
            event({ type: 'message_stop' }),
          ]
  return {
    status: call % 10 === 9 ? 529 : 200,
    headers: { 'content-type': call % 2 === 1 && call % 10 !== 9 ? 'text/event-stream' : 'application/json' },
    parts,
    body: parts.join(''),
  }
}

const agent = new http.Agent({ keepAlive: false })

function ask(url: string, call: number): Promise<string> {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    system: 'Be brief.',
    messages: [{ role: 'user', content: `question ${call}` }],
  })
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${url}/v1/messages`,
      { method: 'POST', agent, headers: { 'x-call': call } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks).toString()))
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
