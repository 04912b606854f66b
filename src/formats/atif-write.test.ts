/** Written ATIF is what Harbor's RFC 0001 says of v1.7, and reads back as the session that it was. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { atifProblems } from '../../test/atif-schema.ts'
import { memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject, parseJson, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { atif } from './atif.ts'

type Given = { readonly session: Session; readonly entries: readonly Entry[] }

const documentsOf = (given: Given): readonly Json[] =>
  [...writeTranscript(atif, given).files.values()].map((bytes) => parseJson(bytes.toString()) ?? 'not JSON')

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

const LOOK: Given = {
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
}

describe('written ATIF', () => {
  it('fits the schema, of any transcript', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        expect(documentsOf(given).flatMap(atifProblems)).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('fits the schema however subagents are called, and whatever costs are stated', () => {
    const said = (source: string): Entry => ({
      id: source,
      source,
      sequence: 0,
      kind: 'message',
      role: 'user',
      blocks: [{ type: 'text', text: 'go' }],
    })
    const entries = ['primary', 'subagent:a', 'a', 'subagent:', ''].map(said)
    for (const reportedCost of ['0.5', '-1', 'much'])
      expect(
        documentsOf({ session: { id: 's', status: 'completed', reportedCost }, entries }).flatMap(
          atifProblems,
        ),
      ).toEqual([])
  })

  it('would not fit if a rule were broken', () => {
    const [document] = documentsOf(LOOK)
    const broken = (change: (document: Json) => Json): string[] => atifProblems(change(document as Json))
    const root = (more: JsonObject): string[] => broken((one) => ({ ...(one as JsonObject), ...more }))
    const step = (index: number, more: JsonObject): string[] =>
      broken((one) => {
        const { steps, ...rest } = one as { readonly steps: readonly JsonObject[] }
        return {
          ...rest,
          steps: steps.map((each, at) => (at === index ? { ...each, ...more } : each)),
        }
      })
    expect(atifProblems(document as Json)).toEqual([])
    for (const problems of [
      root({ schema_version: '1.7' }),
      root({ mood: 1 }),
      root({ steps: [] }),
      root({ agent: { name: 'a' } }),
      root({ final_metrics: { total_steps: 9 } }),
      root({ final_metrics: { total_cost_usd: -1 } }),
      root({ subagent_trajectories: [{ schema_version: 'ATIF-v1.7' }] }),
      step(0, { step_id: 2 }),
      step(0, { source: 'tool' }),
      step(0, { timestamp: 'yesterday' }),
      step(0, { metrics: {} }),
      step(0, { message: null }),
      step(0, { message: [{ type: 'image', source: { media_type: 'image/bmp', path: 'x' } }] }),
      step(0, { message: [{ type: 'text', text: 'x', source: null }] }),
      step(1, { llm_call_count: 0 }),
      step(1, { tool_calls: [{ tool_call_id: 'c', function_name: 'ls', arguments: '{}' }] }),
      step(1, { observation: { results: [{ source_call_id: 'z', content: '' }] } }),
      step(1, { metrics: { prompt_tokens: 1.5 } }),
    ])
      expect(problems).not.toEqual([])
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

  it('has results in the step of their calls, and counts as others read them', () => {
    const [document] = documentsOf(LOOK)
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
