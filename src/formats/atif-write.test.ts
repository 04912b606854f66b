/** Written ATIF is what Harbor's RFC 0001 says of v1.7, and reads back as the session that it was. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import {
  asArray,
  asObject,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { atif } from './atif.ts'

type Given = { readonly session: Session; readonly entries: readonly Entry[] }

const documentsOf = (given: Given): readonly Json[] =>
  [...writeTranscript(atif, given).files.values()].map((bytes) => parseJson(bytes.toString()) ?? 'not JSON')

/** Every rule of the schema that something breaks, in words. */
function problems(trajectory: Json, isRoot = true): string[] {
  if (!isObject(trajectory)) return ['no object']
  const found: string[] = []
  const check = (isRight: boolean, what: string): void => void (isRight || found.push(what))
  const only = (value: JsonObject, keys: string, what: string): void => {
    for (const key of Object.keys(value)) check(keys.split(' ').includes(key), `${what}.${key} is no field`)
  }
  only(
    trajectory,
    'schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref subagent_trajectories extra',
    'trajectory',
  )
  check(trajectory['schema_version'] === 'ATIF-v1.7', 'schema_version')
  check(!isRoot || typeof trajectory['session_id'] === 'string', 'session_id')
  check(isRoot || typeof trajectory['trajectory_id'] === 'string', 'trajectory_id')
  const agent = asObject(trajectory['agent']) ?? {}
  only(agent, 'name version model_name tool_definitions extra', 'agent')
  check(typeof agent['name'] === 'string' && typeof agent['version'] === 'string', 'agent')
  const steps = asArray(trajectory['steps']) ?? []
  check(steps.length > 0, 'no steps')
  for (const [index, step] of steps.entries()) {
    if (!isObject(step)) return [...found, 'a step is no object']
    only(
      step,
      'step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls observation metrics is_copied_context llm_call_count extra',
      'step',
    )
    check(step['step_id'] === index + 1, `step ${index + 1} is called ${toJson(step['step_id'] ?? null)}`)
    check(['system', 'user', 'agent'].includes(step['source'] as string), 'source')
    check(
      step['timestamp'] === undefined || !Number.isNaN(Date.parse(step['timestamp'] as string)),
      'timestamp',
    )
    const isAgent = step['source'] === 'agent'
    for (const key of [
      'model_name',
      'reasoning_effort',
      'reasoning_content',
      'tool_calls',
      'metrics',
      'llm_call_count',
    ])
      check(isAgent || step[key] === undefined, `${key} of no agent`)
    checkContent(step['message'], 'message', check)
    const calls = asArray(step['tool_calls']) ?? []
    for (const call of calls.filter(isObject)) {
      only(call, 'tool_call_id function_name arguments extra', 'tool_call')
      check(
        typeof call['tool_call_id'] === 'string' &&
          typeof call['function_name'] === 'string' &&
          isObject(call['arguments']),
        'tool_call',
      )
    }
    const ids = new Set(calls.filter(isObject).map((call) => call['tool_call_id']))
    const observation = asObject(step['observation'])
    check(step['observation'] === undefined || Array.isArray(observation?.['results']), 'observation')
    for (const result of (asArray(observation?.['results']) ?? []).filter(isObject)) {
      only(result, 'source_call_id content subagent_trajectory_ref extra', 'result')
      check(
        result['source_call_id'] === undefined || ids.has(result['source_call_id']),
        'a result of no call',
      )
      if (result['content'] !== null) checkContent(result['content'], 'content', check)
    }
    const metrics = asObject(step['metrics']) ?? {}
    only(
      metrics,
      'prompt_tokens completion_tokens cached_tokens cost_usd logprobs prompt_token_ids completion_token_ids extra',
      'metrics',
    )
    for (const value of Object.values(metrics))
      check(Number.isInteger(value) && (value as number) >= 0, 'metrics')
  }
  const final = asObject(trajectory['final_metrics']) ?? {}
  only(
    final,
    'total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps extra',
    'final_metrics',
  )
  check(!isRoot || final['total_steps'] === steps.length, 'total_steps')
  return [
    ...found,
    ...(asArray(trajectory['subagent_trajectories']) ?? []).flatMap((one) => problems(one, false)),
  ]
}

