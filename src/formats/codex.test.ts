import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { asString, type Json, type JsonObject } from '../transcript/json.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { codex } from './codex.ts'
import { toSessionId } from './codex-facts.ts'

/** UUIDs of version 7: the first 12 digits are the time. */
const PARENT = '01990000-0000-7000-8000-00000000000a'
const THREAD = '01990000-9000-7000-8000-00000000000b'
const OLD_TURN = '01990000-1000-7000-8000-00000000000c'
const OWN_TURN = '01990000-9001-7000-8000-00000000000d'

const at = (second: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, second)).toISOString()
const line = (type: string, payload: JsonObject, second = 1): JsonObject => ({
  timestamp: at(second),
  type,
  payload,
})
const meta = (facts: JsonObject = {}): JsonObject =>
  line('session_meta', {
    id: THREAD,
    timestamp: at(0),
    cwd: '/p',
    cli_version: '0.135.0',
    source: 'cli',
    ...facts,
  })
const turn = (model: string): JsonObject => line('turn_context', { cwd: '/p', model, turn_id: OWN_TURN })
const event = (type: string, facts: JsonObject = {}, second = 1): JsonObject =>
  line('event_msg', { type, ...facts }, second)
const item = (payload: JsonObject, second = 1): JsonObject => line('response_item', payload, second)
const said = (text: string, second = 1): JsonObject =>
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }, second)
const asked = (text: string): JsonObject =>
  item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const called = (callId: string): JsonObject =>
  item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: callId })
const answered = (callId: string, output: Json = 'ok'): JsonObject =>
  item({ type: 'function_call_output', call_id: callId, output })

/** Input, of which cached, output, of which reasoning. */
type Counts = readonly [number, number, number, number]
const counts = ([input, cached, output, reasoning]: Counts): JsonObject => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: reasoning,
  total_tokens: input + output,
})
const counted = (total: Counts, last: Counts = total, second = 1): JsonObject =>
  event(
    'token_count',
    { info: { total_token_usage: counts(total), last_token_usage: counts(last) }, rate_limits: null },
    second,
  )

