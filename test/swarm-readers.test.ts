/**
 * Flow Studio's own readers, as its schema document prints them, on steps of every ending that were recorded: on the files that were
 * written, and on what the server gives. They must run unchanged.
 */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import vm from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { startRun } from '../src/capture/run.ts'
import { recording, type Recording } from '../src/capture/wrap/recording.ts'
import type { ReceiptsAnswer, RunsAnswer } from '../src/server/api-runs.ts'
import { startServer, type RunningServer } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { run } from './program.ts'
import { ask, type Reply } from './serving.ts'
import { chatAnswer, startUpstream, type Upstream } from './wrap-upstream.ts'

const PYTHON = `
import json
from pathlib import Path

def read_transcript(run_base: Path, flow_key: str, step_id: str, agent_key: str, engine: str) -> list:
    """Read transcript entries from a JSONL file."""
    transcript_path = run_base / flow_key / "llm" / f"{step_id}-{agent_key}-{engine}.jsonl"

    entries = []
    with transcript_path.open("r", encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line:
                entries.append(json.loads(line))
    return entries

def read_receipt(run_base: Path, flow_key: str, step_id: str, agent_key: str) -> dict:
    """Read receipt JSON for a step execution."""
    receipt_path = run_base / flow_key / "receipts" / f"{step_id}-{agent_key}.json"

    with receipt_path.open("r", encoding="utf-8") as f:
        return json.load(f)
`
/** The document's own use of them for each step, then everything they gave, for us to compare. */
const PYTHON_USE = `
import sys
run_base = Path(sys.argv[1])
read = []
for flow, step, agent, engine in json.loads(sys.argv[2]):
    transcript = read_transcript(run_base, flow, step, agent, engine)
    for entry in transcript:
        print(f"[{entry['role']}] {entry.get('content', '')[:100]}...", file=sys.stderr)
    receipt = read_receipt(run_base, flow, step, agent)
    print(f"Duration: {receipt['duration_ms']}ms", file=sys.stderr)
    print(f"Tokens: {receipt['tokens']['total']}", file=sys.stderr)
    print(f"Status: {receipt['status']}", file=sys.stderr)
    read.append([transcript, receipt])
print(json.dumps(read))
`
const JAVASCRIPT = fs.readFileSync(join(import.meta.dirname, '../fixtures/flow-studio/load.js.txt'), 'utf8')
const LIBRARY = join(import.meta.dirname, '../dist/src/index.js')

const RUN = 'run-20251209-143022-abc123'
const FOREIGN = 'run-20251210-080000-old001'
const TEXT = '修复 line\r\nline\u2028\u2029 \u0085 \ud800'

let folder: string
let upstream: Upstream
let server: RunningServer
/** What the server answered first, a moment after it began. */
let first: Reply

const home = (): string => join(folder, 'home')
const below = (id = RUN): string => join(folder, 'swarm/runs', id)
const request = (path: string): Promise<Reply> =>
  ask(server.port, { path, headers: { authorization: `Bearer ${server.token}` } })
const get = async <T = JsonObject>(path: string): Promise<T> => {
  const { status, text } = await request(path)
  expect([path, status], text.slice(0, 300)).toEqual([path, 200])
  return JSON.parse(text) as T
}

beforeAll(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-swarm-'))
  upstream = await startUpstream()
  leaveWithoutReceipts()
  await sync(openArchive(home(), { write: true }), { userHome: folder, env: {}, cwd: folder })
  await recordSteps()
  await recordWrapped()
  await recordByCommand()
  await recordKilled()
  const here = { userHome: folder, env: {}, cwd: folder }
  server = await startServer(openArchive(home(), { write: true }), { port: 0, follow: false, sync: here })
  first = await request(`/api/runs/${RUN}/receipts`)
})

