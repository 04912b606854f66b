import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import type { Line } from '../transcript/lines.ts'
import { createTextFold, type TextEntry } from './cursor-text.ts'

const toLine = (text: string, number: number): Line => ({
  number,
  byteOffset: number * 10,
  byteLength: text.length,
  ended: true,
  text,
  isUtf8: true,
})

function fold(lines: readonly (readonly [number: number, text: string])[]): readonly TextEntry[] {
  const text = createTextFold()
  return [...lines.flatMap(([number, line]) => text.push(toLine(line, number))), ...text.end()]
}

describe('a transcript of text', () => {
  it('may have more blank lines than there can be characters in a text', () => {
    const [said] = fold([
      [1, 'user:'],
      [2, 'before'],
      [3_000_000_000, 'after'],
    ])
    expect(said?.said.blocks).toEqual([{ type: 'text', text: expect.stringMatching(/^before\n{9,}after$/) }])
  })

  it('takes about as much memory as it says while it is put together, not as it has lines', () => {
    const text = createTextFold()
    text.push(toLine('assistant:', 1))
    text.push(toLine('[Tool result] run', 2))
    const before = heldBytes()
    for (let n = 3; n < 1_000_000; n += 1) text.push(toLine(String.fromCharCode(97 + (n % 26)), n))
    expect(heldBytes() - before).toBeLessThan(8e6)
    expect(text.end()).toHaveLength(1)
  })

  it('says what each argument of a call is, over as many lines as there are', () => {
    const input = (...lines: readonly string[]): unknown =>
      fold([
        [1, 'assistant:'],
        [2, '[Tool call] edit'],
        ...lines.map((text, n) => [n + 3, text] as const),
      ]).map(({ said }) => said.blocks)
    const call = (given?: unknown): unknown => [
      [{ type: 'tool-call', name: 'edit', ...(given !== undefined && { input: given }) }],
    ]
    expect(input('  path: a.ts', '  text: one', 'two', '  path: again', '  last:')).toEqual(
      call({ path: 'a.ts', text: 'one\ntwo\n  path: again', last: '' }),
    )
    expect(input('no argument', '  path: a.ts')).toEqual(call('no argument\n  path: a.ts'))
    expect(input('  one: 1', '  one: 2')).toEqual(call({ one: '1\n  one: 2' }))
    expect(input()).toEqual(call())
    const many = Array.from({ length: 2000 }, (_, n) => `  name${n}: ${n}`)
    expect(input(...many)).toEqual(call(many.join('\n')))
  })
})
