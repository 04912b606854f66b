/** `hansard run`: a program under the recorder, from the outside. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'

let upstream: Server
let url: string
let folder: string
/** The next answer waits until somebody says so. */
let hold: Promise<void> | undefined
let onAsked: () => void = () => {}

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'hello back' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1000, output_tokens: 10 },
}

beforeAll(async () => {
  upstream = http.createServer((request, response) => {
    request.resume().on('end', () => {
      onAsked()
      const answer = (): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER))
      if (hold === undefined) answer()
      else void hold.then(answer)
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
})
afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-run-'))
  hold = undefined
  onAsked = () => {}
})

const ASK = `const r = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST',
  body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }) });
process.stdout.write(JSON.stringify(await r.json()))`

const env = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  HANSARD_HOME: join(folder, 'home'),
  ANTHROPIC_BASE_URL: url,
})
const start = (script: string, ...flags: readonly string[]) =>
  spawn(
    process.execPath,
    [BIN, 'run', ...flags, '--', process.execPath, '--input-type=module', '-e', script],
    { cwd: folder, env: env(), stdio: 'pipe' },
  )

/** Not `spawnSync`: the upstream is in this process. */
async function run(script: string, ...flags: readonly string[]) {
  const child = start(script, ...flags)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  child.stdin.end('from outside')
  const status = await new Promise<number | null>((done) => child.on('close', done))
  return { stdout, stderr, status }
}

function list(): { readonly sessions: readonly Record<string, unknown>[] } {
  const hansard = (...args: readonly string[]) =>
    spawnSync(process.execPath, [BIN, ...args], { cwd: folder, env: env(), encoding: 'utf8' })
  hansard('sync', '--no-index')
  return JSON.parse(hansard('list', '--json').stdout)
}

describe('a program that is run', () => {
  it('gets its answers, and what it asked is recorded with its cost', async () => {
    const { stdout, stderr, status } = await run(ASK)
    expect(JSON.parse(stdout)).toEqual(ANSWER)
    expect(status).toBe(0)
    expect(stderr).toMatch(/^hansard: 1 session, \d+ entries, 1,010 tokens, \$0\.003150, hansard show \S+\n$/)
    expect(list().sessions).toMatchObject([
      { prompt: 'hello', calls: 1, usage: { input: 1000, output: 10 }, status: 'completed' },
    ])
  })

  it('has its own input, output and exit code', async () => {
    const { stdout, status } = await run(
      `let said = ''; for await (const c of process.stdin) said += c; console.log(said); process.exit(7)`,
    )
    expect([stdout, status]).toEqual(['from outside\n', 7])
  })

  it('gets the signals that are sent to us, and its end is ours', async () => {
    const child = start(
      `process.on('SIGTERM', () => { console.log('asked to end'); process.exit(3) }); console.log('ready'); setInterval(() => {}, 1000)`,
    )
    let stdout = ''
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      if (String(chunk).includes('ready')) child.kill('SIGTERM')
    })
    expect(await new Promise((done) => child.on('close', done))).toBe(3)
    expect(stdout).toContain('asked to end')
  })

  it('ends as a shell says it, when a signal ends it', async () => {
    expect((await run(`process.kill(process.pid, 'SIGKILL')`)).status).toBe(137)
  })

  it('is written in any format as it goes', async () => {
    await run(ASK, '--format', 'entire')
    const written = fs.readdirSync(join(folder, '.entire'), { recursive: true, encoding: 'utf8' })
    expect(written.some((name) => name.endsWith('full.jsonl'))).toBe(true)
  })

  it('leaves what it asked behind, when the recorder is killed in the middle of the answer', async () => {
    let release = (): void => {}
    hold = new Promise((done) => (release = done))
    const asked = new Promise<void>((done) => (onAsked = done))
    const child = start(ASK)
    const closed = new Promise((done) => child.on('exit', done))
    await asked
    // It is recorded by another thread, some milliseconds later.
    while (list().sessions[0]?.prompt === undefined) await new Promise((done) => setTimeout(done, 50))
    child.kill('SIGKILL')
    await closed
    release()
    expect(list().sessions).toMatchObject([{ prompt: 'hello', status: 'interrupted' }])
  })

  it('goes on where nothing can be recorded, and the last line does not say that it was', async () => {
    const file = join(folder, 'no-folder')
    fs.writeFileSync(file, '')
    const { stdout, stderr, status } = await run(ASK, '--home', file)
    expect([JSON.parse(stdout), status]).toEqual([ANSWER, 0])
    expect(stderr).toMatch(/could not be written/)
    expect(stderr).toMatch(/\nhansard: nothing is recorded, of 1 session\n$/)
  })

  it('that is not there is said so, with the way out', async () => {
    const { stderr, status } = spawnSync(process.execPath, [BIN, 'run', '--', 'no-such-program'], {
      cwd: folder,
      env: env(),
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toContain('no-such-program cannot be started')
  })
})
