import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { claudeCode } from './claude-code.ts'
import { iflow } from './iflow.ts'

const common = {
  sessionId: 'session-1',
  isSidechain: false,
  userType: 'external',
  cwd: '/w',
  gitBranch: null,
  version: '1.0.0',
}
const call = (id: string): Json => ({ type: 'tool_use', id, name: 'read', input: { p: id } })
const answer = (uuid: string, content: readonly Json[]): Json => ({
  ...common,
  uuid,
  parentUuid: 'u1',
  timestamp: '2026-01-21T05:56:52.470Z',
  type: 'assistant',
  message: {
    id: `m-${uuid}`,
    type: 'message',
    role: 'assistant',
    content,
    model: 'glm',
    stop_reason: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  },
})
const LOG = [
  {
    ...common,
    uuid: 'u1',
    parentUuid: null,
    timestamp: '2026-01-21T05:56:34.812Z',
    type: 'user',
    message: { role: 'user', content: 'Look.' },
  },
  answer('a1', [{ type: 'text', text: 'Reading.' }, call('c1')]),
  answer('a2', [call('c1'), call('c2')]),
  {
    ...common,
    uuid: 'u2',
    parentUuid: 'a2',
    timestamp: '2026-01-21T05:56:53.000Z',
    type: 'user',
    message: {
      role: 'user',
      content: [
        {
          tool_use_id: 'c1',
          type: 'tool_result',
          content: {
            callId: 'c1',
            responseParts: { functionResponse: { id: 'c1', name: 'read', response: { output: 'text' } } },
            resultDisplay: 'shown',
          },
        },
      ],
    },
  },
]
  .map((value) => `${toJson(value)}\n`)
  .join('')

describe("iFlow's log", () => {
  it("is told apart from Claude Code's by its session's name", async () => {
    expect((await iflow.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    expect(await claudeCode.detect(memoryFileSource('x', LOG))).toBeUndefined()
    expect(await iflow.detect(memoryFileSource('x', LOG.replaceAll('session-1', 's1')))).toBeUndefined()
  })

  it('says each call once, though lines repeat it', async () => {
    const [one] = await readAll(iflow, memoryFileSource('x', LOG))
    const calls = one?.entries.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [block.callId] : [])),
    )
    expect(calls).toEqual(['c1', 'c2'])
    expect(one?.entries[2]?.metadata?.['repeatedCalls']).toBe(1)
    expect(one?.session).toMatchObject({
      native: { agent: 'iflow', sessionId: 'session-1' },
      model: 'glm',
      cwd: '/w',
    })
  })

  it("takes a function's answer for the result, and zeros for no count", async () => {
    const [one] = await readAll(iflow, memoryFileSource('x', LOG))
    expect(one?.entries[3]).toMatchObject({
      role: 'tool',
      blocks: [{ type: 'tool-result', callId: 'c1', name: 'read', output: 'text' }],
      metadata: { extras: [{ resultDisplay: 'shown' }] },
    })
    expect(one?.entries[1]?.usage).toEqual({
      quality: 'unavailable',
      raw: { input_tokens: 0, output_tokens: 0 },
    })
  })

  it('is read up to any byte', () => expectToSurviveCuts(iflow, LOG))
})
