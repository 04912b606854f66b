/** Hooks as agents call them: the built program, real settings, real transcripts, real processes. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { HOOK_AGENTS } from '../src/capture/hooks/entry.ts'
import { readFailures, type HookFailure } from '../src/capture/hooks/failures.ts'
import { isAtWork, waitingTickets } from '../src/capture/hooks/queue.ts'
import { HOOKED } from '../src/cli/program/hook.ts'
import { BIN, run, type Ran } from './program.ts'

const roots: string[] = []
let root = ''
let user = ''
let archive = ''
let env: Record<string, string> = {}

beforeEach(() => {
  root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-hook-'))
  roots.push(root)
  user = join(root, 'user')
  archive = join(root, 'archive')
  fs.mkdirSync(user)
  env = { HOME: user, HANSARD_HOME: archive }
})

afterAll(() => {
  for (const one of roots) fs.rmSync(one, { recursive: true, force: true })
})

const hansard = (args: readonly string[], input: string | Buffer = ''): Promise<Ran> =>
  run(args, { cwd: root, env, input })

const hook = (agent: string, input: unknown, ...args: readonly string[]): Promise<Ran> =>
  hansard(['hook', agent, ...args], typeof input === 'string' ? input : JSON.stringify(input))

/** Nothing is said and nothing fails, whatever happens. */
const QUIET = { code: 0, stdout: '', stderr: '' }

function claudeLine(session: string, text: string, more: object = {}): string {
  return `${JSON.stringify({
    type: 'user',
    uuid: `${session}-${text}`,
    parentUuid: null,
    sessionId: session,
    timestamp: '2026-01-31T10:00:00.000Z',
    userType: 'external',
    cwd: '/work',
    version: '2.1.0',
    message: { role: 'user', content: text },
    ...more,
  })}\n`
}

function writeLog(path: string, ...lines: readonly string[]): string {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.appendFileSync(path, lines.join(''))
  return path
}

const claudeLog = (session: string): string => join(user, '.claude/projects/-work', `${session}.jsonl`)

type Listed = {
  readonly sessions: readonly { readonly id: string; readonly entries: number; readonly agent: string }[]
}

async function list(): Promise<Listed['sessions']> {
  const { stdout } = await hansard(['list', '--json'])
  return (JSON.parse(stdout) as Listed).sessions
}

/** When what hooks have asked for is done: what went wrong meanwhile. */
async function settled(): Promise<readonly HookFailure[]> {
  for (let tries = 0; tries < 1500; tries += 1) {
    if (waitingTickets(archive) === 0 && !isAtWork(archive)) return readFailures(archive, env)
    await new Promise((done) => setTimeout(done, 10))
  }
  throw new Error('what hooks asked for is not done')
}

const journals = (): string[] =>
  fs.existsSync(join(archive, 'sessions')) ? fs.readdirSync(join(archive, 'sessions')) : []

