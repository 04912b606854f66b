/** Written traces are what OTLP's JSON and the GenAI conventions say, and read back as the session that they were. */
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

/** Every rule of the two that a span breaks, in words. */
function problems(span: JsonObject): string[] {
  const found: string[] = []
  const check = (isRight: boolean, what: string): void => void (isRight || found.push(what))
  for (const key of Object.keys(span))
    check(
      'traceId spanId parentSpanId name kind startTimeUnixNano endTimeUnixNano attributes status'
        .split(' ')
        .includes(key),
      `${key} is no field`,
    )
  check(/^[0-9a-f]{32}$/.test(span['traceId'] as string), 'traceId')
  check(/^[0-9a-f]{16}$/.test(span['spanId'] as string), 'spanId')
  check(
    span['parentSpanId'] === undefined || /^[0-9a-f]{16}$/.test(span['parentSpanId'] as string),
    'parentSpanId',
  )
  check(typeof span['name'] === 'string' && span['name'] !== '', 'name')
  check([1, 2, 3, 4, 5].includes(span['kind'] as number), 'kind')
  const [start, end] = [span['startTimeUnixNano'] as string, span['endTimeUnixNano'] as string]
  check(/^[1-9]\d{0,18}$/.test(start) && /^[1-9]\d{0,18}$/.test(end) && BigInt(end) >= BigInt(start), 'times')
  const pairs = (asArray(span['attributes']) ?? []).filter(isObject)
  check(new Set(pairs.map(({ key }) => key)).size === pairs.length, 'an attribute twice')
  for (const { key, value } of pairs) {
    const [kind, ...more] = Object.keys(asObject(value) ?? {})
    check(
      typeof key === 'string' &&
        more.length === 0 &&
        ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'].includes(kind ?? ''),
      `value of ${toJson(key ?? null)}`,
    )
    if (kind === 'intValue')
      check(/^-?\d+$/.test((asObject(value) as JsonObject)['intValue'] as string), 'a number is no text')
  }
  const said = attributesOf(span)
  check(
    ['chat', 'execute_tool', 'invoke_agent', undefined].includes(
      said.get('gen_ai.operation.name')?.['stringValue'] as string,
    ),
    'operation',
  )
  for (const name of ['gen_ai.input.messages', 'gen_ai.output.messages']) {
    const text = said.get(name)?.['stringValue']
    for (const message of (asArray(typeof text === 'string' ? parseJson(text) : undefined) ?? []).filter(
      isObject,
    )) {
      check(['system', 'user', 'assistant', 'tool'].includes(message['role'] as string), `${name} role`)
      check(name === 'gen_ai.input.messages' || typeof message['finish_reason'] === 'string', 'finish_reason')
      for (const part of (asArray(message['parts']) ?? [null]).filter((one) => !isPart(one)))
        found.push(`a part ${toJson(part)}`)
    }
  }
  return found
}

function isPart(part: Json): boolean {
  if (!isObject(part)) return false
  const { type, content, name, uri } = part
  if (type === 'text' || type === 'reasoning') return typeof content === 'string'
  if (type === 'tool_call') return typeof name === 'string' && 'arguments' in part
  if (type === 'tool_call_response') return 'response' in part
  return (type === 'blob' && typeof content === 'string') || (type === 'uri' && typeof uri === 'string')
}

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
        expect(spansOf(given).flatMap(problems)).toEqual([])
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
    expect(spans.map(({ name }) => name)).toEqual(['chat m', 'execute_tool ls', 'chat m', 'invoke_agent'])
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
