/** Runs on a real port: our own paths and Flow Studio's, from files that flows left and from journals. */
import fs from 'node:fs'
import { join } from 'node:path'
import vm from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  compareSchema,
  receiptsSchema,
  runSchema,
  runsSchema,
  type CompareAnswer,
  type ReceiptsAnswer,
  type RunAnswer,
  type RunsAnswer,
} from '../src/server/api-runs.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import {
  AGAIN,
  HELPED,
  HOSTILE,
  leaveHostile,
  LEFT,
  RECORDED,
  serveRuns,
  STUB,
  type ServedRuns,
} from './run-archive.ts'
import { ask, SECRET, type Reply } from './serving.ts'

let served: ServedRuns
beforeAll(async () => void (served = await serveRuns()))
afterAll(() => served.close())

const request = (path: string, method = 'GET'): Promise<Reply> =>
  ask(served.server.port, {
    path,
    method,
    headers: {
      authorization: `Bearer ${served.server.token}`,
      ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': '2' }),
    },
    ...(method === 'POST' && { body: '{}' }),
  })

async function json<T = JsonObject>(path: string, status = 200): Promise<T> {
  const reply = await request(path)
  expect([reply.status, path], reply.text.slice(0, 500)).toEqual([status, path])
  return JSON.parse(reply.text) as T
}

describe('runs', () => {
  it('are listed newest first, page by page', async () => {
    const all = runsSchema.parse(await json<RunsAnswer>('/api/v1/runs'))
    expect(all.runs.map(({ id }) => id)).toEqual([RECORDED, STUB, AGAIN, LEFT, HELPED])
    expect(all.runs.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'failed',
      'completed',
    ])
    expect(all.runs.map(({ stub }) => stub)).toEqual([undefined, true, undefined, undefined, undefined])
    const second = await json<RunsAnswer>('/api/v1/runs?limit=1&offset=1')
    expect([second.runs.map(({ id }) => id), second.total]).toEqual([[STUB], 5])
    expect((await request('/api/v1/runs?limit=0')).status).toBe(400)
  })

  it('have their steps in the order they began, with what each used', async () => {
    const { run, steps } = runSchema.parse(await json<RunAnswer>(`/api/v1/runs/${LEFT}`))
    expect(run).toMatchObject({ flows: ['plan', 'build', 'gate'], status: 'failed', durationMs: 353_000 })
    expect(run.usage).toMatchObject({ input: 99_100, output: 12_900 })
    // From receipts alone: their tokens at the price of their model, and said to be an estimate.
    expect(run).toMatchObject({ cost: { usd: '0.490800', unpriced: [] }, isCostEstimated: true })
    expect(steps[0]).toMatchObject({ cost: { usd: '0.038100' }, isCostEstimated: true })
    expect(steps.map(({ flow, step, agentKey }) => [flow, step, agentKey])).toEqual([
      ['plan', 'scope-work', 'planner'],
      ['build', 'context-load', 'context-loader'],
      ['build', 'impl-loop', 'code-implementer'],
      ['build', 'impl-loop', 'code-critic'],
      ['gate', 'run-checks', 'gatekeeper'],
    ])
    expect(steps.at(-1)).toMatchObject({ status: 'failed', error: 'two checks failed', durationMs: 33_000 })
  })

  it('have the receipts that engines wrote, and such as they would have for what was recorded', async () => {
    const left = receiptsSchema.parse(await json<ReceiptsAnswer>(`/api/v1/runs/${LEFT}/receipts`))
    expect(left.receipts.map(({ receipt }) => receipt?.['duration_ms'])).toEqual([
      41_000, 12_000, 190_000, 64_000, 33_000,
    ])
    const recorded = await json<ReceiptsAnswer>(`/api/v1/runs/${RECORDED}/receipts`)
    expect(recorded.receipts.map(({ receipt }) => receipt?.['tokens'])).toEqual([
      { prompt: 1000, completion: 200, total: 1200 },
      { prompt: 1000, completion: 200, total: 1200 },
    ])
  })

  it('stand side by side, the same steps in one row', async () => {
    const compared = compareSchema.parse(
      await json<CompareAnswer>(`/api/v1/runs/${LEFT}/compare/${RECORDED}`),
    )
    expect([compared.left.id, compared.right.id]).toEqual([LEFT, RECORDED])
    const both = compared.steps.filter(({ left, right }) => left !== undefined && right !== undefined)
    expect(both.map(({ step }) => step)).toEqual(['impl-loop'])
    expect(compared.steps).toHaveLength(6)
  })

  it('that are not there are said to be so', async () => {
    for (const path of ['nope', 'nope/receipts', `${LEFT}/compare/nope`]) {
      const { error } = await json<{ error: JsonObject }>(`/api/v1/runs/${path}`, 404)
      expect(error).toMatchObject({ code: 'run-not-found' })
    }
  })
})

