import { describe, expect, it } from 'vitest'
import type { EntryRow } from '../../../server/api.ts'
import type { Entry } from '../../../transcript/entry.ts'
import { headOf, isRecord, recordName, rowFrom } from './records.ts'

const row = (position: number, entry: Partial<Entry>): EntryRow => ({
  position,
  citation: `s#${position}`,
  entry: { id: `e${position}`, source: 'primary', sequence: position, kind: 'event', blocks: [], ...entry },
})
const record = (position: number, type: string, source = 'primary'): EntryRow =>
  row(position, { source, metadata: { record: type }, blocks: [{ type: 'unknown', raw: { type } }] })
const said = (position: number): EntryRow =>
  row(position, { kind: 'message', role: 'user', blocks: [{ type: 'text', text: 'hi' }] })
const pagesOf = (rows: readonly EntryRow[]) => ({
  get: (position: number) => rows.find((one) => one.position === position),
})

describe('what is no part of the conversation', () => {
  it('is an event of which nothing is known but its record', () => {
    expect(isRecord(record(0, 'token_count'))).toBe(true)
    expect(isRecord(said(0))).toBe(false)
    expect(isRecord(row(0, { blocks: [{ type: 'text', text: 'told to the user' }] }))).toBe(false)
    expect(isRecord(row(0, { blocks: [{ type: 'unknown', raw: null, reason: 'too large' }] }))).toBe(false)
  })

  it('is no compaction, and nothing that damage stands before', () => {
    expect(isRecord(record(0, 'compacted'))).toBe(false)
    const damage = [{ kind: 'torn', file: 'x', byteOffset: 0, byteLength: 1, reason: 'cut off' }]
    expect(isRecord({ ...record(0, 'a'), damage })).toBe(false)
  })

  it('stands in a row with those beside it, of the same source', () => {
    const rows = [
      said(0),
      record(1, 'a'),
      record(2, 'b'),
      record(3, 'c'),
      said(4),
      record(5, 'd', 'subagent:x'),
      record(6, 'e'),
    ]
    const pages = pagesOf(rows)
    const at = (position: number): EntryRow => rows[position] ?? said(position)
    expect([1, 2, 3, 4, 5, 6].map((position) => headOf(at(position), pages))).toEqual([1, 1, 1, 4, 5, 6])
    expect(rowFrom(at(1), pages).map(({ position }) => position)).toEqual([1, 2, 3])
  })

  it('is called what it calls itself', () => {
    expect(recordName(record(0, 'token_count').entry)).toBe('token_count')
    expect(recordName(row(0, { blocks: [{ type: 'unknown', raw: { payload: { type: 'x' } } }] }).entry)).toBe(
      'x',
    )
    expect(recordName(row(0, { blocks: [{ type: 'unknown', raw: 7 }] }).entry)).toBe('record')
  })
})
