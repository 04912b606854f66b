import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { call, entry, result } from '../../test/replay-entries.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { createTurnFold, type ShownTurn } from './turns.ts'

describe('turns', () => {
  const fold = (entries: readonly Entry[]): ShownTurn[] => {
    const turns = createTurnFold()
    return [...entries.flatMap((entry) => turns.add(entry)), ...turns.end()]
  }

  it('show results with their calls, and number only turns', () => {
    const turns = fold([
      entry('user', 'go'),
      entry('assistant', [call('a'), call('b')], { call: { messageId: 'm1' } }),
      entry('assistant', 'more', { call: { messageId: 'm1' } }),
      entry('tool', [result('b', 'B')]),
      entry(undefined, [], { kind: 'event' }),
      entry('tool', [result('a', 'A'), result('z', 'stray')]),
      entry('assistant', 'done'),
    ])
    expect(turns.map(({ number, role }) => [number, role])).toEqual([
      [1, 'user'],
      [2, 'assistant'],
      [undefined, undefined],
      [3, 'tool'],
      [4, 'assistant'],
    ])
    expect(turns[1]?.calls.map(({ result }) => result?.output)).toEqual(['A', 'B'])
    expect(turns[1]?.blocks).toHaveLength(1)
  })

  it('keep the order they began in while a subagent works', () => {
    const turns = fold([
      entry('assistant', [call('task', 'Task')]),
      entry('user', 'sub', { source: 'subagent:x' }),
      entry('assistant', 'working', { source: 'subagent:x' }),
      entry('tool', [result('task', 'report')]),
      entry('assistant', 'thanks'),
    ])
    expect(turns.map(({ source, number }) => `${number} ${source}`)).toEqual([
      '1 primary',
      '2 subagent:x',
      '3 subagent:x',
      '4 primary',
    ])
    expect(turns[0]?.calls[0]?.result?.output).toBe('report')
  })

  it('pair by position where there are no ids, and wait for at most a thousand', () => {
    const anonymous: Block = { type: 'tool-call', name: 'Read', input: {} }
    const turns = createTurnFold()
    expect(turns.add(entry('assistant', [anonymous]))).toEqual([])
    let given = 0
    for (let i = 0; i < 5000; i += 1) given += turns.add(entry('user', 'x', { source: 'subagent:x' })).length
    expect(given).toBe(5001)
    expect(
      fold([entry('assistant', [anonymous]), entry('tool', [{ type: 'tool-result', output: 'o' }])]),
    ).toMatchObject([{ calls: [{ result: { output: 'o' } }] }])
  })

  it('lose no block, whatever the transcript', () => {
    fc.assert(
      fc.property(transcript, ({ entries }) => {
        const shown = fold(entries).flatMap(({ blocks, calls }) => [
          ...blocks,
          ...calls.flatMap(({ call, result }) => (result ? [call, result] : [call])),
        ])
        const all = entries.flatMap(({ blocks }) => blocks)
        expect(new Set(shown)).toEqual(new Set(all))
        expect(shown).toHaveLength(all.length)
      }),
    )
  })
})
