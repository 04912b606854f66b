import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  OTHER,
  SESSION,
  assistant,
  bare,
  line,
  read,
  readOne,
  result,
  text,
  wrapper,
} from '../../test/claude-lines.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { createCostFold } from '../cost/cost.ts'
import type { Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../transcript/json.ts'
import { createCallFold } from '../transcript/totals.ts'
import { query } from '../transcript/transcript.ts'
import { claudeCode } from './claude-code.ts'
import type { Drift } from './format.ts'

const totals = (entries: readonly Entry[]) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const say = (said: string): JsonObject => ({ type: 'text', text: said })
const call = (id: string, name = 'Bash', input: JsonObject = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const end = (output: number): JsonObject => ({
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: output },
})

describe('trap 1: one line for each block, each with the whole usage', () => {
  it('counts a message once, by its last line', async () => {
    const { entries } = await read(
      assistant('a1', say('a'), { usage: { input_tokens: 3, output_tokens: 1 } }),
      assistant('a2', say('b'), { usage: { input_tokens: 3, output_tokens: 8 } }),
      assistant('a3', call('t1'), end(40)),
    )
    expect(totals(entries)).toMatchObject({ calls: 1, usage: { input: 3, output: 40, quality: 'reported' } })
  })
})

describe('trap 2: placeholders', () => {
  it('a message whose last line has no stop reason counts as a lower bound', async () => {
    const { entries } = await read(assistant('a1', say('a')), assistant('a2', say('b')))
    expect(totals(entries).usage).toMatchObject({ output: 1, quality: 'partial' })
  })

  describe('a stream that was cut', () => {
    const failed = (parentUuid: string): JsonObject => ({
      ...assistant('e1', say('Connection closed'), { id: 'own', model: '<synthetic>' }),
      parentUuid,
      isApiErrorMessage: true,
      error: 'server_error',
    })

    it('counts as a lower bound, though its line has a stop reason: an error stands below it', async () => {
      const { entries } = await read(assistant('a1', say('I was'), end(2)), failed('a1'))
      expect(totals(entries)).toMatchObject({ calls: 1, usage: { input: 3, output: 2, quality: 'partial' } })
      expect(entries.map(({ metadata }) => metadata?.['derived'])).toEqual([undefined, undefined, 'cut'])
    })

    it('is not one that ended before a prompt whose own call failed', async () => {
      const { entries } = await read(assistant('a1', say('Done'), end(9)), line('u2'), failed('u2'))
      expect(totals(entries).usage).toMatchObject({ output: 9, quality: 'reported' })
      expect(entries).toHaveLength(3)
    })
  })

  it('one whose last line has a stop reason is exact, whatever the lines before said', async () => {
    const { entries } = await read(assistant('a1', say('a')), assistant('a2', say('b'), end(9)))
    expect(totals(entries).usage).toMatchObject({ output: 9, quality: 'reported' })
  })
})

describe('trap 6: results of parallel calls hang off their own calls', () => {
  it('keeps all lines in the order of the file, on the way to the leaf or not', async () => {
    const { entries } = await read(
      line('u1'),
      assistant('a1', call('t1')),
      assistant('a2', call('t2'), end(5)),
      result('r1', 't1', { parentUuid: 'a1' }),
      result('r2', 't2', { parentUuid: 'a2' }),
      line('u2', { parentUuid: 'r2' }),
    )
    expect(entries.map(({ id }) => id)).toEqual(['u1', 'a1', 'a2', 'r1', 'r2', 'u2'])
    expect(entries.map(({ parent }) => parent).slice(3)).toEqual(['a1', 'a2', 'r2'])
  })
})

describe('trap 7: lines of one message with others between them', () => {
  it('are one turn and one call', async () => {
    const { entries } = await read(
      assistant('a1', call('t1')),
      bare('p1', { type: 'progress', data: { type: 'hook_progress' } }),
      result('r1', 't1'),
      assistant('a2', call('t2'), end(12)),
    )
    expect(totals(entries)).toMatchObject({ calls: 1, usage: { output: 12 } })
    expect(
      query(entries)
        .turns()
        .map((turn) => turn.entries.map(({ id }) => id)),
    ).toEqual([['a1', 'a2'], ['r1']])
  })
})

describe('trap 9: files as they really are', () => {
  it.each([
    ['an empty file', '', 0, 0],
    ['lines that are no objects', '"s"\n[1]\n7\nnull\n', 4, 0],
    [
      'CRLF and a byte order mark',
      `\uFEFF${text(line('u1')).replace('\n', '\r\n')}${text(line('u2'))}`,
      2,
      0,
    ],
    ['U+2028 inside a text', text(line('u1', { message: { role: 'user', content: 'a\u2028b' } })), 1, 0],
    ['a torn last line', `${text(line('u1'))}{"type":"assi`, 1, 1],
    ['records nobody knows', text({ type: 'tomorrow', sessionId: SESSION, x: { y: 1 } }), 1, 0],
  ])('%s', async (_, content, entries, damage) => {
    const all = await readAll(claudeCode, memoryFileSource(`${SESSION}.jsonl`, content))
    expect(all.flatMap((one) => one.entries)).toHaveLength(entries)
    expect(all.flatMap((one) => one.damage)).toHaveLength(damage)
  })
})

describe('trap 10: ids that were redacted', () => {
  it('stay on calls and results, and lines with one uuid keep ids of their own', async () => {
    const { entries } = await read(
      assistant('REDACTED', call('REDACTED')),
      result('REDACTED', 'REDACTED'),
      assistant('REDACTED', call('REDACTED'), end(5)),
    )
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3)
    expect(entries.map(({ blocks }) => blocks[0])).toMatchObject(entries.map(() => ({ callId: 'REDACTED' })))
    expect(totals(entries).toolCalls).toBe(2)
  })
})

