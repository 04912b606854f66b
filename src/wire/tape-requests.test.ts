import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../transcript/json.ts'
import { createRequestPacker, createRequestReader } from './tape-requests.ts'
import { toTape, toTapeRequest } from './tape.ts'

const FACTS = { api: 'anthropic-messages' as const }
const place = (lane: string) => ({ session: 's', lane })
const message = (n: number): Json => ({ role: 'user', content: `word ${n} `.repeat(50) })
const parsed = (line: unknown) => toTapeRequest(JSON.parse(JSON.stringify(line)) as Json)

describe('requests on a tape', () => {
  it('come back whole, whatever they say and whoever asks in between', () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        model: fc.constantFrom('a', 'b'),
        messages: fc.array(fc.constantFrom(...[1, 2, 3].map(message)), { maxLength: 6 }),
        ['__proto__']: fc.jsonValue(),
      }),
      fc.record({ project: fc.string(), request: fc.record({ contents: fc.array(fc.jsonValue()) }) }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('primary', 'subagent:x'), body)), (asked) => {
        const packer = createRequestPacker()
        const reader = createRequestReader()
        const lines = asked.map(([lane, one], at) =>
          parsed(packer.pack(place(lane), `c${at}`, { ...FACTS, body: one as Json })),
        )
        const bodies = lines.map((line) => line && reader.read(line))
        expect(JSON.parse(JSON.stringify(bodies))).toEqual(
          JSON.parse(JSON.stringify(asked.map(([, one]) => one))),
        )
      }),
    )
  })

  it('say their history once', () => {
    const packer = createRequestPacker()
    const all = Array.from({ length: 200 }, (_, n) => message(n))
    const sizes = all.map((_, n) => {
      const body: JsonObject = { model: 'm', system: 'x'.repeat(5000), messages: all.slice(0, n + 1) }
      return JSON.stringify(packer.pack(place('primary'), `c${n}`, { ...FACTS, body })).length
    })
    expect(sizes[0]).toBeGreaterThan(5000)
    expect(Math.max(...sizes.slice(1))).toBeLessThan(1000)
  })

  it('begin anew where more is held than may be, and after a line that could not be written', () => {
    const packer = createRequestPacker(2000)
    const pack = (lane: string, call: string, n: number) =>
      packer.pack(place(lane), call, { ...FACTS, body: { messages: [message(n)] } }).request.base
    expect([pack('a', 'c1', 1), pack('a', 'c2', 1)]).toEqual([undefined, 'c1'])
    for (const lane of ['b', 'c', 'd', 'e']) pack(lane, 'c3', 2)
    expect(pack('a', 'c4', 1)).toBeUndefined()
    packer.forget(place('a'))
    expect(pack('a', 'c5', 1)).toBeUndefined()
  })

  it('are not made up where the line before them is missing', () => {
    const packer = createRequestPacker()
    const pack = (call: string, body: Json) => packer.pack(place('a'), call, { ...FACTS, body })
    pack('c1', { messages: [message(1)] })
    const second = pack('c2', { messages: [message(1), message(2)] })
    expect(createRequestReader().read(second)).toBeUndefined()
  })
})

describe('lines of a tape', () => {
  it('are none when they are anything else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toTape(value as Json)).toBeUndefined()
        expect(toTapeRequest(value as Json)).toBeUndefined()
      }),
    )
    expect(
      toTape({ v: 1, call: 'c', status: 200, headers: [['a', 'b'], 3], chunks: [[1, 'eA=='], ['x']] }),
    ).toEqual({
      v: 1,
      call: 'c',
      status: 200,
      headers: [['a', 'b']],
      chunks: [[1, 'eA==']],
    })
  })
})
