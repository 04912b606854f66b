import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { miniSweAgent } from './mini-swe-agent.ts'

const read = async (document: unknown): Promise<Transcript> => {
  const [told] = await readAll(miniSweAgent, memoryFileSource('x.traj.json', JSON.stringify(document)))
  return told as Transcript
}
const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 80 } }
const response = {
  id: 'r1',
  model: 'gpt',
  usage,
  choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
}

describe("mini-SWE-agent's trajectory", () => {
  it('has the counts of each answer, with the cache outside of the input', async () => {
    const { entries } = await read({
      trajectory_format: 'mini-swe-agent-1.1',
      info: {},
      messages: [
        { role: 'assistant', content: 'hi', extra: { timestamp: 1_767_225_600, response, cost: 0.01 } },
      ],
    })
    expect(entries[1]).toMatchObject({
      at: '2026-01-01T00:00:00.000Z',
      model: 'gpt',
      stopReason: 'stop',
      call: { messageId: 'r1' },
      usage: { input: 20, cacheRead: 80, output: 5, quality: 'reported' },
      metadata: { extra: { cost: 0.01 } },
    })
  })

  it('is a bare list before 1.0', async () => {
    const { entries } = await read([
      { role: 'assistant', content: '```bash\nls\n```' },
      { role: 'user', content: '<returncode>0</returncode>\nx' },
    ])
    expect(entries.map(({ role }) => role)).toEqual(['assistant', 'user'])
  })

  it('says how it ended', async () => {
    const { session } = await read({
      trajectory_format: 'mini-swe-agent-1',
      instance_id: 'p',
      info: { exit_status: 'LimitsExceeded' },
      messages: [],
    })
    expect(session).toMatchObject({ title: 'p', status: 'failed', stopReason: 'LimitsExceeded' })
  })

  it('keeps runs of one instance apart, and tells a copy of a run', async () => {
    const run = (id?: string) => ({
      trajectory_format: 'mini-swe-agent-1',
      instance_id: 'p',
      info: {},
      messages: [{ role: 'assistant', content: 'hi', extra: { response: { ...response, id } } }],
    })
    const [first, copy, second] = await Promise.all(['r1', 'r1', 'r2'].map((id) => read(run(id))))
    expect(copy?.session.id).toBe(first?.session.id)
    expect(second?.session.id).not.toBe(first?.session.id)
    // Without an answer's id a run is told by its file.
    const { session } = await read(run())
    expect(session).toMatchObject({ title: 'p' })
    expect(session).not.toHaveProperty('native')
  })
})
