/** Codex's rollouts, and every way we know to miscount them. */
import type { Json } from '../../src/transcript/json.ts'
import { at, linesIn, numberAt, toLines, total, type Tally, type TortureCase } from './case.ts'
import {
  NEW_TURN,
  OLD_TURN,
  OTHER,
  THREAD,
  asked,
  counted,
  counts,
  event,
  line,
  meta,
  printed,
  recorded,
  rollout,
  said,
  time,
  turn,
  type Counts,
} from './codex-lines.ts'

const ONE: Counts = [1000, 600, 100, 40]
const TWO: Counts = [2000, 1500, 50, 0]
const BOTH: Counts = [3000, 2100, 150, 40]
const begun = [meta(0, THREAD), turn(1, OLD_TURN), asked(1, 'look'), said(2, 'one'), counted(2, ONE, ONE)]

const truth = (
  input: number,
  cacheRead: number,
  output: number,
  reasoning: number,
  calls: number,
): Tally => ({
  input,
  cacheRead,
  output,
  reasoning,
  calls,
  quality: 'reported',
})

const infos = (files: Readonly<Record<string, string>>): Json[] =>
  linesIn(files)
    .filter((one) => at(one, 'payload', 'type') === 'token_count')
    .map((one) => at(one, 'payload', 'info') ?? null)
/** A sum over counts, taking Codex's numbers for disjoint ones. */
const adding =
  (which: 'total_token_usage' | 'last_token_usage') =>
  (files: Readonly<Record<string, string>>): Partial<Tally> => ({
    input: total(infos(files), (info) => numberAt(info, which, 'input_tokens')),
    output: total(infos(files), (info) => numberAt(info, which, 'output_tokens')),
    calls: infos(files).length,
  })
const lastTotal = (files: Readonly<Record<string, string>>): Partial<Tally> => ({
  input: numberAt(infos(files).at(-1), 'total_token_usage', 'input_tokens'),
  output: numberAt(infos(files).at(-1), 'total_token_usage', 'output_tokens'),
})

