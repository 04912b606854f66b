import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createNormalisers, RESULT_ORDER, wayOf } from './matching/normalisers.ts'
import { findNeeded } from './matching/needed.ts'
import { VOLATILE } from './volatile.ts'
import type { Json } from '../transcript/json.ts'

const normalisers = createNormalisers({ roots: ['/srv/one', '/srv/two'] })
const way = wayOf(normalisers)

type Example = readonly [row: string, agent: string, recorded: Json, live: Json]

/** What real agents sent in two equal runs. */
const EXAMPLES: readonly Example[] = [
  ['ids', 'Claude Code', '<task-id>ab114819554a5bbf8</task-id>', '<task-id>a70917abb5d810812</task-id>'],
  [
    'ids',
    'Claude Code',
    'agentId: ab114819554a5bbf8 (internal ID - do not mention to user.',
    'agentId: a70917abb5d810812 (internal ID - do not mention to user.',
  ],
  [
    'ids',
    'Claude Code',
    'running in background with ID: bzr4ptm1x. Output is being written to: /srv/tasks/bzr4ptm1x.output',
    'running in background with ID: b0q9w2kkd. Output is being written to: /srv/tasks/b0q9w2kkd.output',
  ],
  ['ids', 'Codex', 'Chunk ID: 17a7f9\nWall time: 1', 'Chunk ID: 9e0d41\nWall time: 1'],
  ['ids', 'Codex', 'Process running with session ID 41231', 'Process running with session ID 9004'],
  ['ids', 'Codex', '{"chars":"","session_id":37696}', '{"chars":"","session_id":41126}'],
  [
    'ids',
    'Codex',
    '{"agent_id":"01a1f3d5-da25-7d41-928a-e81d176cb7b7"}',
    '{"agent_id":"01a1f3d5-fceb-7600-885e-1b9cf331624e"}',
  ],
  [
    'ids',
    'Qwen Code',
    'subagents/7725c3ee-6dd2-4995-a6a6-35efbfcb4386/agent-general-purpose-call_fake1x0.jsonl',
    'subagents/38203d58-1159-4906-905a-e77cc671b380/agent-general-purpose-call_fake1x0.jsonl',
  ],
  ['nicknames', 'Codex', '{"nickname":"James"}', '{"nickname":"Sagan"}'],
  [
    'processes',
    'Gemini CLI',
    'Output: x\nProcess Group PGID: 15302\n',
    'Output: x\nProcess Group PGID: 15557\n',
  ],
  ['processes', 'Qwen Code', 'Background PIDs: 411, 412', 'Background PIDs: 598, 599'],
  ['durations', 'Qwen Code', '<duration_ms>2469</duration_ms>', '<duration_ms>311</duration_ms>'],
  ['durations', 'Codex', 'Wall time: 0.1097 seconds', 'Wall time: 2 seconds'],
  [
    'dates',
    'Gemini CLI',
    "Today's date is Thursday, November 19, 2026",
    "Today's date is Friday, January 1, 2027",
  ],
  ['dates', 'Codex', '<current_date>2026-11-19</current_date>', '<current_date>2026-12-01</current_date>'],
  ['dates', 'an SDK', 1763164800, 1793164800],
  ['git', 'Claude Code', 'Recent commits:\n3f2a91c first', 'Recent commits:\n9bc01d2 first'],
  ['paths', 'Codex', '<cwd>/srv/one</cwd>', '<cwd>/srv/two</cwd>'],
  ['paths', 'Claude Code', '/tmp/claude-0/tasks', '/tmp/claude-1000/tasks'],
  ['billing', 'Claude Code', 'x-anthropic-billing-header: cch=aa;', 'x-anthropic-billing-header: cch=bb;'],
  ['cache-control', 'Claude Code', { cache_control: { type: 'ephemeral' }, a: 1 }, { a: 1 }],
  ['user-ids', 'Codex', { prompt_cache_key: 'a' }, { prompt_cache_key: 'b' }],
  ['metadata', 'Codex', { client_metadata: { x: 'a' } }, { client_metadata: { x: 'b' } }],
  ['padding', 'OpenAI', { obfuscation: 'aaaa' }, { obfuscation: 'b' }],
]

describe('the table of what may differ between equal runs', () => {
  it.each(EXAMPLES)('%s of %s: %j reads as %j', (row, _, recorded, live) => {
    expect(findNeeded(recorded, live, normalisers).by).toEqual([row])
    if (typeof recorded === 'string') expect(way.text(recorded)).toBe(way.text(live as string))
  })

  it('has an example of each row, and a line for each in docs/replay.md', () => {
    const rows = VOLATILE.map(({ name }) => name)
    expect(rows.filter((name) => !EXAMPLES.some(([row]) => row === name))).toEqual([])
    const page = readFileSync(new URL('../../docs/replay.md', import.meta.url), 'utf8')
    const documented = page.split('\n').filter((line) => line.startsWith('| `'))
    expect(
      [...rows, RESULT_ORDER].filter((name) => !documented.some((line) => line.includes(`\`${name}\``))),
    ).toEqual([])
  })

  it.each([
    'fix run_tests in call_graph',
    'the task-id is missing',
    'session ID and PID are words',
    '"nickname": null',
    '"nickname": 5',
    'PID controller, 42 lines',
    'agentId: none',
  ])('leaves %j as it is', (text) => {
    expect(way.text(text)).toBe(text)
  })

  it('pairs the ids of two runs, which a later answer may name', () => {
    const { names } = findNeeded(
      { output: '{"agent_id":"01a1f3d5-da25-7d41-928a-e81d176cb7b7","nickname":"James"}', done: 'PGID: 12' },
      { output: '{"agent_id":"01a1f3d5-fceb-7600-885e-1b9cf331624e","nickname":"Sagan"}', done: 'PGID: 34' },
      normalisers,
    )
    expect([...names]).toEqual([
      ['01a1f3d5-da25-7d41-928a-e81d176cb7b7', '01a1f3d5-fceb-7600-885e-1b9cf331624e'],
      ['12', '34'],
    ])
  })
})