describe('iterations', () => {
  const iterations = [
    {
      type: 'message',
      model: 'claude-opus-4-5',
      input_tokens: 2,
      output_tokens: 2,
      cache_read_input_tokens: 100,
    },
    { type: 'fallback_message', model: 'claude-sonnet-4-5', input_tokens: 2, output_tokens: 136 },
  ]
  const usage = { input_tokens: 2, output_tokens: 136, service_tier: 'standard', iterations }
  const facts = { model: 'claude-sonnet-4-5', stop_reason: 'end_turn', usage }
  const lines = [assistant('a1', { type: 'fallback' }, facts), assistant('a2', say('b'), facts)]

  it('are calls of their own, each with its model, though every line repeats them', async () => {
    const { entries } = await read(...lines)
    expect(
      entries.map((entry) => [entry.kind, entry.model, entry.call?.messageId, entry.usage?.output]),
    ).toEqual([
      ['event', 'claude-opus-4-5', 'msg_1:iteration-0', 2],
      ['message', 'claude-sonnet-4-5', 'msg_1', 136],
      ['message', 'claude-sonnet-4-5', 'msg_1', 136],
    ])
    expect(totals(entries)).toMatchObject({
      calls: 2,
      models: ['claude-opus-4-5', 'claude-sonnet-4-5'],
      usage: { input: 4, output: 138, cacheRead: 100, quality: 'reported' },
    })
  })

  it('cost what the call costs as the provider states it', async () => {
    const { entries } = await read(...lines)
    const split = createCostFold()
    const fold = createCallFold({ settle: (one) => split.add(one) })
    for (const entry of entries) fold.add(entry)
    fold.totals()
    const whole = createCostFold()
    const at = entries[0]?.at
    whole.add({ model: 'claude-sonnet-4-5', usage: { quality: 'reported', output: 136, raw: usage }, at })
    expect(split.cost().usd).toBe(whole.cost().usd)
    expect(split.cost().unpriced).toEqual([])
  })

  it('that say nothing countable leave the message as it is', async () => {
    const { entries } = await read(
      assistant('a1', say('a'), {
        stop_reason: 'end_turn',
        usage: { output_tokens: 5, iterations: [{}, 'x'] },
      }),
    )
    expect(entries).toHaveLength(1)
    expect(entries[0]?.usage).toMatchObject({ output: 5 })
  })
})

