/** Logs that are read on as they grow say what they say when they are read whole, at every moment. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claudeCode } from '../src/formats/claude-code.ts'
import { codex } from '../src/formats/codex.ts'
import { pi } from '../src/formats/pi.ts'
import type { Format } from '../src/formats/format.ts'
import type { JsonObject } from '../src/transcript/json.ts'
import { line as claudeLine, SESSION } from './claude-lines.ts'
import { answered, asked, called, counted, event, meta, said, THREAD, turn } from './codex-lines.ts'
import { checkFollowed, type Moment } from './followed-logs.ts'

/** Longer than what is read at first of a log. */
const LONG = 'x'.repeat(9000)

/** One thing that was written: to which file, and what. */
type Written = { readonly path: string; readonly lines: readonly (JsonObject | string)[] }

/** A moment after each so many things were written, from the first on. */
function momentsOf(written: readonly Written[], each: number): readonly Moment[] {
  const moments: Moment[] = []
  const files = new Map<string, Buffer>()
  for (const [n, { path, lines }] of written.entries()) {
    const bytes = lines.map((one) => (typeof one === 'string' ? one : `${JSON.stringify(one)}\n`)).join('')
    files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), Buffer.from(bytes)]))
    if (n === 0 || n % each === 0 || n === written.length - 1) moments.push(new Map(files))
  }
  return moments
}

async function expectSame(format: Format, moments: readonly Moment[]): Promise<void> {
  const { sure, differing } = await checkFollowed(format, moments)
  expect(differing).toEqual([])
  expect(sure).toBe(moments.length)
}

const MAIN = `-p/${SESSION}.jsonl`
const AGENT = `-p/${SESSION}/subagents/agent-a1.jsonl`

/** A line of the session, or of its subagent. Numbers tell lines apart; parents are the lines before. */
const claude = (n: number, facts: JsonObject): JsonObject =>
  claudeLine(`u${n}`, { parentUuid: `u${n - 1}`, timestamp: timeOf(n), ...facts })

const timeOf = (n: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, n)).toISOString()

