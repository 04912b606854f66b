/** The transcript and receipt schema, on a real disk: its directory example, and every field of its tables in files that a run left. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Recorder } from '../src/capture/record.ts'
import { startRun } from '../src/capture/run.ts'
import { swarm } from '../src/formats/swarm.ts'
import { openSource } from '../src/sources/open.ts'
import { readItems, readTranscripts } from '../src/sources/read.ts'
import type { JsonObject } from '../src/transcript/json.ts'
import type { Transcript } from '../src/transcript/transcript.ts'

const RUN = 'run-20251209-143022-abc123'
const START = Date.parse('2025-12-09T14:30:22Z')
const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

let folder: string
let now: number

function anew(): void {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-swarm-'))
  now = START
}

const run = (flow = 'build') =>
  startRun({
    flow,
    runId: RUN,
    home: join(folder, 'home'),
    cwd: folder,
    formats: ['swarm'],
    now: () => now,
  })

async function step(
  names: { readonly step: string; readonly agentKey: string; readonly engine?: string },
  work: (session: Recorder) => void = (session) => session.user('go'),
  flow = 'build',
): Promise<Recorder> {
  const session = await run(flow).step({ engine: 'claude', model: 'claude-sonnet-4-20250514', ...names })
  work(session)
  return session
}

const below = (flow = 'build'): string => join(folder, 'swarm/runs', RUN, flow)
const jsonOf = (path: string, flow = 'build'): JsonObject =>
  JSON.parse(fs.readFileSync(join(below(flow), path), 'utf8')) as JsonObject
const linesOf = (name: string): JsonObject[] =>
  fs
    .readFileSync(join(below(), 'llm', name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
const readBack = async (): Promise<readonly Transcript[]> =>
  (await readTranscripts(readItems(await openSource(join(folder, 'swarm/runs')), swarm))).transcripts

describe("the seed's directory structure", () => {
  beforeEach(anew)

  it('is the tree of its example, and read again each file has its step, agent and engine', async () => {
    const steps = [
      ['context-load', 'context-loader'],
      ['impl-loop', 'code-implementer'],
      ['impl-loop', 'code-critic'],
    ] as const
    for (const [id, agentKey] of steps) await (await step({ step: id, agentKey })).end()
    const tree = fs.readdirSync(below(), { recursive: true, encoding: 'utf8' }).sort()
    expect(tree).toEqual([
      'llm',
      'llm/context-load-context-loader-claude.jsonl',
      'llm/impl-loop-code-critic-claude.jsonl',
      'llm/impl-loop-code-implementer-claude.jsonl',
      'receipts',
      'receipts/context-load-context-loader.json',
      'receipts/impl-loop-code-critic.json',
      'receipts/impl-loop-code-implementer.json',
    ])
    const found = (await readBack()).map(({ session }) => session.run)
    expect(found).toEqual(
      expect.arrayContaining(
        steps.map(([id, agentKey]) => ({ id: RUN, flow: 'build', step: id, agentKey, engine: 'claude' })),
      ),
    )
    expect(found).toHaveLength(3)
  })

  it.each(['claude', 'gemini'])(
    'engine %s names the transcript, and its receipt says -step',
    async (engine) => {
      await (await step({ step: 'plan', agentKey: 'planner', engine })).end()
      expect(fs.readdirSync(join(below(), 'llm'))).toEqual([`plan-planner-${engine}.jsonl`])
      expect(jsonOf('receipts/plan-planner.json')).toMatchObject({
        engine: `${engine}-step`,
        transcript_path: `llm/plan-planner-${engine}.jsonl`,
      })
    },
  )

  it.each(['signal', 'plan', 'build', 'gate', 'deploy', 'wisdom', 'review'])(
    'flow key %s is a folder of the run',
    async (flow) => {
      await (await step({ step: 's', agentKey: 'a' }, undefined, flow)).end()
      expect(jsonOf('receipts/s-a.json', flow)).toMatchObject({ flow_key: flow, run_id: RUN })
    },
  )
})

describe('the transcript schema', () => {
  const NAME = 'impl-loop-code-implementer-claude.jsonl'
  let lines: JsonObject[]

  beforeAll(async () => {
    anew()
    const session = await step({ step: 'impl-loop', agentKey: 'code-implementer' }, (session) => {
      session.system('You are the code-implementer agent...')
      session.user('Implement the health check endpoint...')
      session.assistant("I'll implement the health check endpoint...")
      for (const name of ['Read', 'Write', 'Bash', 'Glob', 'Grep']) {
        const callId = session.toolCall({ name, input: { file_path: `/${name}` } })
        session.toolResult({ callId, output: `output of ${name}` })
      }
    })
    await session.end()
    lines = linesOf(NAME)
  })

  it('message events: timestamp is ISO 8601 with the Z suffix, in microseconds', () => {
    for (const { timestamp } of lines) expect(timestamp).toMatch(MICROSECONDS)
  })

  it('message events: role is system, user or assistant', () => {
    expect(lines.slice(0, 3).map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  })

  it('message events: content is the text, and there is nothing else', () => {
    expect(lines.slice(0, 3).map(({ content }) => content)).toEqual([
      'You are the code-implementer agent...',
      'Implement the health check endpoint...',
      "I'll implement the health check endpoint...",
    ])
    for (const line of lines.slice(0, 3)) expect(Object.keys(line)).toEqual(['timestamp', 'role', 'content'])
  })

  it('tool events: role is always tool', () => {
    expect(new Set(lines.slice(3).map(({ role }) => role))).toEqual(new Set(['tool']))
  })

  it('tool events: tool_name is the tool, whichever it is', () => {
    expect(lines.slice(3).map((line) => line['tool_name'])).toEqual(['Read', 'Write', 'Bash', 'Glob', 'Grep'])
  })

  it('tool events: tool_input is the object of parameters', () => {
    expect(lines.slice(3).map((line) => line['tool_input'])).toEqual(
      ['Read', 'Write', 'Bash', 'Glob', 'Grep'].map((name) => ({ file_path: `/${name}` })),
    )
  })

  it('tool events: content is what Read gave', () => {
    expect(lines[3]).toMatchObject({ content: 'output of Read' })
    expect(lines[3]).not.toHaveProperty('tool_output')
  })

  it('tool events: tool_output is what every other tool gave', () => {
    expect(lines.slice(4).map((line) => line['tool_output'])).toEqual(
      ['Write', 'Bash', 'Glob', 'Grep'].map((name) => `output of ${name}`),
    )
    for (const line of lines.slice(4)) expect(line).not.toHaveProperty('content')
  })
})

describe('the receipt schema', () => {
  let receipt: JsonObject

  beforeAll(async () => {
    anew()
    const session = await step({ step: 'impl-loop', agentKey: 'code-implementer' }, (session) => {
      now += 4800
      session.assistant('done', { usage: { input: 12_500, output: 3200 } })
    })
    await session.end()
    receipt = jsonOf('receipts/impl-loop-code-implementer.json')
  })

  it.each([
    ['receipt.engine', 'claude-step'],
    ['receipt.model', 'claude-sonnet-4-20250514'],
    ['receipt.step_id', 'impl-loop'],
    ['receipt.flow_key', 'build'],
    ['receipt.run_id', RUN],
    ['receipt.agent_key', 'code-implementer'],
    ['receipt.started_at', '2025-12-09T14:30:22.000000Z'],
    ['receipt.completed_at', '2025-12-09T14:30:26.800000Z'],
    ['receipt.duration_ms', 4800],
    ['receipt.status', 'succeeded'],
    ['receipt.tokens', { prompt: 12_500, completion: 3200, total: 15_700 }],
    ['receipt.transcript_path', 'llm/impl-loop-code-implementer-claude.jsonl'],
  ])('%s is %s', (name, value) => {
    expect({ receipt }).toHaveProperty(name, value)
  })

  it('a receipt has the fields of the reference and no others', () => {
    expect(Object.keys(receipt)).toEqual([
      'engine',
      'model',
      'step_id',
      'flow_key',
      'run_id',
      'agent_key',
      'started_at',
      'completed_at',
      'duration_ms',
      'status',
      'tokens',
      'transcript_path',
    ])
  })

  it('transcript_path leads from the flow’s folder to the transcript', () => {
    expect(fs.existsSync(join(below(), receipt['transcript_path'] as string))).toBe(true)
  })

  it.each([
    ['succeeded', (session: Recorder) => session.end()],
    ['failed', (session: Recorder) => session.fail(new Error('the tests failed'))],
    ['failed', (session: Recorder) => session.cancel()],
  ] as const)(
    'status %s: exactly one receipt for the execution, once it has ended',
    async (status, finish) => {
      anew()
      const session = await step({ step: 's', agentKey: 'a' })
      expect(fs.existsSync(join(below(), 'receipts'))).toBe(false)
      await finish(session)
      expect(fs.readdirSync(join(below(), 'receipts'))).toEqual(['s-a.json'])
      expect(jsonOf('receipts/s-a.json')).toMatchObject({ status })
    },
  )

  it('a step that is run again on disk leaves both executions, and the newest under the plain name', async () => {
    anew()
    for (const text of ['first', 'second']) {
      const session = await step({ step: 's', agentKey: 'a' }, (session) => session.user(text))
      now += 1000
      await session.end()
    }
    expect(fs.readdirSync(join(below(), 'receipts')).sort()).toEqual(['s-a.1.json', 's-a.json'])
    expect(linesOf('s-a-claude.jsonl')).toMatchObject([{ content: 'second' }])
    expect(linesOf('s-a-claude.1.jsonl')).toMatchObject([{ content: 'first' }])
    expect(await readBack()).toHaveLength(2)
  })
})

describe('stub mode', () => {
  it('is left out of cost when the files are read again', async () => {
    anew()
    const session = await run().step({
      step: 's',
      agentKey: 'a',
      engine: 'claude',
      stub: true,
      stepRole: 'x',
    })
    now += 100
    expect((await session.end()).totals).not.toHaveProperty('cost')
    expect(jsonOf('receipts/s-a.json')).toMatchObject({
      model: 'claude-stub',
      duration_ms: 100,
      tokens: { prompt: 0, completion: 0, total: 0 },
    })
    const [found] = await readBack()
    expect(found?.session.stub).toBe(true)
    expect(found?.session.reportedUsage).toBeUndefined()
  })
})