describe('compaction', () => {
  const boundary = bare('c1', {
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    logicalParentUuid: 'u1',
    compactMetadata: { trigger: 'auto', preTokens: 9 },
  })

  it('is an event that follows the entry before it, with its text', async () => {
    const { entries } = await read(line('u1'), boundary)
    expect(entries[1]).toMatchObject({
      kind: 'event',
      parent: 'u1',
      blocks: [{ type: 'text', text: 'Conversation compacted' }],
      metadata: { record: 'system', subtype: 'compact_boundary', compactMetadata: { preTokens: 9 } },
    })
  })

  it('leaves a summary that is nobody’s prompt', async () => {
    const { entries } = await read(
      boundary,
      line('u2', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    )
    expect(entries[1]).toMatchObject({ role: 'system', metadata: { isCompactSummary: true } })
  })
})

describe('what a person or the client put beside the messages', () => {
  const attach = (uuid: string, attachment: JsonObject): JsonObject =>
    bare(uuid, { type: 'attachment', attachment })

  it('what no person typed is the system’s word, though it stands in the user’s place', async () => {
    const { entries } = await read(
      line('u1'),
      line('u2', { isMeta: true }),
      line('u3', { origin: { kind: 'task-notification' } }),
      line('u4', { message: { role: 'user', content: '<local-command-stdout>x</local-command-stdout>' } }),
      line('u5', { origin: { kind: 'human' } }),
    )
    expect(entries.map(({ role }) => role)).toEqual(['user', 'system', 'system', 'system', 'user'])
  })

  it('a prompt typed while the model worked is a prompt', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
    const { entries } = await read(
      attach('q1', { type: 'queued_command', prompt: 'and tests', commandMode: 'prompt' }),
      attach('q2', { type: 'queued_command', prompt: [image, say('this')], commandMode: 'prompt' }),
      attach('q3', { type: 'queued_command', prompt: 'done', commandMode: 'task-notification' }),
    )
    expect(entries.map(({ kind, role, blocks }) => [kind, role, blocks.map(({ type }) => type)])).toEqual([
      ['message', 'user', ['text']],
      ['message', 'user', ['image', 'text']],
      ['event', undefined, ['text']],
    ])
  })

  it('other attachments are events with their text, or whole', async () => {
    const { entries } = await read(
      attach('h1', { type: 'hook_success', hookName: 'Stop', content: '', stdout: 'fine' }),
      attach('h2', { type: 'deferred_tools_delta', addedNames: ['a'] }),
    )
    expect(entries.map(({ blocks }) => blocks)).toMatchObject([
      [{ type: 'text', text: 'fine' }],
      [{ type: 'unknown', raw: { attachment: { addedNames: ['a'] } } }],
    ])
    expect(entries[0]?.metadata).toMatchObject({ record: 'attachment', attachment: { hookName: 'Stop' } })
  })

  it('an API’s error is an error, and counts for nothing', async () => {
    const { entries } = await read({
      ...assistant('a1', say('API Error: 529'), { model: '<synthetic>', usage: { input_tokens: 0 } }),
      isApiErrorMessage: true,
      error: 'overloaded',
    })
    expect(entries[0]?.blocks).toEqual([{ type: 'error', message: 'API Error: 529', code: 'overloaded' }])
    expect(totals(entries)).toEqual({ entries: 1, toolCalls: 0, calls: 0 })
  })

  it('tools and turns say how long they took, and edits keep their diffs', async () => {
    const structuredPatch = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-a', '+b'] }]
    const turn = bare('s1', { type: 'system', subtype: 'turn_duration', durationMs: 900 })
    const { entries } = await read(
      result('r1', 't1', { toolUseResult: { durationMs: 7, filePath: '/p/a', structuredPatch } }),
      result('r2', 't2', { toolUseResult: { agentId: 'x', totalDurationMs: 70, durationMs: 1 } }),
      turn,
    )
    expect(entries.map(({ durationMs }) => durationMs)).toEqual([7, 70, 900])
    expect(entries[0]?.metadata).toMatchObject({ toolUseResult: { filePath: '/p/a', structuredPatch } })
  })

  it('a summary of another session does not hide one of this', async () => {
    const { session } = await read(
      { type: 'summary', summary: 'own', leafUuid: 'u1' },
      { type: 'summary', summary: 'of another', leafUuid: 'elsewhere' },
      { type: 'summary', summary: 'of nothing' },
      line('u1'),
    )
    expect(session.title).toBe('own')
  })
})

