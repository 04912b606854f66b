import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMachine, type Machine } from '../../test/machine.ts'
import { peekState } from '../sources/state.ts'
import type { Entry } from '../transcript/entry.ts'
import { createSpawnedFold, startedSessions, sumStarted } from './cost-spawned.ts'

const entry = (source: string, sequence: number, more: Partial<Entry> = {}): Entry => ({
  id: `${source}/${sequence}`,
  source,
  sequence,
  kind: 'message',
  blocks: [],
  ...more,
})
const calling = (source: string, sequence: number, callId: string): Entry =>
  entry(source, sequence, { blocks: [{ type: 'tool-call', callId, name: 'Task' }] })
const first = (source: string, spawnedBy: string, parentSource: string): Entry =>
  entry(source, 0, { metadata: { spawnedBy, parentSource } })

it('puts each subagent under the call that started it, with all that it started', () => {
  const fold = createSpawnedFold('s')
  for (const one of [
    calling('primary', 0, 'c1'),
    first('subagent:a', 'c1', 'primary'),
    calling('subagent:a', 1, 'c2'),
    first('subagent:b', 'c2', 'subagent:a'),
    entry('subagent:lost', 0),
  ])
    fold.observe(one)
  fold.billed('primary', 1000n)
  fold.billed('subagent:a', 20n)
  fold.billed('subagent:b', 3n, 'partial')
  fold.billed('subagent:lost', undefined)
  expect(fold.end([])).toEqual([
    {
      by: 's#0',
      source: 'subagent:a',
      calls: 2,
      pico: 23n,
      // No surer than what it started.
      quality: 'partial',
      spawned: [{ by: 's#subagent:a/1', source: 'subagent:b', calls: 1, pico: 3n, quality: 'partial' }],
    },
    { source: 'subagent:lost', calls: 1 },
  ])
})

it('forgets none that name each other, or a parent that is not there', () => {
  const fold = createSpawnedFold('s')
  for (const one of [
    first('subagent:a', 'x', 'subagent:b'),
    first('subagent:b', 'x', 'subagent:a'),
    first('subagent:c', 'x', 'subagent:nobody'),
  ])
    fold.observe(one)
  const named = (all: ReturnType<typeof fold.end>): (string | undefined)[] =>
    all.flatMap(({ source, spawned = [] }) => [source, ...named(spawned)])
  expect(new Set(named(fold.end([])))).toEqual(new Set(['subagent:a', 'subagent:b', 'subagent:c']))
})

let machine: Machine
beforeEach(() => void (machine = createMachine()))
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const PARENT = '01990000-0000-7000-8000-00000000000a'
const CHILD = '01990000-9000-7000-8000-00000000000b'
const FORK = '01990000-9100-7000-8000-00000000000c'

/** A thread of Codex that used so many tokens. */
function thread(id: string, tokens: number, ...lines: readonly object[]): void {
  const line = (type: string, payload: object) => ({ timestamp: '2026-02-10T10:00:01.000Z', type, payload })
  const usage = { input_tokens: tokens, cached_input_tokens: 0, output_tokens: 1, total_tokens: tokens + 1 }
  const all = [
    line('session_meta', {
      id,
      timestamp: '2026-02-10T10:00:00.000Z',
      cwd: '/p',
      cli_version: '0.135.0',
      source: 'cli',
      ...(id === FORK && { forked_from_id: PARENT }),
    }),
    line('turn_context', { turn_id: 't1', cwd: '/p', model: 'gpt-5' }),
    ...lines.map((payload) => line('response_item', payload)),
    line('event_msg', { type: 'token_count', info: { total_token_usage: usage, last_token_usage: usage } }),
  ]
  machine.write(
    `.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-00-${id}.jsonl`,
    all.map((one) => `${JSON.stringify(one)}\n`).join(''),
  )
}

it('counts a session that another one started as a part of it, and a fork as its own', async () => {
  thread(
    PARENT,
    1000,
    { type: 'function_call', name: 'spawn_agent', arguments: '{}', call_id: 'c1' },
    { type: 'function_call_output', call_id: 'c1', output: JSON.stringify({ agent_id: CHILD }) },
  )
  thread(CHILD, 300)
  thread(FORK, 7)
  await machine.sync()
  const state = await peekState(machine.archive())
  const key = (id: string): string =>
    String(
      state?.database
        .prepare(`SELECT key FROM sessions WHERE json_extract(session, '$.native.sessionId') = ?`)
        .get(id)?.['key'],
    )
  const [parent, child] = [key(PARENT), key(CHILD)]
  const started = startedSessions(state?.database as never, parent)
  state?.close()
  expect(started.map(({ session }) => session.native?.sessionId)).toEqual([CHILD])
  const fold = createSpawnedFold(parent)
  const [spawned] = fold.end(started)
  expect(spawned).toMatchObject({ session: child, calls: 1 })
  expect(spawned?.by).toMatch(/#\d+$/)
  expect(spawned?.pico).toBeGreaterThan(0n)
  expect(sumStarted(started[0] as never).pico).toBe(spawned?.pico)
})
