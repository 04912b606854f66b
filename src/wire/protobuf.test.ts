import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../transcript/json.ts'
import { LOGS, STATUS, TRACES } from './otlp-schema.ts'
import { readSpans } from './otlp.ts'
import { decodeProtobuf, encodeProtobuf } from './protobuf.ts'

/** Protobuf by hand, with the numbers that opentelemetry-proto gives: what the schema says is checked against it. */
const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))]
const bytes = (number: number, content: Uint8Array | string): number[] => {
  const list = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return [...varint(number * 8 + 2), ...varint(list.length), ...list]
}
const message = (number: number, ...parts: readonly number[][]): number[] =>
  bytes(number, Uint8Array.from(parts.flat()))
const fixed64 = (number: number, value: bigint): number[] => [
  ...varint(number * 8 + 1),
  ...new Uint8Array(new BigUint64Array([value]).buffer),
]
const whole = (number: number, value: number): number[] => [...varint(number * 8), ...varint(value)]
const text = (key: string, value: string): number[][] => [bytes(1, key), message(2, bytes(1, value))]

const TRACE = Uint8Array.from({ length: 16 }, (_, nth) => nth + 1)
const SPAN = Uint8Array.from({ length: 8 }, (_, nth) => nth + 1)

const EXPORT = Uint8Array.from(
  message(
    1,
    message(1, message(1, ...text('service.name', 'shop'))),
    message(
      2,
      message(1, bytes(1, 'scope')),
      message(
        2,
        bytes(1, TRACE),
        bytes(2, SPAN),
        bytes(3, 'state=1'),
        bytes(4, SPAN.toReversed()),
        bytes(5, 'chat gpt'),
        whole(6, 3),
        fixed64(7, 1_788_256_800_000_000_001n),
        fixed64(8, 1_788_256_801_000_000_000n),
        message(9, ...text('gen_ai.operation.name', 'chat')),
        message(9, bytes(1, 'count'), message(2, whole(3, 300))),
        message(9, bytes(1, 'list'), message(2, message(5, message(1, whole(2, 1))))),
        message(9, bytes(1, 'map'), message(2, message(6, message(1, ...text('__proto__', 'x'))))),
        whole(10, 4),
        message(11, fixed64(1, 1_788_256_800_500_000_000n), bytes(2, 'event'), message(3, ...text('a', 'b'))),
        message(13, bytes(1, TRACE)),
        message(15, bytes(2, 'bad'), whole(3, 2)),
        // Flags, a fixed 32 bits that we pass over.
        [...varint(16 * 8 + 5), 1, 1, 0, 0],
      ),
    ),
    bytes(3, 'https://schema'),
  ),
)

const anyValue = fc.letrec<{ value: JsonObject; leaf: JsonObject }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ stringValue: fc.string({ unit: 'grapheme' }) }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: fc.maxSafeInteger() }),
    fc.record({ intValue: fc.bigInt(-(2n ** 63n), -(2n ** 60n)).map(String) }),
    fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 20 }).map((b) => Buffer.from(b).toString('base64')) }),
  ),
  value: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { minLength: 1, maxLength: 3 }) }) }),
    fc.record({
      kvlistValue: fc.record({
        values: fc.array(fc.record({ key: fc.string(), value: tie('value') }), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
    }),
  ),
})).value

const pairs = fc.array(fc.record({ key: fc.string(), value: anyValue }), { minLength: 1, maxLength: 4 })
const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((id) => Buffer.from(id).toString('hex'))
const time = fc.bigInt(0n, 2n ** 64n - 1n).map(String)
const exported = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource: fc.record({ attributes: pairs }),
      scopeSpans: fc.array(
        fc.record({
          spans: fc.array(
            fc.record({
              traceId: hexOf(16),
              spanId: hexOf(8),
              name: fc.string({ unit: 'grapheme' }),
              startTimeUnixNano: time,
              attributes: pairs,
              events: fc.array(fc.record({ timeUnixNano: time, name: fc.string(), attributes: pairs }), {
                minLength: 1,
                maxLength: 2,
              }),
              status: fc.record({ message: fc.string(), code: fc.integer({ min: 0, max: 2 }) }),
            }),
            { minLength: 1, maxLength: 3 },
          ),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 2 },
  ),
})

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('an export in protobuf', () => {
  it('says what it says by the numbers of opentelemetry-proto', () => {
    const [span] = readSpans(decodeProtobuf(EXPORT, TRACES) ?? null)?.items ?? []
    expect(span).toMatchObject({
      traceId: Buffer.from(TRACE).toString('hex'),
      spanId: '0102030405060708',
      parentId: '0807060504030201',
      name: 'chat gpt',
      startedAt: '2026-09-01T10:00:00.000000001Z',
      durationMs: 999,
      events: [{ name: 'event', at: '2026-09-01T10:00:00.500Z', attributes: new Map([['a', 'b']]) }],
      isError: true,
      statusMessage: 'bad',
      resource: new Map([['service.name', 'shop']]),
      scope: 'scope',
    })
    expect(span?.attributes.get('count')).toBe(300)
    expect(span?.attributes.get('list')).toEqual([true])
    expect(Object.keys(span?.attributes.get('map') as object)).toEqual(['__proto__'])
    expect(span).not.toHaveProperty('flags')
  })

  it('is the same as in JSON, whatever it holds', () => {
    fc.assert(
      fc.property(exported, (json) => {
        const decoded = decodeProtobuf(encodeProtobuf(plain(json) as JsonObject, TRACES), TRACES)
        expect(plain(decoded)).toEqual(plain(json))
        expect(readSpans(decoded ?? null)).toEqual(readSpans(plain(json) as JsonObject))
      }),
      { numRuns: 200 },
    )
  })

  it('is refused when it is cut anywhere but between its parts', () => {
    for (let length = 1; length < EXPORT.length; length += 1)
      expect(decodeProtobuf(EXPORT.subarray(0, length), TRACES), `${length} bytes`).toBeUndefined()
  })

  it('never throws, and ends, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
        for (const schema of [TRACES, LOGS, STATUS]) readSpans(decodeProtobuf(any, schema) ?? null)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.nat(EXPORT.length - 1), fc.nat(255), (at, byte) => {
        const changed = Uint8Array.from(EXPORT)
        changed[at] = byte
        readSpans(decodeProtobuf(changed, TRACES) ?? null)
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused when it is deeper, or of more parts, than anybody means', () => {
    let value = bytes(1, 'deep')
    for (let depth = 0; depth < 200; depth += 1) value = message(5, message(1, value))
    const span = message(2, bytes(1, TRACE), bytes(2, SPAN), message(9, bytes(1, 'k'), message(2, value)))
    expect(decodeProtobuf(Uint8Array.from(message(1, message(2, span))), TRACES)).toBeUndefined()
    const many = Buffer.alloc(2_200_000)
    for (let at = 0; at < many.length; at += 2) many[at] = 0x0a
    expect(decodeProtobuf(many, TRACES)).toBeUndefined()
  })
})
