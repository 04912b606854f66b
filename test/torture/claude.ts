/** Claude Code's logs, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asString, isObject } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, objectsIn, toLines, total, type Tally, type TortureCase } from './case.ts'

const SESSION = '11111111-1111-4111-8111-111111111111'
const RESUMED = '22222222-2222-4222-8222-222222222222'
const FORKED = '33333333-3333-4333-8333-333333333333'
const AGENT = 'a1b2c3d'

const time = (second: number): string => new Date(Date.UTC(2026, 4, 20, 9, 0, second)).toISOString()

/** Lines are made in order: each hangs off the one before. */
let count = 0
const line = (type: string, facts: JsonObject): JsonObject => {
  count += 1
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  return {
    parentUuid: count === 1 ? null : uuid(count - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/project',
    sessionId: SESSION,
    version: '2.1.120',
    gitBranch: 'main',
    type,
    uuid: uuid(count),
    timestamp: time(count),
    ...facts,
  }
}

const asked = (text: string): JsonObject => line('user', { message: { role: 'user', content: text } })
const answered = (id: string, facts: JsonObject = {}): JsonObject =>
  line('user', {
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    ...facts,
  })

type Counts = {
  readonly input: number
  readonly read: number
  readonly write5m?: number
  readonly write1h?: number
  readonly output: number
}
const usage = ({ input, read, write5m = 0, write1h = 0, output }: Counts): JsonObject => ({
  input_tokens: input,
  cache_creation_input_tokens: write5m + write1h,
  cache_read_input_tokens: read,
  cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
  output_tokens: output,
  service_tier: 'standard',
})
const TEXT: JsonObject = { type: 'text', text: 'I looked.' }
const THINKING: JsonObject = { type: 'thinking', thinking: 'Let me look.', signature: 'c2ln' }
const tool = (id: string, name = 'Bash'): JsonObject => ({ type: 'tool_use', id, name, input: {} })

/** One line of a message: one block, and the whole envelope. */
const said = (
  id: string,
  block: JsonObject,
  used: JsonObject,
  stop: string | null = 'end_turn',
  facts: JsonObject = {},
): JsonObject =>
  line('assistant', {
    requestId: `req_${id}`,
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: stop,
      stop_sequence: null,
      usage: used,
    },
    ...facts,
  })

/** The same line as another file has it. */
const copied = (one: JsonObject, sessionId: string): JsonObject => ({ ...one, sessionId })

const log = (session: string, ...lines: readonly Json[]): Record<string, string> => ({
  [`-project/${session}.jsonl`]: toLines(...lines),
})

const FIRST: Counts = { input: 10, read: 1000, write5m: 200, output: 8 }
const LAST: Counts = { ...FIRST, output: 412 }
const NEXT: Counts = { input: 4, read: 1200, write5m: 50, output: 90 }

const blocks = (id = 'msg_1'): JsonObject[] => [
  said(id, THINKING, usage(FIRST), null),
  said(id, TEXT, usage(FIRST), null),
  said(id, tool('toolu_1'), usage(LAST), 'tool_use'),
]

const tally = (counts: Counts, calls: number, quality: Tally['quality'] = 'reported'): Tally => ({
  input: counts.input,
  cacheRead: counts.read,
  cacheWrite5m: counts.write5m ?? 0,
  cacheWrite1h: counts.write1h ?? 0,
  output: counts.output,
  calls,
  quality,
})
const plus = (a: Counts, b: Counts): Counts => ({
  input: a.input + b.input,
  read: a.read + b.read,
  write5m: (a.write5m ?? 0) + (b.write5m ?? 0),
  write1h: (a.write1h ?? 0) + (b.write1h ?? 0),
  output: a.output + b.output,
})

const answers = (files: Readonly<Record<string, string>>): readonly JsonObject[] =>
  linesIn(files).filter((one) => one['type'] === 'assistant')
const addUp = (usages: readonly (Json | undefined)[]): Partial<Tally> => ({
  input: total(usages, (one) => numberAt(one, 'input_tokens')),
  cacheRead: total(usages, (one) => numberAt(one, 'cache_read_input_tokens')),
  cacheWrite5m: total(usages, (one) => numberAt(one, 'cache_creation_input_tokens')),
  output: total(usages, (one) => numberAt(one, 'output_tokens')),
  calls: usages.length,
})
const everyLine = (files: Readonly<Record<string, string>>): Partial<Tally> =>
  addUp(answers(files).map((one) => at(one, 'message', 'usage')))
/** Lines that keep the first, or the last, of each message in each file. */
const perFile =
  (keep: 'first' | 'last') =>
  (files: Readonly<Record<string, string>>): Partial<Tally> =>
    addUp(
      Object.entries(files).flatMap(([path, text]) => {
        const kept = new Map<string, Json | undefined>()
        for (const one of answers({ [path]: text })) {
          const id = asString(at(one, 'message', 'id')) ?? ''
          if (keep === 'last' || !kept.has(id)) kept.set(id, at(one, 'message', 'usage'))
        }
        return [...kept.values()]
      }),
    )