describe("the seed's own JavaScript", () => {
  /** Its two functions as they stand there, in a world whose `fetch` knows where the server is. */
  const load = (): {
    loadTranscript: (...names: string[]) => Promise<JsonObject[]>
    loadReceipt: (...names: string[]) => Promise<JsonObject>
  } => {
    const source = fs.readFileSync(join(import.meta.dirname, '../fixtures/flow-studio/load.js.txt'), 'utf8')
    const headers = { authorization: `Bearer ${served.server.token}` }
    const world = { fetch: (url: string) => fetch(`${served.server.origin}${url}`, { headers }), JSON }
    return vm.runInNewContext(`${source}\n;({ loadTranscript, loadReceipt })`, world) as ReturnType<
      typeof load
    >
  }

  it('loads a transcript that a flow left, line for line', async () => {
    const lines = await load().loadTranscript(LEFT, 'build', 'impl-loop', 'code-implementer', 'claude')
    const file = join(served.root, 'swarm/runs', LEFT, 'build/llm/impl-loop-code-implementer-claude.jsonl')
    const left = fs
      .readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
    const isSaid = (line: JsonObject): boolean => !JSON.stringify(line).includes('The key is')
    expect(lines.filter(isSaid)).toEqual(left.filter(isSaid))
    expect(lines).toHaveLength(left.length)
    expect(JSON.stringify(lines)).not.toContain(SECRET.slice(13, 53))
  })

  it('loads the receipt of it', async () => {
    const receipt = await load().loadReceipt(LEFT, 'build', 'impl-loop', 'code-implementer')
    const file = join(served.root, 'swarm/runs', LEFT, 'build/receipts/impl-loop-code-implementer.json')
    expect(receipt).toEqual(JSON.parse(fs.readFileSync(file, 'utf8')))
  })

  it('loads what was recorded, the newest execution', async () => {
    const lines = await load().loadTranscript(RECORDED, 'build', 'impl-loop', 'code-implementer', 'claude')
    expect(lines.map(({ role }) => role)).toEqual(['user', 'tool', 'assistant'])
    expect(lines.at(-1)).toMatchObject({ content: 'That was the second try' })
    const receipt = await load().loadReceipt(RECORDED, 'build', 'impl-loop', 'code-implementer')
    expect(receipt).toMatchObject({ status: 'succeeded', engine: 'claude-step', run_id: RECORDED })
  })
})

