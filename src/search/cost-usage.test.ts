import fc from 'fast-check'
import { expect, it } from 'vitest'
import { endOfUsage, readUsage } from './cost-usage.ts'

const name = fc.constantFrom(
  'input_tokens',
  'output_tokens',
  'cache_creation',
  'cache_read_input_tokens',
  'service_tier',
  'iterations',
  'speed',
  'thinking_tokens',
  '__proto__',
  'other',
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.nat(),
    fc.constantFrom<unknown>(null, true, -1, 0.5, 1e21, 2 ** 64, 999_999_999_999_999, [], [1]),
    fc.constantFrom('standard', 'batch', 'a"b', 'a\\', 'größer', '', 'x'.repeat(60)),
    fc.string({ maxLength: 5 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('any'), { noNullPrototype: true }),
})).object

it('is what JSON.parse says, or nothing', () => {
  let read = 0
  fc.assert(
    fc.property(value, fc.nat({ max: 3 }), (usage, space) => {
      const text = JSON.stringify(usage, undefined, space === 3 ? 1 : 0)
      const found = readUsage(Buffer.from(`....${text},"more":1`), 4)
      if (found === undefined) return
      read += 1
      expect(endOfUsage()).toBe(4 + Buffer.byteLength(text))
      expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(text)))
    }),
    { numRuns: 3000 },
  )
  expect(read).toBeGreaterThan(300)
})

it('reads what Claude Code writes', () => {
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 412,
    cache_read_input_tokens: 40_000,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 412 },
    output_tokens: 120,
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
    inference_geo: 'not_available',
    iterations: [],
    speed: 'fast',
  }
  expect(readUsage(Buffer.from(`${JSON.stringify(usage)}}`), 0)).toEqual(usage)
})

it('of a name that comes twice, the last counts', () => {
  expect(readUsage(Buffer.from('{"input_tokens":1,"input_tokens":2}'), 0)).toEqual({ input_tokens: 2 })
})

it('leaves strange names and numbers to JSON.parse', () => {
  for (const text of [
    '{"__proto__":{}}',
    '{"input_tokens":1.5}',
    '{"input_tokens":-1}',
    '{"a":1}',
    '[]',
    '{ }',
  ])
    expect(readUsage(Buffer.from(`${text}}`), 0)).toBeUndefined()
})

it('takes nothing that JSON.parse would refuse, whatever is written over it', () => {
  const text =
    '{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":0},"speed":"fast","iterations":[],"service_tier":null}'
  fc.assert(
    fc.property(fc.nat({ max: text.length - 1 }), fc.nat({ max: 255 }), (place, byte) => {
      const bytes = Buffer.from(`${text}          `)
      bytes[place] = byte
      const found = readUsage(bytes, 0)
      if (found !== undefined)
        expect(JSON.stringify(found)).toBe(
          JSON.stringify(JSON.parse(bytes.toString('utf8', 0, endOfUsage()))),
        )
    }),
    { numRuns: 5000 },
  )
})
