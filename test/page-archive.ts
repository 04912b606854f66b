/** An archive for the page's tests: sessions of several projects, models and outcomes, some with tools that failed, on a real server. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { startServer, type RunningServer, type StartOptions } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import { webFolder } from './browser.ts'

export type ServedPage = {
  readonly server: RunningServer
  readonly archive: Archive
  /** Write a log here, and it is taken in. */
  readonly logs: string
  /** The same archive on the same port, after it was gone. */
  stop(): Promise<void>
  startAgain(): Promise<void>
  close(): Promise<void>
}

export async function servePage(
  logs: readonly SampleSession[],
  options: StartOptions = {},
): Promise<ServedPage> {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-page-'))
  const folder = join(root, '.claude', 'projects', '-work-shop')
  fs.mkdirSync(folder, { recursive: true })
  for (const session of logs) fs.writeFileSync(join(folder, `${session.id}.jsonl`), toLog(session))
  const archive = openArchive(join(root, 'home'), { write: true })
  // Nothing of the machine that the tests run on is looked at.
  const here = { userHome: root, env: {}, cwd: root }
  await sync(archive, here)
  const start = (port: number): Promise<RunningServer> =>
    startServer(archive, { port, follow: false, sync: here, webFolder, ...options })
  let server = await start(0)
  return {
    get server() {
      return server
    },
    archive,
    logs: folder,
    stop: () => server.close(),
    async startAgain() {
      server = await start(server.port)
    },
    async close() {
      await server.close()
      fs.rmSync(root, { recursive: true, force: true })
    },
  }
}

export type SampleSession = {
  readonly id: string
  readonly prompt: string
  readonly startedAt: number
  readonly turns?: number
  readonly model?: string
  readonly cwd?: string
  readonly branch?: string
  /** Tool calls that fail. */
  readonly failures?: number
  readonly answer?: string
}

export const sampleId = (number: number): string =>
  `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`

const PROMPTS = [
  'Fix the login timeout on slow networks',
  'Add pagination to the orders list',
  'Why does the nightly export run twice?',
  'Refactor the invoice renderer into small parts',
  'Write tests for the retry queue',
  'Upgrade the database driver and its migrations',
  'Make the search field remember its last query',
  'Investigate a memory leak in the image worker',
]
const MODELS = ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5']
const PROJECTS = ['/work/shop', '/work/billing-service', '/work/Website', '/home/me/notes']
const BRANCHES = ['main', 'fix/login', 'feature/export']

/** Newest first by number: 0 began at `now`. */
export function sampleSessions(count: number, now = Date.UTC(2026, 10, 15, 9)): readonly SampleSession[] {
  return Array.from({ length: count }, (_, number) => ({
    id: sampleId(number),
    prompt: `${PROMPTS[number % PROMPTS.length]}${number < PROMPTS.length ? '' : ` (${number})`}`,
    startedAt: now - number * 47 * 60_000,
    turns: 1 + ((number * 7) % 5),
    model: MODELS[(number * 5) % 3] ?? '',
    cwd: PROJECTS[(number * 3) % 4] ?? '',
    branch: BRANCHES[number % 3] ?? '',
    failures: number % 6 === 2 ? 2 : 0,
  }))
}

/** As Claude Code writes it. */
export function toLog(session: SampleSession): string {
  const { id, prompt, startedAt, turns = 2, model = 'claude-sonnet-4-5', cwd = '/work/shop' } = session
  const { branch = 'main', failures = 0, answer = `I looked into it: ${prompt}` } = session
  const shared = { sessionId: id, cwd, gitBranch: branch, version: '2.1.74', isSidechain: false }
  const lines: object[] = []
  let parentUuid: string | null = null
  const push = (type: string, second: number, message: object): void => {
    const uuid = `${id.slice(0, 8)}-${lines.length}`
    const timestamp = new Date(startedAt + second * 1000).toISOString()
    lines.push({ ...shared, type, uuid, parentUuid, timestamp, message })
    parentUuid = uuid
  }
  const assistant = (turn: string, second: number, content: readonly object[]): void =>
    push('assistant', second, {
      id: `msg-${id.slice(0, 8)}-${turn}`,
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason: content.some((block) => 'name' in block) ? 'tool_use' : 'end_turn',
      usage: {
        input_tokens: 900 + second,
        cache_read_input_tokens: 30_000,
        cache_creation_input_tokens: 0,
        output_tokens: 400,
      },
    })
  for (let turn = 0; turn < turns; turn += 1) {
    const second = turn * turn * 90
    push('user', second, { role: 'user', content: turn === 0 ? prompt : `and now part ${turn}` })
    for (let call = 0; call < (turn === 0 ? failures : 0); call += 1) {
      const use = {
        type: 'tool_use',
        id: `call-${id.slice(0, 8)}-${call}`,
        name: 'Bash',
        input: { command: `make ${call}` },
      }
      assistant(`${turn}-${call}`, second + 5 + call, [use])
      push('user', second + 6 + call, {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: use.id, is_error: true, content: 'exit code 2' }],
      })
    }
    assistant(String(turn), second + 30, [
      { type: 'text', text: turn === 0 ? answer : `done with part ${turn}` },
    ])
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
