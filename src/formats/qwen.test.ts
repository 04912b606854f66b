import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { claudeCode } from './claude-code.ts'
import { qwen } from './qwen.ts'

const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const common = { sessionId: 's1', cwd: '/w', version: '0.21.13', gitBranch: 'main' }
const at = (second: number): string => `2026-08-17T13:00:0${second}.000Z`
const LOG = lines(
  {
    ...common,
    uuid: 'u1',
    parentUuid: null,
    timestamp: at(0),
    type: 'user',
    message: { role: 'user', parts: [{ text: 'Look.' }] },
  },
  {
    ...common,
    uuid: 'u2',
    parentUuid: 'u1',
    timestamp: at(1),
    type: 'assistant',
    model: 'qwen3',
    usageMetadata: {
      promptTokenCount: 20,
      cachedContentTokenCount: 5,
      candidatesTokenCount: 4,
      thoughtsTokenCount: 3,
      totalTokenCount: 27,
    },
    message: {
      role: 'model',
      parts: [{ text: 'hm', thought: true }, { functionCall: { id: 'c1', name: 'read', args: { p: 1 } } }],
    },
  },
  {
    ...common,
    uuid: 'u3',
    parentUuid: 'u2',
    timestamp: at(2),
    type: 'tool_result',
    toolCallResult: { callId: 'c1', status: 'error' },
    message: {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'read', response: { output: 'no' } } }],
    },
  },
  {
    ...common,
    uuid: 'u4',
    parentUuid: 'u3',
    timestamp: at(3),
    type: 'system',
    subtype: 'custom_title',
    systemPayload: { customTitle: 'A look' },
  },
)
const DAEMON = lines(
  {
    id: 1,
    v: 1,
    type: 'session_update',
    data: { update: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'hi' } } },
  },
  {
    id: 2,
    v: 1,
    type: 'session_update',
    data: { update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } } },
  },
  {
    id: 3,
    v: 1,
    type: 'session_update',
    data: {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'c',
        title: 'Read',
        status: 'completed',
        rawInput: { p: 1 },
        rawOutput: 'x',
      },
    },
  },
  { id: 4, v: 1, type: 'permission_request', data: { requestId: 'r' } },
)
const read = async (text: string) => (await readAll(qwen, memoryFileSource('s1.jsonl', text)))[0]

describe("Qwen Code's log", () => {
  it("is told apart from Claude Code's by its parts", async () => {
    expect((await qwen.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    expect(await claudeCode.detect(memoryFileSource('x', LOG))).toBeUndefined()
    const claude = lines({
      ...common,
      uuid: 'u',
      parentUuid: null,
      type: 'user',
      userType: 'external',
      message: { role: 'user', content: 'a' },
    })
    expect(await qwen.detect(memoryFileSource('x', claude))).toBeUndefined()
  })

  it('is a session with its title, and counts with thoughts beside the output', async () => {
    const one = await read(LOG)
    expect(one?.session).toMatchObject({
      native: { agent: 'qwen', sessionId: 's1' },
      title: 'A look',
      model: 'qwen3',
      cwd: '/w',
      git: { branch: 'main' },
      startedAt: at(0),
      endedAt: at(3),
    })
    expect(one?.entries.map(({ role, kind }) => role ?? kind)).toEqual(['user', 'assistant', 'tool', 'event'])
    expect(one?.entries[1]).toMatchObject({
      parent: 'u1',
      blocks: [{ type: 'thinking' }, { type: 'tool-call', callId: 'c1', input: { p: 1 } }],
      usage: { input: 15, cacheRead: 5, output: 7, reasoning: 3 },
      call: { messageId: 'u2' },
    })
    expect(one?.entries[2]?.blocks[0]).toMatchObject({ type: 'tool-result', output: 'no', isError: true })
  })

  it('bills what a branch copied to where it came from', async () => {
    const copy = {
      ...common,
      uuid: 'new',
      type: 'assistant',
      forkedFrom: { sessionId: 's0', messageUuid: 'u2' },
      message: { role: 'model', parts: [] },
      usageMetadata: { promptTokenCount: 1 },
    }
    expect((await read(lines(copy)))?.entries[0]?.call).toEqual({ messageId: 'u2' })
  })

  it('has its subagents as sources', async () => {
    const line = {
      ...common,
      uuid: 'a',
      type: 'assistant',
      agentId: 'ag',
      isSidechain: true,
      message: { role: 'model', parts: [{ text: 'x' }] },
    }
    expect((await read(lines(line)))?.entries[0]?.source).toBe('subagent:ag')
  })

  it('tells of what is new in it', async () => {
    const names: string[] = []
    const line = { ...common, uuid: 'a', type: 'system', subtype: 'dream', mood: 1 }
    const user = {
      ...common,
      uuid: 'b',
      type: 'user',
      mood: 1,
      message: { role: 'user', parts: [{ smell: 1 }] },
    }
    for await (const _ of qwen.read(memoryFileSource('x', lines(line, user)), {
      drift: ({ name }) => names.push(name),
    }))
      continue
    expect(names).toEqual(['system/dream', 'user.mood', 'smell'])
  })

  it('of its daemon is read line by line', async () => {
    expect((await qwen.detect(memoryFileSource('x', DAEMON)))?.confidence).toBe(0.9)
    const one = await read(DAEMON)
    expect(one?.entries.map(({ role, blocks }) => [role, blocks[0]?.type])).toEqual([
      ['user', 'text'],
      ['assistant', 'thinking'],
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
      [undefined, 'unknown'],
    ])
  })

  it('is read up to any byte', async () => {
    await expectToSurviveCuts(qwen, LOG)
    await expectToSurviveCuts(qwen, DAEMON)
  })
})
