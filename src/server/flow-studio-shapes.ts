/** What Flow Studio's API says of a run, in its own words: summary, timeline, timing, comparison. From what is known of the steps. */
import { toEngine, toMicros } from '../formats/swarm-receipt.ts'
import { toPaths } from '../formats/swarm-names.ts'
import { asString } from '../transcript/json.ts'
import type { ApiUsage } from './api-model.ts'
import type { RunStep } from './api-runs.ts'
import type { FoundRun, FoundStep } from './run-steps.ts'
import type { Receipts } from './step-files.ts'

export type RunStatus = 'running' | 'succeeded' | 'failed' | 'canceled' | 'stopped'

const STATUSES: Readonly<Record<RunStep['status'], RunStatus>> = {
  running: 'running',
  completed: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  interrupted: 'stopped',
}

const HEALTH: Readonly<Record<RunStatus, string>> = {
  running: 'partial',
  succeeded: 'ok',
  failed: 'error',
  canceled: 'warning',
  stopped: 'warning',
}

export const toStatus = (status: RunStep['status']): RunStatus => STATUSES[status]

/** A run may be canceled or stopped; a step that has ended is what its receipt says: `succeeded` or `failed`. */
export const toStepStatus = (status: RunStep['status']): RunStatus =>
  status === 'completed' || status === 'running' ? STATUSES[status] : 'failed'

/** Zeros are not written for what nobody counted. */
export function toTokens(usage: ApiUsage | undefined): object | undefined {
  if (usage === undefined) return undefined
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = usage
  const read = [input, cacheRead, cacheWrite5m, cacheWrite1h].filter((count) => count !== undefined)
  if (read.length === 0 && output === undefined) return undefined
  const prompt = read.reduce((sum, count) => sum + count, 0)
  return { prompt, completion: output ?? 0, total: prompt + (output ?? 0) }
}

/** Relative to the run's folder. Earlier executions have a number, as where they were set aside. */
export function pathsOf({ names, execution }: FoundStep): {
  readonly transcript: string
  readonly receipt: string
} {
  const { transcript, receipt } = toPaths(names)
  const place = (path: string): string => {
    const own = path.slice(path.indexOf('/') + 1)
    return execution === undefined ? own : own.replace(/(\.jsonl?)$/, `.${execution}$1`)
  }
  return { transcript: place(transcript), receipt: place(receipt) }
}

/** The rows of either list for a step with receipts, one for each of its agents: they say what the receipts say. */
export function toReceiptRows(found: FoundStep, receipts: Receipts, what: 'transcript' | 'receipt') {
  return receipts.map((receipt) => {
    const agentKey = asString(receipt['agent_key']) ?? found.names.agentKey
    const own = { ...found, names: { ...found.names, agentKey } }
    const { engine, status, model, started_at, completed_at, duration_ms, tokens } = receipt
    return {
      ...placeOf(own, pathsOf(own)[what]),
      // A transcript's name says `claude`, and its receipt `claude-step`.
      ...(what === 'receipt' && { engine }),
      status,
      model,
      started_at,
      completed_at,
      duration_ms,
      tokens,
    }
  })
}

/** A row of either list, by what is known without reading the step. */
export function toListed(found: FoundStep, path: string) {
  const { step } = found
  const tokens = toTokens(step.usage)
  return {
    ...placeOf(found, path),
    status: toStepStatus(step.status),
    ...(step.model !== undefined && { model: step.model }),
    ...timesOf(step),
    ...(tokens && { tokens }),
  }
}

function placeOf({ names, step, execution }: FoundStep, path: string) {
  return {
    flow_key: names.flow,
    step_id: names.step,
    agent_key: names.agentKey,
    engine: names.engine,
    path,
    ...(step.stub && { stub: true }),
    ...(execution !== undefined && { execution }),
    session: step.session,
  }
}

export function toRunListed({ row }: Pick<FoundRun, 'row'>, path: string) {
  return {
    run_id: row.id,
    run_type: 'active',
    path,
    status: toStatus(row.status),
    ...(row.startedAt !== undefined && { timestamp: micros(row.startedAt) }),
    flows: row.flows ?? [],
    ...(row.stub && { tags: ['stub'] }),
  }
}

export function toSummary({ row, steps }: FoundRun) {
  const status = toStatus(row.status)
  const tokens = toTokens(row.usage)
  return {
    run_id: row.id,
    status,
    sdlc_status: HEALTH[status],
    ...timesOf(row),
    ...(row.stub && { mode: 'stub' }),
    ...(tokens && { tokens }),
    ...(row.cost && { cost_usd: row.cost.usd }),
    flows: Object.fromEntries(
      byFlow(steps).map(([flow, own]) => [
        flow,
        {
          flow_key: flow,
          status: worst(own),
          steps: own.map((found) => ({
            ...toListed(found, pathsOf(found).transcript),
            ...(found.step.error !== undefined && { error: found.step.error }),
          })),
        },
      ]),
    ),
  }
}