function claudeAnswer(n: number, call: number, block: JsonObject, facts: JsonObject = {}): JsonObject {
  return claude(n, {
    type: 'assistant',
    requestId: `req_${call}`,
    message: {
      id: `msg_${call}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3 + n, output_tokens: n, cache_read_input_tokens: 100 },
    },
    ...facts,
  })
}

const toolUse = (n: number, name: string, input: JsonObject): JsonObject => ({
  type: 'tool_use',
  id: `toolu_${n}`,
  name,
  input,
})

/** What may be written next; `n` is the number of the line, `of` some number of a line before. */
const CLAUDE: readonly ((n: number, of: number) => Written)[] = [
  (n) => ({ path: MAIN, lines: [claude(n, { message: { role: 'user', content: `go on ${n}` } })] }),
  // A message of several lines, of which the later says more; and one that is told of again, long after.
  (n) => ({ path: MAIN, lines: [claudeAnswer(n, n, { type: 'text', text: `answer ${n}` })] }),
  (n, of) => ({ path: MAIN, lines: [claudeAnswer(n, of, { type: 'text', text: `more of ${of}` })] }),
  (n, of) => ({
    path: MAIN,
    lines: [claudeAnswer(n, n, toolUse(n, 'Read', { file_path: `/p/${of % 3}.ts` }))],
  }),
  (n) => ({ path: MAIN, lines: [claudeAnswer(n, n, toolUse(n, 'Bash', { command: 'ls' }))] }),
  (n, of) => ({ path: MAIN, lines: [claudeResult(n, of, false)] }),
  (n, of) => ({ path: MAIN, lines: [claudeResult(n, of, true)] }),
  (n) => ({ path: MAIN, lines: [claudeAnswer(n, n, toolUse(n, 'Task', { prompt: 'look at it' }))] }),
  (n, of) => ({
    path: MAIN,
    lines: [claude(n, { ...resultOf(of, 'agentId: a1'), toolUseResult: { agentId: 'a1' } })],
  }),
  // An answer whose stream was cut.
  (n) => ({
    path: MAIN,
    lines: [
      claude(n, {
        type: 'assistant',
        isApiErrorMessage: true,
        message: {
          role: 'assistant',
          model: '<synthetic>',
          content: [{ type: 'text', text: 'API Error' }],
        },
      }),
    ],
  }),
  (n) => ({
    path: MAIN,
    lines: [
      claudeAnswer(
        n,
        n,
        { type: 'text', text: 'after a refusal' },
        {
          message: {
            id: `msg_${n}`,
            role: 'assistant',
            model: 'claude-opus-4-5',
            content: [{ type: 'text', text: 'after a refusal' }],
            usage: {
              input_tokens: 5,
              output_tokens: 9,
              iterations: [
                { input_tokens: 2, output_tokens: 1, model: 'claude-sonnet-4-5' },
                { input_tokens: 5, output_tokens: 9 },
              ],
            },
          },
        },
      ),
    ],
  }),
  (n) => ({ path: MAIN, lines: [{ type: 'ai-title', aiTitle: `a title ${n}`, sessionId: SESSION }] }),
  (n, of) => ({ path: MAIN, lines: [{ type: 'summary', summary: `sum ${n}`, leafUuid: `u${of}` }] }),
  () => ({ path: MAIN, lines: ['{"type":"user","mess\n'] }),
  (n) => ({ path: MAIN, lines: [claude(n, { type: 'a-new-record', novelty: true })] }),
  (n) => ({ path: AGENT, lines: [subagent(n, claude(n, { message: { role: 'user', content: 'look' } }))] }),
  (n) => ({
    path: AGENT,
    lines: [subagent(n, claudeAnswer(n, 1000 + n, toolUse(n, 'Grep', { pattern: 'x', path: '/p' })))],
  }),
  (n, of) => ({ path: AGENT, lines: [subagent(n, claudeResult(n, of, true))] }),
  (n) => ({
    path: AGENT,
    lines: [
      subagent(
        n,
        claude(n, {
          type: 'assistant',
          isApiErrorMessage: true,
          message: { role: 'assistant', content: [] },
        }),
      ),
    ],
  }),
]

const subagent = (_: number, one: JsonObject): JsonObject => ({ ...one, isSidechain: true, agentId: 'a1' })

const resultOf = (of: number, content: string, isError = false): JsonObject => ({
  message: {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: `toolu_${of}`, content, ...(isError && { is_error: true }) },
    ],
  },
})

const claudeResult = (n: number, of: number, isError: boolean): JsonObject =>
  claude(n, resultOf(of, 'done', isError))

const CODEX: readonly ((n: number, of: number) => readonly (JsonObject | string)[])[] = [
  (n) => [asked(`question ${n}`)],
  (n) => [said(`answer ${n}`, n)],
  (n) => [called(`call_${n}`)],
  (_, of) => [answered(`call_${of}`)],
  (n) => [counted([100 * n, 10, 10 * n, 1], [100, 10, 10, 1])],
  (n) => [said(`answer ${n}`), counted([100 * n, 0, 10 * n, 0])],
  () => [turn('gpt-5')],
  () => [event('thread_rolled_back', { num_turns: 1 })],
  (_, of) => [
    event('exec_command_end', { call_id: `call_${of}`, duration: { secs: 2, nanos: 0 }, exit_code: 1 }),
  ],
  (n) => [
    event('collab_agent_spawn_end', {
      call_id: `call_${n}`,
      new_thread_id: `01990000-9002-7000-8000-${String(n).padStart(12, '0')}`,
    }),
  ],
  () => ['{"timestamp":"2026-0\n'],
]

const PI: readonly ((n: number, of: number) => readonly JsonObject[])[] = [
  (n) => [piMessage(n, { role: 'user', content: [{ type: 'text', text: `question ${n}` }] })],
  (n) => [piAnswer(n, n, [{ type: 'text', text: 'so' }])],
  (n, of) => [
    piAnswer(n, of, [{ type: 'toolCall', id: `call_${n}`, name: 'read', arguments: { path: '/p' } }]),
  ],
  (n, of) => [
    piMessage(n, {
      role: 'toolResult',
      toolCallId: `call_${of}`,
      toolName: 'read',
      content: [],
      isError: n % 2 === 0,
    }),
  ],
  (n) => [{ type: 'session_info', id: `i${n}`, timestamp: timeOf(n), name: `called ${n}` }],
]

const piMessage = (n: number, message: JsonObject): JsonObject => ({
  type: 'message',
  id: `e${n}`,
  parentId: `e${n - 1}`,
  timestamp: timeOf(n),
  message,
})

const piAnswer = (n: number, of: number, content: readonly JsonObject[]): JsonObject =>
  piMessage(n, {
    role: 'assistant',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    responseId: `msg_${of}`,
    timestamp: 1_770_000_000_000 + of,
    content: [...content],
    stopReason: 'stop',
    usage: { input: n, output: 5, cacheRead: 0, cacheWrite: 0, cost: { total: 0.25 } },
  })

/** Which thing of a list is written, what it is of, and how many are between two moments. */
const story = (kinds: number): fc.Arbitrary<readonly [readonly (readonly [number, number])[], number]> =>
  fc.tuple(
    fc.array(fc.tuple(fc.nat({ max: kinds - 1 }), fc.integer({ min: 1, max: 12 })), {
      minLength: 1,
      maxLength: 40,
    }),
    fc.integer({ min: 1, max: 5 }),
  )

describe('a log that is read on as it grows', () => {
  it("is told of as when it is read whole: Claude Code's, with a subagent's beside it", async () => {
    const first: Written = {
      path: MAIN,
      lines: [
        claude(1, { message: { role: 'user', content: 'begin' } }),
        claudeAnswer(2, 2, { type: 'text', text: LONG }),
      ],
    }
    await fc.assert(
      fc.asyncProperty(story(CLAUDE.length), async ([steps, each]) => {
        const written = steps.map(([kind, back], at) => {
          const n = at + 3
          return (CLAUDE[kind] as (typeof CLAUDE)[number])(n, Math.max(1, n - back))
        })
        await expectSame(claudeCode, momentsOf([first, ...written], each))
      }),
      { numRuns: 150 },
    )
  })

  it("is told of as when it is read whole: Codex's", async () => {
    const path = `2026/02/10/rollout-2026-02-10T10-00-01-${THREAD}.jsonl`
    const lines = [meta(), turn('gpt-5'), said(LONG), counted([50, 0, 5, 0])]
    await fc.assert(
      fc.asyncProperty(story(CODEX.length), async ([steps, each]) => {
        const written = steps.map(([kind, back], at) => {
          const n = at + 3
          return { path, lines: (CODEX[kind] as (typeof CODEX)[number])(n, Math.max(1, n - back)) }
        })
        await expectSame(codex, momentsOf([{ path, lines }, ...written], each))
      }),
      { numRuns: 150 },
    )
  })

  it("is told of as when it is read whole: pi's", async () => {
    const path = '-p/2026-02-10_session.jsonl'
    const header = { type: 'session', version: 3, id: 's1', timestamp: timeOf(0), cwd: '/p' }
    const lines = [header, piMessage(1, { role: 'user', content: [{ type: 'text', text: LONG }] })]
    await fc.assert(
      fc.asyncProperty(story(PI.length), async ([steps, each]) => {
        const written = steps.map(([kind, back], at) => {
          const n = at + 3
          return { path, lines: (PI[kind] as (typeof PI)[number])(n, Math.max(1, n - back)) }
        })
        await expectSame(pi, momentsOf([{ path, lines }, ...written], each))
      }),
      { numRuns: 100 },
    )
  })

  it('is not sure of what only the whole can tell', async () => {
    const own = { path: MAIN, lines: [claude(1, { message: { role: 'user', content: LONG } })] }
    const isSureOf = async (format: Format, written: readonly Written[]): Promise<number> =>
      (await checkFollowed(format, momentsOf(written, 1))).sure
    const progress = claude(2, {
      type: 'progress',
      parentToolUseID: 'toolu_1',
      data: {
        type: 'agent_progress',
        agentId: 'a1',
        message: { type: 'user', uuid: 'p1', timestamp: timeOf(2), message: { role: 'user', content: 'x' } },
      },
    })
    const agent = {
      path: AGENT,
      lines: [subagent(3, claude(3, { message: { role: 'user', content: 'x' } }))],
    }
    // A message that was taken from a progress line, and stands in a log that came later.
    expect(await isSureOf(claudeCode, [own, { path: MAIN, lines: [progress] }, agent])).toBe(2)
    // A subagent's log without its session's; a workflow's journal; two sessions.
    expect(await isSureOf(claudeCode, [agent, agent])).toBe(0)
    const journal = { path: `-p/${SESSION}/subagents/w/journal.jsonl`, lines: [{ type: 'started' }] }
    expect(await isSureOf(claudeCode, [own, journal])).toBe(1)
    expect(await isSureOf(claudeCode, [own, { ...own, path: '-p/other.jsonl' }])).toBe(1)
    // A call that both report: which report is the last is told by the order in which they are read.
    const twice = { path: AGENT, lines: [subagent(3, claudeAnswer(3, 2, { type: 'text', text: 'x' }))] }
    const answer = { path: MAIN, lines: [claudeAnswer(2, 2, { type: 'text', text: 'x' })] }
    expect(await isSureOf(claudeCode, [own, answer, twice])).toBe(2)
    // What subagents say of the session counts by the order of files; and what only some are remembered of, by the order in which they came.
    const elsewhere = {
      ...subagent(4, claude(4, { message: { role: 'user', content: 'x' } })),
      cwd: '/other',
      gitBranch: 'b',
    }
    const branchless = {
      path: MAIN,
      lines: [
        claude(1, { gitBranch: '', message: { role: 'user', content: LONG } }),
        claudeAnswer(2, 2, { type: 'text', text: 'x' }, { gitBranch: '' }),
      ],
    }
    expect(await isSureOf(claudeCode, [branchless, { path: AGENT, lines: [elsewhere] }])).toBe(1)
    const many = Array.from({ length: 60 }, (_, n): Written => ({
      path: AGENT.replace('a1', `b${n}`),
      lines: [
        {
          ...claudeAnswer(n + 3, n + 3, toolUse(n, 'Read', { file_path: '/p' })),
          isSidechain: true,
          agentId: `b${n}`,
        },
      ],
    }))
    const told = await checkFollowed(claudeCode, momentsOf([own, answer, ...many], 1))
    expect(told.differing).toEqual([])
    expect(told.sure).toBe(52)
    // A fork begins with another's records: whose they are is told by the first of its own.
    const copied = claude(1, { sessionId: '33333333-3333-4333-8333-333333333333' })
    expect(await isSureOf(claudeCode, [{ path: MAIN, lines: [copied] }])).toBe(0)
    // Until there is a count, calls may be named otherwise.
    const rollout = { path: `rollout-2026-02-10T10-00-01-${THREAD}.jsonl`, lines: [meta(), said(LONG)] }
    expect(await isSureOf(codex, [rollout])).toBe(0)
  })
})
