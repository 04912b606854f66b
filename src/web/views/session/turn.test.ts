import { describe, expect, it } from 'vitest'
import { toCallByte } from '../../../replay/call-bytes.ts'
import type { EntryRow } from '../../../server/api.ts'
import { toKind, type KindFlag } from '../../../transcript/kinds.ts'
import type { Role } from '../../../transcript/entry.ts'
import type { Usage } from '../../../transcript/usage.ts'
import type { Columns } from './columns.ts'
import { turnOf, usageOf } from './turn.tsx'

type Row = readonly [
  role: Role | undefined,
  flags: readonly KindFlag[],
  usd: number,
  second: number,
  source?: number,
  call?: Usage,
]

const columnsOf = (rows: readonly Row[]): Columns => ({
  length: rows.length,
  kinds: Uint16Array.from(rows, ([role, flags]) => toKind(role, flags)),
  costs: Float32Array.from(rows, ([, , usd]) => usd),
  times: Float64Array.from(rows, ([, , , second]) => second * 1000),
  sourceOf: Uint16Array.from(rows, ([, , , , source = 0]) => source),
  calls: Uint8Array.from(rows, ([, , , , , call]) => (call === undefined ? 0 : toCallByte(call, undefined))),
  counts: new Map(),
  sources: ['primary', 'subagent:a'],
})

describe('a turn', () => {
  const columns = columnsOf([
    ['user', ['prompt'], 0, 0],
    ['assistant', ['tool', 'edit'], 0.5, 3],
    ['tool', ['tool', 'error'], 0, 4],
    ['user', ['prompt'], 0, 5, 1],
    ['assistant', [], 0.25, 9, 1],
    ['user', ['prompt'], 0, 20],
    ['assistant', [], -1, 26],
  ])

  it('goes up to the next prompt of its source, with what subagents did meanwhile', () => {
    expect(turnOf(columns, 0)).toEqual({
      end: 5,
      errors: 1,
      edits: 1,
      cost: { usd: '0.75', unpriced: [] },
      sure: {},
      ms: 9000,
    })
  })

  it('goes to the end where it is the last, and does not say zero for what nobody knows', () => {
    expect(turnOf(columns, 5)).toMatchObject({ end: 7, errors: 0, edits: 0, cost: undefined, ms: 6000 })
    const free = columnsOf([
      ['user', ['prompt'], 0, 4],
      [undefined, [], 0, 4],
    ])
    expect(turnOf(free, 0)).toMatchObject({ cost: undefined, ms: undefined })
  })

  it('is as sure as what was done in it, whatever came before', () => {
    const usage = (quality: Usage['quality']): Usage => ({ input: 10, output: 5, quality })
    const two = columnsOf([
      ['user', ['prompt'], 0, 0],
      ['assistant', [], 0.5, 1, 0, usage('partial')],
      ['user', ['prompt'], 0, 2],
      ['assistant', [], 0.5, 3, 0, usage('reported')],
    ])
    expect([turnOf(two, 0), turnOf(two, 2)].map(({ sure }) => sure.usage?.quality)).toEqual([
      'partial',
      'reported',
    ])
  })

  it('used what sums grew by in it, and does not say zero for what nobody counted', () => {
    const totals: readonly (Usage | undefined)[] = [
      { input: 100, output: 5, cacheRead: 50, quality: 'partial' },
      { input: 100, output: 5, cacheRead: 50, quality: 'partial' },
      { input: 100, output: 12, cacheRead: 80, quality: 'partial' },
    ]
    const store = {
      pages: { get: (position: number) => ({ position, usageTotal: totals[position] }) as EntryRow },
    }
    const of = (usage: object) => ({ end: 3, sure: { usage: { quality: 'reported' as const, ...usage } } })
    expect(usageOf({ position: 1 }, of({ input: 0, output: 0 }), store)).toEqual({
      input: 0,
      output: 7,
      cacheRead: 30,
      quality: 'reported',
    })
    expect(usageOf({ position: 1 }, of({ output: 0 }), store)).toEqual({
      output: 7,
      cacheRead: 30,
      quality: 'reported',
    })
    expect(usageOf({ position: 1 }, { end: 3, sure: { uncounted: 1 } }, store)).toBeUndefined()
    expect(usageOf({ position: 1 }, { ...of({ input: 0 }), end: 2 }, store)).toBeUndefined()
  })
})
