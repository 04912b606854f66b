/** Runs: the newest first, one with its steps, what each step used, and two of them step by step. */
import { listRuns, type ListedRun } from '../search/runs.ts'
import { stateMark } from '../search/state-mark.ts'
import { HansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import { answer, queryOf } from './answers.ts'
import {
  runsQuerySchema,
  type CompareAnswer,
  type ReceiptsAnswer,
  type RunAnswer,
  type RunsAnswer,
  type RunStep,
} from './api-runs.ts'
import { createMemory } from './ask.ts'
import type { App, AppContext } from './context.ts'
import { bookOf, findRun, toRunRow, type FoundRun } from './run-steps.ts'
import { readReceipts } from './step-files.ts'

const LIMIT = 100

export function registerRuns(app: App, context: AppContext): void {
  const { redactor, state } = context
  const remember = createMemory<readonly ListedRun[]>(1)
  app.get('/api/v1/runs', async (c) => {
    const { limit = LIMIT, offset = 0 } = queryOf(c, runsQuerySchema)
    const found = await state.read((database): RunsAnswer => {
      const runs = remember(stateMark(database), '', () => listRuns(database, bookOf(context.options)))
      const page = runs.slice(offset, offset + limit)
      return { runs: page.map((run) => toRunRow(run, redactor)), total: runs.length }
    })
    return answer(c, found ?? { runs: [], total: 0 })
  })

  app.get('/api/v1/runs/:id', async (c) => {
    const document = await within(context, c.req.param('id'), ({ row, steps }): RunAnswer => ({
      run: row,
      steps: steps.map(({ step }) => step),
    }))
    return answer(c, document)
  })

  app.get('/api/v1/runs/:id/receipts', async (c) => {
    const document = await within(context, c.req.param('id'), async ({ row, steps }, database) => {
      const receipts = await readReceipts(database, context, steps)
      const given: ReceiptsAnswer = {
        run: row.id,
        receipts: steps.map(({ id, step }) => {
          const [receipt, ...agents] = receipts.get(id) ?? []
          return { ...step, ...(receipt && { receipt }), ...(agents.length > 0 && { agents }) }
        }),
      }
      return given
    })
    return answer(c, document)
  })

  app.get('/api/v1/runs/:id/compare/:other', async (c) => {
    const document = await within(context, c.req.param('id'), (left, database) =>
      compareRuns(left, findRun(database, c.req.param('other'), redactor, bookOf(context.options))),
    )
    return answer(c, document)
  })
}

/** Works on one run. Throws `run-not-found`, also where nothing was ever recorded. */
export async function within<T>(
  { state, redactor, options }: AppContext,
  id: string,
  work: (run: FoundRun, database: Database) => T | Promise<T>,
): Promise<T> {
  const found = await state.read(async (database) => ({
    value: await work(findRun(database, id, redactor, bookOf(options)), database),
  }))
  if (found !== undefined) return found.value
  throw new HansardError('run-not-found', 'there is no run yet', {
    hint: 'hansard sync takes in what agents wrote',
  })
}

/** The n-th execution of a step stands beside the n-th of the same step in the other. */
export function compareRuns(left: FoundRun, right: FoundRun): CompareAnswer {
  const rows = new Map<string, { left?: RunStep; right?: RunStep }>()
  for (const side of ['left', 'right'] as const) {
    const seen = new Map<string, number>()
    for (const { step } of (side === 'left' ? left : right).steps) {
      const name = JSON.stringify([step.flow ?? '', step.step ?? step.node ?? '', step.agentKey ?? ''])
      const at = (seen.get(name) ?? 0) + 1
      seen.set(name, at)
      const key = `${name} ${at}`
      rows.set(key, { ...rows.get(key), [side]: step })
    }
  }
  return {
    left: left.row,
    right: right.row,
    steps: [...rows.values()].map((pair) => {
      const { flow, step } = pair.left ?? pair.right ?? {}
      return { ...(flow !== undefined && { flow }), ...(step !== undefined && { step }), ...pair }
    }),
  }
}
