import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOf } from '../cost/cost.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { createLineSkimmer, type AnswerLines, type LineSkimmer } from './cost-lines.ts'
import { AT } from './cost-skim.ts'
import { FOUND } from './skimmed-lines-code.ts'
import { PADDING } from './skimmed-lines.ts'

const fast = createLineSkimmer(['derived'])
const plain = createLineSkimmer(['derived'], true)

function linesOf(skimmer: LineSkimmer, text: string): AnswerLines {
  const bytes = Buffer.from(text)
  const room = skimmer.room(bytes.length + PADDING)
  bytes.copy(room)
  room.fill('\n', bytes.length, bytes.length + PADDING)
  return skimmer.lines(room.subarray(0, bytes.length + PADDING))
}

/** What is found, line by line, to the first that is refused. */
function told(lines: AnswerLines): readonly unknown[] {
  const all: unknown[] = []
  for (let at = 0; ; at = lines.end() + 1) {
    const found = lines.next(at)
    all.push(found)
    if (found !== FOUND.line && found !== FOUND.odd) return all
    all.push(lines.end(), [...lines.starts.subarray(0, AT.content + 1)])
    for (const place of Object.values(AT)) if (lines.starts[place] !== -1) all.push(lines.ends[place])
  }
}

const count = fc.oneof(
  fc.nat(),
  fc.nat(),
  fc.constantFrom('7', null, -1, 1.5, 1e300, 1e19, 0, [], {}, { input_tokens: 3 }),
)
const names = fc.constantFrom(
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'service_tier',
  'serviceTier',
  'inference_geo',
  'speed',
  'iterations',
  'output_tokens_details',
  'thinking_tokens',
  'ephemeral_1h_input_tokens',
  'x',
)
const split = fc.oneof(
  fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }, { requiredKeys: [] }),
  fc.record({ ephemeral_5m_input_tokens: fc.nat(9), ephemeral_1h_input_tokens: fc.nat(9) }),
  count,
)
const tier = fc.constantFrom('standard', 'standard', 'standard', null, 'batch', 'priority', 'fast', 7)
const place = fc.constantFrom('not_available', 'not_available', null, 'us', '', 'global')
const usual = fc
  .record({
    input_tokens: count,
    cache_creation_input_tokens: fc.nat(18),
    cache_read_input_tokens: count,
    cache_creation: split,
    output_tokens: count,
    service_tier: tier,
    inference_geo: place,
    speed: tier,
  })
  .map((usage) => Object.entries(usage))
/** As it is spelled: names may come twice, and with an escape in them. */
const usage = fc
  .tuple(
    usual,
    fc.array(fc.tuple(fc.oneof(names, fc.constant('cache_creation')), fc.oneof(count, split, tier, place)), {
      maxLength: 3,
    }),
    fc.boolean(),
  )
  .map(([first, more, isEscaped]) => {
    const parts = [...first, ...more].map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
    )
    const text = `{${parts.join(',')}}`
    return isEscaped ? text.replace(/"(in|ephe)/, '"\\u0069n') : text
  })

describe('the lines of a log that may tell of a call', () => {
  it('are the same with WebAssembly and without it', () => {
    const line = fc.oneof(
      fc.constantFrom('{"type":"assistant"}', '{"a":1}', '', '{"type":"assistant"', '"assist', '\r'),
      fc.json().map((text) => `{"type":"assistant","message":{"id":"a","content":${text}}} \r`),
      usage.map((text) => `{"message":{"usage":${text}},"type" : "assistant"}`),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.constantFrom('', '\n'), (lines, end) => {
        const text = lines.join('\n') + end
        expect(told(linesOf(fast, text))).toEqual(told(linesOf(plain, text)))
      }),
      { numRuns: 1000 },
    )
  })

  it('have the counts that JSON.parse reads, and cost what they do, whatever a usage says', () => {
    const counted = (said: Json): unknown => {
      const read = fromAnthropicUsage(said)
      const cost = costOf({ model: 'claude-opus-5', at: '2026-11-01T00:00:00.000Z', usage: read })
      return { ...read, raw: undefined, cost }
    }
    fc.assert(
      fc.property(usage, usage, fc.boolean(), (one, other, isTwice) => {
        const text = `{"message":{${isTwice ? `"usage":${other},` : ''}"usage":${one}},"type":"assistant"}`
        for (const lines of [linesOf(fast, text), linesOf(plain, text)]) {
          expect(lines.next(0)).toBe(FOUND.line)
          const said = lines.usage()
          if (said !== undefined) expect(counted(said)).toEqual(counted(JSON.parse(one) as Json))
          if (said !== undefined && !one.includes('iterations')) expect(said['iterations']).toBeUndefined()
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('have the counts of a usage as Claude Code writes it', () => {
    const one =
      '{"input_tokens":3,"cache_creation_input_tokens":412,"cache_read_input_tokens":40000,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":412},"output_tokens":120,"service_tier":"standard","more":{"input_tokens":9}}'
    const lines = linesOf(fast, `{"type":"assistant","message":{"usage":${one}}}`)
    expect(lines.next(0)).toBe(FOUND.line)
    expect(lines.usage()).toMatchObject({ input_tokens: 3, output_tokens: 120, cache_creation: {} })
  })

  it('have a tier that costs otherwise', () => {
    const counts =
      '"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":120'
    const odd = [
      ['service_tier', 'batch'],
      ['serviceTier', 'FLEX'],
      ['speed', 'fast'],
      ['inference_geo', 'us'],
    ] as const
    for (const [name, word] of odd) {
      const said = `{${counts},"${name}":"${word}"}`
      const lines = linesOf(fast, `{"type":"assistant","message":{"usage":${said}}}`)
      expect(lines.next(0)).toBe(FOUND.line)
      expect((lines.usage() ?? (JSON.parse(said) as JsonObject))[name]).toBe(word)
    }
  })
})