describe("Flow Studio's API", () => {
  const RUN = `/api/runs/${LEFT}`

  it('lists runs in pages', async () => {
    const first = await json('/api/runs?limit=3')
    expect(first).toMatchObject({ total: 5, limit: 3, offset: 0, has_more: true })
    const last = await json<{ runs: JsonObject[]; has_more: boolean }>('/api/runs?limit=3&offset=3')
    expect([last.runs.map((run) => run['run_id']), last.has_more]).toEqual([[LEFT, HELPED], false])
    expect(last.runs[0]).toMatchObject({ run_type: 'active', path: `swarm/runs/${LEFT}`, status: 'failed' })
    for (const wrong of ['limit=0', 'limit=501', 'limit=x', 'offset=-1'])
      expect(await json(`/api/runs?${wrong}`, 400)).toMatchObject({ error: expect.any(String) as string })
  })

  it('lists transcripts and receipts with all that names them', async () => {
    const { transcripts } = await json<{ transcripts: JsonObject[] }>(`${RUN}/transcripts`)
    expect(transcripts).toHaveLength(5)
    expect(transcripts[2]).toMatchObject({
      flow_key: 'build',
      step_id: 'impl-loop',
      agent_key: 'code-implementer',
      engine: 'claude',
      path: 'build/llm/impl-loop-code-implementer-claude.jsonl',
    })
    const { receipts } = await json<{ receipts: JsonObject[] }>(`${RUN}/receipts`)
    expect(receipts[2]).toMatchObject({
      path: 'build/receipts/impl-loop-code-implementer.json',
      engine: 'claude-step',
    })
    for (const { path } of [...transcripts, ...receipts] as { path: string }[])
      expect(fs.existsSync(join(served.root, 'swarm/runs', LEFT, path))).toBe(true)
  })

  it('gives a single transcript as lines of JSON', async () => {
    const reply = await request(`${RUN}/transcript/plan/scope-work/planner/claude`)
    expect([reply.status, reply.headers['content-type']]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    expect(reply.text.trim().split('\n')).toHaveLength(6)
  })

  it('keeps executions apart that a step had before', async () => {
    const { transcripts } = await json<{ transcripts: JsonObject[] }>(`/api/runs/${RECORDED}/transcripts`)
    expect(transcripts.map(({ path, execution }) => [path, execution])).toEqual([
      ['build/llm/impl-loop-code-implementer-claude.1.jsonl', 1],
      ['build/llm/impl-loop-code-implementer-claude.jsonl', undefined],
    ])
    const one = `/api/runs/${RECORDED}/transcript/build/impl-loop/code-implementer/claude`
    expect((await request(`${one}?execution=1`)).text).toContain('first try')
    expect((await request(one)).text).not.toContain('first try')
  })

  it('has subagents as further agents of their step, as the files would', async () => {
    const run = `/api/runs/${HELPED}`
    const { transcripts } = await json<{ transcripts: JsonObject[] }>(`${run}/transcripts`)
    expect(transcripts.map(({ agent_key }) => agent_key)).toEqual(['lead', 'Helper-1'])
    const helped = await request(`${run}/transcript/build/impl/helper-1/claude`)
    expect([helped.status, helped.text.includes('I helped'), helped.text.includes('done')]).toEqual([
      200,
      true,
      false,
    ])
    const own = await request(`${run}/transcript/build/impl/lead/claude`)
    expect([own.text.includes('I helped'), own.text.includes('done')]).toEqual([false, true])
    expect(await json(`${run}/receipt/build/impl/helper-1`)).toMatchObject({ tokens: { total: 6 } })
    expect(await json(`${run}/receipt/build/impl/lead`)).toMatchObject({ tokens: { total: 9 } })
  })

  it('gives the transcript and the receipt of a step by its whole name', async () => {
    const step = `${RUN}/flows/build/steps/impl-loop`
    const transcript = await json<{ messages: Json[] }>(`${step}/transcript`)
    expect(transcript).toMatchObject({
      run_id: LEFT,
      flow_key: 'build',
      step_id: 'impl-loop',
      engine: 'claude',
      transcript_file: 'impl-loop-code-critic-claude.jsonl',
    })
    expect(transcript.messages).toHaveLength(6)
    const receipt = await json<{ receipt: JsonObject }>(`${step}/receipt?agent_key=code-implementer`)
    expect(receipt).toMatchObject({ receipt_file: 'impl-loop-code-implementer.json' })
    expect(receipt.receipt['duration_ms']).toBe(190_000)
    // A beginning of a name is another name.
    expect(await json(`${RUN}/flows/build/steps/impl/transcript`, 404)).toHaveProperty('available_files')
  })

  it('says what there is, where something is not', async () => {
    expect(await json('/api/runs/nope/transcripts', 404)).toEqual({
      error: 'there is no run "nope"',
      hint: expect.any(String) as string,
    })
    expect(await json(`${RUN}/flows/deploy/steps/x/transcript`, 404)).toMatchObject({
      hint: 'its flows are: plan, build, gate',
    })
    expect(await json(`${RUN}/flows/gate/steps/x/receipt`, 404)).toMatchObject({
      available_files: ['run-checks-gatekeeper.json'],
    })
    expect(await json(`${RUN}/transcript/gate/run-checks/gatekeeper/gemini`, 404)).toMatchObject({
      available_files: ['run-checks-gatekeeper-claude.jsonl'],
    })
    expect(await json(`${RUN}/receipt/gate/nope/gatekeeper`, 404)).toHaveProperty('available_files')
    expect(await json(`${RUN}/flows/deploy/timing`, 404)).toHaveProperty('error')
  })

  it('tells when what happened', async () => {
    const summary = await json(`${RUN}/summary`)
    expect(summary).toMatchObject({ run_id: LEFT, status: 'failed', sdlc_status: 'error' })
    expect(summary).toMatchObject({ tokens: { prompt: 99_100, completion: 12_900, total: 112_000 } })
    const { events } = await json<{ events: JsonObject[] }>(`${RUN}/timeline`)
    expect(events).toHaveLength(10)
    expect(events[0]).toEqual({
      timestamp: '2025-12-09T14:30:22.000000Z',
      flow: 'plan',
      step: 'scope-work',
      status: 'started',
    })
    expect(events.at(-1)).toMatchObject({ status: 'failed', duration_ms: 33_000, note: 'two checks failed' })
    const { timing } = await json<{ timing: JsonObject }>(`${RUN}/timing`)
    expect(timing).toMatchObject({ run_id: LEFT, total_duration_seconds: 353 })
    const flow = await json<{ timing: JsonObject }>(`${RUN}/flows/build/timing`)
    expect(flow.timing).toMatchObject({ flow_key: 'build', duration_seconds: 269 })
    expect(flow.timing['steps']).toHaveLength(3)
  })

  it("gives a run's own events, or what its steps tell", async () => {
    const own = await json<{ events: JsonObject[] }>(`${RUN}/events`)
    expect(own.events).toHaveLength(11)
    expect(own.events[0]).toMatchObject({ kind: 'run_created', run_id: LEFT })
    const told = await json<{ events: JsonObject[] }>(`/api/runs/${AGAIN}/events`)
    expect(told.events.map(({ kind }) => kind).slice(0, 3)).toEqual(['step_start', 'step_end', 'step_start'])
  })

  it('compares two runs, says that it is well, and finds names', async () => {
    const compared = await json(`/api/runs/compare?run_a=${LEFT}&run_b=${AGAIN}`)
    expect(compared).toMatchObject({ run_a: { status: 'failed' }, run_b: { status: 'succeeded' } })
    expect(await json('/api/runs/compare?run_a=x', 400)).toHaveProperty('hint')
    expect(await json('/api/health')).toMatchObject({ status: 'ok', flows: 3, agents: 6, runs: 5 })
    expect(await json('/api/backends')).toMatchObject({ backends: [{ id: 'hansard' }] })
    const found = await json<{ results: JsonObject[] }>('/api/search?q=IMPL')
    expect(found.results.map(({ type, key }) => [type, key])).toContainEqual(['step', 'impl-loop'])
    expect(await json('/api/search', 400)).toHaveProperty('error')
  })

  it('executes nothing', async () => {
    for (const path of ['/api/run', `${RUN}/cancel`, `${RUN}/exemplar`]) {
      const reply = await request(path, 'POST')
      expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
        501,
        { hint: expect.any(String) as string },
      ])
      // As a page asks that has nothing to say besides.
      const headers = { authorization: `Bearer ${served.server.token}`, 'content-length': '0' }
      expect((await ask(served.server.port, { path, method: 'POST', headers })).status).toBe(501)
    }
  })

  it('is for who has the token, and lets no secret out', async () => {
    const { status, text } = await ask(served.server.port, { path: '/api/runs' })
    expect([status, JSON.parse(text)]).toEqual([
      401,
      { error: expect.any(String) as string, code: 'no-token', hint: expect.any(String) as string },
    ])
    const paths = [
      `${RUN}/summary`,
      `${RUN}/events`,
      `${RUN}/flows/build/steps/impl-loop/transcript`,
      '/api/runs',
    ]
    for (const path of [...paths, `${RUN}/transcript/plan/scope-work/planner/claude`])
      expect((await request(path)).text).not.toContain(SECRET.slice(13, 53))
  })
})

