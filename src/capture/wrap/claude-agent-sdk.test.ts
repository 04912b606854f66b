import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { spoken, startUpstream, type Upstream } from '../../../test/wrap-upstream.ts'
import { openArchive } from '../../archive/archive.ts'
import { readFacts } from '../../archive/facts.ts'
import { convertClaudeTranscriptEntry } from '../../formats/weakincentives-claude.ts'
import type { TranscriptEntry } from '../../formats/weakincentives-entry.ts'
import type { JsonObject } from '../../transcript/json.ts'
import { record, type AgentOptions } from './claude-agent-sdk.ts'

const SESSION = '11111111-2222-4333-8444-555555555555'

let upstream: Upstream
let home: string
let serial = 0

beforeEach(async () => {
  upstream = await startUpstream()
  home = fs.mkdtempSync(join(os.tmpdir(), 'isolated-'))
})
afterEach(async () => {
  await upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})

type Hook = (input: object) => Promise<object>
type Params = {
  readonly prompt: string | AsyncIterable<object>
  readonly options?: { readonly hooks?: Readonly<Record<string, { readonly hooks: Hook[] }[]>> }
}
type Fire = (event: string, input: object) => Promise<void>

/** A `query` like the SDK's: messages, hooks, methods of its own. */
const queryOf =
  (play: (fire: Fire, params: Params) => AsyncGenerator<object>) =>
  (params: Params): AsyncGenerator<object> & { interrupt(): Promise<string> } =>
    Object.assign(
      play(async (event, input) => {
        for (const { hooks } of params.options?.hooks?.[event] ?? [])
          for (const hook of hooks) expect(await hook({ hook_event_name: event, ...input })).toEqual({})
      }, params),
      { interrupt: async () => 'interrupted' },
    )

const line = (type: string, message: object, more: object = {}) => ({
  type,
  uuid: `00000000-0000-4000-8000-${String((serial += 1)).padStart(12, '0')}`,
  session_id: SESSION,
  parent_tool_use_id: null,
  message,
  ...more,
})
const usage = (output: number) => ({ input_tokens: 10, output_tokens: output })
const says = (id: string, content: object[], output: number, stop: string | null = null) => ({
  id,
  model: 'claude-x',
  role: 'assistant',
  content,
  stop_reason: stop,
  usage: usage(output),
})
const text = (said: string) => ({ type: 'text', text: said })
const task = (id: string, prompt: string) => ({ type: 'tool_use', id, name: 'Agent', input: { prompt } })
const result = (id: string, content: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})
const done = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: SESSION,
  stop_reason: 'end_turn',
}

/** As Claude Code writes it: another name for the session, a time. */
const written = (lines: readonly object[], more: object = {}): string =>
  lines
    .map((one) => {
      const { session_id: _, parent_tool_use_id: __, ...rest } = one as Record<string, unknown>
      return `${JSON.stringify({ ...rest, sessionId: SESSION, timestamp: new Date().toISOString(), ...more })}\n`
    })
    .join('')

function put(below: string, content: string): string {
  const path = join(home, '.claude', 'projects', '-work', below)
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, content)
  return path
}

const options = (more: AgentOptions = {}): AgentOptions => ({
  home: upstream.home,
  homes: [home],
  onFailure: ({ message }) => upstream.said.push(message),
  ...more,
})

/** What is asked and said in a session with a subagent, which starts another: live, and in the files. */
function conversation() {
  const asked = { ...line('user', { role: 'user', content: 'go' }), promptId: 'p' }
  const first = line('assistant', says('m1', [task('t1', 'look')], 1))
  const inner = line('assistant', says('m2', [task('t2', 'look deeper')], 1), { parent_tool_use_id: 't1' })
  const last = line('assistant', says('m4', [text('Done.')], 1))
  const agent = [
    line('user', { role: 'user', content: 'look' }),
    { ...inner, message: says('m2', [task('t2', 'look deeper')], 22, 'tool_use') },
    line('user', result('t2', 'deep')),
    line('assistant', says('m3', [text('Looked.')], 33, 'end_turn')),
  ]
  const deeper = [
    line('user', { role: 'user', content: 'look deeper' }),
    line('assistant', says('m5', [text('Deep.')], 55, 'end_turn')),
  ]
  const main = [
    asked,
    { ...first, message: says('m1', [task('t1', 'look')], 11, 'tool_use') },
    line('user', result('t1', 'Looked.')),
    { ...last, message: says('m4', [text('Done.')], 44, 'end_turn') },
  ]
  return { live: [first, inner, main[2] as object, last], agent, deeper, main }
}