describe('subagents', () => {
  const agent = (id: string, uuid: string, facts: JsonObject = {}): JsonObject =>
    line(uuid, { isSidechain: true, agentId: id, ...facts })
  const task = (uuid: string, id: string, prompt: string): JsonObject =>
    assistant(uuid, call(id, 'Task', { prompt }), { id: `msg_${uuid}`, ...end(5) })
  const links = (entries: readonly Entry[]) =>
    entries
      .filter(({ metadata }) => metadata?.['spawnedBy'] !== undefined)
      .map(({ source, metadata }) => [source, metadata?.['spawnedBy'], metadata?.['parentSource']])

  it('are linked to the calls that started them, one below the other, in whatever order their files come', async () => {
    const { entries } = await readOne(
      memorySource(
        files({
          [`p/${SESSION}.jsonl`]: text(
            line('u1'),
            task('a1', 't1', 'look'),
            result('r1', 't1', { toolUseResult: { agentId: 'z9', totalDurationMs: 5 } }),
          ),
          [`p/${SESSION}/subagents/agent-b2.jsonl`]: text(agent('b2', 'b1')),
          [`p/${SESSION}/subagents/agent-z9.jsonl`]: text(
            agent('z9', 'z1'),
            { ...task('z2', 't2', 'deeper'), isSidechain: true, agentId: 'z9' },
            { ...result('z3', 't2', { toolUseResult: { agentId: 'b2' } }), isSidechain: true, agentId: 'z9' },
          ),
        }),
      ),
    )
    expect(links(entries)).toEqual([
      ['subagent:z9', 't1', 'primary'],
      ['subagent:b2', 't2', 'subagent:z9'],
    ])
    const tree = query(entries).tree()
    expect(tree.children.map(({ source, children }) => [source, children.map((one) => one.source)])).toEqual([
      ['subagent:z9', ['subagent:b2']],
    ])
  })

  it('are read in the order of their files, those first that were named by then', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const naming = fc.array(fc.constantFrom(...names), { maxLength: 3 })
    const logs = fc.dictionary(fc.constantFrom(...names, ...names.map((name) => `w/${name}`)), naming)
    await fc.assert(
      fc.asyncProperty(naming, logs, async (first, logs) => {
        const toLog = (said: readonly string[], facts: JsonObject): string =>
          text(
            line('u', facts),
            ...said.map((agentId, n) => result(`r${n}`, `t${n}`, { toolUseResult: { agentId }, ...facts })),
          )
        const toPath = (name: string): string =>
          `p/${SESSION}/subagents/${name.replace(/(?=.$)/, 'agent-')}.jsonl`
        const agents = Object.entries(logs).map(([name, said]) => {
          const agentId = name.slice(-1)
          return { path: toPath(name), agentId, said, log: toLog(said, { isSidechain: true, agentId }) }
        })
        const { entries } = await readOne(
          memorySource(
            files({
              [`p/${SESSION}.jsonl`]: toLog(first, {}),
              ...Object.fromEntries(agents.map(({ path, log }) => [path, log])),
            }),
          ),
        )
        const left = agents.sort((one, other) => (one.path < other.path ? -1 : 1))
        const known = new Set(first)
        const expected = [`p/${SESSION}.jsonl`]
        while (left.length > 0) {
          const named = left.findIndex(({ agentId }) => known.has(agentId))
          const [next] = left.splice(Math.max(named, 0), 1)
          for (const agentId of next?.said ?? []) known.add(agentId)
          expected.push(next?.path ?? '')
        }
        expect([...new Set(entries.map(({ origin }) => origin?.file))]).toEqual(expected)
      }),
    )
  })

  it('that stand between the main lines without a name are told by their prompts', async () => {
    const side = (uuid: string, prompt: string): JsonObject =>
      line(uuid, { isSidechain: true, message: { role: 'user', content: prompt } })
    const { entries } = await read(
      task('a1', 't1', 'one'),
      task('a2', 't2', 'two'),
      side('s2', 'two'),
      side('s1', 'one'),
    )
    expect(links(entries)).toEqual([
      ['subagent:sidechain-s2', 't2', 'primary'],
      ['subagent:sidechain-s1', 't1', 'primary'],
    ])
  })

  it('with one prompt are told apart: a call that is taken is not taken again', async () => {
    const { entries } = await readOne(
      memorySource(
        files({
          [`p/${SESSION}.jsonl`]: text(
            task('a1', 't1', 'same'),
            task('a2', 't2', 'same'),
            result('r1', 't1', { toolUseResult: { agentId: 'a1' } }),
          ),
          [`p/${SESSION}/subagents/agent-a1.jsonl`]: text(
            agent('a1', 'x1', { message: { role: 'user', content: 'same' } }),
          ),
          [`p/${SESSION}/subagents/agent-b2.jsonl`]: text(
            agent('b2', 'y1', { message: { role: 'user', content: 'same' } }),
          ),
        }),
      ),
    )
    expect(links(entries).map(([source, id]) => [source, id])).toEqual([
      ['subagent:a1', 't1'],
      ['subagent:b2', 't2'],
    ])
  })

  it('that are teammates are told by their result’s words, or by the prompt in its envelope', async () => {
    const named = result('r1', 't1')
    const content = [{ type: 'tool_result', tool_use_id: 't1', content: 'Spawned.\nagentId: m1\nname: x' }]
    const told = '<teammate-message teammate_id="lead">\nbuild it\n</teammate-message>'
    const { entries } = await readOne(
      memorySource(
        files({
          [`p/${SESSION}.jsonl`]: text(
            task('a1', 't1', 'look'),
            { ...named, message: { role: 'user', content } },
            task('a2', 't2', 'build it'),
          ),
          [`p/${SESSION}/subagents/agent-m1.jsonl`]: text(agent('m1', 'x1')),
          [`p/${SESSION}/subagents/agent-m2.jsonl`]: text(
            agent('m2', 'y1', { message: { role: 'user', content: told } }),
          ),
        }),
      ),
    )
    expect(links(entries).map(([source, id]) => [source, id])).toEqual([
      ['subagent:m1', 't1'],
      ['subagent:m2', 't2'],
    ])
  })

  it('a folder gives no session for another program’s log, nor for a workflow’s journal', async () => {
    const source = memorySource(
      files({
        'p/history.jsonl': text({ display: 'x', project: '/p', timestamp: 1 }),
        [`p/${SESSION}.jsonl`]: text(line('u1')),
        [`p/${SESSION}/subagents/workflows/w/journal.jsonl`]: text({
          type: 'started',
          key: 'k',
          agentId: 'a',
        }),
      }),
    )
    const all = await readAll(claudeCode, source)
    expect(all.map(({ session }) => session.native?.sessionId)).toEqual([SESSION])
    expect(all[0]?.entries[1]).toMatchObject({ kind: 'event', metadata: { record: 'started' } })
  })

  it('what stands beside a log that is gone is still there', async () => {
    const source = memorySource(
      files({
        [`p/${SESSION}/subagents/agent-a1.jsonl`]: text(agent('a1', 'x1')),
        [`p/${SESSION}/subagents/agent-a1.meta.json`]: '{"agentType":"one"}',
        [`p/${SESSION}/subagents/agent-b2.meta.json`]: '{"agentType":"two"}',
        [`p/${OTHER}/tool-results/t.txt`]: 'long',
      }),
    )
    const all = await readAll(claudeCode, source)
    expect(all.map(({ session }) => session.native?.sessionId)).toEqual([SESSION, OTHER])
    expect(JSON.stringify(all)).toMatch(/"one".*"two".*"long"/)
  })

  const inner = assistant('i1', say('inside'), { id: 'msg_inner', ...end(50) })
  const data = { type: 'agent_progress', agentId: 'a7', message: inner }
  const progress = bare('p1', { type: 'progress', parentToolUseID: 't1', data })

  it('that only progress lines tell of are read from them, once', async () => {
    const { entries } = await read(task('a1', 't1', 'x'), progress, { ...progress, uuid: 'p2' })
    expect(entries.map(({ source, kind }) => [source, kind])).toEqual([
      ['primary', 'message'],
      ['primary', 'event'],
      ['subagent:a7', 'message'],
      ['primary', 'event'],
    ])
    expect(links(entries)).toEqual([['subagent:a7', 't1', 'primary']])
    expect(totals(entries)).toMatchObject({ calls: 2, usage: { output: 55 } })
  })

  it('that have a log are read from it, and progress lines add nothing', async () => {
    const { entries } = await readOne(
      memorySource(
        files({
          [`${SESSION}.jsonl`]: text(task('a1', 't1', 'x'), progress),
          [`${SESSION}/subagents/agent-a7.jsonl`]: text({ ...inner, isSidechain: true, agentId: 'a7' }),
        }),
      ),
    )
    expect(entries.filter(({ source }) => source === 'subagent:a7').map(({ id }) => id)).toEqual(['i1'])
    expect(totals(entries)).toMatchObject({ calls: 2, usage: { output: 55 } })
  })

  it('and what tools returned in files of their own is there', async () => {
    const { entries } = await readOne(
      memorySource(
        files({
          [`p/${SESSION}.jsonl`]: text(line('u1')),
          [`p/${SESSION}/tool-results/toolu_1.txt`]: 'long',
        }),
      ),
    )
    expect(entries[1]).toMatchObject({
      kind: 'event',
      blocks: [{ type: 'text', text: 'long' }],
      metadata: { record: 'tool-result-file', file: 'toolu_1.txt' },
    })
  })
})

