import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineSkimmer } from './cost-lines.ts'
import { AT, createSkimmer } from './cost-skim.ts'
import { FOUND } from './skimmed-lines-code.ts'
import { PADDING } from './skimmed-lines.ts'

/** Every byte in every place is tried below as well; `HANSARD_SEED` asks for more. */
const MANY = process.env['HANSARD_SEED'] === undefined ? 8000 : 20_000

const { skim, starts, ends, isOdd } = createSkimmer(new Set(['derived']))

const fast = createLineSkimmer(['derived'])

/** By both ways to skim a line, which have to say the same: the other one finds it by the word in it, and where it ends. */
function skimmed(text: string): boolean {
  const bytes = Buffer.from(`ahead\n${text}\nbehind it`)
  const result = skim(bytes, 6, bytes.length - 10)
  if (!text.includes('"assistant"') || text.includes('\n')) return result
  const room = fast.room(bytes.length + PADDING)
  bytes.copy(room)
  room.fill('\n', bytes.length, bytes.length + PADDING)
  const lines = fast.lines(room.subarray(0, bytes.length + PADDING))
  expectSame(lines.next(0), result ? (isOdd() ? FOUND.odd : FOUND.line) : FOUND.refused)
  if (!result) return false
  expectSame(lines.end(), bytes.length - 10)
  for (const [place, start] of starts.entries()) {
    expectSame(lines.starts[place], start)
    if (start !== -1) expectSame(lines.ends[place], ends[place])
  }
  expectSame(lines.next(lines.end() + 1), FOUND.none)
  return true
}

/** Asked a million times: `expect` takes longer than what is tested. */
function expectSame(one: number | undefined, other: number | undefined): void {
  if (one !== other) expect(one).toBe(other)
}

const valueAt = (text: string, field: keyof typeof AT): unknown => {
  const [from, to] = [starts[AT[field]], ends[AT[field]]]
  return from === -1 ? undefined : JSON.parse(Buffer.from(`ahead ${text}\nbehind`).toString('utf8', from, to))
}

const parses = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const line = fc.record(
  {
    type: fc.constantFrom('assistant', 'user', 'ass\u0001istant', 'é"\\'),
    timestamp: fc.string(),
    uuid: fc.string({ unit: 'binary' }),
    parentUuid: fc.option(fc.string()),
    isApiErrorMessage: fc.boolean(),
    other: fc.jsonValue(),
    assistant: fc.jsonValue(),
    message: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          id: fc.string(),
          model: fc.string({ unit: 'grapheme' }),
          content: fc.jsonValue(),
          usage: fc.jsonValue(),
          stop_reason: fc.option(fc.string()),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: ['assistant'] },
)

/** Bytes of another, put anywhere: what torn and fused lines look like. */
const spoiled = fc.tuple(line, fc.nat(), fc.nat({ max: 6 }), fc.string({ unit: 'binary', maxLength: 6 }))

describe('a line that is skimmed', () => {
  it('says what JSON.parse says of it', () => {
    fc.assert(
      fc.property(line, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(skimmed(text)).toBe(true)
        const parsed = JSON.parse(text) as Record<string, unknown>
        const { message } = parsed
        const inner = typeof message === 'object' && !Array.isArray(message) ? (message ?? {}) : {}
        const { id, model, content, usage, stop_reason } = inner as Record<string, unknown>
        expect({
          type: valueAt(text, 'type'),
          timestamp: valueAt(text, 'timestamp'),
          uuid: valueAt(text, 'uuid'),
          parentUuid: valueAt(text, 'parentUuid'),
          isApiErrorMessage: valueAt(text, 'isApiErrorMessage'),
          message: valueAt(text, 'message'),
          id: valueAt(text, 'id'),
          model: valueAt(text, 'model'),
          content: valueAt(text, 'content'),
          usage: valueAt(text, 'usage'),
          stop_reason: valueAt(text, 'stop_reason'),
        }).toEqual({
          type: parsed['type'],
          timestamp: parsed['timestamp'],
          uuid: parsed['uuid'],
          parentUuid: parsed['parentUuid'],
          isApiErrorMessage: parsed['isApiErrorMessage'],
          message,
          id,
          model,
          content,
          usage,
          stop_reason,
        })
      }),
      { numRuns: 2000 },
    )
  })

  it('is refused where JSON.parse refuses it, wherever it is torn, cut or written over', () => {
    fc.assert(
      fc.property(spoiled, ([value, where, cut, put]) => {
        const text = JSON.stringify(value)
        const at = where % (text.length + 1)
        const bad = text.slice(0, at) + put + text.slice(at + cut)
        if (skimmed(bad) !== parses(bad)) expect(bad).toBe('told as JSON.parse tells it')
      }),
      { numRuns: MANY },
    )
  })

  it('is told at every byte that ends it, and with every byte in every place', () => {
    const text =
      '{"type":"assistant","n":[-1.5e+3,0,true,null,{"a":"\\u00e9\\n"}],"message":{"id":"m","usage":{"x":1}}}'
    for (let end = 0; end <= text.length; end += 1)
      expect(skimmed(text.slice(0, end)), text.slice(0, end)).toBe(parses(text.slice(0, end)))
    for (let at = 0; at < text.length; at += 1) {
      for (let byte = 0; byte < 128; byte += 1) {
        const bad = text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1)
        if (skimmed(bad) !== parses(bad)) expect(bad).toBe('told as JSON.parse tells it')
      }
    }
  })

  it('has the last of what it says twice, and of a message nothing of the one before', () => {
    const text =
      '{"type":"user","message":{"id":"a","model":"x"},"type":"assistant","message":{"id":"b","id":"c"}}'
    expect(skimmed(text)).toBe(true)
    expect(valueAt(text, 'type')).toBe('assistant')
    expect(valueAt(text, 'id')).toBe('c')
    expect(valueAt(text, 'model')).toBeUndefined()
  })

  it('is odd with a name of ours, or one that is spelled with a backslash', () => {
    expect([skimmed('{"derived":"assistant"}'), isOdd()]).toEqual([true, true])
    expect([skimmed('{"t\\u0079pe":"assistant"}'), isOdd()]).toEqual([true, true])
    expect([skimmed('{"message":{"\\u0069d":"assistant"}}'), isOdd()]).toEqual([true, true])
    expect([skimmed('{"a":{"derived":"assistant","b\\n":1}}'), isOdd()]).toEqual([true, false])
  })

  it('is refused where it is too deep', () => {
    const deep = (depth: number): string => `{"a":${'['.repeat(depth)}"assistant"${']'.repeat(depth)}}`
    expect(skimmed(`"assistant"${'['.repeat(1000)}`)).toBe(false)
    expect([skimmed(deep(199)), skimmed(deep(200)), skimmed(deep(300))]).toEqual([true, false, false])
    const objects = `${'{"message":'.repeat(200)}"assistant"${'}'.repeat(200)}`
    expect([skimmed(objects), skimmed(`{"a":${objects}}`)]).toEqual([true, false])
  })
})
