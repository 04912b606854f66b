/** An archive with runs of every kind, on a real server: files that a flow left, steps that were recorded, a stub run. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { startRun } from '../src/capture/run.ts'
import { startServer, type RunningServer, type StartOptions } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import { SECRET } from './serving.ts'

export const LEFT = 'run-20251209-143022-abc123'
export const AGAIN = 'run-20251210-090000-def456'
export const STUB = 'run-20251211-080000-stub01'
export const RECORDED = 'run-20251212-100000-rec001'
export const HELPED = 'run-20251108-100000-help01'

export type ServedRuns = {
  readonly server: RunningServer
  readonly archive: Archive
  readonly root: string
  close(): Promise<void>
}

/** `more`: other logs to put below the user's home first. */
export async function serveRuns(
  options: StartOptions = {},
  more: (home: string) => void = () => {},
): Promise<ServedRuns> {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-runs-'))
  const runs = join(root, 'swarm', 'runs')
  leaveRun(runs, LEFT, Date.UTC(2025, 11, 9, 14, 30, 22), { failing: true, events: true })
  leaveRun(runs, AGAIN, Date.UTC(2025, 11, 10, 9), { pace: 1.3 })
  leaveRun(runs, STUB, Date.UTC(2025, 11, 11, 8), { stub: true })
  more(root)
  const home = join(root, 'home')
  await recordRun(home, root)
  const archive = openArchive(home, { write: true })
  const here = { userHome: root, env: {}, cwd: root }
  await sync(archive, here)
  const server = await startServer(archive, { port: 0, follow: false, sync: here, ...options })
  return {
    server,
    archive,
    root,
    async close() {
      await server.close()
      fs.rmSync(root, { recursive: true, force: true })
    },
  }
}

type Kind = {
  readonly failing?: boolean
  readonly stub?: boolean
  readonly events?: boolean
  /** How much longer its steps take. */
  readonly pace?: number
}

/** Flow, step, agent, seconds after the run's begin, seconds it took, tokens read and written. */
const STEPS = [
  ['plan', 'scope-work', 'planner', 0, 41, 8200, 900],
  ['build', 'context-load', 'context-loader', 45, 12, 12_500, 600],
  ['build', 'impl-loop', 'code-implementer', 58, 190, 48_000, 9100],
  ['build', 'impl-loop', 'code-critic', 250, 64, 21_000, 1800],
  ['gate', 'run-checks', 'gatekeeper', 320, 33, 9400, 500],
] as const