describe('places', () => {
  it.each([
    [`slug/${SESSION}.jsonl`, `slug/${SESSION}.jsonl`],
    [`slug/${SESSION}/subagents/agent-a1.jsonl`, `slug/${SESSION}.jsonl`],
    [`slug/${SESSION}/subagents/workflows/w1/agent-a1.meta.json`, `slug/${SESSION}.jsonl`],
    [`slug/${SESSION}/tool-results/x.txt`, `slug/${SESSION}.jsonl`],
    ['slug/agent-d4.jsonl', `slug/${OTHER}.jsonl`],
  ])('%s is read with %s', async (path, unit) => {
    const source = memorySource(files({ [path]: text(line('u1', { sessionId: OTHER })) }))
    const [file] = await source.list()
    expect(await claudeCode.unit?.(file as NonNullable<typeof file>)).toBe(unit)
  })

  it('a hostile session id leads nowhere', async () => {
    const source = memorySource(files({ 'slug/agent-d4.jsonl': text(line('u1', { sessionId: '../../x' })) }))
    const [file] = await source.list()
    expect(await claudeCode.unit?.(file as NonNullable<typeof file>)).toBe('slug/agent-d4.jsonl')
  })
})

describe('drift', () => {
  it('names what is new, and nothing else', async () => {
    const seen: Drift[] = []
    const source = memoryFileSource(
      `${SESSION}.jsonl`,
      text(
        line('u1', { novelty: 1 }),
        assistant('a1', { type: 'hologram' }),
        { type: 'tomorrow', sessionId: SESSION },
        { ...wrapper, type: 'system', subtype: 'strange', uuid: 's', timestamp: '2026-02-10T10:00:01.123Z' },
      ),
    )
    for await (const _ of claudeCode.read(source, { drift: (one) => void seen.push(one) }));
    expect(seen).toEqual([
      { kind: 'key', name: 'user.novelty', version: '2.1.42' },
      { kind: 'block', name: 'hologram', version: '2.1.42' },
      { kind: 'record', name: 'tomorrow' },
      { kind: 'record', name: 'system/strange', version: '2.1.42' },
    ])
  })
})