const text = (...lines: readonly Json[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('')

async function read(...lines: readonly Json[]): Promise<Transcript> {
  const [only, ...others] = await readAll(codex, memoryFileSource('x.jsonl', text(...lines)))
  expect(others).toEqual([])
  return only as Transcript
}

function totals({ entries }: Transcript): unknown {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const { calls, usage } = fold.totals()
  return { calls, ...usage }
}

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

describe('trap 3: input includes what was cached, and output what was reasoned', () => {
  it('is taken apart, and stands on the last thing the model said', async () => {
    const { entries } = await read(
      meta(),
      said('a'),
      called('c1'),
      answered('c1'),
      counted([100, 80, 30, 10]),
    )
    expect(entries.map(({ usage }) => usage !== undefined)).toEqual([false, false, true, false, false])
    expect(entries[2]?.usage).toMatchObject({
      input: 20,
      cacheRead: 80,
      output: 30,
      reasoning: 10,
      quality: 'reported',
    })
    expect(entries[1]?.call).toEqual(entries[2]?.call)
  })

  it('takes what was written to a cache out of input too', async () => {
    const stated = {
      input_tokens: 100,
      cached_input_tokens: 50,
      cache_write_input_tokens: 30,
      output_tokens: 1,
    }
    const info = { total_token_usage: stated, last_token_usage: stated }
    const { entries } = await read(meta(), event('token_count', { info }))
    expect(entries[1]?.usage).toMatchObject({ input: 20, cacheRead: 50, cacheWrite5m: 30 })
  })

  it('marks counts that contradict each other', async () => {
    const { entries } = await read(meta(), counted([10, 20, 3, 5]))
    expect(entries[1]?.usage).toMatchObject({
      input: 0,
      cacheRead: 10,
      output: 3,
      reasoning: 3,
      quality: 'estimated',
    })
  })
})

describe('a count that is not stated', () => {
  const info = (total: JsonObject, last: JsonObject = total): JsonObject =>
    event('token_count', { info: { total_token_usage: total, last_token_usage: last } })

  it('stays unknown, and what lacks input or output is a lower bound', async () => {
    const { entries } = await read(
      meta(),
      info({ output_tokens: 5, cached_input_tokens: 3 }),
      info({ input_tokens: 9, output_tokens: 7 }, { input_tokens: 9, output_tokens: 2 }),
    )
    expect(entries[1]?.usage).toEqual({
      cacheRead: 3,
      output: 5,
      quality: 'partial',
      raw: { output_tokens: 5, cached_input_tokens: 3 },
    })
    expect(entries[2]?.usage).toMatchObject({ input: 9, output: 2, quality: 'reported' })
    expect(entries[2]?.usage).not.toHaveProperty('cacheRead')
  })

  it('does not make a total that first states it grow by all of it', async () => {
    const { entries } = await read(
      meta(),
      info({ input_tokens: 100, output_tokens: 5 }),
      info(
        { input_tokens: 110, output_tokens: 6, cached_input_tokens: 80 },
        { input_tokens: 10, output_tokens: 1, cached_input_tokens: 4 },
      ),
    )
    expect(entries[2]?.usage).toMatchObject({ input: 6, cacheRead: 4, output: 1, quality: 'reported' })
  })
})

describe('trap 4: the count is a running total', () => {
  it('without which the last call counts, estimated, and once', async () => {
    const alone = (counted: Counts): JsonObject =>
      event('token_count', { info: { last_token_usage: counts(counted) } })
    const all = await read(
      meta(),
      said('a'),
      alone([10, 0, 5, 0]),
      alone([10, 0, 5, 0]),
      said('b'),
      alone([20, 8, 6, 0]),
      said('c'),
      counted([60, 8, 18, 0], [30, 0, 7, 0]),
    )
    expect(totals(all)).toMatchObject({
      calls: 3,
      input: 52,
      cacheRead: 8,
      output: 18,
      quality: 'estimated',
    })
    expect(all.entries[1]?.usage).toMatchObject({ input: 10, quality: 'estimated' })
  })

  it('counts what it grew by', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      said('b'),
      counted([250, 90, 30, 5], [150, 90, 20, 5]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 160, cacheRead: 90, output: 30, reasoning: 5 })
  })

  it('that is repeated counts once', async () => {
    const once = counted([100, 0, 10, 0])
    const all = await read(meta(), said('a'), once, once, said('b'), once)
    // What came after it is a call that nobody counted.
    expect(totals(all)).toMatchObject({ input: 100, output: 10 })
    expect(all.entries.filter(({ usage }) => usage)).toHaveLength(1)
  })

  it('that falls counts the last call', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 50, 10, 0]),
      said('b'),
      counted([200, 50, 20, 0], [100, 0, 10, 0]),
      said('c'),
      counted([140, 60, 15, 0], [40, 10, 5, 0]),
      said('d'),
      counted([150, 60, 16, 0], [10, 0, 1, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 4, input: 190, cacheRead: 60, output: 26 })
  })

  it('that only says how large the context is counts nothing', async () => {
    const size = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 9000 }
    const info = { total_token_usage: counts([100, 0, 10, 0]), last_token_usage: size }
    const compacted = line('compacted', { message: '', replacement_history: [said('a')['payload'] ?? null] })
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      compacted,
      event('token_count', { info }),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
    expect(all.entries.filter(({ kind }) => kind === 'message')).toHaveLength(1)
  })

  it('that has no counts but rate limits counts nothing', async () => {
    expect(totals(await read(meta(), event('token_count', { info: null, rate_limits: {} })))).toEqual({
      calls: 0,
    })
  })

  it('goes on after a roll-back: what was undone still cost', async () => {
    const undone = event('thread_rolled_back', { num_turns: 1 })
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      undone,
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
    expect(all.entries).toHaveLength(6)
  })

  it('goes on after a resume, which states the session again', async () => {
    const all = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      meta(),
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
  })

  it('stands on the count itself where nothing was said, or where it comes too late', async () => {
    const many = Array.from({ length: 600 }, (_, index) => answered(`c${index}`))
    const all = await read(meta(), said('a'), ...many, counted([100, 0, 10, 0]))
    expect(all.entries.at(-1)).toMatchObject({
      kind: 'event',
      usage: { input: 100 },
      call: all.entries[1]?.call,
    })
    expect(totals(all)).toMatchObject({ calls: 1, input: 100 })
  })

  it('begins where the file begins, when the history before it is in another', async () => {
    const base = { history_base: { thread_id: PARENT, end_ordinal_exclusive: 9 } }
    const all = await read(meta(base), said('a'), counted([1100, 0, 110, 0], [100, 0, 10, 0]))
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('is an older one plus the last call, where it grew by less than that call used', async () => {
    const resumed = await read(
      meta(),
      said('a'),
      counted([100, 0, 10, 0]),
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
      said('c'),
      counted([300, 0, 40, 0], [200, 0, 30, 0]),
    )
    expect(totals(resumed)).toMatchObject({ calls: 3, input: 350, output: 45 })
  })

  it('comes to the sum of the calls, whatever is written between and again', async () => {
    const call = fc.record({
      type: fc.constant('call' as const),
      input: fc.integer({ min: 1, max: 99 }),
      cached: fc.nat(99),
      output: fc.integer({ min: 1, max: 99 }),
      /** How many of the calls before it the total forgets: a session resumed from a snapshot. */
      forgets: fc.constantFrom(0, 0, 0, 1, 2),
    })
    const other = fc.record({
      type: fc.constantFrom('again' as const, 'compaction' as const, 'limits' as const, 'resume' as const),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(call, other), { maxLength: 12 }), async (steps) => {
        const lines: JsonObject[] = [meta()]
        let known: Counts[] = []
        const sum = (all: readonly Counts[]): Counts =>
          all.reduce<Counts>((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]], [0, 0, 0, 0])
        const paid: Counts[] = []
        let last: JsonObject | undefined
        for (const step of steps) {
          if (step.type === 'call') {
            const used: Counts = [step.input, Math.min(step.cached, step.input), step.output, 0]
            // Where the total comes out as it was, nothing tells the call from a repeat.
            const kept = known.slice(0, Math.max(0, known.length - step.forgets))
            const isSame = sum([...kept, used])[0] === sum(known)[0]
            known = [...(isSame ? known : kept), used]
            paid.push(used)
            last = counted(sum(known), used)
            lines.push(said('x'), last)
          } else if (step.type === 'again' && last !== undefined) lines.push(last)
          else if (step.type === 'compaction') lines.push(counted(sum(known), [0, 0, 0, 0]))
          else if (step.type === 'limits') lines.push(event('token_count', { info: null }))
          else lines.push(meta())
        }
        const [input, cached, output] = sum(paid)
        const expected = { calls: paid.length, input: input - cached, cacheRead: cached, output }
        if (paid.length > 0) expect(totals(await read(...lines))).toMatchObject(expected)
      }),
    )
  })
})

