import { describe, expect, it } from 'vitest'
import { toCallByte } from '../../../replay/call-bytes.ts'
import { toKind } from '../../../transcript/kinds.ts'
import type { Quality, Usage } from '../../../transcript/usage.ts'
import { moneyText } from '../../ui/numbers.ts'
import { NO_COLUMNS, type Columns } from './columns.ts'
import { sumsOf, type Some } from './sums.ts'

type Row = { readonly usd?: number; readonly source?: number; readonly call?: number; readonly at?: number }

const columnsOf = (rows: readonly Row[]): Columns => ({
  ...NO_COLUMNS,
  length: rows.length,
  kinds: Uint16Array.from(rows, () => toKind('assistant', [])),
  costs: Float32Array.from(rows, ({ usd = 0 }) => usd),
  times: Float64Array.from(rows, ({ at = Number.NaN }) => at),
  sourceOf: Uint16Array.from(rows, ({ source = 0 }) => source),
  sources: ['primary', 'subagent:a'],
  calls: Uint8Array.from(rows, ({ call = 0 }) => call),
})
const used = (quality: Quality): Usage => ({ input: 9, output: 1, quality })
const call = (now: Quality, before?: Quality): number => toCallByte(used(now), before && used(before))
const costOf = (columns: Columns, some: Some = {}): string | undefined => {
  const { cost, sure } = sumsOf(columns, some)
  return moneyText(cost, sure)?.short
}

describe('what entries cost', () => {
  it('is exact where all that is asked for is, whatever stands beside it', () => {
    const columns = columnsOf([
      { usd: 1, call: call('reported') },
      { usd: 2, call: call('partial'), source: 1 },
      { usd: 4, call: call('reported') },
    ])
    expect(costOf(columns)).toBe('≥ $7.00')
    expect(costOf(columns, { from: 2 })).toBe('$4.00')
    expect(costOf(columns, { to: 1 })).toBe('$1.00')
    expect(costOf(columns, { source: 'primary' })).toBe('$5.00')
    expect(costOf(columns, { source: 'subagent:a' })).toBe('≥ $2.00')
  })

  it('is exact once the last word on each call has come', () => {
    const columns = columnsOf([
      { usd: 1, call: call('partial') },
      { usd: 2, call: call('reported', 'partial') },
    ])
    expect([costOf(columns, { to: 1 }), costOf(columns), costOf(columns, { from: 1 })]).toEqual([
      '≥ $1.00',
      '$3.00',
      '$2.00',
    ])
  })

  it('is a lower bound where some has no price, and not known where nothing has', () => {
    const columns = columnsOf([
      { usd: -1, call: call('reported') },
      { usd: 2, call: call('reported') },
    ])
    expect([costOf(columns), costOf(columns, { to: 1 })]).toEqual(['≥ $2.00', undefined])
  })

  it('is of the time from the first to the latest that say one', () => {
    const { firstAt, lastAt } = sumsOf(columnsOf([{}, { at: 5 }, { at: 9 }, { at: 7 }, {}]), {})
    expect([firstAt, lastAt]).toEqual([5, 9])
  })
})
