import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { citation, createSequence, type Entry } from './entry.ts'
import { createPairing } from './tools.ts'
import { createCallFold, type BilledCall } from './totals.ts'
import { query, sourceTree, turns } from './transcript.ts'
import { addUsage, promptTokens } from './usage.ts'

const number = createSequence()
const entry = (facts: Partial<Entry>): Entry => {
  const source = facts.source ?? 'primary'
  const sequence = number(source)
  return {
    id: `${source}/${sequence}`,
    source,
    sequence,
    kind: 'message',
    role: 'assistant',
    blocks: [],
    ...facts,
  }
}

describe('queries', () => {
  it('answer all, latest, where, by role and by source', () => {
    const entries = [entry({ role: 'user' }), entry({ source: 'subagent:a' }), entry({})]
    const q = query(entries)
    expect(q.all()).toBe(entries)
    expect(q.latest()).toBe(entries[2])
    expect(q.where((e) => e.role === 'user')).toEqual([entries[0]])
    expect(q.byRole('assistant')).toEqual([entries[1], entries[2]])
    expect(q.bySource('primary')).toEqual([entries[0], entries[2]])
    expect(query([]).latest()).toBeUndefined()
  })

  it('fold entries of one provider message into one turn, even when others stand between them', () => {
    const call = { messageId: 'msg_1' }
    const first = entry({ call, usage: { output: 1, quality: 'partial' } })
    const result = entry({ role: 'tool' })
    const last = entry({ call, usage: { output: 90, quality: 'reported' } })
    const folded = turns([first, result, last, entry({ kind: 'event' })])
    expect(folded.map((turn) => turn.entries)).toEqual([[first, last], [result]])
    expect(folded[0]?.usage).toEqual({ output: 90, quality: 'reported' })
  })

  it('give the tree of subagents, and hang circles below the primary source', () => {
    const parentSource = (parent: string): Partial<Entry> => ({ metadata: { parentSource: parent } })
    const tree = sourceTree([
      entry({}),
      entry({ source: 'subagent:a' }),
      entry({ source: 'subagent:b', ...parentSource('subagent:a') }),
      entry({ source: 'subagent:x', ...parentSource('subagent:y') }),
      entry({ source: 'subagent:y', ...parentSource('subagent:x') }),
    ])
    expect(tree.children.map((child) => [child.source, child.children.map((below) => below.source)])).toEqual(
      [
        ['subagent:a', ['subagent:b']],
        ['subagent:x', []],
        ['subagent:y', []],
      ],
    )
  })

  it('lose no entry: every message is in exactly one turn and one place of the tree', () => {
    fc.assert(
      fc.property(transcript, ({ entries }) => {
        const inTurns = turns(entries).flatMap((turn) => turn.entries)
        expect(new Set(inTurns)).toEqual(new Set(entries))
        const inTree = [sourceTree(entries)].flatMap(function below(tree): readonly Entry[] {
          return [...tree.entries, ...tree.children.flatMap(below)]
        })
        expect(inTree.length).toBe(entries.length)
      }),
    )
  })

  it('cite an entry by its source and sequence', () => {
    expect(citation('s', { source: 'primary', sequence: 12 })).toBe('s#12')
    expect(citation('s', { source: 'subagent:x', sequence: 3 })).toBe('s#subagent:x/3')
  })
})

describe('totals', () => {
  const reported = (output: number, messageId?: string): Entry =>
    entry({ usage: { output, quality: 'reported' }, ...(messageId !== undefined && { call: { messageId } }) })

  it('count a call once and let its last report win', () => {
    const settled: BilledCall[] = []
    const fold = createCallFold({ settle: (call) => settled.push(call) })
    for (const e of [reported(1, 'a'), reported(5, 'b'), reported(70, 'a'), reported(3)]) fold.add(e)
    expect(fold.totals()).toMatchObject({ entries: 4, calls: 3, usage: { output: 78 } })
    expect(new Set(settled.map((call) => call.usage.output))).toEqual(new Set([3, 5, 70]))
  })

  it('have no usage where no entry states any', () => {
    const fold = createCallFold()
    fold.add(entry({ usage: { quality: 'unavailable' } }))
    expect(fold.totals()).toEqual({ entries: 1, toolCalls: 0, calls: 0 })
  })

  it('stay right when the window settles old calls early', () => {
    const fold = createCallFold({ window: 2 })
    for (let n = 0; n < 100; n += 1) for (const output of [1, 10]) fold.add(reported(output, `m${n}`))
    expect(fold.totals()).toMatchObject({ calls: 100, usage: { output: 1000 } })
  })

  it('keep unknown unknown, and the worse quality', () => {
    expect(addUsage({ quality: 'reported' }, { output: 2, quality: 'partial' })).toEqual({
      output: 2,
      quality: 'partial',
    })
    expect(promptTokens({ output: 2, quality: 'reported' })).toBeUndefined()
    expect(
      promptTokens({ input: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 4, quality: 'reported' }),
    ).toBe(10)
  })
})

describe('pairing of tool calls', () => {
  const call = (name: string, callId?: string): { type: 'tool-call'; name: string; callId?: string } => ({
    type: 'tool-call',
    name,
    ...(callId !== undefined && { callId }),
  })

  it('is by id within a source', () => {
    const pairing = createPairing<number>()
    pairing.open('primary', call('a', '1'), 1)
    pairing.open('primary', call('b', '2'), 2)
    expect(pairing.answer('subagent:x', { type: 'tool-result', callId: '2' })).toBeUndefined()
    expect(pairing.answer('primary', { type: 'tool-result', callId: '2' })?.value).toBe(2)
    expect(pairing.answer('primary', { type: 'tool-result', callId: '2' })).toBeUndefined()
    expect(pairing.unanswered().map((open) => open.value)).toEqual([1])
  })

  it('falls back to the oldest open call of that name, else the oldest', () => {
    const pairing = createPairing<number>()
    pairing.open('primary', call('a'), 1)
    pairing.open('primary', call('b'), 2)
    pairing.open('primary', call('b'), 3)
    expect(pairing.answer('primary', { type: 'tool-result', name: 'b' })?.value).toBe(2)
    expect(pairing.answer('primary', { type: 'tool-result' })?.value).toBe(1)
    expect(pairing.answer('primary', { type: 'tool-result', name: 'zz' })).toBeUndefined()
  })

  it('stays linear over calls that nobody answers', () => {
    const pairing = createPairing<number>()
    const started = performance.now()
    for (let n = 0; n < 200_000; n += 1) pairing.open('primary', call('a', `${n}`), n)
    for (let n = 199_999; n >= 100_000; n -= 1)
      pairing.answer('primary', { type: 'tool-result', callId: `${n}` })
    expect(pairing.unanswered()).toHaveLength(100_000)
    expect(performance.now() - started).toBeLessThan(3000)
  })

  it('gives ids that were all redacted to one word their calls in order', () => {
    const pairing = createPairing<number>()
    pairing.open('primary', call('a', 'REDACTED'), 1)
    pairing.open('primary', call('b', 'REDACTED'), 2)
    expect(pairing.answer('primary', { type: 'tool-result', callId: 'REDACTED' })?.value).toBe(1)
    expect(pairing.answer('primary', { type: 'tool-result', callId: 'REDACTED' })?.value).toBe(2)
  })
})