function checkContent(
  content: Json | undefined,
  what: string,
  check: (isRight: boolean, what: string) => void,
): void {
  if (typeof content === 'string') return
  check(Array.isArray(content), what)
  for (const part of asArray(content) ?? []) {
    const source = isObject(part) ? asObject(part['source']) : undefined
    const isText = isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
    const isImage =
      isObject(part) &&
      part['type'] === 'image' &&
      /^image\/(jpeg|png|gif|webp)$/.test(toJson(source?.['media_type'] ?? null).slice(1, -1)) &&
      typeof source?.['path'] === 'string'
    check(isText || isImage, `${what} part`)
  }
}

const withoutPlace = ({ origin: _origin, ...entry }: Entry): object => entry
/** By source, for each has an order of its own. */
const bySource = (entries: readonly Entry[]): string =>
  toJson(
    [...new Set(entries.map(({ source }) => source))].sort().map((source) =>
      entries
        .filter((one) => one.source === source)
        .map(withoutPlace)
        .map((one) => sorted(one)),
    ),
  )
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, sorted(one)]),
        )
      : value

describe('written ATIF', () => {
  it('fits the schema, of any transcript', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        expect(documentsOf(given).flatMap((document) => problems(document))).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('reads back as the session that it was, of any transcript', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const [back, ...more] = await readAll(atif, memorySource(writeTranscript(atif, given).files))
        expect(more).toEqual([])
        expect(bySource(back?.entries ?? [])).toBe(bySource(given.entries))
        const { id: _, totals: _totals, ...session } = given.session
        expect(back?.session).toMatchObject(JSON.parse(JSON.stringify(session)) as object)
      }),
      { numRuns: 100 },
    )
  })

  const at = '2026-01-01T00:00:00.000Z'
  const entry = (n: number, more: Partial<Entry>): Entry => ({
    id: `primary/${n}`,
    source: 'primary',
    sequence: n,
    kind: 'message',
    at,
    blocks: [],
    ...more,
  })

  it('has results in the step of their calls, and counts as others read them', () => {
    const [document] = documentsOf({
      session: { id: 's', agent: 'a', version: '1', model: 'm', status: 'completed' },
      entries: [
        entry(0, { role: 'user', blocks: [{ type: 'text', text: 'look' }] }),
        entry(1, {
          role: 'assistant',
          model: 'm',
          usage: { input: 5, cacheRead: 4, cacheWrite5m: 1, output: 2, quality: 'reported' },
          blocks: [
            { type: 'thinking', text: 'hm' },
            { type: 'text', text: 'ok' },
            { type: 'tool-call', callId: 'c', name: 'ls', input: { a: 1 } },
          ],
        }),
        entry(2, {
          role: 'tool',
          blocks: [{ type: 'tool-result', callId: 'c', name: 'ls', output: 'a.txt' }],
        }),
      ],
    })
    expect(document).toMatchObject({
      agent: { name: 'a', version: '1', model_name: 'm' },
      steps: [
        { step_id: 1, source: 'user', message: 'look' },
        {
          step_id: 2,
          source: 'agent',
          message: 'ok',
          reasoning_content: 'hm',
          tool_calls: [{ tool_call_id: 'c', function_name: 'ls', arguments: { a: 1 } }],
          observation: { results: [{ source_call_id: 'c', content: 'a.txt' }] },
          metrics: { prompt_tokens: 10, cached_tokens: 4, completion_tokens: 2 },
        },
      ],
      final_metrics: {
        total_prompt_tokens: 10,
        total_completion_tokens: 2,
        total_cached_tokens: 4,
        total_steps: 2,
      },
    })
  })

  it('says what it had to fill in, and that a session has another id in another archive', () => {
    const { lost, filled } = writeTranscript(atif, { session: { id: 's', status: 'completed' }, entries: [] })
    expect(filled.map(({ what }) => what)).toEqual(['step', 'agent', 'version'])
    expect(lost.map(({ what }) => what)).toEqual(['session id'])
  })
})
