import { describe, expect, it } from 'vitest'
import {
  answered,
  asked,
  at,
  called,
  counted,
  event,
  item,
  line,
  meta,
  PARENT,
  read,
  said,
  text,
  THREAD,
  totals,
  turn,
} from '../../test/codex-lines.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { asString, type Json, type JsonObject } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { toSessionId } from './codex-facts.ts'
import { codex } from './codex.ts'

describe('items', () => {
  it('are messages, each line one entry, and every other line an event that holds it', async () => {
    const lines = [
      meta(),
      turn('gpt-5.5'),
      item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] }),
      asked('hi'),
      event('user_message', { message: 'hi' }),
      item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'xyz' }),
      event('agent_message', { message: 'well' }),
      said('well'),
      called('c1'),
      answered('c1'),
      item({
        type: 'custom_tool_call',
        name: 'apply_patch',
        input: '*** Begin',
        call_id: 'c2',
        status: 'completed',
      }),
      item({ type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'q' } }),
      item({ type: 'ghost_snapshot', ghost_commit: {} }),
      line('novelty', { x: 1 }),
    ]
    const { entries } = await read(...lines)
    expect(
      entries.map(({ kind, role, metadata }) => role ?? `${kind} ${asString(metadata?.['record'])}`),
    ).toEqual([
      'event session_meta',
      'event turn_context',
      'system',
      'user',
      'event user_message',
      'assistant',
      'event agent_message',
      'assistant',
      'assistant',
      'tool',
      'assistant',
      'assistant',
      'event ghost_snapshot',
      'event novelty',
    ])
    expect(entries[5]?.blocks).toEqual([{ type: 'thinking', text: 'hm', redacted: 'xyz' }])
    expect(entries[8]?.blocks).toEqual([
      { type: 'tool-call', callId: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
    ])
    expect(entries[9]?.blocks).toEqual([{ type: 'tool-result', callId: 'c1', output: 'ok' }])
    expect(entries[10]?.blocks).toEqual([
      { type: 'tool-call', callId: 'c2', name: 'apply_patch', input: '*** Begin' },
    ])
    expect(entries[10]?.metadata).toEqual({ payload: { type: 'custom_tool_call', status: 'completed' } })
    expect(entries[11]?.blocks[0]).toMatchObject({ type: 'tool-call', name: 'web_search' })
    expect(entries[13]?.blocks).toEqual([{ type: 'unknown', raw: lines[13] }])
    expect(entries.map(({ origin }) => origin?.record)).toEqual(lines.map((_, index) => index + 1))
  })

  it.each<[string, Json, JsonObject, number | undefined]>([
    ['text', 'fine', { output: 'fine' }, undefined],
    [
      'how the command ended, in its first lines',
      'Chunk ID: a\nWall time: 1.5 seconds\nProcess exited with code 2\nOutput:\nno\n',
      { isError: true },
      1500,
    ],
    ['a text that only speaks of an exit', 'Process exited with code 2', {}, undefined],
    [
      'text, exit code and time in one string',
      '{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.3}}',
      { output: 'no', isError: true },
      300,
    ],
    ['parts', [{ type: 'input_text', text: 'a' }], { output: [{ type: 'text', text: 'a' }] }, undefined],
    ['an object', { content: 'no', success: false }, { output: 'no', isError: true }, undefined],
  ])('of results may be %s', async (_, output, block, durationMs) => {
    const { entries } = await read(meta(), answered('c1', output))
    expect(entries[1]?.blocks[0]).toMatchObject({ type: 'tool-result', callId: 'c1', ...block })
    expect(entries[1]?.blocks[0]).not.toHaveProperty('isError', false)
    expect(entries[1]?.durationMs).toBe(durationMs)
  })

  it('that say what went wrong are errors, with a code where there is a word for it', async () => {
    const { entries } = await read(
      meta(),
      event('error', { message: 'no more', codex_error_info: 'usage_limit_exceeded' }),
      event('error', { message: 'no way', codex_error_info: { http: { status: 500 } } }),
      event('error', { said: 'nothing' }),
    )
    expect(entries.slice(1).map(({ kind, blocks }) => [kind, blocks[0]])).toEqual([
      ['message', { type: 'error', message: 'no more', code: 'usage_limit_exceeded' }],
      ['message', { type: 'error', message: 'no way' }],
      ['event', { type: 'unknown', raw: event('error', { said: 'nothing' }) }],
    ])
  })

  it('name the model of their turn', async () => {
    const { session, entries } = await read(meta(), turn('a'), said('1'), turn('b'), said('2'))
    expect(entries.map(({ model }) => model)).toEqual([undefined, undefined, 'a', undefined, 'b'])
    expect(session.model).toBe('a')
  })
})

