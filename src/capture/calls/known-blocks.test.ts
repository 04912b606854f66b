import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../transcript/block.ts'
import { createKnownBlocks } from './known-blocks.ts'

const user = (text: string) => ({ role: 'user' as const, blocks: [{ type: 'text', text } as Block] })
const answer = (...blocks: Block[]) => ({ role: 'assistant' as const, blocks })
const result = (callId: string, output: string) => ({
  role: 'tool' as const,
  blocks: [{ type: 'tool-result', callId, output } as Block],
})
const call = (callId: string): Block => ({ type: 'tool-call', callId, name: 'Bash', input: {} })

describe('what is new in a request', () => {
  it('is what follows, when the history comes again', () => {
    const known = createKnownBlocks()
    expect(known.take([user('one')])).toHaveLength(1)
    known.add('assistant', [{ type: 'text', text: 'two' }, call('c1')])
    const again = [
      user('one'),
      answer({ type: 'text', text: 'two' }, call('c1')),
      result('c1', 'out'),
      user('three'),
    ]
    expect(known.take(again).map(({ message }) => message)).toEqual(again.slice(2))
    expect(known.take(again)).toEqual([])
  })

  it('is nothing, when old results are cleared, thinking is left out and words are trimmed', () => {
    const known = createKnownBlocks()
    known.take([user('one')])
    known.add('assistant', [{ type: 'thinking', text: 'hm' }, { type: 'text', text: 'two\n' }, call('c1')])
    known.take([result('c1', 'a long output')])
    expect(
      known.take([
        user('one '),
        answer({ type: 'text', text: 'two' }, call('c1')),
        result('c1', '[cleared]'),
        answer({ type: 'thinking', text: 'other' }),
      ]),
    ).toEqual([])
  })

  it('is said again when it is said again', () => {
    const known = createKnownBlocks()
    known.take([user('continue')])
    expect(known.take([user('continue'), user('continue')])).toHaveLength(1)
    expect(known.take([user('continue'), user('continue')])).toHaveLength(0)
  })

  it('is everything once, however the history is cut into requests', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 }), fc.gen(), (words, gen) => {
        const known = createKnownBlocks()
        const said: string[] = []
        for (let to = 0; to < words.length;) {
          to = Math.min(words.length, to + 1 + gen(fc.nat, { max: 4 }))
          for (const { blocks } of known.take(words.slice(0, to).map(user)))
            for (const block of blocks) said.push((block as { readonly text: string }).text)
        }
        expect(said.toSorted()).toEqual(words.toSorted())
      }),
    )
  })
})

it('tells what only one conversation can have heard from what anybody may be asked', () => {
  const known = createKnownBlocks()
  known.take([user('hello')])
  known.add('assistant', [{ type: 'text', text: 'hi' }])
  expect(known.overlap([user('hello')])).toEqual({ own: 0, asked: 1 })
  expect(known.overlap([user('hello'), answer({ type: 'text', text: 'hi' })])).toEqual({ own: 1, asked: 1 })
})