describe('a hook', () => {
  it('has the transcript synced, with its subagents at any depth, and writes no journal', async () => {
    const log = writeLog(claudeLog('aaaa'), claudeLine('aaaa', 'one'))
    const below = join(user, '.claude/projects/-work/aaaa/subagents')
    for (const [agentId, text] of [
      ['x', 'sub'],
      ['y', 'sub of sub'],
    ] as const)
      writeLog(
        join(below, `agent-${agentId}.jsonl`),
        claudeLine('aaaa', text, { agentId, isSidechain: true }),
      )
    writeLog(claudeLog('other'), claudeLine('other', 'not asked for'))
    const said = { session_id: 'aaaa', transcript_path: log, cwd: root, hook_event_name: 'Stop' }
    expect(await hook('claude-code', said)).toEqual(QUIET)
    expect(await settled()).toEqual([])
    const sessions = await list()
    expect(sessions).toMatchObject([{ agent: 'claude-code', entries: 3 }])
    expect(journals()).toEqual([])
    writeLog(log, claudeLine('aaaa', 'two'))
    await hook('claude-code', { ...said, agent_transcript_path: join(below, 'agent-x.jsonl') })
    await settled()
    expect(await list()).toMatchObject([{ entries: 4 }])
  })

  it('takes Codex’s notice as an argument, and finds the rollout and those of its subagents by the thread', async () => {
    const meta = (id: string): string =>
      `${JSON.stringify({ timestamp: '2026-01-31T10:00:00.000Z', type: 'session_meta', payload: { id, timestamp: '2026-01-31T10:00:00.000Z', cwd: '/work', originator: 'codex', cli_version: '1' } })}\n`
    const id = '0199a213-81c0-7800-8aa1-bbab2a035a53'
    const child = '0199a213-81c0-7800-8aa1-bbab2a035a54'
    const sessions = join(user, '.codex/sessions')
    writeLog(join(sessions, `2026/01/31/rollout-2026-01-31T10-00-00-${id}.jsonl`), meta(id))
    writeLog(join(sessions, `2026/02/01/rollout-2026-02-01T00-10-00-${child}.jsonl`), meta(child))
    writeLog(
      join(sessions, `2026/01/30/rollout-2026-01-30T10-00-00-${child.replace('54', '55')}.jsonl`),
      meta('older'),
    )
    const notice = JSON.stringify({ type: 'agent-turn-complete', 'thread-id': id, 'turn-id': '1' })
    expect(await hook('codex', '', notice)).toEqual(QUIET)
    expect(await settled()).toEqual([])
    expect(await list()).toHaveLength(2)
  })

  it('finds the files of Gemini CLI, Copilot CLI and Cursor', async () => {
    const gemini = writeLog(
      join(user, '.gemini/tmp/abc/chats/session-2026-01-31T10-00-0199a213.jsonl'),
      `${JSON.stringify({ sessionId: '0199a213-x', projectHash: 'abc', startTime: '2026-01-31T10:00:00.000Z', lastUpdated: '2026-01-31T10:00:00.000Z' })}\n`,
      `${JSON.stringify({ id: 'm1', timestamp: '2026-01-31T10:00:00.000Z', type: 'user', content: 'hello' })}\n`,
    )
    writeLog(
      join(user, '.copilot/session-state/cp-1/events.jsonl'),
      `${JSON.stringify({ type: 'session.start', id: 'e1', timestamp: '2026-01-31T10:00:00.000Z', data: { sessionId: 'cp-1', version: 1, producer: 'copilot-agent', copilotVersion: '1.0.0', startTime: '2026-01-31T10:00:00.000Z' }, parentId: null })}\n`,
      `${JSON.stringify({ type: 'user.message', id: 'e2', timestamp: '2026-01-31T10:00:01.000Z', parentId: 'e1', data: { content: 'hello' } })}\n`,
    )
    writeLog(
      join(user, '.cursor/projects/work/agent-transcripts/cu-1/cu-1.jsonl'),
      `${JSON.stringify({ role: 'user', message: { content: [{ type: 'text', text: 'hello' }] } })}\n`,
    )
    await hook('gemini-cli', {
      session_id: '0199a213-x',
      transcript_path: gemini,
      hook_event_name: 'AfterAgent',
    })
    await hook('copilot-cli', { sessionId: 'cp-1', cwd: root, timestamp: 1 })
    await hook('cursor', { conversation_id: 'cu-1', transcript_path: null, hook_event_name: 'stop' })
    expect(await settled()).toEqual([])
    expect((await list()).map(({ agent }) => agent).sort()).toEqual(['copilot-cli', 'cursor', 'gemini-cli'])
  })

  it('calls a folder of Copilot CLI that has no log yet no failure, and reads the log when it is there', async () => {
    const folder = join(user, '.copilot/session-state/cp-2')
    const told = { sessionId: 'cp-2', cwd: '/work' }
    writeLog(join(folder, 'workspace.yaml'), 'id: cp-2\ncwd: /work\n')
    await hook('copilot-cli', told)
    expect(await settled()).toEqual([])
    writeLog(join(folder, 'events.jsonl'))
    await hook('copilot-cli', { ...told, transcriptPath: join(folder, 'events.jsonl') })
    expect(await settled()).toEqual([])
    expect(await list()).toEqual([])
    expect((await hansard(['doctor'])).stdout).not.toContain('Not read')
    const start = { sessionId: 'cp-2', version: 1, producer: 'copilot-agent', copilotVersion: '1.0.0' }
    writeLog(
      join(folder, 'events.jsonl'),
      `${JSON.stringify({ type: 'session.start', id: 'e1', timestamp: '2026-01-31T10:00:00.000Z', data: { ...start, startTime: '2026-01-31T10:00:00.000Z' }, parentId: null })}\n`,
      `${JSON.stringify({ type: 'user.message', id: 'e2', timestamp: '2026-01-31T10:00:01.000Z', parentId: 'e1', data: { content: 'hello' } })}\n`,
    )
    await hook('copilot-cli', told)
    expect(await settled()).toEqual([])
    expect(await list()).toMatchObject([{ agent: 'copilot-cli' }])
  })

  it('reads nothing but transcripts of its agent, whatever it is told', async () => {
    const secret = writeLog(join(user, 'secret.jsonl'), claudeLine('stolen', 'a secret'))
    const projects = join(user, '.claude/projects')
    fs.mkdirSync(join(projects, '-work'), { recursive: true })
    fs.symlinkSync(secret, join(projects, '-work/link.jsonl'))
    fs.symlinkSync(user, join(projects, 'everything'))
    spawnSync('mkfifo', [join(projects, '-work/pipe.jsonl')])
    writeLog(join(projects, '-work/notes.txt'), claudeLine('stolen', 'a secret'))
    const paths = [
      secret,
      '/etc/passwd',
      '../../etc/passwd',
      `${projects}/../../secret.jsonl`,
      join(projects, '-work/link.jsonl'),
      join(projects, 'everything/secret.jsonl'),
      join(projects, '-work/pipe.jsonl'),
      join(projects, '-work/notes.txt'),
      join(projects, '-work'),
      '/dev/zero',
      `${projects}/-work/\0.jsonl`,
    ]
    for (const [at, path] of paths.entries())
      expect(await hook('claude-code', { session_id: `h${at}`, transcript_path: path })).toEqual(QUIET)
    for (const id of ['../../../secret', 'a/b', '*', '', 'x'.repeat(5000), '{a,b}'])
      expect(await hook('cursor', { conversation_id: id })).toEqual(QUIET)
    const failures = await settled()
    expect(failures.length).toBeGreaterThanOrEqual(paths.length)
    expect(await list()).toEqual([])
    expect(fs.existsSync(join(archive, 'kept')) ? fs.readdirSync(join(archive, 'kept')) : []).toEqual([])
    expect((await hansard(['doctor'])).stdout).toContain('Hooks that failed')
  })

  it.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['null', 'null'],
    ['half of it', '{"session_id":'],
    ['bytes', Buffer.from([0xff, 0x00, 0x7b])],
    ['too much', `{"session_id":"${'x'.repeat(1024 * 1024)}"}`],
    ['what is deep', '['.repeat(100_000)],
    ['names of our own', '{"__proto__":{"session_id":"x"},"constructor":1,"session_id":{"a":1}}'],
  ])('says nothing when it is given %s', async (_, input) => {
    expect(await hansard(['hook', 'claude-code'], input)).toEqual(QUIET)
    expect((await settled()).length).toBeLessThanOrEqual(1)
  })

  it('waits a second for an agent that does not say anything, and ends for one that keeps its end open', async () => {
    const hold = (text: string): Promise<number> =>
      new Promise((done) => {
        const begun = Date.now()
        const child = spawn(process.execPath, [BIN, 'hook', 'claude-code'], {
          env,
          stdio: ['pipe', 'pipe', 'pipe'],
        })
        child.stdin.on('error', () => {})
        child.stdin.write(text)
        child.on('exit', (code) => {
          expect(code).toBe(0)
          done(Date.now() - begun)
        })
      })
    expect(await hold('{"session_id"')).toBeGreaterThanOrEqual(1000)
    await hold('{"session_id":"x"}')
  })

  it('never fails where the archive cannot be written, and doctor knows', async () => {
    fs.writeFileSync(archive, 'no folder')
    expect(await hook('claude-code', { session_id: 'a', transcript_path: '/x' })).toEqual(QUIET)
    fs.rmSync(archive)
    const { stdout } = await hansard(['hook', 'status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ failures: [{ agent: 'claude-code' }], waiting: 0 })
  })

  it('takes no settings from the folder that the agent works in', async () => {
    fs.writeFileSync(
      join(root, 'hansard.config.json'),
      JSON.stringify({ home: join(root, 'elsewhere'), keep: false }),
    )
    delete env['HANSARD_HOME']
    archive = join(user, '.hansard')
    const log = writeLog(claudeLog('aaaa'), claudeLine('aaaa', 'one'))
    await hook('claude-code', { session_id: 'aaaa', transcript_path: log })
    fs.rmSync(join(root, 'hansard.config.json'))
    await settled()
    expect(fs.existsSync(join(root, 'elsewhere'))).toBe(false)
    expect(fs.readdirSync(join(archive, 'kept'))).toEqual(['claude-code'])
  })
})

