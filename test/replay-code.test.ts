/** `hansard/replay` as programs import it, in node:test; tools that do not run; the stub of tools as an agent starts it. */
import { execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import { BIN } from './program.ts'
import { ask } from './replay-proofs.ts'

let folder: string
let home: string
let upstream: Server
let id: string

const TOOLS = [
  {
    name: 'mcp__files__read',
    description: 'reads',
    input_schema: { type: 'object', properties: { path: {} } },
  },
]
const USE = { type: 'tool_use', id: 'toolu_1', name: 'mcp__files__read', input: { path: '/tmp/a1/x.txt' } }
const FIRST = { model: 'm', max_tokens: 9, tools: TOOLS, messages: [{ role: 'user', content: 'read x' }] }
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: '{"lines":["one","two"]}' }
const SECOND = {
  ...FIRST,
  messages: [...FIRST.messages, { role: 'assistant', content: [USE] }, { role: 'user', content: [RESULT] }],
}

beforeAll(async () => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-replay-code-'))
  home = join(folder, 'home')
  fs.mkdirSync(join(folder, 'node_modules'))
  fs.symlinkSync(join(dirname(BIN), '../..'), join(folder, 'node_modules/hansard'))
  upstream = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const content = body.includes('tool_result') ? [{ type: 'text', text: 'two lines' }] : [USE]
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, usage: {} }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    })
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const proxy = await startProxy({ upstreams: toUpstreams([`anthropic=${url}`]), home })
  for (const body of [FIRST, SECOND]) await ask(proxy.url, { path: '/anthropic/v1/messages', body })
  id = (await proxy.close())[0]?.id ?? ''
  upstream.close()
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('hansard/replay', () => {
  it('is a provider in a test of node:test, with tools that do not run', async () => {
    fs.writeFileSync(
      join(folder, 'agent.test.mjs'),
      `import assert from 'node:assert'
import { test } from 'node:test'
import { replay } from 'hansard/replay'

test('the agent', async () => {
  const server = await replay(${JSON.stringify(id)}, { home: ${JSON.stringify(home)} })
  const ask = async (body) => (await fetch(server.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body: JSON.stringify(body) })).json()
  const { read } = await server.tools({ read: 1, 'mcp__files__read': { execute: () => { throw new Error('it ran') } } }).then((t) => ({ read: t['mcp__files__read'] }))
  const [use] = (await ask(${JSON.stringify(FIRST)})).content
  const result = await read.execute(use.input, { toolCallId: use.id })
  assert.deepEqual(result, { lines: ['one', 'two'] })
  await assert.rejects(() => read.execute({ path: 'y' }, {}), /tools do not run in a replay/)
  assert.equal((await ask(${JSON.stringify(SECOND)})).content[0].text, 'two lines')
  const verdict = await server.verify()
  assert.equal(verdict.isSame, true)
  assert.deepEqual([verdict.executed, verdict.stubbed], [[], ['mcp__files__read']])
  assert.deepEqual(server.report().counts, { exact: 2 })
  await server.close()
})
`,
    )
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--test', '--test-reporter=tap', 'agent.test.mjs'],
      { cwd: folder },
    )
    expect(stdout).toMatch(/# pass 1\n# fail 0/)
  })
})

describe('the stub of tools', () => {
  it('lists what the agent was told of, gives what was recorded, and runs nothing', async () => {
    const child = spawn(
      process.execPath,
      [BIN, 'replay', id, '--mcp', '--mcp-server', 'files', '--home', home],
      { stdio: 'pipe' },
    )
    let said = ''
    child.stdout.on('data', (chunk) => (said += String(chunk)))
    const messages = [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-03-26', capabilities: {} },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      // Where it was run differs, and that is no other call.
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'tools/call',
        params: { name: 'read', arguments: { path: '/tmp/b2/x.txt' } },
      },
      {
        jsonrpc: '2.0',
        id: 4,
        method: 'tools/call',
        params: { name: 'read', arguments: { path: '/tmp/b2/x.txt' } },
      },
      { jsonrpc: '2.0', id: 5, method: 'resources/list' },
    ]
    child.stdin.end(`${messages.map((one) => JSON.stringify(one)).join('\n')}\nnonsense\n`)
    expect(await new Promise((done) => child.on('close', done))).toBe(0)
    const answers = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-03-26', serverInfo: { name: 'hansard-replay' } } },
      { id: 2, result: { tools: [{ name: 'read', description: 'reads', inputSchema: { type: 'object' } }] } },
      { id: 3, result: { content: [{ type: 'text', text: RESULT.content }], isError: false } },
      { id: 4, result: { isError: true } },
      { id: 5, error: { code: -32_601 } },
      { id: null, error: { code: -32_700 } },
    ])
  })
})
