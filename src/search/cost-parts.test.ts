import fs from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { peekState } from '../sources/state.ts'
import { billedParts, type BilledPart, type Bounds } from './cost-parts.ts'
import { createCostSum, type CostFold } from './cost-sum.ts'

const call = fc.record({
  /** Some are mentioned by several sessions. */
  call: fc.integer({ min: 0, max: 9 }),
  model: fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-5', 'nobody-prices-this', '<synthetic>'),
  /** Minutes from one another: half hours are met at their edges. */
  minute: fc.integer({ min: 0, max: 200 }),
  isCounted: fc.boolean(),
  isDated: fc.boolean(),
})
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never

const steps = fc.array(
  fc.record({
    session: fc.integer({ min: 1, max: 3 }),
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4 },
)

const BEGAN = Date.parse('2026-03-04T22:00:00.000Z')

function toLine(session: string, n: number, { call, model, minute, isCounted, isDated }: Call): string {
  const line = claudeLog(n, { session, call: `shared_${call}`, input: 100_000 + call }).replace(
    'claude-sonnet-4-5',
    model,
  )
  const value = JSON.parse(line, (key, one: unknown) => {
    if (key === 'usage' && !isCounted) return undefined
    if (key === 'timestamp') return isDated ? new Date(BEGAN + minute * 60_000).toISOString() : undefined
    return one
  }) as object
  return `${JSON.stringify(value)}\n`
}

const BOUNDS: readonly Bounds[] = [
  {},
  { since: '2026-03-04T22:30:00.000Z' },
  { since: '2026-03-04T22:00:00.000Z', until: '2026-03-05T00:00:00.000Z' },
]
const COLUMNS = ['substr(at, 1, 16)', 'substr(at, 1, 10)', 'model', 'billed_to']

/** By key, for half hours where sums are by them: calls are given to theirs. */
function folded(parts: readonly BilledPart[]): object {
  const folds = new Map<string, CostFold>()
  for (const part of parts) {
    const key = (part.key ?? 'none').replace(/(T\d\d):([0-5])\d$/, (_, hour: string, ten: string) => {
      return `${hour}:${ten < '3' ? '00' : '30'}`
    })
    const fold = folds.get(key) ?? createCostSum()
    fold.add(part)
    folds.set(key, fold)
  }
  return Object.fromEntries(
    [...folds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, fold]) => [key, fold.sum()]),
  )
}

async function compare(machine: Machine): Promise<void> {
  const state = await peekState(machine.archive())
  if (state === undefined) throw new Error('there is no state')
  try {
    for (const bounds of BOUNDS) {
      for (const column of COLUMNS) {
        const [sums, calls] = [false, true].map((isOfCalls) =>
          folded(billedParts(state.database, column, { bounds, isOfCalls })),
        )
        expect(sums, `${column} ${JSON.stringify(bounds)}`).toEqual(calls)
      }
    }
  } finally {
    state.close()
  }
}

const uncounted = { call: 0, model: 'claude-sonnet-4-5', minute: 0, isCounted: false } as const
/** The second session pays for what the first says, until that says something else. */
const PAID_BY_ANOTHER = [
  { session: 3, calls: [{ ...uncounted, isDated: true }] },
  { session: 1, calls: [{ ...uncounted, isDated: false }] },
  { session: 3, calls: [{ ...uncounted, isDated: false }] },
]

describe('the sums of the state', () => {
  it('are those of its calls, after every sync of logs that came, grew and shrank', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const machine = createMachine()
        try {
          for (const { session, calls } of all) {
            const id = `aaaaaaaa-0000-4000-8000-00000000000${session}`
            const lines = calls.map((one, n) => toLine(id, n * 2 + 1, one))
            machine.write(machine.log(id), claudeLog(0, { session: id }) + lines.join(''))
            await machine.sync()
            await compare(machine)
          }
        } finally {
          fs.rmSync(machine.base, { recursive: true, force: true })
        }
      }),
      { numRuns: 10, examples: [[PAID_BY_ANOTHER]] },
    )
  })
})