describe('a hook whose settings are wrong', () => {
  it('keeps nothing, and the archive is told why', async () => {
    env['HANSARD_KEEP'] = 'redact'
    const log = writeLog(claudeLog('aaaa'), claudeLine('aaaa', 'one'))
    expect(await hook('claude-code', { session_id: 'aaaa', transcript_path: log })).toEqual(QUIET)
    const failures = join(archive, 'hooks/failures.jsonl')
    // It is there before it says anything.
    const said = (): string => (fs.existsSync(failures) ? fs.readFileSync(failures, 'utf8') : '')
    await expect.poll(said).toContain(String.raw`HANSARD_KEEP is \"redact\": it takes`)
    expect(fs.existsSync(join(archive, 'kept'))).toBe(false)
  })
})

describe('many hooks', () => {
  it('at once become few syncs, and none is lost', async () => {
    const ids = Array.from({ length: 50 }, (_, at) => `s${String(at).padStart(2, '0')}`)
    for (const id of ids) writeLog(claudeLog(id), claudeLine(id, 'one'))
    const workers = new Set<string>()
    const lock = join(archive, 'hooks/work.lock')
    const looking = setInterval(() => {
      try {
        workers.add(fs.readFileSync(lock, 'utf8'))
      } catch {
        // Nobody is at work.
      }
    }, 5)
    const started = ids.map((id) => hook('claude-code', { session_id: id, transcript_path: claudeLog(id) }))
    for (const one of await Promise.all(started)) expect(one).toEqual(QUIET)
    expect(await settled()).toEqual([])
    clearInterval(looking)
    expect(workers.size).toBeLessThan(25)
    expect(await list()).toHaveLength(50)
    expect(fs.readdirSync(join(archive, 'hooks')).sort()).toEqual(['queue', 'taken'])
  })

  it('that come while one is at work make it run once more', async () => {
    const log = claudeLog('aaaa')
    for (let turn = 0; turn < 12; turn += 1) {
      writeLog(log, claudeLine('aaaa', `turn ${turn}`))
      await hook('claude-code', { session_id: 'aaaa', transcript_path: log })
    }
    await settled()
    expect(await list()).toMatchObject([{ entries: 12 }])
  })

  it('survive a worker that is killed: the next hook does what it was at', async () => {
    const ids = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6']
    // What ended three workers is not asked for again.
    let kills = 0
    for (const [at, id] of ids.entries()) {
      writeLog(claudeLog(id), claudeLine(id, 'one'))
      await hook('claude-code', { session_id: id, transcript_path: claudeLog(id) })
      const lock = join(archive, 'hooks/work.lock')
      const pid = fs.existsSync(lock) ? Number(fs.readFileSync(lock, 'utf8').split(' ')[0]) : 0
      await new Promise((done) => setTimeout(done, at * 30))
      if (pid > 1 && at < ids.length - 1 && kills < 2) {
        try {
          process.kill(pid, 'SIGKILL')
          kills += 1
        } catch {
          // It was done.
        }
      }
    }
    await settled()
    expect(await list()).toHaveLength(ids.length)
  })
})

