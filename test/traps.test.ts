/** The ten traps that decide whether totals are right, each through the public path: opened, detected, read, billed. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { turns } from '../src/transcript/transcript.ts'
import { toLines, type TortureCase } from './torture/case.ts'
import { tortureCases } from './torture/cases.ts'
import { measure } from './torture/measure.ts'

function torture(format: string, name: string): TortureCase {
  const found = tortureCases.find((one) => one.format === format && one.name === name)
  if (found === undefined) throw new Error(`no torture case of ${format}: ${name}`)
  return found
}
async function isExact(format: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const one = torture(format, name)
    expect((await measure(one)).tally).toEqual(one.truth)
  }
}

const SESSION = 'aaaaaaaa-1111-4111-8111-111111111111'
const time = (second: number): string => new Date(Date.UTC(2026, 4, 20, 9, 0, second)).toISOString()
const uuid = (n: number): string => `bbbbbbbb-0000-4000-8000-${String(n).padStart(12, '0')}`
const claude = (n: number, parent: number | null, facts: JsonObject): JsonObject => ({
  parentUuid: parent === null ? null : uuid(parent),
  isSidechain: false,
  userType: 'external',
  cwd: '/project',
  sessionId: SESSION,
  version: '2.1.120',
  uuid: uuid(n),
  timestamp: time(n),
  ...facts,
})
const claudeAsked = (n: number, parent: number | null, content: Json): JsonObject =>
  claude(n, parent, { type: 'user', message: { role: 'user', content } })
const claudeSaid = (n: number, parent: number, block: JsonObject, id = 'msg_1', output = 60): JsonObject =>
  claude(n, parent, {
    type: 'assistant',
    requestId: `req_${id === 'REDACTED' ? n : id}`,
    message: {
      id,
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 100,
        cache_read_input_tokens: 800,
        cache_creation_input_tokens: 0,
        output_tokens: output,
      },
    },
  })
const text = (said: string): JsonObject => ({ type: 'text', text: said })
const claudeLog = [claudeAsked(1, null, 'look'), claudeSaid(2, 1, text('I looked.'))]

const gemini = {
  sessionId: 'gemini-session',
  projectHash: 'ab'.repeat(32),
  startTime: time(0),
  lastUpdated: time(9),
  messages: [
    { id: 'u1', timestamp: time(1), type: 'user', content: 'look' },
    {
      id: 'g1',
      timestamp: time(2),
      type: 'gemini',
      content: 'I looked.',
      model: 'gemini-3-pro',
      tokens: { input: 900, cached: 800, output: 40, thoughts: 20, tool: 0, total: 960 },
    },
  ],
}
const codexLine = (type: string, payload: JsonObject): JsonObject => ({ timestamp: time(1), type, payload })
const codexCounts = {
  input_tokens: 900,
  cached_input_tokens: 800,
  output_tokens: 60,
  reasoning_output_tokens: 20,
  total_tokens: 960,
}
const codexLog = [
  codexLine('session_meta', { id: uuid(9), timestamp: time(0), cwd: '/project', cli_version: '0.140.0' }),
  codexLine('response_item', { type: 'message', role: 'assistant', content: [text('I looked.')] }),
  codexLine('event_msg', {
    type: 'token_count',
    info: { total_token_usage: codexCounts, last_token_usage: codexCounts },
  }),
]
const piLog = [
  { type: 'session', version: 3, id: uuid(8), timestamp: time(0), cwd: '/project' },
  {
    type: 'message',
    id: '0000000b',
    parentId: null,
    timestamp: time(1),
    message: {
      role: 'assistant',
      content: [text('I looked.')],
      provider: 'anthropic',
      model: 'claude-opus-4-5',
      usage: { input: 100, output: 60, cacheRead: 800, cacheWrite: 0 },
      stopReason: 'stop',
      timestamp: Date.parse(time(1)),
    },
  },
]
const opencode = {
  info: { id: 'ses_1', version: '1.3.20', directory: '/project', time: { created: 1, updated: 2 } },
  messages: [
    {
      info: {
        id: 'msg_1',
        sessionID: 'ses_1',
        role: 'assistant',
        time: { created: 1, completed: 2 },
        modelID: 'claude-opus-4-5',
        providerID: 'anthropic',
        tokens: { total: 960, input: 100, output: 40, reasoning: 20, cache: { read: 800, write: 0 } },
      },
      parts: [{ id: 'prt_1', messageID: 'msg_1', sessionID: 'ses_1', type: 'text', text: 'I looked.' }],
    },
  ],
}

const copilotLine = (n: number, type: string, data: JsonObject): JsonObject => ({
  type,
  data,
  id: `event-${n}`,
  timestamp: time(n),
  parentId: n === 0 ? null : `event-${n - 1}`,
})
const copilotLog = [
  copilotLine(0, 'session.start', {
    sessionId: uuid(7),
    version: 1,
    copilotVersion: '1.0.68',
    startTime: time(0),
  }),
  copilotLine(1, 'assistant.message', {
    messageId: 'm1',
    model: 'gpt-5.5',
    content: 'I looked.',
    outputTokens: 60,
  }),
  copilotLine(2, 'session.shutdown', {
    modelMetrics: {
      'gpt-5.5': {
        requests: { count: 1, cost: 1 },
        usage: { inputTokens: 900, outputTokens: 60, cacheReadTokens: 800, reasoningTokens: 20 },
      },
    },
  }),
]
const clineUi = [
  { ts: 1779267600000, type: 'say', say: 'text', text: 'look' },
  {
    ts: 1779267600001,
    type: 'say',
    say: 'api_req_started',
    text: JSON.stringify({ request: 'look', tokensIn: 100, tokensOut: 60, cacheReads: 800, cacheWrites: 0 }),
  },
  { ts: 1779267600002, type: 'say', say: 'text', text: 'I looked.' },
]

describe('trap 1: Claude Code repeats the whole usage on the line of each block', () => {
  it('counts a message once, by its last line', () =>
    isExact(
      'claude-code',
      'one line for each block, each with the whole usage',
      'a message’s first line, written before the output was counted',
    ))
})

describe('trap 2: Claude Code kept placeholders for the output', () => {
  it('gives a message without a stop reason as a lower bound', () =>
    isExact('claude-code', 'a placeholder that never became a count'))
})

describe('trap 3: counters lie on different sides of cache and reasoning', () => {
  it('makes one and the same call the same counts in every format', async () => {
    const formats = {
      'claude-code': toLines(...claudeLog),
      codex: toLines(...codexLog),
      'gemini-cli': JSON.stringify(gemini),
      opencode: JSON.stringify(opencode),
      pi: toLines(...piLog),
      'copilot-cli': toLines(...copilotLog),
      cline: JSON.stringify(clineUi),
    }
    for (const [format, content] of Object.entries(formats)) {
      const measured = await measure({ files: { one: content }, open: ['one'] })
      expect(measured.formats).toEqual([format])
      expect(measured.tally).toMatchObject({ input: 100, cacheRead: 800, output: 60, calls: 1 })
      if ('reasoning' in measured.tally) expect(measured.tally.reasoning).toBe(20)
    }
  })
})

describe('trap 4: Codex counts up, repeats itself and goes back', () => {
  it('adds what the total grew by, and the last call where it fell', () =>
    isExact(
      'codex',
      'a running total taken for a call’s',
      'a count written again word for word',
      'a context size after a compaction, and a call after it',
      'a counter that goes back to an older total',
    ))
})

describe('trap 5: history is copied', () => {
  it('bills a call once in the whole archive', async () => {
    await isExact('codex', 'a fork that replays its parent’s calls')
    await isExact('codex', 'a sub-agent that was given its parent’s history')
    await isExact('claude-code', 'a resumed session that begins with a copy')
    await isExact('claude-code', 'forks of one session, found at different syncs')
    await isExact('entire', 'checkpoints that repeat the session so far')
    await isExact('pi', 'a session branched into another file')
  })
})

describe('trap 6: walking up from the last line loses parallel calls', () => {
  it('keeps every line of a message whose results hang off lines of their own', async () => {
    const call = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'Bash', input: {} })
    const result = (id: string): Json => [{ type: 'tool_result', tool_use_id: id, content: 'done' }]
    const lines = [
      claudeAsked(1, null, 'look twice'),
      claudeSaid(2, 1, call('toolu_1')),
      claudeSaid(3, 2, call('toolu_2')),
      claudeAsked(4, 2, result('toolu_1')),
      claudeAsked(5, 3, result('toolu_2')),
      claudeSaid(6, 5, text('I looked.'), 'msg_2'),
    ]
    const { transcripts, tally } = await measure({ files: { [`${SESSION}.jsonl`]: toLines(...lines) } })
    expect(transcripts[0]?.entries.map(({ id }) => id)).toEqual(lines.map(({ uuid: id }) => id))
    expect(tally).toMatchObject({ calls: 2, output: 120 })
  })
})

describe('trap 7: lines of one message are not neighbours', () => {
  it('joins them by their call, wherever they stand', async () => {
    await isExact('claude-code', 'lines of one message with results between them')
    const one = torture('claude-code', 'lines of one message with results between them')
    const [transcript] = (await measure(one)).transcripts
    const answers = turns(transcript?.entries ?? []).filter(({ role }) => role === 'assistant')
    expect(answers.map(({ entries }) => entries.length)).toEqual([2, 1])
  })
})

describe('trap 8: labels lie', () => {
  const checkpoint = (agent: string, transcript: string): TortureCase['files'] => ({
    'metadata.json': JSON.stringify({ checkpoint_id: 'a10123456789', session_id: SESSION, agent }),
    'full.jsonl': transcript,
  })

  it('believes no name and no extension', async () => {
    const files = {
      'session.json': toLines(...claudeLog),
      'rollout-2026.jsonl': JSON.stringify(gemini, null, 2),
      'opencode.txt': toLines(...codexLog),
      'chats.json': toLines(...piLog),
    }
    const { formats } = await measure({ files, open: Object.keys(files) })
    expect(formats).toEqual(['claude-code', 'gemini-cli', 'codex', 'pi'])
  })

  it('reads what is in a checkpoint, whatever agent it names', async () => {
    const wrong = [
      checkpoint('Gemini CLI', toLines(...claudeLog)),
      checkpoint('Opencode', JSON.stringify(gemini, null, 2)),
      checkpoint('Claude Code', JSON.stringify(opencode, null, 2)),
    ]
    for (const files of wrong) {
      const { tally, formats } = await measure({ files })
      expect(formats).toEqual(['entire'])
      expect(tally).toMatchObject({ input: 100, cacheRead: 800, output: 60, calls: 1 })
    }
  })
})

describe('trap 9: files are torn, empty, huge and strange', () => {
  const LINES: Readonly<Record<string, readonly JsonObject[]>> = {
    'claude-code': claudeLog,
    codex: codexLog,
    pi: piLog,
  }
  const huge = 'x'.repeat(1_500_000)
  const strange: readonly Json[] = [
    'a string',
    [1, 2],
    null,
    { type: 'from-next-week', huge, odd: '\u2028\u2029' },
  ]

  it.each(Object.entries(LINES))('counts a %s log the same among them', async (format, lines) => {
    const [first, ...others] = lines.map((line) => JSON.stringify(line))
    const odd = strange.map((line) => JSON.stringify(line))
    const content = `${[first, ...odd, '{"bad', ...others].join('\r\n')}\r\n{"type":"assista`
    const files = { 'log.jsonl': content, 'empty.jsonl': '' }
    const measured = await measure({ files, open: ['log.jsonl'] })
    expect(measured.formats).toEqual([format])
    expect(measured.tally).toMatchObject({ input: 100, cacheRead: 800, output: 60, calls: 1 })
    const [transcript] = measured.transcripts
    expect(transcript?.damage.map(({ kind }) => kind).sort()).toEqual(['not-json', 'torn'])
    expect(transcript?.entries).toHaveLength(lines.length + strange.length)
    expect((await measure({ files })).tally).toEqual(measured.tally)
  })
})

describe('trap 10: REDACTED stands where ids were', () => {
  it('joins no calls by it', async () => {
    const lines = [
      claudeAsked(1, null, 'look'),
      claudeSaid(2, 1, text('one'), 'REDACTED', 60),
      claudeSaid(3, 2, text('two'), 'REDACTED', 70),
    ]
    const { tally } = await measure({ files: { 'log.jsonl': toLines(...lines) } })
    expect(tally).toMatchObject({ calls: 2, output: 130 })
    await isExact('opencode', 'tool calls whose ids all read REDACTED')
  })

  it('pairs results with their calls by their place', async () => {
    const { transcripts } = await measure(torture('opencode', 'tool calls whose ids all read REDACTED'))
    const blocks = transcripts.flatMap(({ entries }) => entries.flatMap((entry) => entry.blocks))
    const calls = blocks.flatMap((block) => (block.type === 'tool-call' ? [block.callId] : []))
    const results = blocks.flatMap((block) => (block.type === 'tool-result' ? [block.callId] : []))
    expect(new Set(calls).size).toBe(2)
    expect(results).toEqual(calls)
  })
})
