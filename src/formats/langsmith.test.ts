import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { langsmith } from './langsmith.ts'

const read = (value: unknown): Promise<readonly Transcript[]> =>
  readAll(langsmith, memoryFileSource('runs.json', JSON.stringify(value)))
const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const run = (n: number, run_type: string, more: object = {}) => ({
  id: `r${n}`,
  trace_id: 't',
  dotted_order: `2026${n}Z`,
  run_type,
  name: run_type,
  start_time: `2026-01-01T00:00:0${n}`,
  end_time: `2026-01-01T00:00:0${n + 1}`,
  ...more,
})
const lc = (type: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', type],
  kwargs,
})
const human = lc('HumanMessage', { content: 'look', type: 'human' })
const ai = lc('AIMessage', {
  content: '',
  type: 'ai',
  tool_calls: [{ name: 'ls', args: { a: 1 }, id: 'c', type: 'tool_call' }],
  usage_metadata: {
    input_tokens: 30,
    output_tokens: 5,
    input_token_details: { cache_read: 10, cache_creation: 4 },
    output_token_details: { reasoning: 2 },
  },
})

describe("LangSmith's runs", () => {
  it('are read line by line where the second line is longer than what tells a file apart', async () => {
    const lines = [1, 2].map((n) =>
      JSON.stringify(
        run(n, 'llm', {
          inputs: { messages: [[human]] },
          extra: { pad: 'x'.repeat(n === 2 ? 3_000_000 : 1) },
        }),
      ),
    )
    const [told] = await readAll(langsmith, memoryFileSource('runs.jsonl', `${lines.join('\n')}\n`))
    expect(told?.damage).toEqual([])
    expect(told?.entries.map(({ origin }) => origin?.record)).toEqual(expect.arrayContaining([1, 2]))
  })

  it("are billed by their models' own, never by what stands at their parents", async () => {
    const [told] = await read([
      run(1, 'chain', { total_tokens: 35, prompt_tokens: 30, completion_tokens: 5 }),
      run(2, 'llm', {
        inputs: { messages: [[human]] },
        outputs: { generations: [[{ text: '', message: ai }]] },
      }),
    ])
    expect(totals(told as Transcript)).toMatchObject({
      calls: 1,
      toolCalls: 1,
      usage: { input: 16, cacheRead: 10, cacheWrite5m: 4, output: 5, reasoning: 2 },
    })
  })

  it('tell each message once, in the order of the runs, whichever the file has', async () => {
    const result = lc('ToolMessage', { content: 'a.txt', tool_call_id: 'c' })
    const [told] = await read([
      run(4, 'llm', {
        inputs: { messages: [[human, ai, result]] },
        outputs: { generations: [[{ text: 'done' }]] },
      }),
      run(3, 'tool', { outputs: { output: { type: 'tool', content: 'a.txt', tool_call_id: 'c' } } }),
      run(2, 'llm', { inputs: { messages: [[human]] }, outputs: { generations: [[{ message: ai }]] } }),
    ])
    expect(told?.entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(told?.entries[2]).toMatchObject({
      durationMs: 1000,
      blocks: [{ type: 'tool-result', callId: 'c', output: 'a.txt' }],
    })
    expect(told?.entries[0]?.at).toBe('2026-01-01T00:00:02.000Z')
  })

  it('of one thread are one session, of others another', async () => {
    const of = (n: number, thread: string) =>
      run(n, 'llm', {
        trace_id: `t${n}`,
        extra: { metadata: { thread_id: thread } },
        outputs: { content: `${n}` },
      })
    const told = await read([of(1, 'a'), of(2, 'b'), of(3, 'a')])
    expect(told.map(({ session, entries }) => [session.native?.sessionId, entries.length])).toEqual([
      ['a', 2],
      ['b', 1],
    ])
  })

  it('as its SDK sends them are put together', async () => {
    const post = [
      run(1, 'llm', { inputs: { messages: [{ role: 'user', content: 'hi' }] }, end_time: undefined }),
    ]
    const patch = [
      {
        dotted_order: '20261Z',
        trace_id: 't',
        end_time: '2026-01-01T00:00:03',
        outputs: {
          id: 'x',
          choices: [{ message: { role: 'assistant', content: 'yo' }, finish_reason: 'stop' }],
        },
      },
    ]
    const [told] = await read({ post, patch })
    expect(told?.entries).toMatchObject([
      { role: 'user' },
      { role: 'assistant', stopReason: 'stop', durationMs: 2000, call: { messageId: 'x' } },
    ])
  })

  it('say what went wrong', async () => {
    const [told] = await read([run(1, 'llm', { inputs: {}, outputs: null, error: 'refused' })])
    expect(told?.entries[0]?.blocks).toEqual([{ type: 'error', message: 'refused' }])
  })
})