/** Every object that has a usage's keys, wherever it stands. */
const everyUsage = (files: Readonly<Record<string, string>>): Partial<Tally> =>
  addUp(objectsIn(files).filter((one) => 'output_tokens' in one && 'input_tokens' in one))

const task = [asked('send an agent'), said('msg_1', tool('toolu_task', 'Task'), usage(LAST), 'tool_use')]
const agentLine = (facts: JsonObject): JsonObject => ({ ...facts, isSidechain: true, agentId: AGENT })
const agentSaid = agentLine(said('msg_agent', TEXT, usage(NEXT)))
const taskResult = answered('toolu_task', {
  toolUseResult: {
    status: 'completed',
    agentId: AGENT,
    content: [TEXT],
    totalTokens: 1344,
    totalToolUseCount: 0,
    totalDurationMs: 900,
    usage: usage(NEXT),
  },
})
const progress = line('progress', {
  toolUseID: 'agent_msg_1',
  parentToolUseID: 'toolu_task',
  data: {
    type: 'agent_progress',
    prompt: 'look',
    agentId: AGENT,
    message: {
      type: 'assistant',
      uuid: '00000000-0000-4000-8000-0000000000aa',
      timestamp: time(50),
      requestId: 'req_msg_agent',
      message: agentSaid['message'] ?? null,
    },
  },
})
const after = said('msg_2', TEXT, usage(NEXT))
const agentFiles = {
  [`-project/${SESSION}/subagents/agent-${AGENT}.jsonl`]: toLines(agentLine(asked('look')), agentSaid),
}
const original = [asked('look'), ...blocks()]
const resumedLine = copied(said('msg_2', TEXT, usage(NEXT)), RESUMED)

