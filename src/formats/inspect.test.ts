import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { inspect } from './inspect.ts'

const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const evaluation = {
  eval: { eval_id: 'e', run_id: 'r', task: 'demo', model: 'openai/gpt' },
  plan: {},
  status: 'success',
  version: 2,
}
const user = { id: 'm1', role: 'user', content: 'look' }
const answer = {
  id: 'm2',
  role: 'assistant',
  content: 'ok',
  tool_calls: [{ id: 'c', function: 'ls', arguments: {} }],
}
const model = (uuid: string, message: object, more: object = {}) => ({
  event: 'model',
  uuid,
  timestamp: '2026-01-01T00:00:00Z',
  completed: '2026-01-01T00:00:02Z',
  model: 'openai/gpt',
  input: [user],
  output: {
    model: 'gpt-1',
    choices: [{ message, stop_reason: 'stop' }],
    usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
  },
  ...more,
})
const read = async (sample: object): Promise<Transcript> => {
  const log = { ...evaluation, samples: [{ id: 1, epoch: 1, ...sample }] }
  const [, told] = await readAll(inspect, memoryFileSource('log.json', JSON.stringify(log)))
  return told as Transcript
}
const spoken = ({ entries }: Transcript) => entries.filter(({ kind }) => kind === 'message')

describe('a sample of Inspect', () => {
  it('is told from the same sample of another task of the run', async () => {
    const task = async (name: string): Promise<string | undefined> => {
      const log = { ...evaluation, eval: { ...evaluation.eval, task: name }, samples: [{ id: 1, epoch: 1 }] }
      const [, told] = await readAll(inspect, memoryFileSource('log.json', JSON.stringify(log)))
      return told?.session.id
    }
    expect(await task('one')).not.toBe(await task('two'))
    expect(await task('one')).toBe(await task('one'))
  })

  it('tells each message once, with the counts and the times of its calls', async () => {
    const result = { role: 'tool', tool_call_id: 'c', content: 'a.txt', function: 'ls' }
    const told = await read({
      messages: [user, answer, result, { id: 'm4', role: 'assistant', content: 'done' }],
      events: [
        model('u1', answer),
        {
          event: 'tool',
          id: 'c',
          function: 'ls',
          arguments: {},
          result: 'a.txt',
          timestamp: '2026-01-01T00:00:03Z',
        },
        model('u2', { id: 'm4', role: 'assistant', content: 'done' }, { input: [user, answer, result] }),
      ],
    })
    expect(spoken(told).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(spoken(told)[1]).toMatchObject({
      durationMs: 2000,
      model: 'gpt-1',
      usage: { input: 10, output: 2 },
    })
    expect(totals(told)).toMatchObject({ calls: 2, toolCalls: 1, usage: { input: 20, output: 4 } })
    expect(told.session).toMatchObject({ title: 'demo 1/1', run: { id: 'r', flow: 'demo', step: '1/1' } })
  })

  it('has what was put aside in its place again', async () => {
    const hash = '0123456789abcdef0123456789abcdef'
    const told = await read({
      messages: [{ role: 'user', content: `attachment://${hash}` }],
      attachments: { [hash]: 'long' },
    })
    expect(spoken(told)[0]?.blocks).toEqual([{ type: 'text', text: 'long' }])
  })

  it('finds the messages of a call by their places in a pool', async () => {
    const told = await read({
      events_data: { messages: [user, answer] },
      events: [model('u', { role: 'assistant', content: 'x' }, { input: undefined, input_refs: [[0, 2]] })],
    })
    expect(
      spoken(told)
        .map(({ id }) => id)
        .slice(0, 2),
    ).toEqual(['m1', 'm2'])
  })

  it('is not billed for what came out of a cache of its own', async () => {
    expect(totals(await read({ events: [model('u', answer, { cache: 'read' })] })).calls).toBe(0)
  })

  it('counts what is cached beside the input, or inside of it where the total says so', async () => {
    const usage = (total: number) => ({
      output: {
        choices: [{ message: answer }],
        usage: { input_tokens: 10, output_tokens: 2, input_tokens_cache_read: 4, total_tokens: total },
      },
    })
    const told = await read({
      events: [model('u', answer, usage(16)), model('v', { ...answer, id: 'm9' }, usage(12))],
    })
    expect(spoken(told).flatMap(({ usage: one }) => (one === undefined ? [] : [one.input]))).toEqual([10, 6])
  })

  it('has agents inside of agents, and its scorers, as sources of their own', async () => {
    const span = (id: string, type: string, parent_id?: string) => ({
      event: 'span_begin',
      id,
      type,
      name: id,
      parent_id,
      timestamp: '2026-01-01T00:00:00Z',
    })
    const told = await read({
      events: [
        span('main', 'agent'),
        model('u', answer, { span_id: 'main' }),
        span('sub', 'agent', 'main'),
        model('v', answer, { span_id: 'sub' }),
        span('scorers', 'scorers'),
        model('w', answer, { span_id: 'scorers' }),
      ],
    })
    expect(
      spoken(told)
        .filter(({ role }) => role === 'assistant')
        .map(({ source }) => source),
    ).toEqual(['primary', 'subagent:sub', 'subagent:scorers'])
  })
})

describe('a log of Inspect', () => {
  it('is a folder of samples, whose header may be missing', async () => {
    const sample = JSON.stringify({ id: 1, epoch: 1, messages: [user], uuid: 's1' })
    const folder = {
      '_journal/start.json': JSON.stringify({ version: 2, eval: evaluation.eval, plan: {} }),
      'samples/1_epoch_1.json': sample,
    }
    const crashed = await readAll(inspect, memorySource(files(folder)))
    expect(crashed.map(({ session }) => session.native?.sessionId)).toEqual(['e', 's1'])
    const whole = await readAll(
      inspect,
      memorySource(files({ ...folder, 'header.json': JSON.stringify(evaluation) })),
    )
    expect(whole.map(({ session }) => session.title)).toEqual(['demo', 'demo 1/1'])
  })

  it('has what it says of its samples and their scores with its header, once and uncounted', async () => {
    const usage = { input_tokens: 9, output_tokens: 9, total_tokens: 18 }
    const summaries = JSON.stringify([
      { id: 1, epoch: 1, input: 'look', target: 'a', model_usage: { gpt: usage } },
    ])
    const reductions = JSON.stringify([{ scorer: 'match', samples: [{ value: 1 }] }])
    const folder = files({
      'header.json': JSON.stringify(evaluation),
      'samples/1_epoch_1.json': JSON.stringify({ id: 1, epoch: 1, messages: [user], uuid: 's1' }),
      '_journal/summaries/1.json': summaries,
      'summaries.json': summaries,
      'reductions.json': reductions,
    })
    const told = await readAll(inspect, memorySource(folder))
    expect(told).toHaveLength(2)
    expect(told[0]?.entries.map(({ metadata }) => metadata?.['record'])).toEqual([
      'evaluation',
      'summaries',
      'reductions',
    ])
    expect(told[0]?.entries.some(({ usage: counted }) => counted !== undefined)).toBe(false)
    for (const alone of [summaries, reductions]) {
      expect(await inspect.detect(memoryFileSource('x.json', alone))).toMatchObject({ confidence: 0.9 })
      expect((await readAll(inspect, memoryFileSource('x.json', alone)))[0]?.entries).toHaveLength(1)
    }
  })
})
