/** The sample archive: the same each time, understood by every reader, with something for every view; `hansard demo` and `npm start`. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Archive } from '../src/archive/archive.ts'
import { makeSample, sampleFiles } from '../src/cli/demo/make.ts'
import { playLive } from '../src/cli/demo/live-story.ts'
import { KIND_FLAGS, type KindFlag } from '../src/transcript/kinds.ts'
import { startServer, type RunningServer } from '../src/server/start.ts'
import type { OutlineAnswer, SessionAnswer, SessionsAnswer } from '../src/server/api.ts'
import type { CostAnswer, InsightAnswer, StatsAnswer } from '../src/server/api-cost.ts'
import type { CompareAnswer, RunsAnswer } from '../src/server/api-runs.ts'
import { BIN, run, temporaryFolder } from './program.ts'
import { ask, FIRST, log } from './serving.ts'

const NOW = Date.UTC(2026, 10, 15, 9)

describe('the sample', () => {
  const folder = temporaryFolder()
  let sample: Archive
  let server: RunningServer
  beforeAll(async () => {
    sample = await makeSample(folder, NOW)
    server = await startServer(sample, { port: 0, follow: false, utc: true })
  })
  afterAll(() => server.close())

  async function json<T>(path: string): Promise<T> {
    const headers = { authorization: `Bearer ${server.token}` }
    const { status, text } = await ask(server.port, { path: `/api/v1/${path}`, headers })
    expect([path, status]).toEqual([path, 200])
    // What the test expects of it is what it then looks at.
    return JSON.parse(text) as T
  }

  it('is the same, to the byte, whenever it is made for the same time', () => {
    const files = sampleFiles(NOW)
    expect([...files]).toEqual([...sampleFiles(NOW)])
    const bytes = [...files.values()].reduce((sum, text) => sum + text.length, 0)
    expect(bytes).toBeLessThan(3_000_000)
  })

  it('has something for every view', async () => {
    const { sessions, facets, total } = await json<SessionsAnswer>('sessions?limit=200')
    expect(total).toBeGreaterThan(60)
    expect(facets.agent.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['claude-code', 'codex', 'gemini-cli']),
    )
    expect(facets.status.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['completed', 'failed', 'interrupted']),
    )
    expect(facets.project.length).toBeGreaterThan(3)
    expect(sessions.filter(({ stub }) => stub)).not.toEqual([])
    expect(sessions.filter(({ parent }) => parent?.relation === 'subagent')).not.toEqual([])
    expect(sessions.flatMap(({ cost }) => cost?.unpriced ?? [])).toContain('driftwood-1-preview')

    const voucher = sessions.find(({ prompt = '' }) => prompt.includes('wrong total'))
    expect(voucher).toMatchObject({ status: 'completed', branch: 'fix/voucher-total' })
    const flags = await flagsOf(json, voucher?.id ?? '')
    for (const flag of ['prompt', 'error', 'edit', 'tool', 'thinking', 'compaction', 'damage'] as const)
      expect([flag, flags.has(flag)]).toEqual([flag, true])
    const about = await json<SessionAnswer>(`sessions/${voucher?.id}`)
    expect([about.sources.length, about.damage]).toEqual([2, 1])
    const insight = await json<InsightAnswer>(`sessions/${voucher?.id}/insight`)
    expect(insight.context.length).toBeGreaterThan(15)
    expect(insight.compactions.length).toBeGreaterThan(0)
    // What tools gave back fills it, until it is compacted.
    const outputs = insight.parts.indexOf('tool outputs')
    const filled = insight.context
      .filter(({ source }) => source === 'primary')
      .map(({ characters = [] }) => characters[outputs] ?? 0)
    expect(Math.max(...filled)).toBeGreaterThan(50_000)
    expect(filled.at(-1)).toBeLessThan(10_000)
    expect(insight.fills.length).toBeGreaterThan(2)

    const { waste } = await json<StatsAnswer>('stats')
    for (const { sessions: count } of Object.values(waste)) expect(count).toBeGreaterThan(0)
    const cost = await json<CostAnswer>('cost?by=day')
    expect(cost.rows.length).toBeGreaterThan(20)
    for (const by of ['run', 'flow', 'step'])
      expect((await json<CostAnswer>(`cost?by=${by}`)).rows.length).toBeGreaterThan(1)
    const { runs } = await json<RunsAnswer>('runs')
    expect(runs).toHaveLength(4)
    expect(runs.filter(({ stub }) => stub)).toHaveLength(1)
    const [first, second] = runs.filter(({ id, stub }) => !stub && /(?:k3q9x1|m7w2p4)$/.test(id))
    const { steps } = await json<CompareAnswer>(`runs/${first?.id}/compare/${second?.id}`)
    expect(steps.length).toBeGreaterThan(5)
  })

  it('is read without a record that is not understood, and without drift', async () => {
    const { stdout } = await run(['doctor', '--json', '--home', sample.home], { env: { HOME: folder } })
    const report = JSON.parse(stdout) as { drift?: unknown[] }
    expect(report.drift ?? []).toEqual([])
  })

  it('shows no secret that it prints', async () => {
    const { sessions } = await json<SessionsAnswer>('sessions?q=wrong+total')
    const { entries } = await json<{ entries: unknown[] }>(`sessions/${sessions[0]?.id}/entries?to=200`)
    const said = JSON.stringify(entries)
    expect(said).toContain('PAYMENTS_KEY')
    expect(said.toLowerCase()).not.toContain('9ftq2lmz8vxw4rbk')
  })
})

async function flagsOf(json: <T>(path: string) => Promise<T>, id: string): Promise<ReadonlySet<KindFlag>> {
  const { kinds } = await json<OutlineAnswer>(`sessions/${id}/outline`)
  const bytes = Buffer.from(kinds, 'base64')
  const all = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readUInt16LE(at * 2))
  const names = Object.keys(KIND_FLAGS) as KindFlag[]
  return new Set(names.filter((name) => all.some((kind) => (kind & KIND_FLAGS[name]) !== 0)))
}

describe('the session that goes on', () => {
  it('is recorded as it plays, and ends when it is ended', async () => {
    const home = join(temporaryFolder(), 'archive')
    const ending = new AbortController()
    const playing = playLive({ home, cwd: home, signal: ending.signal, speed: 100 })
    const journals = (): string[] =>
      fs.existsSync(join(home, 'sessions')) ? fs.readdirSync(join(home, 'sessions')) : []
    for (let tries = 0; tries < 100 && journals().length < 2; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100))
    ending.abort()
    await playing
    expect(journals().length).toBeGreaterThanOrEqual(2)
    const { stdout } = await run(['list', '--json', '--home', home])
    const { sessions } = JSON.parse(stdout) as { sessions: { title: string; status: string }[] }
    expect(sessions.map(({ title }) => title)).toContain('Live: departures on a map')
    expect(sessions.find(({ title }) => title === 'Live: departures on a map')?.status).toBe('completed')
  })
})

describe('hansard demo', () => {
  it('serves the sample with a session that grows, touches nothing of the user, and ends when it is told to', async () => {
    const folder = temporaryFolder()
    const child = spawn(
      process.execPath,
      [BIN, 'demo', '--port', '0', '--json', '--out', join(folder, 'sample')],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, TZ: 'UTC' },
      },
    )
    const ended = new Promise<number | null>((done) => child.once('close', done))
    const { port, tokenFile } = await firstJson(child)
    const headers = { authorization: `Bearer ${fs.readFileSync(tokenFile, 'utf8').trim()}` }
    const live = async (): Promise<SessionsAnswer['sessions'][number] | undefined> => {
      const { text } = await ask(port, { path: '/api/v1/sessions?q=status:running', headers })
      return (JSON.parse(text) as SessionsAnswer).sessions[0]
    }
    let entries = 0
    for (let tries = 0; tries < 80 && entries < 4; tries += 1) {
      entries = (await live())?.entries ?? 0
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    expect(entries).toBeGreaterThanOrEqual(4)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    // Beside it only what the program keeps of its own code.
    expect(fs.readdirSync(folder).filter((name) => name !== '.cache')).toEqual(['sample'])
  })

  it('makes it without serving, and says how to look at it', async () => {
    const folder = join(temporaryFolder(), 'sample')
    const { code, stdout } = await run(['demo', '--no-serve', '--out', folder])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`list --home ${join(folder, 'archive')}`)])
    const listed = await run(['list', '--json', '--limit', '1', '--home', join(folder, 'archive')])
    expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ agent: 'claude-code' }] })
  })

  it('ends by itself when nobody asks for anything, where that is wanted', async () => {
    const started = Date.now()
    const folder = temporaryFolder()
    const env = { TMPDIR: folder }
    const { code, stdout, stderr } = await run(['demo', '--port', '0', '--idle', '1'], { env })
    expect(fs.readdirSync(folder)).toEqual([])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/)])
    expect(stderr).toContain('nobody has asked for anything for 1 s')
    expect(Date.now() - started).toBeGreaterThan(1000)
  })
})

describe('npm start', () => {
  const start = resolve(import.meta.dirname, '../scripts/start.mjs')
  /** As a job runs it: no terminal, and nobody who would end it. */
  const started = (home: string): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, TZ: 'UTC', CI: 'true', HANSARD_BIN: BIN }
    const child = spawn(process.execPath, [start], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })))
  }
  const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=/

  it('shows the sample on a machine without logs, and does not hang a job', async () => {
    const { code, stdout, stderr } = await started(temporaryFolder())
    expect([code, stdout]).toEqual([0, expect.stringMatching(ADDRESS)])
    expect(stderr).toContain('this is a sample, made up')
  })

  it('takes in the logs that there are, and serves them', async () => {
    const home = temporaryFolder()
    const logs = join(home, '.claude', 'projects', '-work-shop')
    fs.mkdirSync(logs, { recursive: true })
    fs.writeFileSync(join(logs, `${FIRST}.jsonl`), log(FIRST, 'fix the login', 2))
    const { code, stdout, stderr } = await started(home)
    expect([code, stdout]).toEqual([0, expect.stringMatching(ADDRESS)])
    expect(stderr).not.toContain('sample')
  })
})

function firstJson(child: ReturnType<typeof spawn>): Promise<{ port: number; tokenFile: string }> {
  return new Promise((done, fail) => {
    let text = ''
    child.once('close', (code) => fail(new Error(`ended with ${code}: ${text}`)))
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      // The server says it in one line.
      if (text.includes('\n')) done(JSON.parse(text) as { port: number; tokenFile: string })
    })
  })
}
