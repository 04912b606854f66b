/** Written traces are what OTLP's JSON and the GenAI conventions say, and read back as the session that they were. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { otlpProblems, traceProblems } from '../../test/otlp-schema.ts'
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
import { otel } from './otel.ts'

type Given = { readonly session: Session; readonly entries: readonly Entry[] }

const linesOf = (given: Given): readonly Json[] =>
  [...writeTranscript(otel, given).files.values()].flatMap((bytes) =>
    bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line) ?? 'not JSON'),
  )
const spansOf = (given: Given): readonly JsonObject[] =>
  linesOf(given).flatMap((line) => {
    const [resource] = (isObject(line) ? asArray(line['resourceSpans']) : undefined) ?? []
    const [scope] = asArray(asObject(resource)?.['scopeSpans']) ?? []
    return (asArray(asObject(scope)?.['spans']) ?? []).filter(isObject)
  })
const attributesOf = (span: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map(
    (asArray(span['attributes']) ?? [])
      .filter(isObject)
      .map(({ key, value }) => [key as string, asObject(value) ?? {}]),
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
const bySource = (entries: readonly Entry[]): string =>
  toJson(
    [...new Set(entries.map(({ source }) => source))]
      .sort()
      .map((source) =>
        entries.filter((one) => one.source === source).map(({ origin: _origin, ...entry }) => sorted(entry)),
      ),
  )

describe('a written trace', () => {
  it('fits OTLP and the conventions, of any transcript', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        expect(linesOf(given).flatMap(otlpProblems)).toEqual([])
        expect(traceProblems(spansOf(given))).toEqual([])
        expect(spansOf(given)).toHaveLength(linesOf(given).length)
      }),
      { numRuns: 100 },
    )
  })

  it('reads back as the session that it was, of any transcript', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const [back, ...more] = await readAll(otel, memorySource(writeTranscript(otel, given).files))
        expect(more).toEqual([])
        expect(bySource(back?.entries ?? [])).toBe(bySource(given.entries))
        const { id: _id, totals: _totals, ...session } = given.session
        expect(back?.session).toMatchObject(JSON.parse(JSON.stringify(session)) as object)
      }),
      { numRuns: 100 },
    )
  })

  const entry = (n: number, more: Partial<Entry>): Entry => ({
    id: `primary/${n}`,
    source: 'primary',
    sequence: n,
    kind: 'message',
    at: `2026-01-01T00:00:0${n}.000Z`,
    blocks: [],
    ...more,
  })
  const given: Given = {
    session: { id: 's', native: { agent: 'codex', sessionId: 'n' }, agent: 'codex', status: 'completed' },
    entries: [
      entry(1, { role: 'user', blocks: [{ type: 'text', text: 'look' }] }),
      entry(2, {
        role: 'assistant',
        model: 'm',
        durationMs: 500,
        call: { provider: 'openai', messageId: 'r1' },
        usage: { input: 5, cacheRead: 4, output: 2, quality: 'reported' },
        blocks: [{ type: 'tool-call', callId: 'c', name: 'ls', input: {} }],
      }),
      entry(3, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c', output: 'a.txt' }] }),
      entry(4, { role: 'assistant', model: 'm', blocks: [{ type: 'text', text: 'done' }] }),
    ],
  }

  it('says who was asked what, what came of it and what it took, below its agent', () => {
    const spans = spansOf(given)
    expect(spans.map(({ name }) => name)).toEqual([
      'chat m',
      'execute_tool ls',
      'chat m',
      'invoke_agent codex',
    ])
    expect(new Set(spans.slice(0, 3).map(({ parentSpanId }) => parentSpanId))).toEqual(
      new Set([spans[3]?.['spanId']]),
    )
    const first = attributesOf(spans[0] as JsonObject)
    expect(first.get('gen_ai.usage.input_tokens')).toEqual({ intValue: '9' })
    expect(first.get('gen_ai.usage.cache_read.input_tokens')).toEqual({ intValue: '4' })
    expect(first.get('gen_ai.conversation.id')).toEqual({ stringValue: 'n' })
    expect(
      BigInt(spans[0]?.['endTimeUnixNano'] as string) - BigInt(spans[0]?.['startTimeUnixNano'] as string),
    ).toBe(500_000_000n)
    expect(attributesOf(spans[2] as JsonObject).get('gen_ai.input.messages')?.['stringValue']).toContain(
      '"tool_call_response"',
    )
  })

  it('would not fit if a rule were broken', () => {
    const [line] = linesOf(given)
    const text = toJson(line ?? null)
    const broken = (from: RegExp, to: string): string[] => {
      const changed = text.replace(from, to)
      expect(changed).not.toBe(text)
      return otlpProblems(parseJson(changed) ?? null)
    }
    expect(otlpProblems(line ?? null)).toEqual([])
    for (const problems of [
      broken(/"traceId":"/, '"traceId":"AA'),
      broken(/"spanId":"[0-9a-f]+"/, '"spanId":"0000000000000000"'),
      broken(/"kind":3/, '"kind":"SPAN_KIND_CLIENT"'),
      broken(/"kind":3/, '"kind":1'),
      broken(/"name":"chat m"/, '"name":"m"'),
      broken(/"startTimeUnixNano":"(\d+)"/, '"startTimeUnixNano":$1'),
      broken(/"intValue":"9"/, '"intValue":9'),
      broken(/"status":\{\}/, '"status":{"code":2}'),
      broken(/gen_ai\.provider\.name/, 'gen_ai.vendor.name'),
      broken(/"stringValue":"openai"/, '"stringValue":"google"'),
      broken(/gen_ai\.usage\.input_tokens/, 'gen_ai.usage.prompt_tokens'),
      broken(/"spans":/, '"span":'),
      broken(/\\"role\\":\\"user/, '\\"role\\":\\"human'),
      broken(/\\"finish_reason\\":/, '\\"finish\\":'),
    ])
      expect(problems).not.toEqual([])
    expect(traceProblems(spansOf(given).slice(0, -1))).not.toEqual([])
  })

  it('names providers as the conventions do, and has images that stand in their address as data', async () => {
    const url = 'data:image/png;base64,QUJD'
    const entries: readonly Entry[] = [
      entry(0, { role: 'user', blocks: [{ type: 'image', url }] }),
      entry(1, { role: 'assistant', call: { provider: 'google' }, blocks: [{ type: 'text', text: 'a' }] }),
      entry(2, { role: 'assistant', blocks: [{ type: 'text', text: 'b' }] }),
    ]
    const session: Session = { id: 's', status: 'failed' }
    const [first, second] = spansOf({ session, entries }).map(attributesOf)
    expect(first?.get('gen_ai.provider.name')).toEqual({ stringValue: 'gcp.gen_ai' })
    expect(second?.get('gen_ai.provider.name')).toEqual({ stringValue: 'unknown' })
    expect(first?.get('gen_ai.input.messages')?.['stringValue']).toContain('"type":"blob"')
    expect(linesOf({ session, entries }).flatMap(otlpProblems)).toEqual([])
    const { files, filled } = writeTranscript(otel, { session, entries })
    expect(filled).toEqual([{ entry: 'primary/2', what: 'provider' }])
    const [back] = await readAll(otel, memorySource(files))
    expect(bySource(back?.entries ?? [])).toBe(bySource(entries))
  })

  it('is the same conversation without what we carried along, as others would see it', async () => {
    const files = new Map(
      [...writeTranscript(otel, given).files].map(([path, bytes]) => [
        path,
        Buffer.from(bytes.toString().replaceAll('"hansard.', '"other.')),
      ]),
    )
    const [back] = await readAll(otel, memorySource(files))
    expect(back?.entries.filter(({ kind }) => kind === 'message').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
  })
})
