import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coloursFor } from './colour.ts'
import { toTable, type Column } from './table.ts'
import { widthOf } from './width.ts'

const COLUMNS: readonly Column[] = [
  { name: 'SESSION', least: 5, cutLast: true },
  { name: 'COST', align: 'right' },
  { name: 'OUT', align: 'right', rank: 1 },
  { name: 'WHAT' },
]

const linesOf = (table: string): string[] => table.slice(0, -1).split('\n')

describe('a table', () => {
  it('stands in columns, numbers to the right, whatever its cells are written in', () => {
    const rows = [
      ['s1', '$0.12', '5', '日本語'],
      ['日本', '$1,200.00', '12,000', 'plain'],
      ['e\u0301🎉', '-', '7', ''],
    ]
    expect(linesOf(toTable(COLUMNS, rows, {}))).toEqual([
      'SESSION       COST     OUT  WHAT',
      's1           $0.12       5  日本語',
      '日本     $1,200.00  12,000  plain',
      'e\u0301🎉              -       7',
    ])
  })

  it('is whole in a pipe, however wide', () => {
    const title = 'x'.repeat(5000)
    expect(toTable(COLUMNS, [['s', '1', '2', title]], {})).toContain(title)
  })

  it('cuts text to fit a terminal, the widest first, and never a number', () => {
    const rows = [['0192-abcd-ef01', '$1,234.56', '99', 'a title that is long']]
    expect(linesOf(toTable(COLUMNS, rows, { width: 40 }))).toEqual([
      'SESSION              COST  OUT  WHAT',
      '0192-abcd-ef01  $1,234.56   99  a title…',
    ])
  })

  it('leaves columns out by rank when cutting is not enough, and names them', () => {
    const rows = [['0192-abcd-ef01', '$1,234.56', '99', 'a title that is long']]
    expect(linesOf(toTable(COLUMNS, rows, { width: 26 }))).toEqual([
      'SESS…       COST  WHAT',
      '0192…  $1,234.56  a title…',
      'no room for OUT',
    ])
    expect(linesOf(toTable(COLUMNS, rows, { width: 16 }))[0]).toBe('SESS…       COST')
  })

  it('cuts paths at their start', () => {
    const table = toTable(
      [
        { name: 'FILES', align: 'right' },
        { name: 'WHERE', cut: 'start' },
      ],
      [['3', '/home/me/.claude/projects']],
      { width: 18 },
    )
    expect(linesOf(table)[1]).toBe('    3  …e/projects')
  })

  it('paints what it is told to, without a change to where things stand', () => {
    const rows = [
      ['s1', { text: 'failed', style: 'red' as const }],
      ['s2', 'completed'],
    ]
    const columns = [{ name: 'SESSION' }, { name: 'STATUS' }, { name: 'N', align: 'right' as const }]
    const colours = coloursFor({}, { FORCE_COLOR: '1' })
    const painted = toTable(columns, rows, { colours })
    expect(painted).toContain('\x1b[31mfailed\x1b[39m')
    expect(stripVTControlCharacters(painted).replaceAll(/ +$/gm, '')).toBe(toTable(columns, rows, {}))
  })

  it('shows control and bidirectional characters instead of sending them', () => {
    const table = toTable(COLUMNS, [['\x1b[2J', '\u202e1', '\n', '\x07']], {})
    expect(linesOf(table)[1]).toBe(String.raw`\x1b[2J  \u202e1   \n  \x07`)
  })

  it('is nowhere wider than the terminal, from 40 columns on, and loses no row', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 })
    const number = fc.nat(1e9).map(String)
    const row = fc.tuple(cell, number, number, cell)
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 40, max: 200 }), (rows, width) => {
        const lines = linesOf(toTable(COLUMNS, rows, { width }))
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
        expect(lines.length).toBe(rows.length + 1 + (lines.at(-1)?.startsWith('no room') ? 1 : 0))
        for (const [at, [, cost]] of rows.entries()) expect(lines[at + 1]).toContain(cost)
      }),
    )
  })
})