describe('a session', () => {
  it('is what its first line says, and its events', async () => {
    const git = { branch: 'main', commit_hash: 'abc', repository_url: 'git@x:y' }
    const { session } = await read(
      meta({ git }),
      turn('gpt-5.5'),
      event('thread_name_updated', { thread_name: 'first' }),
      event('thread_name_updated', { thread_name: 'last' }, 9),
      event('turn_aborted', { reason: 'interrupted' }),
    )
    expect(session).toEqual({
      id: toSessionId(THREAD),
      native: { agent: 'codex', sessionId: THREAD },
      agent: 'codex',
      title: 'last',
      model: 'gpt-5.5',
      cwd: '/p',
      git: { branch: 'main', commit: 'abc', remote: 'git@x:y' },
      version: '0.135.0',
      startedAt: at(0),
      endedAt: at(9),
      status: 'interrupted',
    })
  })

  it('is named by its file where the first line is torn, never by a copied record', async () => {
    const torn = text(meta({ forked_from_id: PARENT })).slice(9)
    const name = `rollout-2026-02-10T10-00-01-${THREAD}.jsonl`
    const [only] = await readAll(codex, memoryFileSource(name, torn + text(meta({ id: PARENT }), said('a'))))
    expect(only?.session.native?.sessionId).toBe(THREAD)
  })
})

describe('older and other files', () => {
  const legacy = [
    { id: 'old-1', timestamp: at(0), instructions: null, git: { branch: 'main' } },
    { record_type: 'state' },
    { type: 'message', id: null, role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    { type: 'reasoning', id: 'r', summary: [], encrypted_content: null },
    { type: 'function_call', id: 'f', name: 'shell', arguments: '{"command": ["ls"]}', call_id: 'c1' },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: '{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.0}}',
    },
    { type: 'message', id: null, role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
  ]

  it('without envelopes are read', async () => {
    const { session, entries } = await read(...legacy)
    expect(session).toMatchObject({
      native: { sessionId: 'old-1' },
      git: { branch: 'main' },
      startedAt: at(0),
    })
    expect(entries.map(({ role }) => role)).toEqual([
      undefined,
      undefined,
      'user',
      'assistant',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(entries[5]?.blocks).toEqual([{ type: 'tool-result', callId: 'c1', output: 'a' }])
    expect(entries[5]).toMatchObject({ durationMs: 0 })
    const ids = entries.map(({ call }) => call?.messageId)
    expect(ids[3]).toBe(ids[4])
    expect(ids[6]).not.toBe(ids[4])
  })

  it('as codex exec prints them are read', async () => {
    const { session, entries } = await read(
      { type: 'thread.started', thread_id: THREAD },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'i0', type: 'reasoning', text: 'hm' } },
      { type: 'item.completed', item: { id: 'i1', type: 'command_execution', command: 'ls', exit_code: 0 } },
      { type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'ok' } },
      { type: 'turn.completed', usage: { input_tokens: 100, cached_input_tokens: 60, output_tokens: 5 } },
    )
    expect(session.native?.sessionId).toBe(THREAD)
    expect(entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'event',
      'event',
      'assistant',
      'event',
      'assistant',
      'event',
    ])
    expect(entries[4]?.usage).toMatchObject({ input: 40, cacheRead: 60, output: 5, quality: 'estimated' })
  })

  it.each<[string, Json[], number | undefined]>([
    ['a rollout', [meta(), said('a')], 0.95],
    ['an old one', legacy, 0.9],
    ['state records alone', [{ record_type: 'state' }], 0.7],
    ['one line', [meta()], 0.8],
    ['an old one without a word', [{ id: THREAD, timestamp: at(0), instructions: null }], 0.6],
    ['instructions of somebody’s', [{ id: 'a', timestamp: 'today', instructions: 'x' }], undefined],
    [
      'instructions among other lines',
      [{ id: THREAD, timestamp: at(0), instructions: null }, { a: 1 }],
      undefined,
    ],
    ['words that other programs use too', [{ type: 'compacted', payload: {} }], undefined],
    ['what exec prints', [{ type: 'thread.started', thread_id: 't' }], 0.9],
    ['items alone, which any program of OpenAI’s may have', [legacy[2] as Json], undefined],
    ['the log of its terminal', [{ ts: at(0), dir: 'meta', kind: 'session_start', model: 'x' }], undefined],
    ['pi’s', [{ type: 'session', version: 3, id: 'a', timestamp: at(0), cwd: '/' }], undefined],
    ['nothing', [], undefined],
  ])('detection of %s', async (_, lines, confidence) => {
    expect((await codex.detect(memoryFileSource('x', text(...lines))))?.confidence).toBe(confidence)
  })

  it('go back as they were', async () => {
    const strange = [
      { ...meta(), ordinal: 0 },
      {
        timestamp: '2026-02-10T10:00:01Z',
        type: 'response_item',
        payload: { role: 'user', content: 'plain' },
      },
      item({
        type: 'message',
        role: 'system',
        content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' }, 7],
      }),
      item({ type: 'function_call', name: 'f', arguments: { a: 1 }, call_id: 'c' }),
      item({ type: 'function_call', name: 'f', arguments: 'not json', namespace: null }),
      item({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] }),
      item({ type: 'reasoning', summary: 'odd' }),
      item({ type: 'tool_search_output', call_id: 'c', tools: [] }),
      item({ type: 'function_call_output', call_id: 'c', output: { type: 'input_text', text: 'x' } }),
      item({ type: 'function_call_output', call_id: 'c', output: null }),
      item({ type: 'message', role: 'nobody', content: [] }),
      event('error', { message: 'no', codex_error_info: 'x', turn: 1 }),
      event('error', { message: 'no', codex_error_info: { http: null } }),
      { ...event('error', { message: 'no' }), timestamp: '2026-02-10T10:00:01Z', record: 'mine' },
      { ...said('a'), absent: 1 },
      { ...said('b'), metadata: { client_authored: true } },
      { type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'ok' } },
      'a string',
      ['a list'],
      null,
    ]
    for (const lines of [strange, legacy]) {
      const read1 = await read(...lines)
      expect(read1.entries).toHaveLength(lines.length)
      const { files: written, lost } = writeTranscript(codex, read1)
      const [content] = [...written.values()]
      expect(
        content
          ?.toString()
          .trim()
          .split('\n')
          .map((one) => JSON.parse(one) as unknown),
      ).toEqual(lines)
      expect(lost).toEqual([])
    }
  })
})

