import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { sweAgent } from './swe-agent.ts'

const read = async (document: unknown): Promise<Transcript> => {
  const [told] = await readAll(sweAgent, memoryFileSource('x.traj', JSON.stringify(document)))
  return told as Transcript
}
const step = {
  action: 'ls',
  observation: 'a.txt',
  response: 'I look.\nls',
  thought: 'I look.',
  execution_time: 1.5,
  query: [{ role: 'system', content: 'all of it' }],
}
const answer = {
  role: 'assistant',
  content: 'I look.',
  thought: 'I look.',
  action: 'ls',
  agent: 'main',
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'ls', arguments: '{}' } }],
}

describe("SWE-agent's trajectory", () => {
  it('is read the same however large it is', async () => {
    const history = [{ role: 'user', content: 'look', agent: 'main' }, answer]
    const facts = { environment: 'swe_main', info: { exit_status: 'submitted' }, history }
    const small = await read({ ...facts, trajectory: [step, { ...step, observation: 'b.txt' }] })
    const query = [{ role: 'system', content: 'all of it '.repeat(1_000_000) }]
    const large = await read({
      ...facts,
      trajectory: [
        { ...step, query },
        { ...step, observation: 'b.txt' },
      ],
    })
    const asText = (told: Transcript): string =>
      JSON.stringify(told, (key, one: unknown) => (key === 'origin' ? undefined : one))
    expect(asText(large)).toBe(asText(small))
  })

  it('is its history, with an event for each step that says only what the history does not', async () => {
    const { entries } = await read({
      trajectory: [step],
      history: [answer, { role: 'tool', content: 'OBSERVATION: a.txt', agent: 'main', tool_call_ids: ['c'] }],
      environment: 'main',
      info: {},
    })
    expect(entries.map(({ kind, role }) => role ?? kind)).toEqual(['event', 'assistant', 'tool', 'event'])
    expect(entries[2]?.blocks[0]).toMatchObject({ type: 'tool-result', callId: 'c' })
    expect(entries[3]).toMatchObject({
      durationMs: 1500,
      metadata: { record: 'step', response: 'I look.\nls' },
    })
    expect(entries[3]?.metadata).not.toHaveProperty('observation')
  })

  it('without a history is its steps', async () => {
    const { entries } = await read({ trajectory: [step], history: [], environment: 'main', info: {} })
    expect(entries.map(({ role }) => role)).toEqual([undefined, 'assistant', 'tool'])
    expect(entries[1]?.blocks).toMatchObject([{ text: 'I look.' }, { type: 'tool-call', input: 'ls' }])
    expect(JSON.stringify(entries)).not.toContain('all of it')
  })

  it('says of its demonstrations that they are', async () => {
    const { entries } = await read({
      history: [{ role: 'user', content: 'x', agent: 'main', is_demo: true }],
    })
    expect(entries[1]?.metadata).toMatchObject({ is_demo: true })
  })

  it('states sums, and none where it was replayed', async () => {
    const replay_config = JSON.stringify({
      problem_statement: { id: 'p-1' },
      agent: { model: { name: 'm' } },
    })
    const info = (sent: number) => ({
      model_stats: { instance_cost: sent / 100, tokens_sent: sent, tokens_received: 0 },
      exit_status: 'submitted (exit_cost)',
    })
    const { session } = await read({ trajectory: [step], history: [], info: info(50), replay_config })
    expect(session).toMatchObject({
      title: 'p-1',
      native: { sessionId: 'p-1/1.5' },
      model: 'm',
      status: 'failed',
      reportedCost: '0.5',
      reportedUsage: { input: 50 },
    })
    const { session: replayed } = await read({
      trajectory: [step],
      history: [],
      info: info(0),
      replay_config,
    })
    expect(replayed).not.toHaveProperty('reportedUsage')
    expect(replayed).not.toHaveProperty('reportedCost')
  })

  it('keeps runs of one instance apart, and tells a copy of a run', async () => {
    const run = (execution_time?: number) => ({
      trajectory: [{ ...step, execution_time }],
      history: [],
      info: {},
      replay_config: { problem_statement: { id: 'p-1' } },
    })
    const [first, copy, second] = await Promise.all([0.2138, 0.2138, 0.2139].map((time) => read(run(time))))
    expect(copy?.session.id).toBe(first?.session.id)
    expect(second?.session.id).not.toBe(first?.session.id)
    // Without a time of its own a run is told by its file.
    const { session } = await read(run())
    expect(session).toMatchObject({ title: 'p-1' })
    expect(session).not.toHaveProperty('native')
  })
})
