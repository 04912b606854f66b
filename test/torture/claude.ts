/** Claude Code's logs, and every way we know to miscount them. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asObject, asString } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, objectsIn, toLines, total, type Tally, type TortureCase } from './case.ts'
import {
  AGENT,
  FORKED,
  RESUMED,
  SESSION,
  TEXT,
  THINKING,
  answered,
  asked,
  copied,
  line,
  log,
  said,
  time,
  tool,
  usage,
  type Counts,
} from './claude-lines.ts'

const FIRST: Counts = { input: 10, read: 1000, write5m: 200, output: 8 }
export const LAST: Counts = { ...FIRST, output: 412 }
export const NEXT: Counts = { input: 4, read: 1200, write5m: 50, output: 90 }

const blocks = (id = 'msg_1'): JsonObject[] => [
  said(id, THINKING, usage(FIRST), null),
  said(id, TEXT, usage(FIRST), null),
  said(id, tool('toolu_1'), usage(LAST), 'tool_use'),
]

export const tally = (counts: Counts, calls: number, quality: Tally['quality'] = 'reported'): Tally => ({
  input: counts.input,
  cacheRead: counts.read,
  cacheWrite5m: counts.write5m ?? 0,
  cacheWrite1h: counts.write1h ?? 0,
  output: counts.output,
  calls,
  quality,
})
export const plus = (a: Counts, b: Counts): Counts => ({
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
export const after = said('msg_2', TEXT, usage(NEXT))
const agentFiles = {
  [`-project/${SESSION}/subagents/agent-${AGENT}.jsonl`]: toLines(agentLine(asked('look')), agentSaid),
}
export const original = [asked('look'), ...blocks()]
const resumedLine = copied(said('msg_2', TEXT, usage(NEXT)), RESUMED)

const withoutField = (said: JsonObject, field: string): JsonObject => {
  const { [field]: _, ...message } = asObject(said['message']) ?? {}
  return { ...said, message }
}
const uncounted = withoutField(said('msg_2', TEXT, {}), 'usage')
const oddIterations: JsonObject = {
  ...usage({ input: 20, read: 300, output: 70 }),
  iterations: [
    { type: 'message', model: 'claude-opus-4-5', ...usage({ input: 21, read: 500, output: 9 }) },
    { type: 'fallback' },
    null,
    { type: 'message', ...usage({ input: 20, read: 300, output: 70 }) },
  ],
}

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
    name: 'one call nobody counted',
    format: 'claude-code',
    files: log(SESSION, asked('look'), ...blocks(), answered('toolu_1'), uncounted),
    naive: { does: 'takes the sum for the whole', count: () => ({ ...tally(LAST, 1), quality: 'reported' }) },
    truth: tally(LAST, 1, 'partial'),
  },
  {
    name: 'a provider that counts nothing and says 0',
    format: 'claude-code',
    files: log(SESSION, asked('look'), said('msg_1', TEXT, usage({ input: 0, read: 0, output: 0 }))),
    naive: { does: 'takes 0 for exact', count: everyLine },
    truth: { calls: 0, quality: 'unavailable' },
  },
  {
    name: 'an answer that does not say whether it is done',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      withoutField(said('msg_1', TEXT, usage({ ...FIRST, output: 3 })), 'stop_reason'),
    ),
    naive: { does: 'takes 3 for what was written', count: () => ({ output: 3, quality: 'reported' }) },
    truth: tally({ ...FIRST, output: 3 }, 1, 'partial'),
  },
  {
    name: 'a placeholder that comes after the last word',
    format: 'claude-code',
    files: log(SESSION, asked('look'), ...blocks(), said('msg_1', TEXT, usage({ ...LAST, output: 1 }), null)),
    naive: { does: 'keeps the last line of each message', count: perFile('last') },
    truth: tally(LAST, 1),
  },
  {
    name: 'a list of samplings with one that is no sampling',
    format: 'claude-code',
    files: log(SESSION, asked('look'), said('msg_1', TEXT, oddIterations)),
    naive: { does: 'counts what it knows, or the last', count: () => ({ input: 20, output: 70 }) },
    truth: {
      input: 41,
      cacheRead: 800,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: 79,
      calls: 2,
      quality: 'partial',
    },
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
    name: 'a stream that was cut, its answer closed by Claude Code itself',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      { ...said('msg_1', TEXT, usage({ ...FIRST, output: 3 })), uuid: 'cut-1' },
      line('assistant', {
        parentUuid: 'cut-1',
        isApiErrorMessage: true,
        error: 'server_error',
        message: {
          id: '55555555-5555-4555-8555-555555555555',
          role: 'assistant',
          model: '<synthetic>',
          content: [{ type: 'text', text: 'API Error: connection closed' }],
          stop_reason: 'stop_sequence',
          usage: usage({ input: 0, read: 0, output: 0 }),
        },
      }),
    ),
    naive: { does: 'trusts its stop reason', count: () => ({ output: 3, quality: 'reported' }) },
    truth: tally({ ...FIRST, output: 3 }, 1, 'partial'),
  },
  {
    name: 'a message of Claude Code’s own, with zeros',
    format: 'claude-code',
    files: log(
      SESSION,
      asked('look'),
      ...blocks(),
      answered('toolu_1'),
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
      line('assistant', {
        requestId: 'req_msg_1',
        message: {
          id: 'msg_1',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [TEXT],
          stop_reason: 'end_turn',
          usage: {
            ...usage({ input: 20, read: 300, output: 70 }),
            iterations: [
              { type: 'message', model: 'claude-opus-4-5', ...usage({ input: 21, read: 500, output: 9 }) },
              {
                type: 'fallback_message',
                model: 'claude-sonnet-4-5',
                ...usage({ input: 20, read: 300, output: 70 }),
              },
            ],
          },
        },
      }),
    ),
    naive: { does: 'takes the counts of the last iteration', count: everyLine },
    // Each model was asked, and each is paid for at its own price.
    truth: tally({ input: 41, read: 800, output: 79 }, 2),
    byModel: { 'claude-opus-4-5': 9, 'claude-sonnet-4-5': 70 },
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
    name: 'a sub-agent in a file beside its session’s',
    format: 'claude-code',
    files: {
      ...log(SESSION, ...task, taskResult, after),
      [`-project/agent-${AGENT}.jsonl`]: toLines(agentLine(asked('look')), agentSaid),
    },
    naive: {
      does: 'reads only files named after sessions',
      count: (files) => everyLine({ main: files[`-project/${SESSION}.jsonl`] ?? '' }),
    },
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
