import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toKind, type KindFlag } from '../../../transcript/kinds.ts'
import { countWith, joinColumns, NO_COLUMNS, nextWith, type Columns } from './columns.ts'
import { createRows, plainRows, type Filters, type Rows } from './rows.ts'

const SOURCES = ['primary', 'subagent:a', 'subagent:b']
const FLAGS: readonly KindFlag[] = ['error', 'edit', 'tool', 'prompt']
const NONE: Filters = { roles: new Set(), only: new Set() }

const columnsOf = (entries: readonly { readonly source: number; readonly kind: number }[]): Columns => ({
  length: entries.length,
  kinds: Uint16Array.from(entries, ({ kind }) => kind),
  costs: new Float32Array(entries.length),
  times: new Float64Array(entries.length),
  sourceOf: Uint16Array.from(entries, ({ source }) => source),
  calls: new Uint8Array(entries.length),
  counts: new Map(),
  sources: SOURCES,
})
const entries = fc.array(
  fc.record({
    source: fc.nat(2),
    kind: fc
      .tuple(fc.constantFrom('user', 'assistant', 'tool', undefined), fc.subarray([...FLAGS]))
      .map(([role, flags]) => toKind(role, flags)),
  }),
  { minLength: 1, maxLength: 40 },
)
const all = (rows: Rows) => Array.from({ length: rows.count }, (_, at) => rows.at(at))

describe('the rows of a transcript', () => {
  it('stand for every entry once, with lanes folded or open', () => {
    fc.assert(
      fc.property(entries, fc.subarray(['subagent:a', 'subagent:b']), (made, open) => {
        const rows = createRows(columnsOf(made), NONE, new Set(open))
        const positions = all(rows).flatMap(({ position, lane }) =>
          lane === undefined
            ? [position]
            : lane.isOpen
              ? []
              : Array.from({ length: lane.count }, (_, at) => position + at),
        )
        expect(positions).toEqual(made.map((_, at) => at))
      }),
    )
  })

  it('are found by position', () => {
    fc.assert(
      fc.property(entries, fc.subarray(['subagent:a', 'subagent:b']), (made, open) => {
        const rows = createRows(columnsOf(made), NONE, new Set(open))
        made.forEach((_, position) => {
          const { position: from, lane } = rows.at(rows.indexOf(position))
          if (lane === undefined) expect(from).toBe(position)
          else expect(position >= from && position < from + lane.count && !lane.isOpen).toBe(true)
        })
      }),
    )
  })

  it('leave out what the filters leave out, and nothing else', () => {
    fc.assert(
      fc.property(entries, fc.constantFrom('user', 'event', 'tool'), (made, role) => {
        const rows = createRows(columnsOf(made), { ...NONE, roles: new Set([role]) }, new Set())
        const number = { user: 2, tool: 4, event: 0 }[role]
        expect(all(rows).map(({ position }) => position)).toEqual(
          made.flatMap(({ kind }, at) => ((kind & 7) === number ? [at] : [])),
        )
      }),
    )
  })

  it('are entries as they come, before more is known', () => {
    expect(all(plainRows(3))).toEqual([{ position: 0 }, { position: 1 }, { position: 2 }])
    expect([plainRows(3).indexOf(99), plainRows(0).indexOf(5)]).toEqual([2, 0])
  })
})

describe('columns', () => {
  const base64 = (array: Uint8Array | Uint16Array | Float32Array | Float64Array): string =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64')
  const answer = (from: number, kinds: readonly number[]) => ({
    length: 9,
    from,
    to: from + kinds.length,
    state: 'ready' as const,
    kinds: base64(Uint16Array.from(kinds)),
    costs: base64(Float32Array.from(kinds, (kind) => kind / 2)),
    times: base64(Float64Array.from(kinds)),
    sources: ['primary'],
    sourceOf: base64(new Uint16Array(kinds.length)),
    calls: base64(Uint8Array.from(kinds, (kind) => kind % 2)),
  })

  it('grow by what comes', () => {
    let columns = NO_COLUMNS
    for (let at = 0; at < 20; at += 1) columns = joinColumns(columns, answer(at * 2, [at, at + 100]))
    expect(columns.length).toBe(40)
    expect(Array.from(columns.kinds.slice(0, 40))).toEqual(
      Array.from({ length: 20 }, (_, at) => [at, at + 100]).flat(),
    )
    expect(columns.costs[39]).toBe(119 / 2)
    expect([columns.calls[38], columns.calls[39]]).toEqual([1, 1])
  })

  it('tell the next of a kind; the answer of a tool is no call', () => {
    const kinds = [
      toKind('user', ['prompt']),
      toKind('assistant', ['tool']),
      toKind('tool', ['tool', 'error']),
      toKind('user', ['prompt']),
    ]
    const columns = joinColumns(NO_COLUMNS, answer(0, kinds))
    expect([
      nextWith(columns, 'prompt', 0, 1),
      nextWith(columns, 'prompt', 3, -1),
      nextWith(columns, 'prompt', 3, 1),
    ]).toEqual([3, 0, undefined])
    expect([
      nextWith(columns, 'prompt', -1, 1),
      nextWith(columns, 'error', 0, 1),
      nextWith(columns, 'tool', 1, 1),
    ]).toEqual([0, 2, undefined])
    expect(countWith(columns, 'tool')).toBe(1)
  })
})
