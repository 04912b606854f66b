import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { openhands } from './openhands.ts'

const jsonl = (...records: readonly unknown[]): string =>
  records.map((one) => `${JSON.stringify(one)}\n`).join('')
const read = (text: string): Promise<readonly Transcript[]> =>
  readAll(openhands, memoryFileSource('output.jsonl', text))

const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

const response = {
  id: 'r1',
  model: 'claude',
  usage: {
    prompt_tokens: 100,
    completion_tokens: 7,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
  },
}
const action = (id: number, call: string) => ({
  id,
  timestamp: '2026-01-01T00:00:00.000001',
  source: 'agent',
  action: 'run',
  args: { command: 'ls', thought: 'so' },
  tool_call_metadata: { tool_call_id: call, function_name: 'bash', model_response: response },
})

describe('an evaluation of OpenHands', () => {
  it('has a session on each line, with what it says it cost', async () => {
    const line = (name: string) => ({
      instance_id: name,
      history: [action(1, 'c')],
      metrics: { accumulated_cost: 0.25 },
    })
    const [one, two] = await read(jsonl(line('a'), line('b')))
    expect(one?.session).toMatchObject({
      title: 'a',
      native: { agent: 'openhands', sessionId: 'a/2026-01-01T00:00:00.000001' },
      reportedCost: '0.25',
    })
    expect(two?.session.native?.sessionId).toBe('b/2026-01-01T00:00:00.000001')
  })

  it('keeps runs of one instance apart, and tells a copy of a run', async () => {
    const run = (timestamp: string) =>
      jsonl({ instance_id: 'a', history: [{ ...action(1, 'c'), timestamp }], metrics: {} })
    const runs = ['2026-01-01T00:00:00.5', '2026-01-01T00:00:00.5', '2026-01-02T00:00:00.5'].map(run)
    const [first, copy, second] = (await Promise.all(runs.map(read))).map(([told]) => told?.session.id)
    expect(copy).toBe(first)
    expect(second).not.toBe(first)
  })

  it('counts an answer once, whose actions all carry it, with the cache outside of the input', async () => {
    const history = [
      action(1, 'c1'),
      action(2, 'c2'),
      { observation: 'run', content: 'x', cause: 2, extras: {} },
    ]
    const [told] = await read(jsonl({ instance_id: 'a', history, metrics: {} }))
    expect(totals(told as Transcript)).toMatchObject({
      calls: 1,
      toolCalls: 2,
      usage: { input: 10, cacheRead: 60, cacheWrite5m: 30, output: 7, quality: 'reported' },
    })
    expect(told?.entries.at(-1)?.blocks[0]).toMatchObject({ type: 'tool-result', callId: 'c2', output: 'x' })
  })

  it('takes pairs of an action and an observation apart', async () => {
    const pair = [
      { action: 'run', args: { command: 'ls' } },
      { observation: 'run', content: 'x', extras: {} },
    ]
    const [told] = await read(jsonl({ instance_id: 'a', history: [pair], metrics: null }))
    expect(told?.entries.map(({ role }) => role)).toEqual([undefined, 'assistant', 'tool'])
  })

  it('says that it failed where it does', async () => {
    const [told] = await read(jsonl({ instance_id: 'a', history: null, metrics: null, error: 'no room' }))
    expect(told?.session).toMatchObject({ status: 'failed', error: 'no room' })
  })
})

const stats = (prompt: number, output: number, condenser = 0) => ({
  id: `s${prompt}`,
  source: 'environment',
  kind: 'ConversationStateUpdateEvent',
  key: 'stats',
  value: {
    usage_to_metrics: {
      default: {
        model_name: 'm',
        accumulated_token_usage: { prompt_tokens: prompt, completion_tokens: output },
      },
      condenser: {
        model_name: 'small',
        accumulated_token_usage: { prompt_tokens: condenser, completion_tokens: 0 },
      },
    },
  },
})
const acted = {
  id: 'a',
  source: 'agent',
  kind: 'ActionEvent',
  thought: [],
  tool_name: 't',
  tool_call_id: 'c',
  llm_response_id: 'r',
}

describe('a conversation of the SDK', () => {
  it('is billed what its counts grew by, each answer by the report before it', async () => {
    const [told] = await read(
      jsonl(
        stats(10, 1),
        acted,
        stats(30, 3, 5),
        { ...acted, id: 'b', llm_response_id: 'r2' },
        stats(30, 3, 5),
      ),
    )
    expect(totals(told as Transcript)).toMatchObject({ calls: 3, usage: { input: 35, output: 3 } })
    expect(totals(told as Transcript)).not.toHaveProperty('uncounted')
  })

  it('begins anew where counts fall', async () => {
    const [told] = await read(jsonl(stats(30, 3), stats(4, 1)))
    expect(totals(told as Transcript).usage).toMatchObject({ input: 34, output: 4 })
  })

  it('is a folder with a file for each event, in the order of their numbers', async () => {
    const event = (id: string) =>
      JSON.stringify({ id, source: 'user', kind: 'MessageEvent', llm_message: { role: 'user', content: id } })
    const folder = {
      'c1/events/event-00002-x.json': event('second'),
      'c1/events/event-00001-y.json': event('first'),
      'c1/events/event-00003-z.json': '{"id":',
    }
    const [told, ...others] = await readAll(openhands, memorySource(files(folder)))
    expect(told?.session.native?.sessionId).toBe('c1')
    // No event is a session of its own as well.
    expect(others).toEqual([])
    expect(told?.entries.map(({ id }) => id)).toEqual(['first', 'second'])
  })
})