export const claudeCases: readonly TortureCase[] = [
  {
    name: 'one line for each block, each with the whole usage',
    format: 'claude-code',
    files: log(SESSION, asked('look'), ...blocks()),
    naive: { does: 'adds up every line', count: everyLine },
    truth: tally(LAST, 1),
  },
  {
    name: 'a message’s first line, written before the output was counted',
    format: 'claude-code',
    files: log(SESSION, asked('look'), ...blocks()),
    naive: { does: 'keeps the first line of each message', count: perFile('first') },
    truth: tally(LAST, 1),
  },
  {
    name: 'lines of one message with results between them',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look twice'),
      said('msg_1', tool('toolu_1'), usage(LAST), 'tool_use'),
      answered('toolu_1'),
      said('msg_1', tool('toolu_2'), usage(LAST), 'tool_use'),
      answered('toolu_2'),
      said('msg_2', TEXT, usage(NEXT)),
    ),
    naive: { does: 'joins only lines that follow each other', count: everyLine },
    truth: tally(plus(LAST, NEXT), 2),
  },
  {
    name: 'a placeholder that never became a count',
    format: 'claude-code',
    files: log(SESSION, asked('look'), said('msg_1', TEXT, usage({ ...FIRST, output: 3 }), null)),
    naive: { does: 'takes 3 for what was written', count: () => ({ output: 3, quality: 'reported' }) },
    truth: tally({ ...FIRST, output: 3 }, 1, 'partial'),
  },
  {
    name: 'a cache write that lasts an hour, at another price',
    format: 'claude-code',
    files: log(SESSION, asked('look'), said('msg_1', TEXT, usage({ ...LAST, write1h: 700 }))),
    naive: { does: 'takes all writes for five minutes', count: everyLine },
    truth: tally({ ...LAST, write1h: 700 }, 1),
  },
  {
    name: 'a cache write that does not say how long it lasts',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      said('msg_1', TEXT, {
        input_tokens: 5,
        cache_creation_input_tokens: 60,
        cache_read_input_tokens: 0,
        output_tokens: 7,
      }),
    ),
    naive: { does: 'takes it for exact', count: () => ({ cacheWrite5m: 60, quality: 'reported' }) },
    truth: { input: 5, cacheRead: 0, cacheWrite5m: 60, output: 7, calls: 1, quality: 'estimated' },
  },
  {
    name: 'a message of Claude Code’s own, with zeros',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      ...blocks(),
      line('assistant', {
        isApiErrorMessage: true,
        error: 'overloaded',
        message: {
          id: '44444444-4444-4444-8444-444444444444',
          role: 'assistant',
          model: '<synthetic>',
          content: [{ type: 'text', text: 'API Error: 529' }],
          stop_reason: 'stop_sequence',
          usage: usage({ input: 0, read: 0, output: 0 }),
        },
      }),
    ),
    naive: { does: 'counts it as a call', count: (files) => ({ calls: perFile('last')(files).calls ?? 0 }) },
    truth: tally(LAST, 1),
  },
  {
    name: 'a refused call that another model answered',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      said('msg_1', TEXT, {
        ...usage({ input: 20, read: 300, output: 70 }),
        iterations: [
          { type: 'message', model: 'claude-opus-4-5', ...usage({ input: 21, read: 500, output: 9 }) },
          { type: 'message', model: 'claude-sonnet-4-5', ...usage({ input: 20, read: 300, output: 70 }) },
        ],
      }),
    ),
    naive: { does: 'takes the counts of the last iteration', count: everyLine },
    // Each model was asked, and each is paid for at its own price.
    truth: tally({ input: 41, read: 800, output: 79 }, 2),
  },
  {
    name: 'a resumed session that begins with a copy',
    format: 'claude-code',
    files: {
      ...log(SESSION, ...original),
      ...log(RESUMED, ...original.map((one) => copied(one, RESUMED)), resumedLine),
    },
    naive: { does: 'joins messages within each file', count: perFile('last') },
    truth: tally(plus(LAST, NEXT), 2),
  },
  {
    name: 'forks of one session, found at different syncs',
    format: 'claude-code',
    files: {
      ...log(FORKED, ...original.map((one) => copied(one, FORKED))),
      ...log(RESUMED, ...original.map((one) => copied(one, RESUMED)), resumedLine),
      ...log(SESSION, ...original),
    },
    open: [FORKED, RESUMED, SESSION].map((session) => `-project/${session}.jsonl`),
    naive: { does: 'joins messages within each file', count: perFile('last') },
    truth: tally(plus(LAST, NEXT), 2),
  },
  {
    name: 'a copy made in the middle of a message',
    format: 'claude-code',
    files: {
      ...log(FORKED, ...original.slice(0, -1).map((one) => copied(one, FORKED))),
      ...log(SESSION, ...original),
    },
    open: [SESSION, FORKED].map((session) => `-project/${session}.jsonl`),
    naive: { does: 'keeps what was read last of each message', count: () => ({ output: FIRST.output }) },
    truth: tally(LAST, 1),
  },
  {
    name: 'a sub-agent’s sum in its parent’s result',
    format: 'claude-code',
    files: { ...log(SESSION, ...task, taskResult, after), ...agentFiles },
    naive: { does: 'adds up every usage there is', count: everyUsage },
    truth: tally(plus(plus(LAST, NEXT), NEXT), 3),
  },
  {
    name: 'a sub-agent’s messages in its parent’s progress, and in its own file',
    format: 'claude-code',
    files: { ...log(SESSION, ...task, progress, taskResult, after), ...agentFiles },
    naive: { does: 'adds up every usage there is', count: everyUsage },
    truth: tally(plus(plus(LAST, NEXT), NEXT), 3),
  },
  {
    name: 'a sub-agent whose own file is gone',
    format: 'claude-code',
    files: log(SESSION, ...task, progress, progress, taskResult, after),
    naive: { does: 'counts assistant lines only', count: everyLine },
    truth: tally(plus(plus(LAST, NEXT), NEXT), 3),
  },
  {
    name: 'a sub-agent inside the main file',
    format: 'claude-code',
    files: log(
      SESSION,
      ...task,
      { ...asked('look'), isSidechain: true, parentUuid: null },
      { ...said('msg_agent', TEXT, usage(NEXT)), isSidechain: true },
      taskResult,
      after,
    ),
    naive: {
      does: 'leaves sidechains out',
      count: (files) =>
        addUp(
          answers(files)
            .filter((one) => one['isSidechain'] === false)
            .map((one) => at(one, 'message', 'usage')),
        ),
    },
    truth: tally(plus(plus(LAST, NEXT), NEXT), 3),
  },
]

const checkpoint = (n: number, ...lines: readonly JsonObject[]): Record<string, string> => ({
  [`a${n}/0123456789/metadata.json`]: JSON.stringify({
    checkpoint_id: `a${n}0123456789`,
    sessions: [
      { metadata: `/a${n}/0123456789/0/metadata.json`, transcript: `/a${n}/0123456789/0/full.jsonl` },
    ],
    token_usage: { input_tokens: LAST.input, output_tokens: LAST.output, api_call_count: 1 },
  }),
  [`a${n}/0123456789/0/metadata.json`]: JSON.stringify({
    cli_version: '0.5.0',
    checkpoint_id: `a${n}0123456789`,
    session_id: SESSION,
    strategy: 'manual-commit',
    created_at: time(n),
    agent: 'Claude Code',
    token_usage: { input_tokens: LAST.input, output_tokens: LAST.output, api_call_count: 1 },
  }),
  [`a${n}/0123456789/0/full.jsonl`]: toLines(...lines),
})

export const entireCases: readonly TortureCase[] = [
  {
    name: 'checkpoints that repeat the session so far',
    format: 'entire',
    files: {
      ...checkpoint(1, ...original),
      ...checkpoint(2, ...original, after),
    },
    naive: {
      does: 'adds up each checkpoint’s token_usage',
      count: (files) => {
        const sums = objectsIn(files).filter((one) => 'api_call_count' in one && isObject(one))
        return {
          input: total(sums, (one) => numberAt(one, 'input_tokens')),
          output: total(sums, (one) => numberAt(one, 'output_tokens')),
        }
      },
    },
    truth: tally(plus(LAST, NEXT), 2),
  },
]