/** Both ends of every step, in the order of time. */
export function toTimeline({ row, steps }: FoundRun) {
  const events = steps.flatMap(({ step, names }) => {
    const base = { flow: names.flow, step: names.step }
    const note = step.stub ? 'stub' : step.error
    return [
      ...(step.startedAt === undefined
        ? []
        : [{ timestamp: micros(step.startedAt), ...base, status: 'started' }]),
      ...(step.endedAt === undefined || step.status === 'running'
        ? []
        : [
            {
              timestamp: micros(step.endedAt),
              ...base,
              status: toStepStatus(step.status),
              ...(step.durationMs !== undefined && { duration_ms: step.durationMs }),
              ...(note !== undefined && { note }),
            },
          ]),
    ]
  })
  return { run_id: row.id, events: events.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1)) }
}

export function toTiming({ row, steps }: FoundRun) {
  if (row.startedAt === undefined) {
    return { run_id: row.id, timing: null, message: 'no step of this run says when it began' }
  }
  return {
    run_id: row.id,
    timing: {
      run_id: row.id,
      started_at: micros(row.startedAt),
      ended_at: row.endedAt === undefined ? null : micros(row.endedAt),
      total_duration_seconds: seconds(row.durationMs),
      flows: Object.fromEntries(byFlow(steps).map(([flow, own]) => [flow, toFlowTiming(flow, own)])),
    },
  }
}

/** Undefined where the run has no such flow. */
export function flowTiming({ row, steps }: FoundRun, flow: string) {
  const own = steps.filter(({ names }) => names.flow === flow)
  if (own.length === 0) return undefined
  const timing = toFlowTiming(flow, own)
  const isKnown = timing.started_at !== null
  return {
    run_id: row.id,
    flow_key: flow,
    timing: isKnown ? timing : null,
    ...(!isKnown && { message: 'no step of this flow says when it began' }),
  }
}

function toFlowTiming(flow: string, steps: readonly FoundStep[]) {
  const starts = steps.flatMap(({ step }) => step.startedAt ?? []).sort()
  const ends = steps.flatMap(({ step }) => step.endedAt ?? []).sort()
  const [startedAt, endedAt] = [starts[0], ends.length === steps.length ? ends.at(-1) : undefined]
  const isWhole = startedAt !== undefined && endedAt !== undefined
  return {
    flow_key: flow,
    started_at: startedAt === undefined ? null : micros(startedAt),
    ended_at: endedAt === undefined ? null : micros(endedAt),
    duration_seconds: isWhole ? seconds(Date.parse(endedAt) - Date.parse(startedAt)) : null,
    steps: steps.map(({ step, names }) => ({
      step_id: names.step,
      started_at: step.startedAt === undefined ? null : micros(step.startedAt),
      ended_at: step.endedAt === undefined ? null : micros(step.endedAt),
      duration_seconds: seconds(step.durationMs),
    })),
  }
}

/** The steps' own events, where the run left no log of them. */
export function toEvents({ row, steps }: FoundRun) {
  const events = steps.flatMap(({ step, names }) => {
    const base = { run_id: row.id, flow_key: names.flow, step_id: names.step, agent_key: names.agentKey }
    const isEnded = step.endedAt !== undefined && step.status !== 'running'
    return [
      ...(step.startedAt === undefined
        ? []
        : [
            {
              ...base,
              ts: micros(step.startedAt),
              kind: 'step_start',
              payload: { engine: toEngine(names.engine) },
            },
          ]),
      ...(step.endedAt === undefined || !isEnded
        ? []
        : [
            {
              ...base,
              ts: micros(step.endedAt),
              kind: step.status === 'completed' ? 'step_end' : 'step_error',
              payload: {
                status: toStepStatus(step.status),
                ...(step.durationMs !== undefined && { duration_ms: step.durationMs }),
                ...(step.error !== undefined && { error: step.error }),
              },
            },
          ]),
    ]
  })
  return events.toSorted((a, b) => (a.ts < b.ts ? -1 : 1))
}

export function byFlow(steps: readonly FoundStep[]): readonly (readonly [string, readonly FoundStep[]])[] {
  const flows = new Map<string, FoundStep[]>()
  for (const found of steps) flows.set(found.names.flow, [...(flows.get(found.names.flow) ?? []), found])
  return [...flows]
}

function worst(steps: readonly FoundStep[]): RunStatus {
  const order: readonly RunStatus[] = ['running', 'failed', 'stopped', 'canceled']
  return order.find((status) => steps.some(({ step }) => toStatus(step.status) === status)) ?? 'succeeded'
}

function timesOf({ startedAt, endedAt, durationMs }: Pick<RunStep, 'startedAt' | 'endedAt' | 'durationMs'>) {
  return {
    ...(startedAt !== undefined && { started_at: micros(startedAt) }),
    ...(endedAt !== undefined && { completed_at: micros(endedAt) }),
    ...(durationMs !== undefined && { duration_ms: durationMs }),
  }
}

const micros = (instant: string): string => toMicros(instant)
const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / 1000)
