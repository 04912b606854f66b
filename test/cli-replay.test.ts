/** `hansard replay` from the outside: recorded with `run`, then without a provider. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'

let folder: string
let upstream: Server
let url: string
let model = 'm'
let id: string

/** An agent: asks, and asks again with what it was told. */
const AGENT = `
const ask = async (messages) => {
  const answer = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body: JSON.stringify({ model: 'm', max_tokens: 9, messages }) })
  const body = await answer.json()
  if (!answer.ok && messages[0].content === 'for ever') return ask(messages)
  if (!answer.ok) { console.log(body.error.message); process.exit(4) }
  return body.content[0].text
}
const question = { role: 'user', content: process.argv[1] ?? 'hello' }
const first = await ask([question])
const second = await ask([question, { role: 'assistant', content: first }, { role: 'user', content: 'and then?' }])
console.log(first + ' ' + second)
`

beforeAll(async () => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-cli-replay-'))
  let asked = 0
  upstream = http.createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1
      const message = {
        id: `msg_${asked}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: `answer ${asked}` }],
        usage: {},
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const { stdout, stderr } = await hansard(['run', '--json', '--'], url)
  expect(stdout).toBe('answer 1 answer 2\n')
  id = JSON.parse(stderr).sessions[0]
})
afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Without `url`, no provider is there. */
async function hansard(
  args: readonly string[],
  provider = 'http://127.0.0.1:9',
  ...asked: readonly string[]
) {
  const agent = args.at(-1) === '--' ? [process.execPath, '--input-type=module', '-e', AGENT, ...asked] : []
  const child = spawn(process.execPath, [BIN, ...args, ...agent], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      HANSARD_HOME: join(folder, 'home'),
      ANTHROPIC_BASE_URL: provider,
    },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const status = await new Promise<number | null>((done) => child.on('close', done))
  return { stdout, stderr, status }
}

describe('hansard replay', () => {
  it('answers a program without its provider, and says how', async () => {
    const { stdout, stderr, status } = await hansard(['replay', id, '--serve', '--'])
    expect([stdout, status]).toEqual(['answer 1 answer 2\n', 0])
    expect(stderr).toContain('2 calls answered: 2 exact')
  })

  it('ends with the program’s exit code where something is not in the recording, and explains it afterwards', async () => {
    const { stdout, status } = await hansard(['replay', id, '--match', 'exact', '--'], undefined, 'goodbye')
    expect(status).toBe(4)
    expect(stdout).toContain('messages[0].content was "hello" and is "goodbye"')
    const why = await hansard(['replay', 'why', id])
    expect(why.stdout).toContain('not found: no request is the same')
    expect(why.stdout).toContain('messages[0].content was "hello" and is "goodbye"')
    expect(JSON.parse((await hansard(['replay', 'why', '--json'])).stdout)).toMatchObject({
      session: id,
      counts: { miss: 1 },
    })
  })

  it('verifies: 0 as recorded, 1 where it parts, with the entry, in words, JSON and JUnit', async () => {
    const same = await hansard(['replay', id, '--verify', '--json', '--'])
    expect(same.status).toBe(0)
    expect(JSON.parse(same.stderr)).toMatchObject({ isSame: true, exitCode: 0, calls: { exact: 2 } })
    const junit = join(folder, 'replay.xml')
    const other = await hansard(['replay', id, '--verify', '--junit', junit, '--'], undefined, 'goodbye')
    expect(other.status).toBe(1)
    expect(other.stderr).toContain(`first: request drift (request), at ${id}#`)
    expect(fs.readFileSync(junit, 'utf8')).toContain('failures="2"')
    const [, cited = ''] = /at (\S+#\d+)/.exec(other.stderr) ?? []
    expect((await hansard(['show', cited, '--context', '0'])).stdout).toContain('hello')
  })

  it('verifies the provider, too, where that is asked for', async () => {
    model = 'm-2'
    const { stderr, status, stdout } = await hansard(['replay', id, '--verify', '--live', '--'], url)
    model = 'm'
    expect([stdout, status]).toEqual(['answer 1 answer 2\n', 1])
    expect(stderr).toMatch(
      /2 provider drift\n.*first: provider drift \(answer\).*\n.*model was "m" and is "m-2"/,
    )
  })

  it('forks: recorded up to an entry, then live, as a session that says so', async () => {
    const shown = JSON.parse((await hansard(['show', id, '--as', 'json'])).stdout)
    const asked = shown.entries.find(
      (one: { blocks: { text?: string }[] }) => one.blocks[0]?.text === 'and then?',
    )
    const { stdout, stderr } = await hansard(
      ['replay', id, '--from', String(asked.sequence), '--json', '--'],
      url,
    )
    expect(stdout).toMatch(/^answer 1 answer [^2]\d*\n$/)
    const { forkedFrom, sessions } = JSON.parse(
      stderr
        .trim()
        .split('\n')
        .find((line) => line.includes('forkedFrom')) ?? '{}',
    )
    expect(forkedFrom).toBe(`${id}#${asked.sequence}`)
    const fork = JSON.parse((await hansard(['show', sessions[0], '--as', 'json'])).stdout)
    expect(fork.session.parent).toEqual({ session: id, citation: forkedFrom, relation: 'fork' })
  })

  it('ends a program that never stops asking for what is not there', async () => {
    const { stderr, status } = await hansard(['replay', id, '--match', 'exact', '--'], undefined, 'for ever')
    expect(stderr).toContain('100 requests that the recording does not have: the program is ended')
    expect(status).toBe(143)
  })

  it('says what is wrong with what was typed', async () => {
    expect((await hansard(['replay', 'nope', '--serve'])).stderr).toContain(
      'there is no session and no run nope',
    )
    expect((await hansard(['replay', id, '--verify'])).stderr).toContain('no program to verify')
    expect((await hansard(['replay', id, '--from', 'x', '--'])).stderr).toContain(
      'x is no entry of a session',
    )
    expect((await hansard(['replay', id, '--from', '99', '--'])).stderr).toContain(
      'the recording has no entry',
    )
  })
})