afterAll(async () => {
  await server.close()
  await upstream.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** What an engine left that died before its receipts: only the names of the files say whose they are. */
function leaveWithoutReceipts(): void {
  const llm = join(below(FOREIGN), 'build/llm')
  fs.mkdirSync(llm, { recursive: true })
  const line = '{"timestamp": "2025-12-10T08:00:00.000000Z", "role": "user", "content": "Load the context"}\n'
  for (const name of ['context-load-context-loader', 'run-checks-gatekeeper'])
    fs.writeFileSync(join(llm, `${name}-claude.jsonl`), line)
}

const names = { flow: 'build', runId: RUN, engine: 'claude' } as const

async function recordSteps(): Promise<void> {
  const steps = startRun({ ...names, home: home(), cwd: folder, formats: ['swarm'] })
  const failed = await steps.step({ step: 'impl-loop', agentKey: 'code-implementer', model: 'claude-x' })
  failed.user(TEXT)
  failed.assistant('I read it first.', { usage: { input: 100, cacheRead: 12_400, output: 3200 } })
  const read = failed.toolCall({ name: 'Read', input: { file_path: 'a.py' } })
  failed.toolCall({ name: 'Bash', input: { command: 'pytest' } })
  failed.toolResult({ callId: read, output: '# a' })
  failed.error(new Error('overloaded'))
  await failed.fail(new Error('the tests failed'))

  const helped = await steps.step({ step: 'context-load', agentKey: 'context-loader' })
  helped.subagent('Code-Critic').assistant('too long', { model: 'claude-x', usage: { input: 5, output: 1 } })
  helped.assistant('loaded', { model: 'claude-x', usage: { input: 7, output: 3 } })
  await helped.end()

  const canceled = await steps.step({ step: 'plan-it', agentKey: 'planner', engine: 'gemini' })
  canceled.user('plan')
  await canceled.cancel()

  const stub = await steps.step({ step: 'dry-run', agentKey: 'code-implementer', stub: true })
  stub.user('go')
  stub.assistant('Nothing was done.', { usage: { input: 100, output: 20 } })
  await stub.end()
}

/** Through a wrapped client: a step that is answered, and one whose provider fails. */
async function recordWrapped(): Promise<void> {
  const places = { home: home(), cwd: folder, formats: ['swarm'] }
  const ask = async (recorded: Recording) => {
    const body = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: '2 + 3?' }] })
    const response = await recorded.fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body })
    await response.json()
  }
  const answered = recording({ ...names, ...places, step: 'ask-it', agentKey: 'asker' })
  upstream.answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c1', 'It is 5.'))
  await ask(answered)
  await answered.end()

  const refused = recording({ ...names, ...places, step: 'ask-again', agentKey: 'asker' })
  upstream.answer = (_, response) =>
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"gone"}}')
  await ask(refused)
  await refused.fail(new Error('the provider is gone'))
}

async function recordByCommand(): Promise<void> {
  const identity = ['--run', RUN, '--flow', 'gate', '--step', 'run-checks', '--agent-key', 'gatekeeper']
  const lines = [
    { role: 'assistant', text: 'The provider is gone.' },
    { type: 'end', status: 'failed', error: 'provider unavailable' },
  ]
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const options = ['--engine', 'claude', '--format', 'swarm', '--home', home()]
  const ran = await run(['record', ...identity, ...options], { cwd: folder, input })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
}