describe('install', () => {
  it('shows the change, and makes it only when told to', async () => {
    const file = join(user, '.claude/settings.json')
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, '{\n  "model": "opus"\n}\n')
    const shown = await hansard(['hook', 'install', 'claude-code', '--print'])
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toContain('+    "Stop": [')
    const unasked = await hansard(['hook', 'install', 'claude-code'])
    expect(unasked).toMatchObject({ code: 1 })
    expect(unasked.stderr).toContain('--yes')
    expect(fs.readFileSync(file, 'utf8')).toBe('{\n  "model": "opus"\n}\n')
    const done = await hansard(['hook', 'install', 'claude-code', '--yes', '--json'])
    expect(JSON.parse(done.stdout)).toMatchObject({ agent: 'claude-code', scope: 'user', written: true })
    expect((await hansard(['hook', 'status'])).stdout).toMatch(/claude-code +user +installed/)
    expect((await hansard(['hook', 'uninstall', 'claude-code', '--yes'])).code).toBe(0)
    expect(fs.readFileSync(file, 'utf8')).toBe('{\n  "model": "opus"\n}\n')
  })

  it('puts in a command that works, as a shell runs it', async () => {
    await hansard(['hook', 'install', 'claude-code', '--yes'])
    const settings = JSON.parse(fs.readFileSync(join(user, '.claude/settings.json'), 'utf8')) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>
    }
    expect(Object.keys(settings.hooks)).toEqual([
      'SessionStart',
      'Stop',
      'SubagentStop',
      'PreCompact',
      'SessionEnd',
    ])
    const command = settings.hooks['Stop']?.[0]?.hooks[0]?.command ?? ''
    const log = writeLog(claudeLog('aaaa'), claudeLine('aaaa', 'one'))
    const input = JSON.stringify({ session_id: 'aaaa', transcript_path: log })
    const ran = spawnSync('sh', ['-c', command], { input, env: { HOME: user }, encoding: 'utf8' })
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' })
    await settled()
    expect(await list()).toHaveLength(1)
  })

  it('says what is wrong with an agent that is none, and with settings that are none', async () => {
    expect(await hansard(['hook', 'install', 'nope'])).toMatchObject({ code: 2 })
    expect((await hansard(['hook', 'nope'])).stderr).toContain('cursor')
    fs.mkdirSync(join(user, '.cursor'))
    fs.writeFileSync(join(user, '.cursor/hooks.json'), '{ nope }')
    const refused = await hansard(['hook', 'install', 'cursor', '--yes'])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toMatch(/hooks\.json is not changed.*line 1/)
    expect((await hansard(['hook', 'status'])).stdout).toMatch(/cursor +user +unreadable/)
  })

  it('knows the same agents as the hook itself', () => {
    expect(HOOKED).toEqual(HOOK_AGENTS)
  })
})
