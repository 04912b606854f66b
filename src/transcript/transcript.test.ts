import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { citation, createSequence, type Entry } from './entry.ts'
import { createPairing } from './tools.ts'
import { createCallFold, type BilledCall } from './totals.ts'
import { query, sourceTree, turns } from './transcript.ts'
import { addUsage, promptTokens, type Usage } from './usage.ts'

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

  it('let a later report overwrite count by count, and what it does not say stand', () => {
    const call = { messageId: 'msg_1' }
    const reports = [
      entry({ call, usage: { input: 1000, cacheRead: 5000, output: 1, quality: 'partial', raw: { a: 1 } } }),
      entry({ call, usage: { output: 50, quality: 'reported' } }),
      entry({ call, usage: { quality: 'unavailable' } }),
    ]
    const usage = { input: 1000, cacheRead: 5000, output: 50, quality: 'reported' }
    const settled: BilledCall[] = []
    const fold = createCallFold({ settle: (one) => settled.push(one) })
    for (const report of reports) fold.add(report)
    expect(fold.totals()).toMatchObject({ calls: 1 })
    expect(fold.totals().usage).toEqual(usage)
    expect(settled.map((one) => one.usage)).toEqual([{ ...usage, raw: { a: 1 } }])
    expect(turns(reports).map((turn) => turn.usage)).toEqual([{ ...usage, raw: { a: 1 } }])
  })

  it('take an empty id for none', () => {
    const fold = createCallFold()
    const entries = [
      entry({ call: { messageId: '' }, usage: { output: 1, quality: 'reported' } }),
      entry({ call: { messageId: '' }, usage: { output: 2, quality: 'reported' } }),
      entry({ call: { messageId: '', requestId: 'r' }, usage: { output: 4, quality: 'reported' } }),
      entry({ call: { requestId: 'r' }, usage: { output: 8, quality: 'reported' } }),
      entry({ call: { requestId: '' }, usage: { output: 16, quality: 'reported' } }),
    ]
    for (const one of entries) fold.add(one)
    expect(fold.totals()).toMatchObject({ calls: 4, usage: { output: 27 } })
    expect(turns(entries)).toHaveLength(5)
    expect(turns(entries)[0]?.messageId).toBeUndefined()
  })

  it('tell calls with one id apart by their providers, where both name one', () => {
    const from = (output: number, provider?: string): Entry =>
      entry({
        usage: { output, quality: 'reported' },
        call: { messageId: 'm', ...(provider !== undefined && { provider }) },
      })
    const sum = (...entries: readonly Entry[]): unknown => {
      const settled: BilledCall[] = []
      const fold = createCallFold({ settle: (call) => settled.push(call) })
      for (const one of entries) fold.add(one)
      fold.totals()
      const calls = settled.map(({ provider, usage }) => [provider, usage.output])
      expect(turns(entries).map((turn) => turn.usage?.output)).toEqual(calls.map(([, output]) => output))
      return calls
    }
    expect(sum(from(1, 'a'), from(2, 'b'))).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect(sum(from(1), from(2, 'a'))).toEqual([['a', 2]])
    expect(sum(from(1, 'a'), from(2))).toEqual([['a', 2]])
    expect(sum(from(1, 'a'), from(2, ''))).toEqual([['a', 2]])
    expect(sum(from(1), from(2, 'a'), from(4, 'b'))).toEqual([
      ['a', 2],
      ['b', 4],
    ])
    expect(sum(from(1, 'a'), from(2, 'b'), from(4, 'a'), from(8, 'b'))).toEqual([
      ['a', 4],
      ['b', 8],
    ])
  })

  it('count nothing that is no count', () => {
    const stated = (usage: unknown): Entry => entry({ usage: usage as Usage })
    const fold = createCallFold()
    for (const usage of [
      { input: '12', output: 3, quality: 'reported' },
      { input: -1, output: 4, quality: 'reported' },
      { input: Number.NaN, cacheRead: 1.5, output: 5, quality: 'reported' },
      { input: Number.POSITIVE_INFINITY, quality: 'reported' },
      { input_tokens: 7, quality: 'reported' },
      'many',
      null,
      [1],
    ])
      fold.add(stated(usage))
    expect(fold.totals()).toEqual({
      entries: 8,
      toolCalls: 0,
      calls: 3,
      uncounted: 2,
      usage: { output: 12, quality: 'partial' },
    })
    expect(turns([stated({ input: '12', output: 3, quality: 'reported' })])[0]?.usage).toEqual({
      output: 3,
      quality: 'reported',
    })
    expect(turns([stated(null)])[0]?.usage).toBeUndefined()
  })

  it('have no usage where no entry states any', () => {
    const fold = createCallFold()
    fold.add(entry({ usage: { quality: 'unavailable' } }))
    expect(fold.totals()).toEqual({ entries: 1, toolCalls: 0, calls: 0, uncounted: 1 })
  })

  it('are a lower bound with an answer that nobody counted, told by its usage or its name', () => {
    const sum = (...entries: readonly Entry[]): unknown => {
      const fold = createCallFold()
      for (const one of entries) fold.add(one)
      const { calls, uncounted, usage } = fold.totals()
      return [calls, uncounted, usage?.output, usage?.quality]
    }
    const unknown = entry({ usage: { quality: 'unavailable' } })
    const named = entry({ call: { messageId: 'a' } })
    expect(sum(reported(5), unknown)).toEqual([1, 1, 5, 'partial'])
    expect(sum(named, reported(5, 'b'))).toEqual([1, 1, 5, 'partial'])
    expect(sum(named, reported(5, 'a'))).toEqual([1, undefined, 5, 'reported'])
    expect(sum(reported(5, 'a'), named)).toEqual([1, undefined, 5, 'reported'])
    expect(sum(unknown, entry({ usage: { output: 5, quality: 'estimated' } }))).toEqual([
      1,
      1,
      5,
      'estimated',
    ])
    expect(sum(reported(5), entry({ role: 'user', call: { messageId: 'a' } }), entry({}))).toEqual([
      1,
      undefined,
      5,
      'reported',
    ])
  })

  it('keep the provider’s last word against a lower bound that comes after it, unless that is no lower', () => {
    const sum = (...usages: readonly Usage[]): Usage | undefined => {
      const fold = createCallFold()
      for (const usage of usages) fold.add(entry({ usage, call: { messageId: 'a' } }))
      return fold.totals().usage
    }
    const last: Usage = { input: 5, output: 50, quality: 'reported' }
    expect(sum(last, { input: 5, cacheRead: 1, output: 1, quality: 'partial' })).toEqual({
      ...last,
      cacheRead: 1,
    })
    expect(sum(last, { quality: 'partial', input: 9 })).toEqual(last)
    expect(sum(last, { ...last, quality: 'partial' })).toEqual({ ...last, quality: 'partial' })
    expect(sum({ ...last, output: 1, quality: 'partial' }, last)).toEqual(last)
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
    // Of the processor, not of the wall: tests share the machine.
    const started = process.cpuUsage()
    for (let n = 0; n < 200_000; n += 1) pairing.open('primary', call('a', `${n}`), n)
    for (let n = 199_999; n >= 100_000; n -= 1)
      pairing.answer('primary', { type: 'tool-result', callId: `${n}` })
    expect(pairing.unanswered()).toHaveLength(100_000)
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000)
  })

  it('gives ids that were all redacted to one word their calls in order', () => {
    const pairing = createPairing<number>()
    pairing.open('primary', call('a', 'REDACTED'), 1)
    pairing.open('primary', call('b', 'REDACTED'), 2)
    expect(pairing.answer('primary', { type: 'tool-result', callId: 'REDACTED' })?.value).toBe(1)
    expect(pairing.answer('primary', { type: 'tool-result', callId: 'REDACTED' })?.value).toBe(2)
  })
})
