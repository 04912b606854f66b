/** The session capture seed, on a real disk: its nine success criteria and what R1 to R7 promise of a session that is being recorded. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { readSession } from '../src/archive/read-session.ts'
import { record, type Recorder, type RecordOptions } from '../src/capture/record.ts'
import { readTranscripts } from '../src/sources/read.ts'
import { isUuid } from '../src/transcript/ids.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { recording } from '../src/capture/wrap/recording.ts'
import { createAnthropicReassembly } from '../src/wire/anthropic.ts'
import { reassemble, toSse } from './wire-streams.ts'
import { bodyOf, chatAnswer, startUpstream } from './wrap-upstream.ts'

const LIBRARY = join(import.meta.dirname, '../dist/src/index.js')
const START = Date.parse('2026-02-10T23:31:00Z')

let folder: string
let now: number
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-entire-'))
  now = START
})

const begin = (options: RecordOptions = {}): Promise<Recorder> =>
  record({
    home: join(folder, 'home'),
    cwd: folder,
    formats: ['entire'],
    version: '0.0.44',
    now: () => now,
    ...options,
  })

const METADATA = '.entire/metadata'
const idOf = (session: Recorder): string => session.session().names?.['entire'] as string
const pathOf = (session: Recorder, name: string): string => join(folder, METADATA, idOf(session), name)
const read = (session: Recorder, name: string): string => fs.readFileSync(pathOf(session, name), 'utf8')

type Line = JsonObject & { readonly message: JsonObject & { readonly usage?: JsonObject } }
const toLines = (text: string): Line[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
/** What this process has written to files so far, where the system tells. */
const bytesWritten = (): number =>
  process.platform === 'linux'
    ? Number(/wchar: (\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1])
    : 0
const lines = (session: Recorder): Line[] => toLines(read(session, 'full.jsonl'))

/** A turn with a tool, as the seed's three examples tell it. */
function talk(session: Recorder): void {
  session.user('explain main.rs')
  now += 5000
  session.assistant(
    [
      { type: 'text', text: 'Let me read that file.' },
      { type: 'tool-call', callId: 'toolu_01X', name: 'read_file', input: { path: 'src/main.rs' } },
    ],
    { usage: { input: 1200, output: 350, cacheWrite5m: 0, cacheRead: 800 } },
  )
  now += 1000
  session.toolResult({ callId: 'toolu_01X', output: '1: use std::io;\n2: ...' })
}

