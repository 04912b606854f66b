/**
 * Flow Studio's API under `/api`, answered from the archive: the seed's four endpoints, and those that Flow Studio really has. What
 * would execute something answers 501: Hansard records, it runs nothing.
 */
import type { Context } from 'hono'
import { listRuns } from '../search/runs.ts'
import type { Database } from '../sqlite/driver.ts'
import { asObject, parseJson, type JsonObject } from '../transcript/json.ts'
import type { App, AppContext } from './context.ts'
import { eventsOf, gather, linesOf, toStream } from './flow-studio-files.ts'
import { registerFlowStudioIndex } from './flow-studio-index.ts'
import { fileName, findStep, Refusal, refuse, reply, withAgents } from './flow-studio-find.ts'
import {
  flowTiming,
  pathsOf,
  toListed,
  toReceiptRows,
  toRunListed,
  toSummary,
  toTimeline,
  toTiming,
} from './flow-studio-shapes.ts'
import { compareRuns, within } from './routes-runs.ts'
import { findRun, toRunRow, type FoundRun, type FoundStep } from './run-steps.ts'
import { readReceipts, readStep, receiptText, stepFiles } from './step-files.ts'

const RUN = '/api/runs/:run'
const STEP = `${RUN}/flows/:flow/steps/:step`

export function registerFlowStudio(app: App, context: AppContext): void {
  const { redactor, state } = context
  const of = (
    path: string,
    work: (run: FoundRun, c: Context, database: Database) => object | Promise<object>,
  ): void => {
    app.get(path, (c) =>
      reply(c, context, () =>
        within(context, c.req.param('run') ?? '', (run, database) => work(run, c, database)),
      ),
    )
  }

  app.get('/api/runs', (c) =>
    reply(c, context, async () => {
      const page = pageOf(c)
      if (page instanceof Refusal) return page
      const runs = (await state.read((database) => listRuns(database))) ?? []
      const { limit, offset } = page
      const shown = runs.slice(offset, offset + limit).map((run) => {
        const row = toRunRow(run, redactor)
        return toRunListed({ row }, `swarm/runs/${row.id}`)
      })
      return { runs: shown, total: runs.length, limit, offset, has_more: offset + shown.length < runs.length }
    }),
  )

  app.get('/api/runs/compare', (c) =>
    reply(c, context, async () => {
      const [left, right] = [
        c.req.query('run_a') ?? c.req.query('a'),
        c.req.query('run_b') ?? c.req.query('b'),
      ]
      if (left === undefined || right === undefined)
        return new Refusal(400, { error: 'two runs are compared', hint: 'add ?run_a=…&run_b=…' })
      return within(context, left, (run, database) => compared(run, findRun(database, right, redactor)))
    }),
  )

  of(RUN, toSummary)
  of(`${RUN}/summary`, toSummary)
  of(`${RUN}/timeline`, toTimeline)
  of(`${RUN}/timing`, toTiming)
  of(`${RUN}/flows/:flow/timing`, (run, c) => {
    const flow = c.req.param('flow') ?? ''
    return (
      flowTiming(run, flow) ??
      new Refusal(404, { error: `run '${run.row.id}' has no flow '${flow.slice(0, 100)}'` })
    )
  })
  of(`${RUN}/transcripts`, async (run, _, database) => {
    const receipts = await readReceipts(database, context, run.steps)
    const transcripts = run.steps.flatMap((found): readonly object[] => {
      const own = toReceiptRows(found, receipts.get(found.id) ?? [], 'transcript')
      return own.length > 0 ? own : withAgents(found).map((one) => toListed(one, pathsOf(one).transcript))
    })
    return { run_id: run.row.id, transcripts }
  })
  of(`${RUN}/receipts`, async (run, _, database) => {
    const receipts = await readReceipts(database, context, run.steps)
    const rows = run.steps.flatMap((found) => toReceiptRows(found, receipts.get(found.id) ?? [], 'receipt'))
    return { run_id: run.row.id, receipts: rows }
  })

  app.get(`${RUN}/transcript/:flow/:step/:agent/:engine`, (c) =>
    reply(c, context, () =>
      within(context, c.req.param('run'), (run, database): object => {
        const found = findStep(run, wantedOf(c), 'transcript')
        if (found instanceof Refusal) return found
        const lines = linesOf(found, stepFiles(readStep(database, context, found.id), redactor))
        return c.body(toStream(lines, context), 200, {
          'content-type': 'application/x-ndjson; charset=utf-8',
        })
      }),
    ),
  )

  app.get(`${RUN}/receipt/:flow/:step/:agent`, (c) =>
    reply(c, context, async () => {
      const given = await receiptOf(c, context)
      return given instanceof Refusal ? given : given.receipt
    }),
  )

  app.get(`${STEP}/receipt`, (c) => reply(c, context, () => receiptOf(c, context)))

  app.get(`${STEP}/transcript`, (c) =>
    reply(c, context, () =>
      within(context, c.req.param('run'), async (run, database): Promise<object> => {
        const found = findStep(run, wantedOf(c), 'transcript')
        if (found instanceof Refusal) return found
        const lines = await gather(linesOf(found, stepFiles(readStep(database, context, found.id), redactor)))
        if (lines === undefined) return tooLarge(run, found)
        return {
          run_id: run.row.id,
          flow_key: found.names.flow,
          step_id: found.names.step,
          engine: found.step.engine ?? null,
          messages: lines.split('\n').flatMap((line) => (line === '' ? [] : (parseJson(line) ?? []))),
          transcript_file: fileName(pathsOf(found).transcript),
        }
      }),
    ),
  )

  of(`${RUN}/events`, async (run) => ({ run_id: run.row.id, events: await eventsOf(run, context) }))
  registerFlowStudioIndex(app, context)

  const executes = (c: Context): Response => refuse(c, EXECUTES)
  app.post('/api/run', executes)
  app.post('/api/runs', executes)
  app.post(`${RUN}/*`, executes)
}