/** In a process that is killed while its step runs; `recover` ends it. */
async function recordKilled(): Promise<void> {
  const options = {
    ...names,
    step: 'deploy-it',
    agentKey: 'deployer',
    home: home(),
    cwd: folder,
    formats: ['swarm'],
  }
  const program = `
    import { record } from ${JSON.stringify(LIBRARY)}
    const session = await record(${JSON.stringify(options)})
    session.assistant('I deploy.')
    process.stdout.write('said')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => child.kill('SIGKILL'))
  await new Promise((resolve) => child.on('exit', resolve))
  expect((await run(['recover', '--home', home()], { cwd: folder })).code).toBe(0)
}

/** Every file of the run, by its folder. */
function filesOf(what: 'llm' | 'receipts'): readonly string[] {
  const all = fs.readdirSync(below(), { recursive: true, encoding: 'utf8' })
  return all.filter((path) => basename(dirname(path)) === what).sort()
}

const read = (path: string): string => fs.readFileSync(join(below(), path), 'utf8')
const jsonIn = (path: string): JsonObject => JSON.parse(read(path)) as JsonObject
const linesIn = (path: string): JsonObject[] =>
  read(path)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)

type Row = JsonObject & { readonly path: string }
type Step = readonly [flow: string, step: string, agent: string, engine: string]

/** The steps by the names that their receipts say, with the paths of their files. */
function stepsOf(): readonly {
  readonly step: Step
  readonly transcript: string
  readonly receipt: string
}[] {
  return filesOf('receipts').map((path) => {
    const receipt = jsonIn(path) as Record<string, string>
    const { flow_key: flow = '', step_id: step = '', agent_key: agent = '' } = receipt
    const { engine = '', transcript_path: transcript = '' } = receipt
    return {
      step: [flow, step, agent, engine.replace('-step', '')],
      transcript: `${flow}/${transcript}`,
      receipt: path,
    }
  })
}

type Readers = {
  readonly loadTranscript: (...names: readonly string[]) => Promise<Json[]>
  readonly loadReceipt: (...names: readonly string[]) => Promise<JsonObject>
}

/** The document's two functions, in a world whose `fetch` knows where the server is. */
function readers(): Readers {
  const headers = { authorization: `Bearer ${server.token}` }
  const world = { fetch: (url: string) => fetch(`${server.origin}${url}`, { headers }), JSON }
  return vm.runInNewContext(`${JAVASCRIPT}\n;({ loadTranscript, loadReceipt })`, world) as Readers
}

/** Of another realm there. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

describe('steps of every ending', () => {
  it('each leave a transcript and a receipt', () => {
    expect(filesOf('llm')).toHaveLength(9)
    const endings = Object.fromEntries(
      filesOf('receipts').map((path) => {
        const { status, error = null, tokens } = jsonIn(path)
        return [basename(path, '.json'), [status, error, (tokens as JsonObject)['total']]]
      }),
    )
    expect(endings).toEqual({
      'impl-loop-code-implementer': ['failed', 'the tests failed', 15_700],
      'context-load-context-loader': ['succeeded', null, 10],
      'context-load-Code-Critic': ['succeeded', null, 6],
      'plan-it-planner': ['failed', 'canceled', 0],
      'dry-run-code-implementer': ['succeeded', null, 0],
      'ask-it-asker': ['succeeded', null, 15],
      'ask-again-asker': ['failed', 'the provider is gone', 0],
      'run-checks-gatekeeper': ['failed', 'provider unavailable', 0],
      'deploy-it-deployer': ['failed', 'the process ended before the session did', 0],
    })
  })

  it('in stub mode begin their answers with [STUB], also where a program said them', () => {
    expect(linesIn('build/llm/dry-run-code-implementer-claude.jsonl')).toMatchObject([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '[STUB] Nothing was done.' },
    ])
    expect(jsonIn('build/receipts/dry-run-code-implementer.json')).toMatchObject({
      model: 'claude-stub',
      tokens: { prompt: 0, completion: 0, total: 0 },
    })
  })

  it('keep every text as it was said', () => {
    const lines = linesIn('build/llm/impl-loop-code-implementer-claude.jsonl')
    expect(
      lines.map((line) => [line['role'], line['content'] ?? line['tool_output'], line['tool_name']]),
    ).toEqual([
      ['user', TEXT, undefined],
      ['assistant', 'I read it first.', undefined],
      ['tool', '# a', 'Read'],
      ['system', 'overloaded', undefined],
      ['tool', undefined, 'Bash'],
    ])
  })
})

describe("Flow Studio's own readers", () => {
  it('in JavaScript get every line and every receipt from the server, failed steps included', async () => {
    const { loadTranscript, loadReceipt } = readers()
    for (const { step, transcript, receipt } of stepsOf()) {
      expect(plain(await loadTranscript(RUN, ...step))).toEqual(linesIn(transcript))
      expect(plain(await loadReceipt(RUN, ...step.slice(0, 3)))).toEqual(jsonIn(receipt))
    }
    expect(stepsOf()).toHaveLength(9)
  })

  it('in Python get the same from the files, on machines that have it', () => {
    const program = join(folder, 'readers.py')
    fs.writeFileSync(program, PYTHON + PYTHON_USE)
    const wanted = JSON.stringify(stepsOf().map(({ step }) => step))
    const ran = spawnSync('python3', [program, below(), wanted], {
      encoding: 'utf8',
      env: { ...process.env, PYTHONIOENCODING: 'utf-8:backslashreplace' },
    })
    const isMissing = ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT'
    if (isMissing) return expect(ran.status).toBeNull()
    expect(ran.status, ran.stderr).toBe(0)
    expect(JSON.parse(ran.stdout)).toEqual(
      stepsOf().map(({ transcript, receipt }) => [linesIn(transcript), jsonIn(receipt)]),
    )
    expect(ran.stderr).toContain('Tokens: 15700\nStatus: failed\n')
  })
})

const totalOf = (receipt: object = {}): number =>
  (receipt as { readonly tokens: { readonly total: number } }).tokens.total

describe('the lists of a run', () => {
  const paths = (rows: readonly Row[]): readonly string[] => rows.map(({ path }) => path).sort()

  it('have, in the first answer of a server, all that was recorded before it began', () => {
    const { receipts } = JSON.parse(first.text) as { receipts: Row[] }
    expect(paths(receipts)).toEqual(filesOf('receipts'))
  })

  it('say what the receipts say: status, tokens, model, times', async () => {
    const { receipts } = await get<{ receipts: Row[] }>(`/api/runs/${RUN}/receipts`)
    const { transcripts } = await get<{ transcripts: Row[] }>(`/api/runs/${RUN}/transcripts`)
    expect(paths(transcripts)).toEqual(filesOf('llm'))
    for (const { path, engine, flow_key, step_id, agent_key, status, tokens, model, duration_ms } of receipts)
      expect(jsonIn(path)).toMatchObject({
        engine,
        flow_key,
        step_id,
        agent_key,
        status,
        tokens,
        model,
        duration_ms,
      })
    for (const { path, engine } of transcripts) expect(path.endsWith(`-${engine as string}.jsonl`)).toBe(true)
    const rest = (rows: readonly Row[]): readonly Row[] =>
      rows.map((row) => ({ ...row, path: '', engine: '' }))
    expect(rest(transcripts)).toEqual(rest(receipts))
  })

  it('agree with the page: a step used what its agents’ receipts add up to, a stub nothing', async () => {
    const { receipts } = await get<ReceiptsAnswer>(`/api/v1/runs/${RUN}/receipts`)
    for (const { usage = {}, receipt, agents = [] } of receipts) {
      const { input = 0, cacheRead = 0, output = 0 } = usage as Record<string, number>
      const total = [receipt, ...agents].reduce((sum, one) => sum + totalOf(one), 0)
      expect(total).toBe(input + cacheRead + output)
    }
    const helped = receipts.find(({ step }) => step === 'context-load')
    expect(helped?.receipt).toMatchObject({ tokens: { prompt: 7, completion: 3, total: 10 } })
    expect(helped?.agents).toMatchObject([{ agent_key: 'Code-Critic', tokens: { total: 6 } }])
    expect(receipts.find(({ stub }) => stub)?.usage).toBeUndefined()
    const { runs } = await get<RunsAnswer>('/api/v1/runs')
    expect(runs.find(({ id }) => id === RUN)?.usage).toMatchObject({ input: 122, output: 3209 })
  })
})

describe('transcripts without receipts', () => {
  const names = ['context-load-context-loader-claude.jsonl', 'run-checks-gatekeeper-claude.jsonl']

  it('are listed, without receipts, and each is found under the ids that its row says', async () => {
    const { transcripts } = await get<{ transcripts: Record<string, string>[] }>(
      `/api/runs/${FOREIGN}/transcripts`,
    )
    expect(transcripts.map(({ path = '' }) => basename(path)).sort()).toEqual(names)
    const { loadTranscript } = readers()
    for (const { flow_key = '', step_id = '', agent_key = '', engine = '', path = '' } of transcripts)
      expect(plain(await loadTranscript(FOREIGN, flow_key, step_id, agent_key, engine))).toEqual([
        JSON.parse(fs.readFileSync(join(below(FOREIGN), path), 'utf8')),
      ])
    expect(await get(`/api/runs/${FOREIGN}/receipts`)).toEqual({ run_id: FOREIGN, receipts: [] })
  })

  it.each([
    ['context-load', 'context-loader'],
    ['run-checks', 'gatekeeper'],
    ['run', 'checks-gatekeeper'],
  ])('are found as step %s of agent %s, whose file it is', async (step, agent) => {
    expect(await readers().loadTranscript(FOREIGN, 'build', step, agent, 'claude')).toHaveLength(1)
    const { status, text } = await request(`/api/runs/${FOREIGN}/receipt/build/${step}/${agent}`)
    expect([status, JSON.parse(text)]).toEqual([
      404,
      { error: expect.any(String) as string, hint: 'its engine left none' },
    ])
  })

  it('are converted with those ids', async () => {
    const out = join(folder, 'converted')
    const made = await run(['convert', below(FOREIGN), '--to', 'swarm', '--out', out], { cwd: folder })
    expect(made.code).toBe(0)
    const receipts = fs
      .readdirSync(out, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.json'))
      .sort()
    expect(receipts.map((path) => basename(path))).toEqual([
      'context-load-context-loader.json',
      'run-checks-gatekeeper.json',
    ])
    const receipt = JSON.parse(fs.readFileSync(join(out, receipts[0] ?? ''), 'utf8')) as JsonObject
    expect(receipt).toMatchObject({ step_id: 'context-load', agent_key: 'context-loader', status: 'failed' })
  })
})