/** Records in a process of its own and kills it as soon as it has said so. */
async function killed(script: string): Promise<string> {
  const program = `
    import { record } from ${JSON.stringify(LIBRARY)}
    const session = await record({ home: 'home', formats: ['entire'], model: 'claude-opus-4-5' })
    ${script}
    process.stdout.write('said')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => child.kill('SIGKILL'))
  const signal = await new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)))
  expect(signal).toBe('SIGKILL')
  const [name] = fs.readdirSync(join(folder, METADATA)).filter((entry) => !entry.startsWith('.'))
  return join(folder, METADATA, name as string)
}

/** What is below a folder: each path with its content and the time it was last changed. */
function stateBelow(at: string): Record<string, string> {
  const names = fs.readdirSync(at, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names
      .map((name) => join(at, name))
      .filter((path) => fs.statSync(path).isFile())
      .map((path) => [path, `${fs.statSync(path).mtimeMs} ${fs.readFileSync(path, 'utf8')}`]),
  )
}

describe("the seed's success criteria", () => {
  it('1: full.jsonl is written incrementally and survives a kill in the middle of a session', async () => {
    const own = await killed(`
      for (let n = 0; n < 50; n += 1) session.assistant('turn ' + n)
      session.toolCall({ name: 'Bash', input: { command: 'sleep 1000' } })`)
    const said = toLines(fs.readFileSync(join(own, 'full.jsonl'), 'utf8'))
    expect(said).toHaveLength(51)
    expect(said.at(-1)?.message).toMatchObject({ content: [{ type: 'tool_use', name: 'Bash' }] })
    expect(fs.existsSync(join(own, 'context.md'))).toBe(false)
  })

  it('2: token usage is parsed from the stream and attached to the assistant’s line', async () => {
    const events: Json[] = [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-opus-4-5',
          content: [],
          usage: {
            input_tokens: 1200,
            output_tokens: 1,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 800,
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It starts here.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 350 } },
      { type: 'message_stop' },
    ]
    // R2: blocks, stop reason and usage come back together.
    const { blocks, stopReason, usage, model, messageId } = reassemble(
      createAnthropicReassembly,
      toSse(events),
    )
    const session = await begin()
    session.user('explain main.rs')
    session.assistant(blocks, {
      ...(usage && { usage }),
      ...(stopReason !== undefined && { stopReason }),
      ...(model !== undefined && { model }),
      call: { provider: 'anthropic', ...(messageId !== undefined && { messageId }) },
    })
    const [prompt, answer] = lines(session)
    expect(answer?.message.usage).toEqual({
      input_tokens: 1200,
      output_tokens: 350,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 800,
    })
    expect(answer?.message).toMatchObject({ role: 'assistant', stop_reason: 'end_turn' })
    expect(prompt?.message).not.toHaveProperty('usage')
    expect((await session.end()).totals?.usage).toMatchObject({ input: 1200, output: 350, cacheRead: 800 })
  })

  it('3: the session id is the UTC date and a UUID v4, made at startup and another each time', async () => {
    now = Date.parse('2026-02-10T23:59:59.999Z')
    const [session, other] = [await begin(), await begin()]
    const id = idOf(session)
    expect(id).toMatch(/^2026-02-10-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(isUuid(id.slice('2026-02-10-'.length))).toBe(true)
    expect(idOf(other)).not.toBe(id)
    now += 1000
    session.user('after midnight')
    await Promise.all([session.end(), other.end()])
    expect(lines(session)).toMatchObject([{ sessionId: id, timestamp: '2026-02-11T00:00:00.999Z' }])
  })

  it('4: every turn has a timestamp, UTC in ISO 8601, of when it was added', async () => {
    const session = await begin()
    talk(session)
    now += 60_000
    await session.end()
    expect(lines(session).map(({ timestamp }) => timestamp)).toEqual([
      '2026-02-10T23:31:00Z',
      '2026-02-10T23:31:05Z',
      '2026-02-10T23:31:06Z',
    ])
  })

  it('5: prompt.txt is written on the first user input and survives a kill in the middle of a session', async () => {
    const own = await killed(`
      session.system('You are…'); session.user('  '); session.user('explain main.rs'); session.user('and lib.rs')`)
    expect(fs.readFileSync(join(own, 'prompt.txt'), 'utf8')).toBe('explain main.rs')
  })

  it('6: context.md holds the session’s metadata and the list of key actions', async () => {
    const session = await begin({ model: 'claude-opus-4-5' })
    talk(session)
    session.toolCall({ name: 'bash', input: { command: 'cargo test', timeout: 60 } })
    expect(fs.existsSync(pathOf(session, 'context.md'))).toBe(false)
    await session.end()
    expect(read(session, 'context.md')).toBe(
      [
        '# Session Context',
        '',
        `- **Session ID**: ${idOf(session)}`,
        '- **Model**: claude-opus-4-5',
        '- **Start**: 2026-02-10T23:31:00Z',
        '',
        '## Key Actions',
        '',
        '- **read_file**: src/main.rs',
        '- **bash**: cargo test',
        '',
      ].join('\n'),
    )
  })

  it('7: existing state below .entire, settings.json first, is not modified', async () => {
    const entire = join(folder, '.entire')
    fs.mkdirSync(join(entire, 'metadata/2026-01-01-older'), { recursive: true })
    fs.mkdirSync(join(entire, 'logs'))
    fs.mkdirSync(join(folder, '.git'))
    for (const [name, text] of Object.entries({
      'settings.json': '{"strategy":"manual-commit","enabled":true}',
      'settings.local.json': '{}',
      '.gitignore': 'tmp/\nmetadata/\nlogs/\n',
      'logs/entire.log': 'x',
      'metadata/2026-01-01-older/full.jsonl': '{}\n',
      current_session: '2026-01-01-older',
    })) {
      fs.writeFileSync(join(entire, name), text)
      fs.utimesSync(join(entire, name), 1_700_000_000, 1_700_000_000)
    }
    const before = stateBelow(entire)
    const session = await begin()
    talk(session)
    await session.end()
    const after = stateBelow(entire)
    for (const [path, state] of Object.entries(before)) expect(after[path]).toBe(state)
    const added = Object.keys(after).filter((path) => !(path in before))
    // Entire's own .gitignore covers the folder only where it is in force; ours keeps the transcripts out of commits either way.
    expect(added.map((path) => path.slice(join(folder, METADATA).length + 1)).sort()).toEqual(
      [
        '.gitignore',
        ...['context.md', 'full.jsonl', 'prompt.txt'].map((name) => `${idOf(session)}/${name}`),
      ].sort(),
    )
  })

  it('8: an append writes as little when the file has grown', async () => {
    const session = await begin({ durability: 'os' })
    const text = 'x'.repeat(2000)
    const written = async (): Promise<number> => {
      const before = bytesWritten()
      for (let n = 0; n < 300; n += 1) session.assistant(text)
      await session.flush()
      return bytesWritten() - before
    }
    const early = await written()
    for (let n = 0; n < 4; n += 1) await written()
    const late = await written()
    await session.end()
    expect(fs.statSync(pathOf(session, 'full.jsonl')).size).toBeGreaterThan(3_000_000)
    if (process.platform === 'linux') expect(late).toBeLessThan(early * 1.5)
  })

  it('9: jq reads it line by line, also while the session is being recorded', async () => {
    const session = await begin()
    talk(session)
    session.user('a line separator\u2028 and "quotes"\nand a newline')
    const asked = spawnSync('jq', ['-c', '.type', pathOf(session, 'full.jsonl')], { encoding: 'utf8' })
    const isMissing = asked.error !== undefined && 'code' in asked.error && asked.error.code === 'ENOENT'
    if (!isMissing) expect([asked.status, asked.stdout]).toEqual([0, '"user"\n"assistant"\n"user"\n"user"\n'])
    expect(lines(session)).toHaveLength(4)
    await session.end()
  })
})

describe("the seed's requirements, live", () => {
  it('R1: every line has the session’s id, a uuid of its own, its parent’s, cwd and version', async () => {
    const session = await begin()
    talk(session)
    await session.end()
    const said = lines(session)
    const uuids = said.map(({ uuid }) => uuid as string)
    expect(uuids.every(isUuid)).toBe(true)
    expect(new Set(uuids).size).toBe(3)
    expect(said.map(({ parentUuid }) => parentUuid)).toEqual([null, ...uuids.slice(0, -1)])
    for (const line of said)
      expect(line).toMatchObject({ sessionId: idOf(session), cwd: folder, version: '0.0.44' })
    expect(said.map(({ type, message }) => [type, message['role'], message['content']])).toEqual([
      ['user', 'user', 'explain main.rs'],
      [
        'assistant',
        'assistant',
        [
          { type: 'text', text: 'Let me read that file.' },
          { type: 'tool_use', id: 'toolu_01X', name: 'read_file', input: { path: 'src/main.rs' } },
        ],
      ],
      [
        'user',
        'user',
        [{ type: 'tool_result', tool_use_id: 'toolu_01X', content: '1: use std::io;\n2: ...' }],
      ],
    ])
  })

  it('R1: a line is a turn, user or assistant, whatever else is recorded; the first is the prompt', async () => {
    const session = await begin()
    session.event('parameters', { temperature: 0 })
    session.system('You are a helpful coding assistant...')
    talk(session)
    session.error(new Error('overloaded'))
    session.event('compaction', {})
    session.assistant('It starts here.')
    const { id } = session
    await session.end()
    const said = lines(session)
    expect(said.map(({ type, message }) => [type, message['role']])).toEqual([
      ['user', 'user'],
      ['assistant', 'assistant'],
      ['user', 'user'],
      ['assistant', 'assistant'],
    ])
    expect(said.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...said.slice(0, -1).map(({ uuid }) => uuid),
    ])
    // The rest is in the journal.
    const { transcripts } = await readTranscripts(readSession(openArchive(join(folder, 'home')), id))
    expect(transcripts[0]?.entries).toHaveLength(8)
  })

  it('R1: the same of a wrapped client, whose answers have text and tool use on one line', async () => {
    const upstream = await startUpstream()
    const call = { id: 'toolu_01X', name: 'read_file', arguments: '{"path":"src/main.rs"}' }
    const answers = [chatAnswer('c1', 'Let me read that file.', [call]), chatAnswer('c2', 'It starts here.')]
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(200, { 'content-type': 'application/json' }).end(answers.shift())
    }
    const recorded = recording({ home: join(folder, 'home'), cwd: folder, formats: ['entire'] })
    const messages: object[] = [
      { role: 'system', content: 'You are a helpful coding assistant...' },
      { role: 'user', content: 'explain main.rs' },
    ]
    const said = (): Line[] => {
      const [name = ''] = fs.readdirSync(join(folder, METADATA))
      return toLines(fs.readFileSync(join(folder, METADATA, name, 'full.jsonl'), 'utf8'))
    }
    const ask = async () => {
      const body = JSON.stringify({ model: 'gpt-test', max_tokens: 10, messages })
      const response = await recorded.fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body })
      const { choices } = (await response.json()) as { choices: { message: object }[] }
      messages.push(choices[0]?.message as object)
    }
    await ask()
    // R6: there when the client has its answer.
    expect(said().map(({ type }) => type)).toEqual(['user', 'assistant'])
    messages.push({ role: 'tool', tool_call_id: 'toolu_01X', content: '1: use std::io;' })
    await ask()
    await recorded.end()
    await upstream.close()
    expect(said().map(({ type, message }) => [type, message['content']])).toEqual([
      ['user', 'explain main.rs'],
      [
        'assistant',
        [
          { type: 'text', text: 'Let me read that file.' },
          { type: 'tool_use', id: 'toolu_01X', name: 'read_file', input: { path: 'src/main.rs' } },
        ],
      ],
      ['user', [{ type: 'tool_result', tool_use_id: 'toolu_01X', content: '1: use std::io;' }]],
      ['assistant', [{ type: 'text', text: 'It starts here.' }]],
    ])
    expect(said()[0]?.['parentUuid']).toBeNull()
    expect(said()[1]?.message.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 })
  })

  it('R5: summary.txt is absent, and a session without input has no prompt.txt', async () => {
    const session = await begin()
    session.assistant('hello')
    await session.end()
    expect(fs.readdirSync(join(folder, METADATA, idOf(session))).sort()).toEqual(['context.md', 'full.jsonl'])
  })

  it('R6: a turn is in the file when its call returns, and nothing waits for the end', async () => {
    const session = await begin()
    session.user('one')
    expect(lines(session)).toHaveLength(1)
    expect(read(session, 'prompt.txt')).toBe('one')
    session.assistant('two')
    expect(lines(session)).toHaveLength(2)
    await session.end()
    expect(lines(session)).toHaveLength(2)
  })

  it('R7: the folders are made with the first write, and not before', async () => {
    const session = await begin()
    expect(fs.existsSync(join(folder, '.entire'))).toBe(false)
    session.user('one')
    expect(fs.readdirSync(join(folder, METADATA))).toEqual([idOf(session)])
    await session.end()
  })
})
