import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { atif } from './atif.ts'

const read = async (more: object, version = 'ATIF-v1.7'): Promise<Transcript> => {
  const document = {
    schema_version: version,
    session_id: 's',
    agent: { name: 'a', version: '1', model_name: 'm' },
    ...more,
  }
  const [told] = await readAll(atif, memoryFileSource('trajectory.json', JSON.stringify(document)))
  return told as Transcript
}
const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const agent = (more: object) => ({ step_id: 1, source: 'agent', message: 'hi', ...more })

describe('a step of ATIF', () => {
  it('is an answer and each result that was observed', async () => {
    const { entries } = await read({
      steps: [
        agent({
          reasoning_content: 'hm',
          tool_calls: [{ tool_call_id: 'c1', function_name: 'f', arguments: { a: 1 } }],
          observation: {
            results: [
              { source_call_id: 'c1', content: 'x' },
              { content: [{ type: 'image', source: { media_type: 'image/png', path: 'i.png' } }] },
            ],
          },
        }),
      ],
    })
    expect(entries.map(({ role }) => role)).toEqual([undefined, 'assistant', 'tool', 'tool'])
    expect(entries[1]?.blocks.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool-call'])
    expect(entries[2]?.blocks).toEqual([{ type: 'tool-result', callId: 'c1', output: 'x' }])
    expect(entries[3]?.blocks[0]).toMatchObject({ output: [{ type: 'image', url: 'i.png' }] })
  })

  it('counts what is cached inside of the prompt, unless there is more of it', async () => {
    const metrics = (prompt: number) => ({ prompt_tokens: prompt, completion_tokens: 5, cached_tokens: 80 })
    const { entries } = await read({
      steps: [agent({ metrics: metrics(100) }), agent({ metrics: metrics(10) })],
    })
    expect(entries[1]?.usage).toMatchObject({ input: 20, cacheRead: 80, output: 5, quality: 'reported' })
    expect(entries[2]?.usage).toMatchObject({ input: 10, cacheRead: 80, quality: 'estimated' })
  })

  it('that was copied from before is not billed again', async () => {
    const metrics = { prompt_tokens: 100, completion_tokens: 5 }
    const told = await read({ steps: [agent({ metrics, is_copied_context: true }), agent({ metrics })] })
    expect(totals(told)).toMatchObject({ calls: 1, usage: { input: 100 } })
    expect(told.entries[1]?.metadata).toMatchObject({ is_copied_context: true, metrics })
  })
})

describe('a trajectory of ATIF', () => {
  it('has its subagents as sources of their own', async () => {
    const sub = {
      trajectory_id: 'sub',
      agent: { name: 'b', version: '1', model_name: 'n' },
      steps: [agent({ metrics: { prompt_tokens: 1 } })],
    }
    const { entries } = await read({ steps: [], subagent_trajectories: [sub] })
    expect(entries.map(({ source }) => source)).toEqual(['primary', 'subagent:sub', 'subagent:sub'])
    expect(entries[2]).toMatchObject({ model: 'n', usage: { input: 1 } })
  })

  it('that goes on with another is no second recording of it', async () => {
    const more = { agent: { name: 'a', version: '1', extra: { continuation_index: 1 } }, steps: [] }
    const [first, second] = [await read({ steps: [] }), await read(more)]
    expect(second.session.parent).toEqual({ session: first.session.id, relation: 'resume' })
    expect(second.session.native).not.toEqual(first.session.native)
  })

  it('states sums beside what its steps add up to', async () => {
    const { session } = await read({
      steps: [],
      final_metrics: {
        total_prompt_tokens: 9,
        total_cached_tokens: 4,
        total_completion_tokens: 1,
        total_cost_usd: 0.25,
      },
    })
    expect(session).toMatchObject({
      agent: 'a',
      reportedCost: '0.25',
      reportedUsage: { input: 5, cacheRead: 4, output: 1 },
    })
  })

  it('is one by its steps where it says only a number for its version', async () => {
    const text = JSON.stringify({ schema_version: '1.7', agent: {}, steps: [agent({})] })
    expect(await atif.detect(memoryFileSource('x', text))).toMatchObject({ confidence: 0.85 })
  })
})