export const codexCases: readonly TortureCase[] = [
  {
    name: 'a running total taken for a call’s',
    format: 'codex',
    files: rollout(THREAD, ...begun, said(3, 'two'), counted(3, BOTH, TWO)),
    naive: { does: 'adds up the totals', count: adding('total_token_usage') },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a cached prompt inside the input, reasoning inside the output',
    format: 'codex',
    files: rollout(THREAD, ...begun),
    naive: {
      does: 'adds cached to input and reasoning to output',
      count: (files) => ({
        input: numberAt(infos(files)[0], 'last_token_usage', 'input_tokens'),
        cacheRead: numberAt(infos(files)[0], 'last_token_usage', 'cached_input_tokens'),
        output:
          numberAt(infos(files)[0], 'last_token_usage', 'output_tokens') +
          numberAt(infos(files)[0], 'last_token_usage', 'reasoning_output_tokens'),
      }),
    },
    truth: truth(400, 600, 100, 40, 1),
  },
  {
    name: 'a count written again word for word',
    format: 'codex',
    files: rollout(THREAD, ...begun, counted(2, ONE, ONE), counted(3, ONE, ONE)),
    naive: { does: 'adds up each last call', count: adding('last_token_usage') },
    truth: truth(400, 600, 100, 40, 1),
  },
  {
    name: 'a context size after a compaction, and a call after it',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      line(3, 'compacted', { message: '', replacement_history: [{ type: 'compaction' }] }),
      event(3, 'context_compacted'),
      event(3, 'token_count', {
        info: {
          total_token_usage: counts(ONE),
          last_token_usage: { ...counts([0, 0, 0, 0]), total_tokens: 9000 },
        },
      }),
      said(4, 'two'),
      counted(4, BOTH, TWO),
    ),
    naive: {
      does: 'adds up last_token_usage.total_tokens',
      count: (files) => ({
        input: total(infos(files), (info) => numberAt(info, 'last_token_usage', 'total_tokens')),
        calls: infos(files).length,
      }),
    },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a counter that goes back to an older total',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      said(3, 'two'),
      counted(3, BOTH, TWO),
      meta(4, THREAD),
      said(5, 'three'),
      counted(5, [1700, 700, 130, 40], [700, 100, 30, 0]),
    ),
    naive: { does: 'takes the last total', count: lastTotal },
    truth: truth(1500, 2200, 180, 40, 3),
  },
  {
    name: 'a counter that goes back by less than the next call adds',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      said(3, 'two'),
      counted(3, [1300, 800, 120, 40], [300, 200, 20, 0]),
      meta(4, THREAD),
      said(5, 'three'),
      counted(5, BOTH, TWO),
    ),
    naive: { does: 'adds what the total grew by', count: lastTotal },
    truth: truth(1000, 2300, 170, 40, 3),
  },
  {
    name: 'a count without numbers, for the rate limits only',
    format: 'codex',
    files: rollout(THREAD, ...begun, event(3, 'token_count', { info: null, rate_limits: { primary: null } })),
    naive: { does: 'counts each event as a call', count: (files) => ({ calls: infos(files).length }) },
    truth: truth(400, 600, 100, 40, 1),
  },
  {
    name: 'turns rolled back, which were paid for',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      event(3, 'thread_rolled_back', { num_turns: 1 }),
      turn(4, OLD_TURN),
      asked(4, 'again'),
      said(5, 'two'),
      counted(5, BOTH, TWO),
    ),
    naive: {
      does: 'leaves out what was rolled back',
      count: (files) => ({
        input: numberAt(infos(files).at(-1), 'last_token_usage', 'input_tokens'),
        output: numberAt(infos(files).at(-1), 'last_token_usage', 'output_tokens'),
        calls: 1,
      }),
    },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a resumed thread, its header written again',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      meta(60, THREAD),
      counted(60, ONE, ONE),
      turn(61, NEW_TURN),
      said(62, 'two'),
      counted(62, BOTH, TWO),
    ),
    naive: {
      does: 'begins a session at each header',
      count: (files) => ({
        input: numberAt(infos(files)[0], 'total_token_usage', 'input_tokens') + BOTH[0],
        output: numberAt(infos(files)[0], 'total_token_usage', 'output_tokens') + BOTH[2],
      }),
    },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a fork that replays its parent’s calls',
    format: 'codex',
    files: {
      ...rollout(THREAD, ...begun),
      ...rollout(
        OTHER,
        meta(90, OTHER, { forked_from_id: THREAD }),
        meta(90, THREAD),
        turn(90, OLD_TURN),
        asked(90, 'look'),
        said(90, 'one'),
        counted(90, ONE, ONE),
        event(91, 'task_started', { turn_id: NEW_TURN }),
        turn(91, NEW_TURN),
        said(92, 'two'),
        counted(92, BOTH, TWO),
      ),
    },
    naive: { does: 'adds up each last call of both files', count: adding('last_token_usage') },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a sub-agent that was given its parent’s history',
    format: 'codex',
    files: {
      ...rollout(THREAD, ...begun),
      ...rollout(
        OTHER,
        ...[
          meta(90, OTHER, {
            source: { subagent: { thread_spawn: { parent_thread_id: THREAD, depth: 1 } } },
            subagent_history_start_ordinal: 4,
          }),
          meta(90, THREAD),
          said(90, 'one'),
          counted(90, ONE, ONE),
          said(90, 'two'),
          counted(90, BOTH, TWO),
        ].map((one, ordinal) => ({ ...one, ordinal })),
      ),
    },
    naive: { does: 'adds up each last call of both files', count: adding('last_token_usage') },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a thread whose first part lies in another rollout',
    format: 'codex',
    files: {
      ...rollout(THREAD, ...begun),
      [`sessions/2026/02/11/rollout-2026-02-11T10-00-00-${THREAD}_${OTHER}.jsonl`]: toLines(
        meta(90, THREAD, {
          history_mode: 'paginated',
          history_base: { thread_id: THREAD, end_ordinal_exclusive: 5, end_byte_offset: 900 },
        }),
        turn(91, NEW_TURN),
        said(92, 'two'),
        counted(92, BOTH, TWO),
      ),
    },
    naive: {
      does: 'adds up each file’s last total',
      count: () => ({ input: ONE[0] + BOTH[0], output: ONE[2] + BOTH[2] }),
    },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'a second rollout of a thread that does not say so',
    format: 'codex',
    files: {
      ...rollout(THREAD, ...begun),
      [`sessions/2026/02/11/rollout-2026-02-11T10-00-00-${THREAD}.jsonl`]: toLines(
        meta(90, THREAD),
        turn(91, NEW_TURN),
        said(92, 'two'),
        counted(92, BOTH, TWO),
      ),
    },
    naive: { does: 'takes the first total for a call', count: adding('total_token_usage') },
    truth: { ...truth(900, 2100, 150, 40, 2), quality: 'partial' },
  },
  {
    name: 'a usage record, and the count that says the same',
    format: 'codex',
    files: rollout(
      THREAD,
      meta(0, THREAD),
      turn(1, NEW_TURN),
      said(2, 'one'),
      recorded(2, THREAD, 'resp_1', ONE, ONE),
      counted(2, ONE, ONE),
      said(3, 'two'),
      recorded(3, THREAD, 'resp_2', TWO, BOTH),
      counted(3, BOTH, TWO),
    ),
    naive: {
      does: 'adds up records and counts',
      count: (files) => {
        const { input = 0, output = 0, calls = 0 } = adding('last_token_usage')(files)
        const records = linesIn(files).filter((one) => one['type'] === 'token_usage_record')
        return {
          input: input + total(records, (one) => numberAt(one, 'payload', 'usage', 'input_tokens')),
          output: output + total(records, (one) => numberAt(one, 'payload', 'usage', 'output_tokens')),
          calls: calls + records.length,
        }
      },
    },
    truth: truth(900, 2100, 150, 40, 2),
  },
  {
    name: 'usage records of the thread that was forked',
    format: 'codex',
    files: {
      ...rollout(
        OTHER,
        meta(90, OTHER, { forked_from_id: THREAD }),
        meta(90, THREAD),
        recorded(90, THREAD, 'resp_1', ONE, ONE),
        event(95, 'task_started', { turn_id: NEW_TURN }),
        said(96, 'two'),
        recorded(96, OTHER, 'resp_2', TWO, BOTH),
      ),
    },
    naive: {
      does: 'adds up every record',
      count: (files) => {
        const records = linesIn(files).filter((one) => one['type'] === 'token_usage_record')
        return {
          input: total(records, (one) => numberAt(one, 'payload', 'usage', 'input_tokens')),
          output: total(records, (one) => numberAt(one, 'payload', 'usage', 'output_tokens')),
          calls: records.length,
        }
      },
    },
    truth: truth(500, 1500, 50, 0, 1),
  },
  {
    name: 'a thread that changed its model',
    format: 'codex',
    files: rollout(
      THREAD,
      ...begun,
      turn(3, NEW_TURN, 'gpt-5.5-mini'),
      said(4, 'two'),
      counted(4, BOTH, TWO),
    ),
    naive: {
      does: 'takes the last total, for the first model',
      count: (files) => ({ ...lastTotal(files), calls: 1 }),
    },
    truth: truth(900, 2100, 150, 40, 2),
    byModel: { 'gpt-5.5': 100, 'gpt-5.5-mini': 50 },
  },
  {
    name: 'what codex exec prints, a running total for each turn',
    format: 'codex',
    files: {
      'printed.jsonl': toLines(
        { type: 'thread.started', thread_id: THREAD },
        { type: 'turn.started' },
        { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'one' } },
        { type: 'turn.completed', usage: printed(ONE) },
        { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'two' } },
        { type: 'turn.completed', usage: printed(BOTH) },
      ),
    },
    naive: {
      does: 'adds up the turns',
      count: (files) => ({
        input: total(linesIn(files), (one) => numberAt(one, 'usage', 'input_tokens')),
        output: total(linesIn(files), (one) => numberAt(one, 'usage', 'output_tokens')),
      }),
    },
    truth: { input: 900, cacheRead: 2100, output: 150, calls: 2, quality: 'estimated' },
  },
  {
    name: 'a rollout from before tokens were counted',
    format: 'codex',
    files: {
      'rollout-2025-06-01.jsonl': toLines(
        { id: THREAD, timestamp: time(0), instructions: null },
        { record_type: 'state' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'one' }] },
      ),
    },
    naive: { does: 'says 0', count: () => ({ input: 0, output: 0 }) },
    truth: { calls: 0, quality: 'unavailable' },
  },
]