describe('a run of the Claude Agent SDK', () => {
  for (const layout of ['folders', 'flat'] as const)
    it(`is recorded live, and from its transcripts before its home is gone (${layout})`, async () => {
      const { live, agent, deeper, main } = conversation()
      const folder = layout === 'flat' ? '' : `${SESSION}/subagents/`
      const query = queryOf(async function* (fire) {
        const path = put(`${SESSION}.jsonl`, written(main.slice(0, 2)))
        yield* live.slice(0, 2)
        put(`${folder}agent-bb.jsonl`, written(deeper, { isSidechain: true, agentId: 'bb' }))
        const own = put(`${folder}agent-aa.jsonl`, written(agent, { isSidechain: true, agentId: 'aa' }))
        await fire('SubagentStop', { transcript_path: path, agent_transcript_path: own, agent_id: 'aa' })
        yield* live.slice(2)
        fs.appendFileSync(path, written(main.slice(2)))
        await fire('Stop', { transcript_path: path })
        yield { ...done, modelUsage: { 'claude-x': { inputTokens: 50, outputTokens: 165 } } }
      })
      const seen: unknown[] = []
      const run = record(query, options({ subagents: 'all' }))({ prompt: 'go' })
      expect(await run.interrupt()).toBe('interrupted')
      for await (const message of run) seen.push(message)
      fs.rmSync(home, { recursive: true })
      expect(seen).toHaveLength(5)
      expect(upstream.said).toEqual([])
      const [entries = []] = await upstream.sessions()
      expect(spoken(entries).toSorted((a, b) => a.localeCompare(b))).toEqual(
        [
          'user: go',
          'assistant: Agent({"prompt":"look"})',
          'subagent:t1 assistant: Agent({"prompt":"look deeper"})',
          'subagent:t1 user: look',
          'subagent:t1 tool: deep',
          'subagent:t1 assistant: Looked.',
          'subagent:t2 user: look deeper',
          'subagent:t2 assistant: Deep.',
          'tool: Looked.',
          'assistant: Done.',
        ].toSorted((a, b) => a.localeCompare(b)),
      )
      const sums = new Map(
        entries.flatMap(({ call, usage: counts }) => (counts ? [[call?.messageId, counts.output]] : [])),
      )
      expect(Object.fromEntries(sums)).toEqual({ m1: 11, m2: 22, m3: 33, m4: 44, m5: 55 })
    })

  it('has its subagents, and names those of theirs that it does not record', async () => {
    const { live, agent, deeper, main } = conversation()
    const query = queryOf(async function* (fire) {
      yield* live
      put(`${SESSION}/subagents/agent-aa.jsonl`, written(agent))
      put(`${SESSION}/subagents/agent-bb.jsonl`, written(deeper))
      await fire('Stop', { transcript_path: put(`${SESSION}.jsonl`, written(main)) })
      yield done
    })
    for await (const _ of record(query, options())({ prompt: 'go' }));
    const [entries = []] = await upstream.sessions()
    expect([...new Set(entries.map(({ source }) => source))]).toEqual(['primary', 'subagent:t1'])
    const left = entries.filter(({ metadata }) => metadata?.['record'] === 'subagent-not-recorded')
    expect(left.map(({ blocks }) => blocks)).toMatchObject([
      [{ raw: { source: 'subagent:t2', parent: 'subagent:t1' } }],
    ])
  })

  it('is recorded once, also where its transcript is faster than its messages', async () => {
    const { live, main } = conversation()
    const query = queryOf(async function* (fire) {
      yield live[0] as object
      await fire('Stop', { transcript_path: put(`${SESSION}.jsonl`, written(main)) })
      yield* live.slice(2)
      yield done
    })
    for await (const _ of record(query, options())({ prompt: 'go' }));
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'user: go',
      'assistant: Agent({"prompt":"look"})',
      'tool: Looked.',
      'assistant: Done.',
    ])
  })

  it('has flat lines too, as weakincentives’ own converter says them, each once', async () => {
    const at = (second: number) => ({
      timestamp: new Date(Date.now() + second).toISOString(),
      session_id: SESSION,
    })
    const flat = (lines: readonly object[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('')
    const agentLines: readonly JsonObject[] = [
      { ...at(3), type: 'user', content: 'look' },
      { ...at(4), type: 'assistant', content: [text('I look.'), 'and see'] },
      { type: 'tool_use', tool_name: 'Glob', tool_use_id: 't2', input: { pattern: '*' } },
      { ...at(5), type: 'tool_result', tool_name: 'Glob', tool_use_id: 't2', content: { files: ['a'] } },
      { ...at(6), type: 'novelty', content: null },
    ]
    const mainLines: readonly JsonObject[] = [
      { ...at(0), type: 'user', content: 'go' },
      { ...at(1), type: 'tool_use', tool_name: 'Agent', tool_use_id: 't1', input: { prompt: 'look' } },
      { ...at(7), type: 'tool_result', tool_name: 'Agent', tool_use_id: 't1', content: 'Looked.' },
      { ...at(8), type: 'assistant', content: 'Done.' },
      { ...at(9), type: 'assistant', content: 'Done.' },
    ]
    const query = queryOf(async function* (fire) {
      yield line('assistant', says('m1', [task('t1', 'look')], 1))
      const own = put('transcripts/helper.jsonl', flat(agentLines))
      const path = put(`transcripts/${SESSION}.jsonl`, flat(mainLines))
      await fire('SubagentStop', { transcript_path: path, agent_transcript_path: own, agent_id: 'a1' })
      yield line('assistant', says('m2', [text('Done.')], 1))
      yield done
    })
    for await (const _ of record(
      query,
      options({ formats: ['weakincentives'], cwd: home }),
    )({ prompt: 'go' }));
    const slice = join(home, 'agent_transcripts', 'weakincentives.transcript:TranscriptEntry.jsonl')
    const lines = fs.readFileSync(slice, 'utf8').trim().split('\n')
    const said = lines.map((one) => JSON.parse(one) as TranscriptEntry)
    const shown = ({ role, content, tool_name, tool_call_id, tool_input }: TranscriptEntry) => [
      role,
      content,
      tool_name,
      tool_call_id,
      tool_input,
    ]
    const converted = (all: readonly JsonObject[]) =>
      all.map((one) => shown(convertClaudeTranscriptEntry(one)))
    const of = (source: string) => said.filter((one) => one.source === source)
    expect(of('primary').map(shown)).toEqual(expect.arrayContaining(converted(mainLines)))
    expect(of('subagent:t1').map(shown)).toEqual(converted(agentLines))
    expect(of('subagent:t1').map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4])
    expect(of('subagent:t1')[2]?.metadata).toMatchObject({ raw_type: 'tool_use', filled: ['created_at'] })
    expect(said).toHaveLength(10)
    expect(upstream.said).toEqual([])
  })

  it('keeps the order of its transcript, the name of its session and the time of its prompt, whatever comes first', async () => {
    const lines = [
      { type: 'system', content: 'You are a helpful coding assistant…' },
      { type: 'user', content: 'go' },
      { type: 'assistant', content: 'Done.' },
    ].map((one) => ({ ...one, timestamp: new Date(Date.now() + 1000).toISOString() }))
    const query = queryOf(async function* (fire) {
      const hooked = { session_id: SESSION, transcript_path: put(`transcripts/${SESSION}.jsonl`, '') }
      await fire('SessionStart', hooked)
      fs.writeFileSync(hooked.transcript_path, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
      await fire('Stop', hooked)
      yield done
    })
    const asked = Date.now()
    for await (const _ of record(query, options())({ prompt: 'go' }));
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'system: You are a helpful coding assistant…',
      'user: go',
      'assistant: Done.',
    ])
    const [, prompt, answer] = entries.map(({ at }) => Date.parse(at ?? ''))
    expect(prompt).toBeGreaterThanOrEqual(asked)
    expect(prompt).toBeLessThan(asked + 1000)
    expect(answer).toBe(Date.parse(lines[2]?.timestamp ?? ''))
    const [journal = ''] = fs.readdirSync(join(upstream.home, 'sessions'))
    const { session } = await readFacts(openArchive(upstream.home), journal)
    expect(session.native).toEqual({ agent: 'claude-code', sessionId: SESSION })
  })

  it('that throws is read to its end first, and throws what it threw', async () => {
    const { live, main } = conversation()
    const wrong = new Error('the process exited with code 1')
    const query = queryOf(async function* () {
      yield live[0] as object
      // No hook has named it.
      put(`${SESSION}.jsonl`, written(main))
      throw wrong
    })
    const read = async () => {
      for await (const _ of record(query, options())({ prompt: 'go' }));
    }
    await expect(read()).rejects.toBe(wrong)
    fs.rmSync(home, { recursive: true })
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'user: go',
      'assistant: Agent({"prompt":"look"})',
      'tool: Looked.',
      'assistant: Done.',
    ])
  })

  it('whose reader stops is canceled, with what there was', async () => {
    const { live, main } = conversation()
    const query = queryOf(async function* (fire) {
      await fire('SessionStart', { transcript_path: put(`${SESSION}.jsonl`, written(main)) })
      yield* live
    })
    for await (const _ of record(query, options())({ prompt: 'go' })) break
    fs.rmSync(home, { recursive: true })
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toContain('assistant: Done.')
  })

  it('keeps the caller’s hooks, and takes prompts as they come', async () => {
    let stopped = 0
    const query = queryOf(async function* (fire, { prompt }) {
      if (typeof prompt !== 'string')
        for await (const one of prompt) yield line('assistant', says('m', [text(JSON.stringify(one))], 1))
      await fire('Stop', {})
      yield done
    })
    const prompts = async function* () {
      yield { type: 'user', message: { role: 'user', content: 'one' } }
      yield { type: 'user', message: { role: 'user', content: 'two' } }
    }
    const own = { Stop: [{ hooks: [async () => ((stopped += 1), {})] }] }
    for await (const _ of record(query, options())({ prompt: prompts(), options: { hooks: own } }));
    expect(stopped).toBe(1)
    expect(own.Stop).toHaveLength(1)
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries).filter((said) => said.startsWith('user'))).toEqual(['user: one', 'user: two'])
  })

  it('is not led to other files: links, devices, other places, other names', async () => {
    const secret = join(os.tmpdir(), `secret-${process.pid}.jsonl`)
    fs.writeFileSync(secret, written([line('user', { role: 'user', content: 'a secret' })]))
    put('plain.txt', written([line('user', { role: 'user', content: 'a secret' })]))
    const folder = join(home, '.claude', 'projects', '-work')
    fs.symlinkSync(secret, join(folder, 'link.jsonl'))
    fs.mkdirSync(join(folder, 'folder.jsonl'))
    const paths = [
      secret,
      join(folder, 'link.jsonl'),
      join(folder, 'folder.jsonl'),
      join(folder, 'plain.txt'),
      '/dev/zero',
      '../x.jsonl',
      `${folder}/../../../../etc/passwd`,
      'a\0b',
      5,
    ]
    const query = queryOf(async function* (fire) {
      yield line('assistant', says('m', [text('hi')], 1))
      for (const path of paths) await fire('Stop', { transcript_path: path, agent_transcript_path: path })
      yield done
    })
    for await (const _ of record(query, options())({ prompt: 'go' }));
    fs.rmSync(secret)
    const all = await upstream.sessions()
    expect(all.map(spoken)).toEqual([['user: go', 'assistant: hi']])
    expect(JSON.stringify(all)).not.toContain('a secret')
    expect(upstream.said).toHaveLength(1)
  })

  it('is not held up by a recorder that cannot record', async () => {
    const query = queryOf(async function* () {
      yield line('assistant', says('m', [text('hi')], 1))
      yield done
    })
    const seen: unknown[] = []
    for await (const message of record(query, options({ home: '/dev/null/nowhere' }))({ prompt: 'go' }))
      seen.push(message)
    expect(seen).toHaveLength(2)
    expect(upstream.said.length).toBeGreaterThan(0)
  })
})
