/** A server of a small archive for tests: two agents' sessions, one of which says a secret, on a real port. */
import fs from 'node:fs'
import http, { type IncomingHttpHeaders } from 'node:http'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { startServer, type RunningServer, type StartOptions } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'

/** Of no account, but of the shape of one. */
export const SECRET = `sk-ant-api03-${'Zq7Xv2Lm9Rt4Kp1W'.repeat(5)}-AAAA`

export type Served = {
  readonly server: RunningServer
  readonly archive: Archive
  readonly logs: string
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  json<T>(path: string): Promise<T>
  close(): Promise<void>
}

export type Reply = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export async function serveSample(options: StartOptions = {}): Promise<Served> {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-served-'))
  const logs = join(root, 'claude', 'projects', '-work-shop')
  fs.mkdirSync(logs, { recursive: true })
  fs.writeFileSync(join(logs, `${FIRST}.jsonl`), log(FIRST, 'fix the login', 3))
  fs.writeFileSync(join(logs, `${SECOND}.jsonl`), log(SECOND, `the key is ${SECRET}`, 2))
  const archive = openArchive(join(root, 'home'), { write: true })
  await sync(archive, { paths: [join(root, 'claude')] })
  // Nothing of the machine that the tests run on is looked at.
  const here = { userHome: root, env: {}, cwd: root }
  const server = await startServer(archive, { port: 0, follow: false, sync: here, ...options })
  const get: Served['get'] = (path, headers) =>
    ask(server.port, { path, headers: { authorization: `Bearer ${server.token}`, ...headers } })
  return {
    server,
    archive,
    logs,
    get,
    async json<T>(path: string): Promise<T> {
      const { status, text } = await get(path)
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
      // What the test expects of it is what it then looks at.
      return JSON.parse(text) as T
    },
    async close() {
      await server.close()
      fs.rmSync(root, { recursive: true, force: true })
    },
  }
}

export const FIRST = '11111111-1111-4111-8111-111111111111'
export const SECOND = '22222222-2222-4222-8222-222222222222'

/** A Claude Code log of so many turns. */
export function log(session: string, prompt: string, turns: number): string {
  const lines: object[] = []
  const shared = {
    sessionId: session,
    cwd: '/work/Shop',
    gitBranch: 'main',
    version: '2.1.74',
    isSidechain: false,
  }
  for (let turn = 0; turn < turns; turn += 1) {
    const at = (second: number): string =>
      `2026-11-0${turn + 1}T10:00:${String(second).padStart(2, '0')}.000Z`
    const id = `${session.slice(0, 8)}-${turn}`
    lines.push({
      ...shared,
      type: 'user',
      uuid: `${id}-u`,
      parentUuid: turn === 0 ? null : `${session.slice(0, 8)}-${turn - 1}-a`,
      timestamp: at(0),
      message: { role: 'user', content: turn === 0 ? prompt : `more of it, part ${turn}` },
    })
    lines.push({
      ...shared,
      type: 'assistant',
      uuid: `${id}-a`,
      parentUuid: `${id}-u`,
      timestamp: at(5),
      requestId: `req-${id}`,
      message: {
        id: `msg-${id}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: `done with ${prompt}` }],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 100,
          cache_read_input_tokens: 300,
          cache_creation_input_tokens: 0,
          output_tokens: 50,
        },
      },
    })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

export type AskOptions = {
  readonly path: string
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: string
}

/** The path goes over the wire as it is: no client tidies it up. */
export function ask(port: number, { path, method = 'GET', headers = {}, body }: AskOptions): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