describe('trap 5: history that was copied', () => {
  const parentMeta = meta({ id: PARENT })
  const spawned = { source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } } }
  const replayed = (turnId: string): JsonObject[] => [
    event('task_started', { turn_id: turnId }),
    said('old'),
    counted([1000, 0, 100, 0]),
  ]
  const own = (turnId: string, second: number): JsonObject[] => [
    event('task_started', { turn_id: turnId }, second),
    said('new', second),
    counted([1300, 0, 120, 0], [300, 0, 20, 0], second),
  ]

  it.each<[string, JsonObject[]]>([
    ['a fork', [meta({ forked_from_id: PARENT }), parentMeta, ...replayed(OLD_TURN), ...own(OWN_TURN, 1)]],
    [
      'a fork without the parent’s first record',
      [meta({ forked_from_id: PARENT }), ...replayed(OLD_TURN), ...own(OWN_TURN, 1)],
    ],
    ['a subagent', [meta(spawned), parentMeta, ...replayed(OLD_TURN), ...own(OWN_TURN, 1)]],
    [
      'a fork whose turns have no time in their ids',
      [meta({ forked_from_id: PARENT }), parentMeta, ...replayed('turn-1'), ...own('turn-2', 30)],
    ],
  ])('is not billed again in %s', async (_, lines) => {
    const all = await read(...lines)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    expect(all.session.native?.sessionId).toBe(THREAD)
    const relation = JSON.stringify(lines[0]).includes('forked_from_id') ? 'fork' : 'subagent'
    expect(all.session.parent).toEqual({ session: toSessionId(PARENT), relation })
    const isOld = all.entries.map(({ metadata }) => metadata?.['replayed'] === true)
    expect(isOld).toEqual(
      lines.map((one, index) => index > 0 && index < lines.length - 3 && one !== undefined),
    )
  })

  it('ends where the first line says that it does', async () => {
    const lines = [parentMeta, ...replayed('t'), ...own('t', 1)]
    const numbered = lines.map((one, index) => ({ ...one, ordinal: index + 1 }))
    const all = await read(meta({ ...spawned, subagent_history_start_ordinal: 5 }), ...numbered)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it.each<[string, JsonObject[]]>([
    ['no record of its parent’s session', [said('old'), counted([1000, 0, 100, 0])]],
    ['a turn that is older than it', replayed(OLD_TURN)],
  ])('is not billed again in a subagent with %s, written within a second', async (_, copied) => {
    const all = await read(meta(spawned), asked('task'), ...copied, ...own(OWN_TURN, 1))
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    const later = await read(meta(spawned), ...copied, ...own('turn', 9))
    expect(totals(later)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it('ends where the first line says, though nothing shows where it began', async () => {
    const lines = [
      said('old'),
      counted([1000, 0, 100, 0]),
      said('new'),
      counted([1300, 0, 120, 0], [300, 0, 20, 0]),
    ]
    const numbered = lines.map((one, index) => ({ ...one, ordinal: index + 1 }))
    const all = await read(meta({ ...spawned, subagent_history_start_ordinal: 3 }), ...numbered)
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
    expect(all.entries.map(({ metadata }) => metadata?.['replayed'] === true)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
  })

  it('ends with the first turn that says it started after the thread did', async () => {
    const second = Date.parse(at(0)) / 1000
    const started = (startedAt: number): JsonObject => event('task_started', { started_at: startedAt })
    const all = await read(
      meta({ forked_from_id: PARENT }),
      started(second - 60),
      said('old'),
      counted([1000, 0, 100, 0]),
      started(second),
      said('new'),
      counted([1300, 0, 120, 0], [300, 0, 20, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 300, output: 20 })
  })

  it('does not begin in the middle: what comes after a turn of its own is its own', async () => {
    const all = await read(
      meta(),
      event('task_started', { turn_id: OWN_TURN }),
      said('a'),
      counted([100, 0, 10, 0]),
      parentMeta,
      said('b'),
      counted([150, 0, 15, 0], [50, 0, 5, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 2, input: 150, output: 15 })
  })

  it('is not seen where a subagent says nothing of turns and answers later', async () => {
    const all = await read(
      meta(spawned),
      asked('task'),
      said('a', 30),
      counted([100, 0, 10, 0], undefined, 31),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('is not seen where a subagent began with nothing, however fast it was', async () => {
    const all = await read(
      meta(spawned),
      event('task_started', { turn_id: OWN_TURN }),
      said('a'),
      counted([100, 0, 10, 0]),
    )
    expect(totals(all)).toMatchObject({ calls: 1, input: 100, output: 10 })
  })

  it('names its calls alike wherever the file was copied to', async () => {
    const content = text(meta(), said('a'), counted([100, 0, 10, 0]))
    const all = await readAll(codex, memorySource(files({ 'a.jsonl': content, 'b/c.jsonl': content })))
    expect(all).toHaveLength(2)
    expect(all[0]?.session.id).not.toBe(all[1]?.session.id)
    expect(all[0]?.session.native).toEqual(all[1]?.session.native)
    expect(
      totals({ ...(all[0] as Transcript), entries: all.flatMap(({ entries }) => entries) }),
    ).toMatchObject({
      calls: 1,
      input: 100,
    })
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

describe('a usage record', () => {
  const record = (counted: Counts, thread = THREAD): JsonObject =>
    line('token_usage_record', { thread_id: thread, response_id: 'resp_1', usage: counts(counted) })
  const first: Counts = [100, 60, 10, 4]
  const second: Counts = [200, 150, 20, 0]
  const both: Counts = [300, 210, 30, 4]

  it('counts once with the count that repeats it, whichever comes first', async () => {
    const twice = { calls: 2, input: 90, cacheRead: 210, output: 30, reasoning: 4, quality: 'reported' }
    const before = await read(
      meta(),
      said('a'),
      record(first),
      counted(first),
      said('b'),
      record(second),
      counted(both, second),
    )
    expect(totals(before)).toEqual(twice)
    const after = await read(
      meta(),
      said('a'),
      counted(first),
      record(first),
      said('b'),
      counted(both, second),
      record(second),
    )
    expect(totals(after)).toEqual(twice)
    const alone = await read(meta(), said('a'), record(first), said('b'), record(second))
    expect(totals(alone)).toEqual(twice)
  })

  it('leaves to the total what an older version did after it', async () => {
    const mixed = await read(
      meta(),
      said('a'),
      record(first),
      counted(first),
      meta(),
      said('b'),
      counted(both, second),
    )
    expect(totals(mixed)).toMatchObject({ calls: 2, output: 30 })
  })

  it('of another thread is a copy, wherever it stands', async () => {
    const fork = await read(
      meta({ forked_from_id: PARENT }),
      record(first, PARENT),
      turn('gpt-5.5'),
      said('b'),
      record(second),
    )
    expect(totals(fork)).toMatchObject({ calls: 1, output: 20 })
  })
})

describe('rollouts of one thread', () => {
  it('name their calls apart, where the later goes on from the earlier', async () => {
    const base = { thread_id: THREAD, end_ordinal_exclusive: 3 }
    const ids = async (...lines: readonly Json[]): Promise<(string | undefined)[]> =>
      (await read(...lines)).entries.map(({ call }) => call?.messageId).filter((id) => id !== undefined)
    const earlier = await ids(meta(), said('a'), counted([9, 0, 1, 0]))
    const later = await ids(meta({ history_base: base }), said('b'), counted([19, 0, 2, 0], [10, 0, 1, 0]))
    expect(earlier).toEqual([`${THREAD}/0`])
    expect(later).toHaveLength(1)
    expect(later).not.toEqual(earlier)
    expect(await ids(meta({ history_base: base }), said('b'))).toEqual(later)
  })

  it('name their calls apart, where only the first count tells that the later goes on', async () => {
    const ids = ({ entries }: Transcript): unknown[] =>
      entries.map(({ call }) => call?.messageId).filter((id) => id !== undefined)
    const lines = [meta(), asked('go'), said('a'), called('c1'), answered('c1'), said('b')]
    const later = await read(...lines, counted([19, 0, 5, 0], [10, 0, 1, 0]))
    expect(totals(later)).toEqual({
      calls: 1,
      input: 10,
      cacheRead: 0,
      output: 1,
      reasoning: 0,
      quality: 'partial',
    })
    const first = ids(await read(...lines, counted([10, 0, 1, 0])))
    expect(first).toEqual([`${THREAD}/0`, `${THREAD}/0`, `${THREAD}/1`])
    expect(ids(later)).toHaveLength(3)
    for (const id of ids(later)) expect(first).not.toContain(id)
    // A copy of the file is the same calls.
    expect(ids(await read(...lines, counted([19, 0, 5, 0], [10, 0, 1, 0])))).toEqual(ids(later))
  })

  it('are one where a line is damaged: the count may have stood in it', async () => {
    const broken = `${text(meta(), said('a'))}{"timestamp":\n${text(said('b'), counted([19, 0, 5, 0], [10, 0, 1, 0]))}`
    const [one] = await readAll(codex, memoryFileSource('x.jsonl', broken))
    expect(one?.entries.map(({ call }) => call?.messageId)).toContain(`${THREAD}/0`)
    expect(totals(one as Transcript)).toMatchObject({ input: 10, output: 1, quality: 'partial' })
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
