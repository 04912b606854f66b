import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { claudeCode } from './claude-code.ts'
import { entire } from './entire.ts'

const AT = '2026-02-10T10:00:00.000Z'
const toLines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

describe("Entire's checkpoints", () => {
  const claude = (number: number, facts: JsonObject): string =>
    JSON.stringify({
      parentUuid: null,
      isSidechain: false,
      userType: 'external',
      cwd: '/p',
      sessionId: '11111111-1111-4111-8111-111111111111',
      version: '2.1.42',
      gitBranch: 'main',
      type: 'user',
      uuid: `u${number}`,
      timestamp: `2026-02-10T10:00:0${number}.000Z`,
      message: { role: 'user', content: `say ${number}` },
      ...facts,
    })
  const first = `${claude(1, {})}\n`
  const second = `${claude(2, {})}\n`
  const sha = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
  const metadata = {
    checkpoint_id: '40b3d14323af',
    session_id: '2026-02-10-11111111-1111-4111-8111-111111111111',
    strategy: 'manual-commit',
    agent: 'Gemini CLI',
    branch: 'main',
    token_usage: {
      input_tokens: 3,
      cache_creation_tokens: 5,
      cache_read_tokens: 7,
      output_tokens: 11,
      api_call_count: 1,
    },
  }
  const checkpoint = (changes: Record<string, string> = {}) =>
    files({
      '40/b3d14323af/metadata.json': JSON.stringify({ checkpoint_id: '40b3d14323af', sessions: [{}] }),
      '40/b3d14323af/0/metadata.json': JSON.stringify(metadata),
      '40/b3d14323af/0/full.jsonl': first,
      '40/b3d14323af/0/full.jsonl.001': second,
      '40/b3d14323af/0/content_hash.txt': sha(first + second),
      '40/b3d14323af/0/tasks/toolu_1/agent-a9.jsonl': `${claude(3, { isSidechain: true, agentId: 'a9' })}\n`,
      ...changes,
    })

  it('read as one session: chunks in order, subagents apart, metadata kept', async () => {
    const source = memorySource(checkpoint())
    expect((await entire.detect(source))?.confidence).toBeGreaterThan(
      (await claudeCode.detect(source))?.confidence ?? 0,
    )
    const all = await readAll(entire, source)
    expect(all).toHaveLength(1)
    const [{ session, entries, damage }] = all as [Transcript]
    expect(damage).toEqual([])
    expect(entries.map(({ id, source }) => [id, source])).toEqual([
      ['u1', 'primary'],
      ['u2', 'primary'],
      ['u3', 'subagent:a9'],
      ['primary/2', 'primary'],
      ['primary/3', 'primary'],
    ])
    expect(entries[3]?.metadata).toEqual({ record: 'checkpoint' })
    expect(session).toMatchObject({
      native: { agent: 'claude-code', sessionId: '11111111-1111-4111-8111-111111111111' },
      names: { entire: metadata.session_id },
      agent: 'claude-code',
      reportedUsage: { input: 3, cacheRead: 7, cacheWrite5m: 5, output: 11, quality: 'estimated' },
    })
  })

  it('have the id that the same session has as Claude Code left it', async () => {
    const [here] = await readAll(entire, memorySource(checkpoint()))
    const [there] = await readAll(
      claudeCode,
      memoryFileSource('11111111-1111-4111-8111-111111111111.jsonl', first),
    )
    expect(here?.session.id).toBe(there?.session.id)
  })

  it('whose hash is another are damaged', async () => {
    const [read] = await readAll(
      entire,
      memorySource(checkpoint({ '40/b3d14323af/0/content_hash.txt': sha('x') })),
    )
    expect(read?.damage.map(({ kind }) => kind)).toEqual(['mismatch'])
    expect(read?.entries).toHaveLength(5)
  })

  it('of one session twice are two recordings of it', async () => {
    const later = { '41/000000000000/0/full.jsonl': first + second }
    const all = await readAll(entire, memorySource(checkpoint(later)))
    expect(new Set(all.map(({ session }) => session.id)).size).toBe(2)
    expect(new Set(all.map(({ session }) => session.native?.sessionId)).size).toBe(1)
  })

  it('that hold another agent’s document keep it whole, whatever their label says', async () => {
    const document = JSON.stringify({ conversation_id: 'c_1', history: [] }, undefined, 2)
    const source = files({
      '0/full.jsonl': document,
      '0/metadata.json': JSON.stringify({ ...metadata, agent: 'Claude Code' }),
    })
    const [read] = await readAll(entire, memorySource(source))
    expect(read?.entries[0]?.blocks).toEqual([{ type: 'unknown', raw: JSON.parse(document) }])
    expect(read?.session.agent).toBeUndefined()
  })

  it('that hold a document of an agent we know are read as that agent’s, whatever their label says', async () => {
    const info = { id: 'ses_1', title: 'Mend it', version: '1.2.20', directory: '/x', time: { created: 1 } }
    const message = {
      info: { id: 'msg_1', role: 'user' },
      parts: [{ id: 'prt_1', type: 'text', text: 'hi' }],
    }
    const documents = [
      JSON.stringify({ info, messages: [message] }, undefined, 2),
      JSON.stringify({
        sessionId: 's',
        projectHash: 'p',
        messages: [{ id: 'm', type: 'user', timestamp: 't', content: 'hi' }],
      }),
      toLines(
        { timestamp: AT, type: 'session_meta', payload: { id: 't1', cwd: '/x' } },
        {
          timestamp: AT,
          type: 'response_item',
          payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        },
      ),
      toLines(
        {
          type: 'session.start',
          id: 'e1',
          timestamp: AT,
          parentId: null,
          data: { sessionId: 's', producer: 'copilot-agent' },
        },
        { type: 'user.message', id: 'e2', timestamp: AT, parentId: 'e1', data: { content: 'hi' } },
      ),
      toLines(
        { type: 'session', version: 3, id: 's', timestamp: AT, cwd: '/x' },
        {
          type: 'message',
          id: 'a',
          parentId: null,
          timestamp: AT,
          message: { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        },
      ),
    ]
    const agents = ['opencode', 'gemini-cli', 'codex', 'copilot-cli', 'pi']
    for (const [index, agent] of agents.entries()) {
      const source = files({
        '0/full.jsonl': documents[index] as string,
        '0/metadata.json': JSON.stringify({ ...metadata, agent: 'Claude Code' }),
      })
      const [read] = await readAll(entire, memorySource(source))
      expect(read?.session, agent).toMatchObject({
        native: { agent },
        names: { entire: metadata.session_id },
      })
      expect(read?.entries.map(({ blocks }) => blocks[0])).toContainEqual({ type: 'text', text: 'hi' })
      expect(read?.entries.map(({ sequence }) => sequence)).toEqual(read?.entries.map((_, at) => at))
      expect(read?.entries.at(-1)?.metadata).toEqual({ record: 'checkpoint' })
      expect(new Set(read?.entries.map(({ id }) => id)).size).toBe(read?.entries.length)
    }
  })

  it('under the old name full.log are read too', async () => {
    const [read] = await readAll(entire, memorySource(files({ 'x/full.log': first })))
    expect(read?.entries).toHaveLength(1)
  })

  it('compact: a result for each answered call, merged lines, unknown fields kept', async () => {
    const lines = [
      {
        v: 1,
        agent: 'claude-code',
        cli_version: '0.5.1',
        type: 'user',
        ts: '2026-03-27T08:00:16.991Z',
        content: [{ id: 'p1', text: 'hi' }],
      },
      {
        v: 1,
        agent: 'claude-code',
        type: 'assistant',
        ts: '2026-03-27T08:02:36.120Z',
        id: 'msg_1',
        input_tokens: 3,
        output_tokens: 44,
        content: [
          { type: 'text', text: 'looking' },
          {
            type: 'tool_use',
            id: 't1',
            name: 'Grep',
            input: { pattern: 'x' },
            result: { output: 'no', status: 'error', matchCount: 0 },
          },
          { type: 'tool_use', id: 't2', name: 'Read', input: {} },
        ],
      },
      { v: 1, type: 'novelty', x: 1 },
    ]
    const source = memoryFileSource('transcript.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'))
    expect((await entire.detect(source))?.confidence).toBeGreaterThan(0.9)
    const [read] = await readAll(entire, source)
    expect(read?.session.agent).toBe('claude-code')
    expect(read?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'user',
      'assistant',
      'tool',
      'event',
    ])
    expect(read?.entries[1]).toMatchObject({
      call: { messageId: 'msg_1' },
      usage: { input: 3, output: 44, quality: 'partial' },
    })
    expect(read?.entries[2]?.blocks).toEqual([
      { type: 'tool-result', callId: 't1', name: 'Grep', output: 'no', isError: true },
    ])
    expect(read?.entries[1]?.metadata).toEqual({
      compact: { v: 1, agent: 'claude-code', content: { 1: { result: { matchCount: 0 } } } },
    })
  })
})