describe('names that somebody else chose', () => {
  it('are listed under safe ones, and lead to their own step alone', async () => {
    const hostile = await serveRuns({}, leaveHostile)
    const get = (path: string): Promise<Reply> =>
      ask(hostile.server.port, { path, headers: { authorization: `Bearer ${hostile.server.token}` } })
    const listed = await get('/api/runs/run-hostile/transcripts')
    const { transcripts } = JSON.parse(listed.text) as { transcripts: Record<string, string>[] }
    expect(transcripts).toHaveLength(HOSTILE.length)
    const found = new Set<string>()
    for (const { flow_key, step_id, agent_key, engine, path } of transcripts) {
      expect(path).toMatch(/^[\w-]+\/llm\/[\w.-]+\.jsonl$/)
      const reply = await get(
        `/api/runs/run-hostile/transcript/${flow_key}/${step_id}/${agent_key}/${engine}`,
      )
      expect(reply.status).toBe(200)
      found.add(reply.text.split('\n')[0] ?? '')
    }
    expect(found.size).toBe(HOSTILE.length)
    for (const name of ['..', '%2e%2e', '..%2f..%2fetc%2fpasswd'])
      expect(
        (await get(`/api/runs/run-hostile/transcript/build/${name}/a/claude`)).status,
      ).toBeGreaterThanOrEqual(400)
    await hostile.close()
  })
})
