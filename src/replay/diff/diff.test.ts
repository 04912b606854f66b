import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../../test/stopwatch.ts'
import { transcript } from '../../../test/arbitrary.ts'
import type { Block } from '../../transcript/block.ts'
import { PRIMARY, type Entry, type Role } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { align } from './align.ts'
import { createSide, diffSessions, type SessionDiff } from './diff.ts'

const session = (id: string, more: Partial<Session> = {}): Session => ({ id, status: 'completed', ...more })

function diff(a: readonly Entry[], b: readonly Entry[]): SessionDiff {
  const take = (entries: readonly Entry[], id: string) => {
    const side = createSide()
    for (const entry of entries) side.add(entry)
    return side.end(session(id))
  }
  return diffSessions(take(a, 'one'), take(b, 'two'))
}

/** What was said and done, as entries of one source; ids as in no other run. */
let runs = 0
function said(steps: readonly (readonly [Role, Block])[], source = PRIMARY): readonly Entry[] {
  runs += 1
  const run = runs
  return steps.map(([role, block], sequence) => ({
    id: `${run}/${source}/${sequence}`,
    source,
    sequence,
    kind: 'message',
    role,
    at: new Date(1.7e12 + run * 1000 + sequence).toISOString(),
    blocks: ['tool-call', 'tool-result'].includes(block.type)
      ? [{ ...block, callId: `call_${run}_${sequence - (block.type === 'tool-result' ? 1 : 0)}` } as Block]
      : [block],
  }))
}

/** Of any length: prompts, answers, calls and their results, with many that say the same. */
function conversation(length: number): (readonly [Role, Block])[] {
  return Array.from({ length }, (_, n): readonly [Role, Block] => {
    switch (n % 4) {
      case 0:
        return ['user', { type: 'text', text: `prompt ${n}` }]
      case 1:
        return ['assistant', { type: 'text', text: n % 12 === 1 ? 'I look.' : `answer ${n}` }]
      case 2:
        return [
          'assistant',
          { type: 'tool-call', name: n % 8 === 2 ? 'Bash' : 'Read', input: { command: `ls ${n % 40}`, n } },
        ]
      default:
        return ['tool', { type: 'tool-result', output: n % 3 === 0 ? 'ok' : `found ${n}` }]
    }
  })
}

describe('the lists that are aligned', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 60 })
  it('give pairs of the same that ascend in both, and all of a list that is compared with itself', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const pairs = align(a, b)
        for (const [at, [one, other]] of pairs.entries()) {
          expect(a[one]).toBe(b[other])
          const before = pairs[at - 1]
          if (before !== undefined) expect(before[0] < one && before[1] < other).toBe(true)
        }
        expect(align(a, a)).toEqual(a.map((_, at) => [at, at]))
      }),
      { numRuns: 500 },
    )
  })

  it('are aligned soon, however little they have in common', () => {
    const spent = stopwatch()
    const many = (text: string): string[] => Array.from({ length: 20_000 }, (_, n) => `${text}${n % 7}`)
    expect(align(many('a'), many('b'))).toEqual([])
    align(many('a'), many('a').toReversed())
    expect(spent()).toBeLessThan(10_000)
  })
})