function leaveRun(runs: string, run: string, begin: number, { failing, stub, events, pace = 1 }: Kind): void {
  const at = (seconds: number): string => new Date(begin + seconds * 1000).toISOString().replace('Z', '000Z')
  const log: object[] = [{ run_id: run, ts: at(0), kind: 'run_created', flow_key: 'plan', payload: {} }]
  for (const [flow, step, agent, after, lasts, prompt, completion] of STEPS) {
    const [from, seconds] = [Math.round(after * pace), Math.round(lasts * pace)]
    const name = `${step}-${agent}`
    const isFailed = failing === true && step === 'run-checks'
    const lines = stub === true ? stubLines(step, agent, at(from)) : workLines(step, agent, at, from)
    write(
      join(runs, run, flow, 'llm', `${name}-claude.jsonl`),
      lines.map((line) => `${spaced(line)}\n`).join(''),
    )
    const tokens = { prompt, completion, total: prompt + completion }
    const receipt = {
      engine: 'claude-step',
      model: stub === true ? 'claude-stub' : 'claude-sonnet-4-20250514',
      step_id: step,
      flow_key: flow,
      run_id: run,
      agent_key: agent,
      started_at: at(from),
      completed_at: at(from + seconds),
      duration_ms: seconds * 1000,
      status: isFailed ? 'failed' : 'succeeded',
      tokens: stub === true ? { prompt: 0, completion: 0, total: 0 } : tokens,
      transcript_path: `llm/${name}-claude.jsonl`,
      ...(isFailed && { error: 'two checks failed' }),
    }
    write(join(runs, run, flow, 'receipts', `${name}.json`), `${JSON.stringify(receipt, null, 2)}\n`)
    const base = { run_id: run, flow_key: flow, step_id: step, agent_key: agent }
    log.push({ ...base, ts: at(from), kind: 'step_start', payload: { engine: 'claude' } })
    log.push({ ...base, ts: at(from + seconds), kind: 'step_end', payload: { status: receipt.status } })
  }
  if (events === true)
    write(join(runs, run, 'events.jsonl'), log.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

function workLines(
  step: string,
  agent: string,
  at: (seconds: number) => string,
  from: number,
): readonly object[] {
  const time = (seconds: number) => ({ timestamp: at(from + seconds) })
  return [
    { ...time(0), role: 'system', content: `Executing step ${step} with agent ${agent}` },
    { ...time(0), role: 'user', content: 'Step role: do what the step is for' },
    { ...time(2), role: 'assistant', content: `I look at it first. The key is ${SECRET}.` },
    { ...time(3), role: 'tool', tool_name: 'Read', tool_input: { file_path: 'a.py' }, content: '# a' },
    {
      ...time(5),
      role: 'tool',
      tool_name: 'Bash',
      tool_input: { command: 'pytest' },
      tool_output: '1 passed',
    },
    { ...time(9), role: 'assistant', content: 'Done: ünïcode and all.' },
  ]
}

function stubLines(step: string, agent: string, timestamp: string): readonly object[] {
  return [
    { timestamp, role: 'system', content: `Executing step ${step} with agent ${agent}` },
    { timestamp, role: 'user', content: 'Step role: nothing' },
    { timestamp, role: 'assistant', content: `[STUB] Completed step ${step}.` },
  ]
}

/** As Python writes it. */
const spaced = (value: object): string =>
  JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ').replaceAll(/\{ /g, '{').replaceAll(/ \}/g, '}')

function write(path: string, text: string): void {
  fs.mkdirSync(join(path, '..'), { recursive: true })
  fs.writeFileSync(path, text)
}

/** Names that no path and no page should take as they are. */
export const HOSTILE = [
  '../../../etc/passwd',
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  'a/b\\c',
  'x'.repeat(300),
  '\u202egnp.exe',
  '%2e%2e',
  '{{constructor.constructor("alert(1)")()}}',
]

/** A run whose receipts say such a name in every field. */
export function leaveHostile(root: string): void {
  const flow = join(root, 'swarm/runs/run-hostile/build')
  HOSTILE.forEach((name, number) => {
    const at = (second: number): string => `2025-12-01T10:00:0${second}.000000Z`
    const file = `s-a${number}`
    const receipt = {
      engine: name,
      model: name,
      step_id: name,
      flow_key: name,
      run_id: 'run-hostile',
      agent_key: name,
      started_at: at(0),
      completed_at: at(1),
      duration_ms: 1000,
      status: 'failed',
      tokens: { prompt: 1, completion: 1, total: 2 },
      transcript_path: `llm/${file}-claude.jsonl`,
      error: name,
      [name]: name,
    }
    const line = { timestamp: at(0), role: 'user', content: `step ${number}: ${name}` }
    const tool = {
      timestamp: at(1),
      role: 'tool',
      tool_name: name,
      tool_input: { [name]: name },
      tool_output: name,
    }
    write(join(flow, 'llm', `${file}-claude.jsonl`), `${JSON.stringify(line)}\n${JSON.stringify(tool)}\n`)
    write(join(flow, 'receipts', `${file}.json`), JSON.stringify(receipt))
  })
}

/** One step recorded twice, with files beside the journals as they are written. */
async function recordRun(home: string, cwd: string): Promise<void> {
  let now = Date.UTC(2025, 11, 12, 10)
  const run = startRun({ flow: 'build', runId: RECORDED, home, cwd, formats: ['swarm'], now: () => now })
  const names = { step: 'impl-loop', agentKey: 'code-implementer', engine: 'claude', agent: 'mine' }
  for (const said of ['first try', 'second try']) {
    const step = await run.step(names)
    step.user(`Implement it: ${said}`)
    now += 4000
    const callId = step.toolCall({ name: 'Bash', input: { command: 'make' } })
    now += 1000
    step.toolResult({ callId, output: 'built' })
    step.assistant(`That was the ${said}`, {
      model: 'claude-sonnet-4-5',
      usage: { input: 1000, output: 200 },
      call: { messageId: `msg-${said}` },
    })
    now += 1000
    await step.end()
    now += 60_000
  }
  await recordHelped(home, cwd)
}

/** One step with a subagent, in a journal alone. */
async function recordHelped(home: string, cwd: string): Promise<void> {
  const now = (): number => Date.UTC(2025, 10, 8, 10)
  const run = startRun({ flow: 'build', runId: HELPED, home, cwd, now })
  const step = await run.step({ step: 'impl', agentKey: 'lead', engine: 'claude', agent: 'mine' })
  const said = (input: number, output: number, messageId: string) => ({
    model: 'claude-sonnet-4-5',
    usage: { input, output },
    call: { messageId },
  })
  step.subagent('Helper-1').assistant('I helped', said(5, 1, 'help'))
  step.assistant('done', said(7, 2, 'lead'))
  await step.end()
}