const EXECUTES = new Refusal(501, {
  error: 'Hansard records flows and does not execute them',
  hint: 'start and stop runs where they are run; what they write is read here',
})

function pageOf(c: Context): { readonly limit: number; readonly offset: number } | Refusal {
  const numbers = [c.req.query('limit') ?? '100', c.req.query('offset') ?? '0']
  const [limit = 0, offset = 0] = numbers.map(Number)
  const isGood = numbers.every((text) => /^\d{1,9}$/.test(text)) && limit >= 1 && limit <= 500
  return isGood ? { limit, offset } : new Refusal(400, { error: 'limit is from 1 to 500, offset from 0 on' })
}

function wantedOf(c: Context) {
  return {
    flow: c.req.param('flow') ?? '',
    step: c.req.param('step') ?? '',
    agent: c.req.param('agent') ?? c.req.query('agent_key'),
    engine: c.req.param('engine'),
    execution: c.req.query('execution'),
  }
}

async function receiptOf(
  c: Context,
  context: AppContext,
): Promise<Refusal | { readonly receipt: JsonObject }> {
  return within(context, c.req.param('run') ?? '', async (run, database) => {
    const found = findStep(run, wantedOf(c), 'receipt')
    if (found instanceof Refusal) return found
    const receipt = asObject(parseJson((await receiptText(database, context, found)) ?? ''))
    if (receipt === undefined) {
      const hint = found.step.status === 'running' ? 'it is still running' : 'its engine left none'
      return new Refusal(404, { error: `step '${found.names.step}' has no receipt`, hint })
    }
    return {
      run_id: run.row.id,
      flow_key: found.names.flow,
      step_id: found.names.step,
      receipt,
      receipt_file: fileName(pathsOf(found).receipt),
    }
  })
}

function tooLarge({ row }: FoundRun, { names }: FoundStep): Refusal {
  const { flow, step, agentKey, engine } = names
  return new Refusal(413, {
    error: 'the transcript is too large for one document',
    hint: `GET /api/runs/${row.id}/transcript/${flow}/${step}/${agentKey}/${engine} gives it line by line`,
  })
}

function compared(left: FoundRun, right: FoundRun): object {
  const { steps } = compareRuns(left, right)
  return {
    run_a: toSummary(left),
    run_b: toSummary(right),
    steps: steps.map(({ flow, step, left: a, right: b }) => ({
      flow_key: flow ?? null,
      step_id: step ?? null,
      status_a: a?.status ?? null,
      status_b: b?.status ?? null,
      duration_ms_a: a?.durationMs ?? null,
      duration_ms_b: b?.durationMs ?? null,
      is_same_status: a?.status === b?.status,
    })),
  }
}