describe('the difference', () => {
  it('of a session from itself is none, whatever is in it', () => {
    fc.assert(
      fc.property(transcript, ({ entries }) => {
        const { isSame, changes, files, turns, first } = diff(entries, entries)
        expect({ isSame, changes, files, turns, first }).toEqual({
          isSame: true,
          changes: [],
          files: [],
          turns: [],
          first: undefined,
        })
      }),
    )
  })

  it('of two runs that said and did the same is none, though ids and times differ', () => {
    expect(diff(said(conversation(100)), said(conversation(100))).isSame).toBe(true)
  })

  const length = fc.oneof(fc.integer({ min: 8, max: 60 }), fc.integer({ min: 60, max: 2000 }))
  const planted = fc.record({ length, part: fc.double({ min: 0, max: 1, noNaN: true }) })

  it('finds a word that was changed, at its place, in sessions of any size', () => {
    fc.assert(
      fc.property(planted, ({ length, part }) => {
        const at = Math.min(length - 1, Math.floor(part * length))
        const other = conversation(length)
        const [role, block] = other[at] as (typeof other)[number]
        other[at] = [
          role,
          block.type === 'text'
            ? { ...block, text: `not ${at}` }
            : block.type === 'tool-call'
              ? { ...block, input: { command: 'rm', n: at } }
              : ({ ...block, output: 'something else' } as Block),
        ]
        const { first, changes } = diff(said(conversation(length)), said(other))
        expect(changes).toHaveLength(1)
        expect(first).toMatchObject({
          type: 'changed',
          a: { citation: `one#${at}` },
          b: { citation: `two#${at}` },
        })
      }),
      { numRuns: 25 },
    )
  })

  it('finds what went, what came, and what was done in another order', () => {
    fc.assert(
      fc.property(planted, ({ length, part }) => {
        // A call and its result, whole.
        const at = Math.min(Math.floor((part * length) / 4), Math.floor(length / 4) - 2) * 4 + 2
        const whole = conversation(length)
        const without = [...whole.slice(0, at), ...whole.slice(at + 2)]
        const gone = diff(said(whole), said(without))
        expect(gone.first).toMatchObject({ type: 'gone', what: 'call', a: { citation: `one#${at}` } })
        expect(gone.changes).toHaveLength(2)
        const come = diff(said(without), said(whole))
        expect(come.first).toMatchObject({ type: 'come', what: 'call', b: { citation: `two#${at}` } })
        const swapped = [...whole]
        swapped.splice(at, 2)
        swapped.splice(at + 2, 0, ...whole.slice(at, at + 2))
        const order = diff(said(whole), said(swapped))
        expect(order.changes.length).toBeGreaterThan(0)
        expect(order.changes.map(({ type }) => type)).toSatisfy((types: readonly string[]) =>
          types.every((type) => type === 'moved'),
        )
        const firstAt = Number(/#(\d+)/.exec(order.first?.a?.citation ?? '')?.[1])
        expect(Math.abs(firstAt - at)).toBeLessThanOrEqual(2)
      }),
      { numRuns: 25 },
    )
  })

  it('takes a subagent for the one that was asked the same, whatever it is called', () => {
    const main = said([['user', { type: 'text', text: 'go' }]])
    const agent = (source: string, asked: string, answer: string): readonly Entry[] =>
      said(
        [
          ['user', { type: 'text', text: asked }],
          ['assistant', { type: 'text', text: answer }],
        ],
        source,
      )
    const a = [...main, ...agent('subagent:1', 'find', 'here'), ...agent('subagent:2', 'fix', 'done')]
    const b = [...main, ...agent('subagent:x', 'fix', 'done'), ...agent('subagent:y', 'find', 'nowhere')]
    expect(diff(a, b).changes).toMatchObject([
      {
        type: 'changed',
        what: 'answer',
        a: { citation: 'one#subagent:1/1' },
        b: { citation: 'two#subagent:y/1' },
      },
    ])
  })

  it('has the tools, the files and the turns of both', () => {
    const call = (name: string, path: string): readonly [Role, Block] => [
      'assistant',
      { type: 'tool-call', name, input: { file_path: path } },
    ]
    const failed: readonly [Role, Block] = ['tool', { type: 'tool-result', error: 'no', isError: true }]
    const ok: readonly [Role, Block] = ['tool', { type: 'tool-result', output: 'ok' }]
    const a = said([['user', { type: 'text', text: 'go' }], call('Read', 'a.ts'), ok])
    const b = said([
      ['user', { type: 'text', text: 'go on' }],
      call('Edit', 'a.ts'),
      failed,
      call('Read', 'b.ts'),
      ok,
    ])
    const { tools, files, turns } = diff(a, b)
    expect(tools).toEqual([
      { name: 'Edit', a: { calls: 0, failed: 0 }, b: { calls: 1, failed: 1 } },
      { name: 'Read', a: { calls: 1, failed: 0 }, b: { calls: 1, failed: 0 } },
    ])
    expect(files).toEqual([
      { path: 'a.ts', a: ['read'], b: ['edited'] },
      { path: 'b.ts', a: [], b: ['read'] },
    ])
    expect(turns[0]).toEqual({
      turn: 1,
      verdict: 'different',
      a: { role: 'user', chars: 2 },
      b: { role: 'user', chars: 5 },
    })
    expect(turns.at(-1)).toMatchObject({ verdict: 'missing' })
  })

  it('finds two equal runs the same, whatever ids, processes and folders they have', () => {
    const run = (id: string, nickname: string, group: number, cwd: string, output: string) => {
      const side = createSide()
      const entries = said([
        ['user', { type: 'text', text: `look around in ${cwd}` }],
        ['assistant', { type: 'tool-call', name: 'spawn_agent', input: { message: `look in ${cwd}/src` } }],
        ['tool', { type: 'tool-result', output: `{"agent_id":"${id}","nickname":"${nickname}"}` }],
        ['assistant', { type: 'tool-call', name: 'wait_agent', input: { ids: [id] } }],
        ['tool', { type: 'tool-result', output, error: `in group PGID: ${group}`, isError: true }],
      ])
      for (const entry of entries) side.add(entry)
      return side.end(session(id, { cwd }))
    }
    const a = run('01a1f3d5-da25-7d41-928a-e81d176cb7b7', 'James', 15302, '/srv/one', 'timed out')
    const b = run('01a1f3d5-fceb-7600-885e-1b9cf331624e', 'Sagan', 15557, '/srv/two', 'timed out')
    const other = run('01a1f3d5-fceb-7600-885e-1b9cf331624f', 'Sagan', 15557, '/srv/two', 'gone')
    expect(diffSessions(a, b)).toMatchObject({ isSame: true, alike: 5, changes: [] })
    expect(diffSessions(a, a)).toMatchObject({ isSame: true, alike: 0 })
    expect(diffSessions(a, other)).toMatchObject({ isSame: false, alike: 4, counts: { changed: 1 } })
  })
})
