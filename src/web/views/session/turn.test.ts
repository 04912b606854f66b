import { describe, expect, it } from 'vitest'
import { toKind, type KindFlag } from '../../../transcript/kinds.ts'
import type { Role } from '../../../transcript/entry.ts'
import type { Columns } from './columns.ts'
import { turnOf } from './turn.tsx'

type Row = readonly [
  role: Role | undefined,
  flags: readonly KindFlag[],
  usd: number,
  second: number,
  source?: number,
]

const columnsOf = (rows: readonly Row[]): Columns => ({
  length: rows.length,
  kinds: Uint16Array.from(rows, ([role, flags]) => toKind(role, flags)),
  costs: Float32Array.from(rows, ([, , usd]) => usd),
  times: Float64Array.from(rows, ([, , , second]) => second * 1000),
  sourceOf: Uint16Array.from(rows, ([, , , , source = 0]) => source),
  counts: new Map(),
  sources: ['primary', 'subagent:a'],
})

describe('a turn', () => {
  const columns = columnsOf([
    ['user', ['prompt'], -1, 0],
    ['assistant', ['tool', 'edit'], 0.5, 3],
    ['tool', ['tool', 'error'], -1, 4],
    ['user', ['prompt'], -1, 5, 1],
    ['assistant', [], 0.25, 9, 1],
    ['user', ['prompt'], -1, 20],
    ['assistant', [], -1, 26],
  ])

  it('goes up to the next prompt of its source, with what subagents did meanwhile', () => {
    expect(turnOf(columns, 0)).toEqual({ end: 5, errors: 1, edits: 1, usd: 0.75, ms: 9000 })
  })

  it('goes to the end where it is the last, and does not say zero for what nobody knows', () => {
    expect(turnOf(columns, 5)).toEqual({ end: 7, errors: 0, edits: 0, usd: undefined, ms: 6000 })
    const free = columnsOf([
      ['user', ['prompt'], 0, 4],
      [undefined, [], 0, 4],
    ])
    expect(turnOf(free, 0)).toMatchObject({ usd: undefined, ms: undefined })
  })
})