describe('trap 9: files as they are found', () => {
  it('cost the line that is bad, in its place', async () => {
    const content = `${text(meta())}{"timest\r\n${text(said('a\u2028b')).replace('\n', '\r\n')}\0\0\n${text(said('x')).slice(0, 40)}`
    const [only] = await readAll(codex, memoryFileSource('x.jsonl', content))
    expect(only?.entries).toHaveLength(2)
    expect(only?.entries[1]?.blocks).toEqual([{ type: 'text', text: 'a\u2028b' }])
    expect(only?.damage.map(({ kind, line: number }) => [kind, number])).toEqual([
      ['not-json', 2],
      ['nul', 4],
      ['torn', 5],
    ])
  })

  it('may be empty', async () => {
    expect(await readAll(codex, memoryFileSource('x.jsonl', ''))).toEqual([])
  })

  it('cut at any byte lose nothing but the line they end in', async () => {
    const lines = [
      meta(),
      turn('m'),
      asked('é\u2028'),
      said('b'),
      called('c'),
      answered('c'),
      counted([9, 1, 2, 1]),
    ]
    const whole = Buffer.from(text(...lines))
    for (let end = 1; end < whole.length; end += 1) {
      const cut = whole.subarray(0, end)
      const [only] = await readAll(codex, memoryFileSource('x.jsonl', cut, { chunkBytes: 64 }))
      const ended = cut.toString().split('\n').length - 1
      const count = only?.entries.length ?? 0
      // A line is whole one byte before its newline.
      expect(count === ended || (count === ended + 1 && whole[end] === 10)).toBe(true)
      expect(count + (only?.damage.length ?? 0)).toBeGreaterThanOrEqual(Math.min(1, end))
    }
  })

  it('from an enemy change nothing but what they say', async () => {
    const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
    const hostile = [
      '{"timestamp":"x","type":"session_meta","payload":{"id":"../../etc/passwd","git":{"branch":7},"source":{"subagent":[]}}}',
      '{"type":"response_item","payload":{"type":"message","role":"user","content":[],"__proto__":{"p":1}},"__proto__":{"polluted":1}}',
      '{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-1,"output_tokens":1e+99}}}}',
      '{"type":"event_msg","payload":{"type":"token_count","info":[1]}}',
      `{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":{"a":${deep}}}}`,
      '{"type":"response_item","payload":{"type":"_call"}}',
      '{"type":"response_item","payload":{"type":"_output","call_id":3}}',
    ]
    const [only] = await readAll(codex, memoryFileSource('x.jsonl', hostile.join('\n')))
    expect(only?.entries).toHaveLength(hostile.length)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(totals(only as Transcript)).not.toHaveProperty('output')
    const { files: written } = writeTranscript(codex, only as Transcript)
    expect([...written.keys()][0]).not.toContain('..')
    expect([...written.values()][0]?.toString()).toBe(`${hostile.join('\n')}\n`)
  })
})

