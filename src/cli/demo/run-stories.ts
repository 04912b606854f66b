/** Runs as Flow Studio's engine leaves them: a flow's transcripts and receipts. One that failed, the next try, and a stub. */
import type { JsonObject } from '../../transcript/json.ts'

export type RunFile = { readonly path: string; readonly text: string }

const DAY = 24 * 3_600_000

type Step = {
  readonly flow: string
  readonly step: string
  readonly agent: string
  /** Seconds after the run began, and that it took. */
  readonly after: number
  readonly takes: number
  readonly tokens: readonly [prompt: number, completion: number]
  readonly says: string
}

const STEPS: readonly Step[] = [
  {
    flow: 'signal',
    step: 'frame-issue',
    agent: 'analyst',
    after: 0,
    takes: 38,
    tokens: [8200, 910],
    says: 'Passengers cannot rebook after a cancelled departure.',
  },
  {
    flow: 'plan',
    step: 'scope-work',
    agent: 'planner',
    after: 40,
    takes: 55,
    tokens: [12_400, 1850],
    says: 'Three changes: a rebooking rule, an endpoint, a button.',
  },
  {
    flow: 'build',
    step: 'context-load',
    agent: 'context-loader',
    after: 98,
    takes: 14,
    tokens: [15_900, 420],
    says: 'Read 11 files of the booking service.',
  },
  {
    flow: 'build',
    step: 'implement',
    agent: 'code-implementer',
    after: 114,
    takes: 236,
    tokens: [88_100, 11_400],
    says: 'The rule and the endpoint are in place, with tests.',
  },
  {
    flow: 'build',
    step: 'implement',
    agent: 'code-critic',
    after: 352,
    takes: 71,
    tokens: [31_000, 2100],
    says: 'Two remarks: time zones, and a missing index.',
  },
  {
    flow: 'gate',
    step: 'run-checks',
    agent: 'gatekeeper',
    after: 426,
    takes: 44,
    tokens: [9900, 610],
    says: 'All checks pass.',
  },
]

type Kind = { readonly fails?: boolean; readonly isStub?: boolean; readonly pace?: number }

export function runStories(now: number): readonly RunFile[] {
  return [
    ...leaveRun(now - 2 * DAY - 5_400_000, 'k3q9x1', { fails: true, pace: 1.25 }),
    ...leaveRun(now - 2 * DAY + 3_600_000, 'm7w2p4', {}),
    ...leaveRun(now - DAY, 'stub01', { isStub: true }),
  ]
}

function leaveRun(
  begins: number,
  suffix: string,
  { fails = false, isStub = false, pace = 1 }: Kind,
): RunFile[] {
  const at = (seconds: number): string => new Date(begins + seconds * 1000).toISOString().replace('Z', '000Z')
  const [date = '', time = ''] = at(0).slice(0, 19).split('T')
  const run = `run-${date.replaceAll('-', '')}-${time.replaceAll(':', '')}-${suffix}`
  const events: JsonObject[] = [
    { run_id: run, ts: at(0), kind: 'run_created', flow_key: 'signal', payload: {} },
  ]
  const files = STEPS.flatMap((one): RunFile[] => {
    const { flow, step, agent, tokens } = one
    const [from, takes] = isStub
      ? [one.after / 60, 0]
      : [Math.round(one.after * pace), Math.round(one.takes * pace)]
    const isFailed = fails && step === 'run-checks'
    const name = `${step}-${agent}`
    const receipt = {
      engine: 'claude-step',
      model: isStub ? 'claude-stub' : 'claude-sonnet-4-6',
      step_id: step,
      flow_key: flow,
      run_id: run,
      agent_key: agent,
      started_at: at(from),
      completed_at: at(from + takes),
      duration_ms: takes * 1000,
      status: isFailed ? 'failed' : 'succeeded',
      tokens: isStub ? { prompt: 0, completion: 0, total: 0 } : sum(tokens, pace),
      transcript_path: `llm/${name}-claude.jsonl`,
      ...(isFailed && { error: 'two tests of the rebooking rule fail' }),
    }
    const base = { run_id: run, flow_key: flow, step_id: step, agent_key: agent }
    events.push({ ...base, ts: at(from), kind: 'step_start', payload: { engine: 'claude' } })
    events.push({ ...base, ts: at(from + takes), kind: 'step_end', payload: { status: receipt.status } })
    const lines = isStub ? stubLines(one, at(from)) : workLines(one, at, from, takes, isFailed)
    return [
      {
        path: `${run}/${flow}/llm/${name}-claude.jsonl`,
        text: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      },
      { path: `${run}/${flow}/receipts/${name}.json`, text: `${JSON.stringify(receipt, null, 2)}\n` },
    ]
  })
  return [
    ...files,
    { path: `${run}/events.jsonl`, text: events.map((line) => `${JSON.stringify(line)}\n`).join('') },
  ]
}

const sum = ([prompt, completion]: Step['tokens'], pace: number): JsonObject => {
  const [read, written] = [Math.round(prompt * pace), Math.round(completion * pace)]
  return { prompt: read, completion: written, total: read + written }
}

function workLines(
  { step, agent, says }: Step,
  at: (seconds: number) => string,
  from: number,
  takes: number,
  isFailed: boolean,
): readonly JsonObject[] {
  const time = (share: number) => ({ timestamp: at(from + takes * share) })
  return [
    { ...time(0), role: 'system', content: `Executing step ${step} with agent ${agent}` },
    {
      ...time(0),
      role: 'user',
      content: `Step role: ${step.replaceAll('-', ' ')} for “let passengers rebook”`,
    },
    { ...time(0.1), role: 'assistant', content: 'I read what there is first.' },
    {
      ...time(0.2),
      role: 'tool',
      tool_name: 'Read',
      tool_input: { file_path: 'booking/rules.py' },
      content: 'def may_rebook(booking): …',
    },
    {
      ...time(0.6),
      role: 'tool',
      tool_name: 'Bash',
      tool_input: { command: 'pytest booking -q' },
      tool_output: isFailed ? '2 failed, 40 passed' : '42 passed in 6.1s',
    },
    {
      ...time(1),
      role: 'assistant',
      content: isFailed ? 'Two tests of the rebooking rule fail: it compares local times.' : says,
    },
  ]
}

const stubLines = ({ step, agent }: Step, timestamp: string): readonly JsonObject[] => [
  { timestamp, role: 'system', content: `Executing step ${step} with agent ${agent}` },
  { timestamp, role: 'user', content: 'Step role: nothing' },
  { timestamp, role: 'assistant', content: `[STUB] Completed step ${step}.` },
]
