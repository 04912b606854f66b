/** `hansard run --format …`: what a program asks is in the formats' files as it goes, each conversation in its own. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'

let upstream: Server
let url: string
let folder: string

/** Answers what it was asked last, in other words. */
beforeAll(async () => {
  upstream = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] }
      const said = messages.at(-1)?.content ?? ''
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          id: `msg_${said}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [{ type: 'text', text: `heard ${said}` }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 10, output_tokens: 1 },
        }),
      )
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-run-formats-'))
})
afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Two conversations of two questions each, one after the other. */
const CLIENT = `
const ask = async (messages) => {
  const answer = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST',
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages }) })
  return (await answer.json()).content[0].text
}
for (const name of ['amber', 'birch']) {
  const messages = [{ role: 'user', content: name + '-one' }]
  messages.push({ role: 'assistant', content: await ask(messages) }, { role: 'user', content: name + '-two' })
  console.log(await ask(messages))
}`

const env = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  HANSARD_HOME: join(folder, 'home'),
  ANTHROPIC_BASE_URL: url,
})
const hansard = (...args: readonly string[]) =>
  spawnSync(process.execPath, [BIN, ...args], { cwd: folder, env: env(), encoding: 'utf8' })

function foldersIn(path: string): readonly string[] {
  return fs
    .readdirSync(join(folder, path), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => join(folder, path, name))
}

describe('a program that is run with formats', () => {
  it('has each of its conversations in files of its own, in each of them, and in the list once', async () => {
    const flags = ['--format', 'entire', '--format', 'devflow', '--']
    const child = spawn(
      process.execPath,
      [BIN, 'run', ...flags, process.execPath, '--input-type=module', '-e', CLIENT],
      { cwd: folder, env: env(), stdio: 'pipe' },
    )
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += String(chunk)))
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    expect(await new Promise((done) => child.on('close', done))).toBe(0)
    expect(stdout).toBe('heard amber-two\nheard birch-two\n')
    expect(stderr).toMatch(/^hansard: 2 sessions, /)
    for (const path of ['.entire/metadata', '.devflow/runs']) {
      const texts = foldersIn(path).map((one) => hansard('show', one, '--as', 'json').stdout)
      expect(texts, path).toHaveLength(2)
      for (const name of ['amber', 'birch']) {
        const [own = '', ...others] = texts.filter((text) => text.includes(`${name}-one`))
        expect(others).toEqual([])
        expect(own).toContain(`heard ${name}-one`)
        expect(own).toContain(`heard ${name}-two`)
      }
    }
    hansard('sync')
    const { sessions } = JSON.parse(hansard('list', '--json').stdout) as { sessions: object[] }
    expect(sessions).toMatchObject([
      { calls: 2, usage: { input: 20, output: 2 } },
      { calls: 2, usage: { input: 20, output: 2 } },
    ])
  })
})
