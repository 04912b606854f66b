import { describe, expect, it } from 'vitest'
import type { Session, Totals } from '../transcript/session.ts'
import { toRuns } from './runs.ts'

const step = (id: string, run: string | undefined, facts: Partial<Session> = {}): Session => ({
  id,
  status: 'completed',
  ...(run !== undefined && { run: { id: run, flow: 'build', step: `step-${id}` } }),
  ...facts,
})

const UNKNOWN = { usd: null, unpriced: [] }

describe('runs', () => {
  it('say how many answers nobody counted, but for steps whose source states the whole', () => {
    const totals: Totals = { entries: 1, toolCalls: 0, calls: 2, uncounted: 1 }
    const usage = { output: 1, quality: 'partial' } as const
    const reportedUsage = { input: 1, output: 1, quality: 'reported' } as const
    const [run] = toRuns([
      step('a', 'r', { totals: { ...totals, usage } }),
      step('b', 'r', { totals }),
      step('c', 'r', { totals, reportedUsage }),
    ])
    expect(run).toMatchObject({ uncounted: 2 })
    expect(toRuns([step('a', 'r')])[0]).not.toHaveProperty('uncounted')
  })

  it('are told of by their calls where the source states nothing but that it would', () => {
    // As an Entire checkpoint has it with a `token_usage` of `{}`.
    const reportedUsage = { quality: 'reported' } as const
    const cost = { usd: null, unpriced: ['nobody-knows'] }
    const totals: Totals = { entries: 1, toolCalls: 0, calls: 0, uncounted: 3, cost }
    expect(toRuns([step('a', 'r', { totals, reportedUsage })])[0]).toMatchObject({ uncounted: 3, cost })
  })

  it('are their sessions together: usage and cost added up, times from first to last', () => {
    const totals = (output: number, usd: string | null, unpriced: string[] = []): Totals => ({
      entries: 1,
      toolCalls: 0,
      calls: 1,
      usage: { output, quality: 'reported' },
      cost: { usd, unpriced },
    })
    const [run, ...others] = toRuns([
      step('b', 'r', { startedAt: '2025-01-02', endedAt: '2025-01-03', totals: totals(2, null, ['x']) }),
      step('lone', undefined),
      step('a', 'r', { startedAt: '2025-01-01', endedAt: '2025-01-02', totals: totals(1, '0.100000') }),
    ])
    expect(others).toEqual([])
    expect(run).toEqual({
      id: 'r',
      flow: 'build',
      flows: ['build'],
      sessions: ['a', 'b'],
      steps: ['step-a', 'step-b'],
      status: 'completed',
      startedAt: '2025-01-01',
      endedAt: '2025-01-03',
      usage: { output: 3, quality: 'reported' },
      cost: { usd: '0.100000', unpriced: ['x'] },
    })
  })

  it('cost what their receipts come to where no call was counted, which is an estimate', () => {
    const reportedUsage = { input: 8200, output: 900, quality: 'reported' as const }
    const left = { ...step('a', 'r'), model: 'claude-sonnet-4-20250514', startedAt: '2025-12-09T14:30:22Z' }
    expect(toRuns([{ ...left, reportedUsage }])[0]).toMatchObject({
      cost: { usd: '0.038100', unpriced: [] },
      isCostEstimated: true,
    })
    expect(toRuns([{ ...left, reportedUsage, model: 'nobody-knows' }])[0]).toMatchObject({
      cost: { usd: null, unpriced: ['nobody-knows'] },
    })
    // Nobody was asked, and nothing is said: neither costs nothing.
    expect(toRuns([{ ...left, reportedUsage, stub: true }])[0]).toHaveProperty('cost', UNKNOWN)
    expect(toRuns([{ ...left, reportedUsage: { quality: 'unavailable' } }])[0]).toHaveProperty(
      'cost',
      UNKNOWN,
    )
  })

  it('are as their worst step, running while one is, and unknown cost stays unknown', () => {
    const status = (...statuses: Session['status'][]): unknown =>
      toRuns(statuses.map((status, n) => step(String(n), 'r', { status })))[0]?.status
    expect(status('completed', 'failed', 'canceled')).toBe('failed')
    expect(status('failed', 'running')).toBe('running')
    expect(status('completed', 'interrupted')).toBe('interrupted')
    expect(toRuns([step('a', 'r')])[0]).toHaveProperty('cost', UNKNOWN)
  })

  it('count what a receipt states where no call was counted, and a log that breaks off is no failed step', () => {
    const stated = { input: 5, output: 2, quality: 'reported', raw: { prompt: 5 } } as const
    const log: Session = { id: 'log', status: 'interrupted', run: { id: 'r' }, recordings: [{ by: 'swarm' }] }
    const [run] = toRuns([log, step('a', 'r', { reportedUsage: stated, stub: true })])
    expect(run).toMatchObject({ status: 'completed', stub: true })
    expect(run?.usage).toEqual({ input: 5, output: 2, quality: 'reported' })
  })
})