describe('what the lines around it say of an entry', () => {
  const goesBack = async (lines: readonly Json[]): Promise<void> => {
    const { files: written, lost } = writeTranscript(codex, await read(...lines))
    expect(lost).toEqual([])
    expect([...written.values()][0]?.toString()).toBe(text(...lines))
  }

  it('is how long its call took, and which event holds its edits', async () => {
    const duration = { secs: 1, nanos: 500_000_000 }
    const patch = { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' }
    const lines = [
      meta(),
      event('mcp_tool_call_end', { call_id: 'c1', duration }),
      answered('c1'),
      event('patch_apply_end', { call_id: 'c2', changes: { 'a.ts': { type: 'add', content: 'x' } } }),
      item(patch),
      event('exec_command_end', { call_id: 'c3', duration }),
      answered('c3', 'Wall time: 0.5 seconds\nOutput:\nx'),
      event('exec_command_end', { call_id: 'c4', duration: { secs: -1 } }),
      answered('c4'),
    ]
    const { entries } = await read(...lines)
    expect(entries[2]).toMatchObject({ durationMs: 1500 })
    expect(entries[4]?.metadata).toMatchObject({ edits: entries[3]?.id })
    expect(entries[6]).toMatchObject({ durationMs: 500 })
    expect(entries[8]).not.toHaveProperty('durationMs')
    await goesBack(lines)
  })

  it('is that it was taken back, from the prompt of its turn on', async () => {
    const undo = (turns: number): JsonObject => event('thread_rolled_back', { num_turns: turns })
    const context = asked('<environment_context>\n  <cwd>/p</cwd>\n</environment_context>')
    const lines = [
      meta(),
      asked('1'),
      said('a'),
      asked('2'),
      said('b'),
      undo(1),
      asked('3'),
      context,
      said('c'),
      undo(0),
      asked('4'),
      undo(2),
      said('d'),
    ]
    const { entries } = await read(...lines)
    const marked = entries.flatMap(({ metadata, sequence }) => (metadata?.['rolledBack'] ? [sequence] : []))
    expect(marked).toEqual([3, 4, 6, 7, 8, 9, 10])
    await goesBack(lines)
    const all = await read(meta(), said('x'), asked('1'), said('a'), undo(9))
    expect(all.entries.map(({ metadata }) => metadata?.['rolledBack'] === true)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ])
    expect((await read(meta(), said('x'), undo(1))).entries[1]).not.toHaveProperty('metadata.rolledBack')
  })

  it('is that Codex wrote it, not the user', async () => {
    const lines = [
      meta(),
      asked('<environment_context>\n</environment_context>'),
      asked('# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>'),
      asked('what does <environment_context> mean?'),
      item({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: '<user_instructions>x' },
          { type: 'input_text', text: 'hi' },
        ],
      }),
    ]
    const { entries } = await read(...lines)
    expect(entries.map(({ metadata }) => metadata?.['injected'] === true)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
    await goesBack(lines)
  })

  const spawn = item({
    type: 'function_call',
    name: 'spawn_agent',
    arguments: '{"message":"look"}',
    call_id: 'c1',
  })
  const child = meta({ source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } } })

  it.each<[string, JsonObject[]]>([
    ['the result', [answered('c1', JSON.stringify({ agent_id: THREAD }))]],
    ['an event', [answered('c1'), event('collab_agent_spawn_end', { call_id: 'c1', new_thread_id: THREAD })]],
    [
      'an activity',
      [event('sub_agent_activity', { event_id: 'c1', agent_thread_id: THREAD, kind: 'started' })],
    ],
  ])('is the session that it started, as %s says, which cites it', async (_, told) => {
    const lines = [meta({ id: PARENT }), asked('go'), spawn, ...told]
    const name = (thread: string, hour: string): string =>
      `sessions/2026/02/10/rollout-2026-02-10T${hour}-00-00-${thread}.jsonl`
    const [parent, started] = await readAll(
      codex,
      memorySource(
        files({ [name(PARENT, '10')]: text(...lines), [name(THREAD, '11')]: text(child, asked('look')) }),
      ),
    )
    expect(parent?.entries.at(-1)?.metadata).toMatchObject({ spawned: started?.session.id })
    expect(started?.session.parent).toEqual({
      session: parent?.session.id,
      citation: `${parent?.session.id}#2`,
      relation: 'subagent',
    })
    await goesBack(lines)
  })

  it('is the title in the index beside the rollouts, unless the thread names itself', async () => {
    const index = text(
      { id: THREAD, thread_name: 'first' },
      { id: THREAD, thread_name: 'last', updated_at: at(0) },
      { id: PARENT, thread_name: 'old' },
    )
    const all = await readAll(
      codex,
      memorySource(
        files({
          'session_index.jsonl': index,
          'sessions/a.jsonl': text(meta(), said('a')),
          'sessions/b.jsonl': text(
            meta({ id: PARENT }),
            event('thread_name_updated', { thread_name: 'new' }),
          ),
        }),
      ),
    )
    expect(all.map(({ session }) => session.title)).toEqual(['last', 'new'])
  })
})
