import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { exactNumbers, toExactJson } from './exact-numbers.ts'
import type { Format } from './format.ts'
import { pi } from './pi.ts'

const back = (text: string): string => toExactJson(parseJson(text) as Json, exactNumbers(text))

describe('numbers beyond 2^53', () => {
  it.each([
    '9007199254740993',
    '[1,-9007199254740993,"9007199254740995",{"a\\"b":12345678901234567890}]',
    '{"a":{"b":[0,{"c":9007199254740993}]},"d":"x: 9007199254740993,","e":1.2345678901234567}',
    '{"__proto__":9007199254740993,"constructor":{"x":[9007199254740995]}}',
    '{"\\u0001\\\\":99999999999999999999999999,"b\\\\":"\\\\\\"9007199254740993"}',
  ])('go back as they were written: %s', (text) => {
    expect(back(text)).toBe(text)
  })

  it('are told only where there are any', () => {
    expect(exactNumbers('{"a":9007199254740991,"b":"9007199254740993"}')).toBeUndefined()
    expect(exactNumbers('{"a":1.2345678901234567890}')).toBeUndefined()
    expect(exactNumbers('{"a":90071992547409930000}')).toEqual([[['a'], '90071992547409930000']])
  })

  it('are not put where the record says something else by now', () => {
    const noted = exactNumbers('{"a":9007199254740993}')
    expect(toExactJson({ a: 5 }, noted)).toBe('{"a":5}')
    expect(toExactJson({ b: 1 }, noted)).toBe('{"b":1}')
    expect(toExactJson({ a: 9007199254740992 }, [[['a'], '1,"x":2']])).toBe('{"a":9007199254740992}')
  })

  it('stand in any JSON, whatever is around them', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.boolean(),
        fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        const text = toText(one)
        expect(back(text)).toBe(text)
      }),
    )
  })
})

/** As JSON has it, digits and all; names that JavaScript would put in another order are told apart. */
function toText(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(toText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(`.${key}`)}:${toText(one)}`)
  return `{${members.join(',')}}`
}

const BIG = '9007199254740993'
const at = '2026-02-10T10:00:00.000Z'
/** `"#"` stands for the number. */
const LINES: readonly (readonly [Format, readonly object[]])[] = [
  [
    claudeCode,
    [
      {
        type: 'assistant',
        uuid: 'u1',
        parentUuid: null,
        sessionId: 's',
        userType: 'external',
        isSidechain: false,
        cwd: '/p',
        version: '2.1.0',
        gitBranch: 'main',
        timestamp: at,
        seed: '#',
        message: {
          id: 'm',
          role: 'assistant',
          model: 'claude',
          content: [{ type: 'tool_use', id: 'c', name: 'Read', input: { at: ['#', { deep: '#' }] } }],
          usage: { input_tokens: 1, output_tokens: 1, mark: '#' },
          stop_reason: 'tool_use',
        },
      },
      { type: 'queue-operation', operation: 'enqueue', sessionId: 's', number: '#' },
    ],
  ],
  [
    codex,
    [
      { timestamp: at, type: 'session_meta', payload: { id: 't', timestamp: at, cwd: '/p', seed: '#' } },
      {
        timestamp: at,
        type: 'response_item',
        seed: '#',
        payload: { type: 'function_call', name: 'x', arguments: '{"n":9007199254740993}', call_id: 'c' },
      },
      {
        timestamp: at,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a', n: '#' }] },
      },
    ],
  ],
  [
    pi,
    [
      {
        type: 'session',
        version: 3,
        id: '01990000-7777-7000-8000-00000000000d',
        timestamp: at,
        cwd: '/p',
        seed: '#',
      },
      {
        type: 'message',
        id: 'a1b2c3d4',
        parentId: null,
        timestamp: at,
        seed: '#',
        message: {
          role: 'assistant',
          content: [{ type: 'toolCall', id: 'c', name: 'x', arguments: { n: ['#', { deep: '#' }] } }],
          timestamp: '#',
        },
      },
    ],
  ],
]

describe('a log with numbers beyond 2^53', () => {
  it.each(LINES.map(([format, lines]) => [format.id, format, lines] as const))(
    'of %s is written back with every digit, at the top, below it and in what a tool was given',
    async (_, format, lines) => {
      const text = lines.map((line) => `${JSON.stringify(line).replaceAll('"#"', BIG)}\n`).join('')
      const [read] = await readAll(format, memoryFileSource('x.jsonl', text))
      const written = writeTranscript(format, read as NonNullable<typeof read>).files
      const sorted = (one: string): string[] => (one.match(/"[^"]*"|\d+/g) ?? []).sort()
      const out = [...written.values()].join('')
      expect(out.split(BIG)).toHaveLength(text.split(BIG).length)
      expect(sorted(out)).toEqual(sorted(text))
    },
  )
})
