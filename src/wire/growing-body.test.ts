import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import { createBodyReader } from './growing-body.ts'

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string({ unit: 'grapheme' }) }),
  fc.jsonValue(),
) as fc.Arbitrary<Json>

describe('a body that goes on with the one before', () => {
  it('is read as if it were the first, whatever stands around its history', () => {
    const field = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
    const name = fc.constantFrom('messages', 'input', 'contents')
    fc.assert(
      fc.property(
        fc.array(fc.record({ items: fc.array(item, { maxLength: 6 }), head: field, tail: field, name }), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.boolean(),
        fc.constantFrom(undefined, 2),
        (asked, isWrapped, indent) => {
          const reader = createBodyReader()
          let history: Json[] = []
          for (const { items, head, tail, name: list } of asked) {
            history = [...history.slice(0, history.length - (items.length % 3)), ...items]
            const inner = { ...head, [list]: history, ...tail }
            const text = JSON.stringify(isWrapped ? { model: 'm', request: inner } : inner, null, indent)
            expect(reader.read(Buffer.from(text))).toEqual(JSON.parse(text))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is read as if it were the first wherever it is cut or changed', () => {
    const text = '{"a":[1],"messages":[1,{"x":"\\"]é"},[2,"]"],-3.5,"w"],"t":{"messages":[9]},"z":"ü"}'
    for (let at = 0; at < text.length; at += 1)
      for (const other of [
        text.slice(0, at),
        `${text.slice(0, at)}1${text.slice(at)}`,
        `${text.slice(0, at)},4${text.slice(at)}`,
        `${text.slice(0, at)}]${text.slice(at)}`,
        `${text.slice(0, at)},"messages":[7]${text.slice(at)}`,
      ]) {
        const reader = createBodyReader()
        expect(reader.read(Buffer.from(text))).toEqual(JSON.parse(text))
        expect(reader.read(Buffer.from(other)), other).toEqual(parsed(other))
        expect(reader.read(Buffer.from(text)), other).toEqual(JSON.parse(text))
      }
  })

  it('takes the last of two fields of the same name, as everybody does', () => {
    const reader = createBodyReader()
    for (const text of [
      '{"messages":[1,2],"messages":[3,4]}',
      '{"messages":[1,2,5],"x":0}',
      '{"messages":[1,2,5],"x":0,"messages":[8]}',
      '{"messages":[1,2,5,6],"__proto__":{"x":1}}',
    ])
      expect(JSON.stringify(reader.read(Buffer.from(text)))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it('makes no object of what it knows', () => {
    const reader = createBodyReader()
    const asked = (count: number) =>
      reader.read(
        Buffer.from(
          JSON.stringify({
            tools: [{ name: 'a' }],
            messages: Array.from({ length: count }, (_, n) => ({ role: 'user', content: `${n}` })),
            system: [{ text: 'you' }],
          }),
        ),
      ) as { [name: string]: Json[] }
    const [one, other] = [asked(5), asked(7)]
    expect(other['messages']).toHaveLength(7)
    for (let n = 0; n < 5; n += 1) expect(other['messages']?.[n]).toBe(one['messages']?.[n])
    expect(other['tools']).toBe(one['tools'])
    expect(other['system']).toBe(one['system'])
  })

  it('knows each of several conversations that take turns', () => {
    const reader = createBodyReader()
    const histories = Array.from({ length: 10 }, (_, n) => [{ agent: n }])
    const before: (Json | undefined)[] = []
    for (let turn = 0; turn < 5; turn += 1)
      for (const [n, history] of histories.entries()) {
        history.push({ agent: n * 100 + turn })
        const body = reader.read(Buffer.from(JSON.stringify({ messages: history }))) as { messages: Json[] }
        expect(body.messages).toEqual(history)
        if (turn > 0) expect(body.messages[0]).toBe(before[n])
        before[n] = body.messages[0] as Json
      }
  })
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
