/**
 * Rows in columns: all on one line each, numbers to the right, and on a terminal no wider than it is. In a pipe every cell is
 * whole, since what reads there has no width.
 *
 *     toTable(
 *       [{ name: 'SESSION', least: 13, cutLast: true }, { name: 'COST', align: 'right' }, { name: 'OUT', align: 'right', rank: 1 }, { name: 'WHAT' }],
 *       sessions.map(({ id, status, … }) => [id, { text: '$0.12', style: 'green' }, toCount(out), title]),
 *     )
 *
 * Where there is not room for everything, columns of text are cut, the widest first, each down to its `least`, and those that
 * are `cutLast` after the others; then columns are left out, those of the highest `rank` first, and named below the table; then it begins again with the rest. Numbers are
 * never cut: half a number is another number. Cells may hold foreign text.
 */
import { visibleLine } from '../replay/escape.ts'
import { coloursFor, type Colours, type Style } from './colour.ts'
import { fit, terminalWidth, widthOf, type CutSide } from './width.ts'
import { stdout } from './streams.ts'

export type Column = {
  readonly name: string
  readonly align?: 'right'
  /** The fewest columns of the terminal that it is cut to (default: 8, or as many as its name has). */
  readonly least?: number
  /** Which is left out first for lack of room: the highest. Of the same rank, the last. The first column always stays. */
  readonly rank?: number
  /** Cut only when cutting the others is not enough: ids, names to be typed again. */
  readonly cutLast?: boolean
  /** Where it is cut: `start` for paths, whose end says more. */
  readonly cut?: CutSide
  /** For all its cells that name none. */
  readonly style?: Style
}

export type Cell = string | { readonly text: string; readonly style?: Style }

export type TableOptions = {
  /** Columns of the terminal; undefined cuts nothing. */
  readonly width?: number | undefined
  readonly colours?: Colours
}

/** For standard output, unless `options` say otherwise. The last column is not padded. */
export function toTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = { width: terminalWidth(stdout), colours: coloursFor(stdout) },
): string {
  const { width, colours = coloursFor({}) } = options
  const cells = rows.map((row) => columns.map((column, at) => toPrinted(row[at] ?? '', column)))
  const natural = columns.map(({ name }, at) =>
    cells.reduce((most, row) => Math.max(most, row[at]?.width ?? 0), widthOf(name)),
  )
  const { widths, leftOut } = layOut(columns, natural, width)
  const shown = columns.flatMap((column, at) => {
    const room = widths.get(at)
    return room === undefined ? [] : [{ column, at, room }]
  })
  const line = (cellAt: (at: number) => Printed, isHeader: boolean): string =>
    shown
      .map(({ column: { align, cut = 'end' }, at, room }, place) => {
        const { text, style, width: own } = cellAt(at)
        const cutText = own <= room ? text : fit(text, room, cut)
        const gap = ' '.repeat(Math.max(0, room - (own <= room ? own : widthOf(cutText))))
        const painted = isHeader ? colours.dim(cutText) : style ? colours.paint(cutText, style) : cutText
        if (align === 'right') return `${gap}${painted}`
        return place === shown.length - 1 ? painted : `${painted}${gap}`
      })
      .join(GAP)
      .trimEnd()
  const header = line((at) => toPrinted(columns[at]?.name ?? '', {}), true)
  const body = cells.map((row) => line((at) => row[at] ?? NOTHING, false))
  const below = leftOut.length === 0 ? [] : [colours.dim(fit(missing(columns, leftOut), width ?? 0))]
  return [header, ...body, ...below].map((text) => `${text}\n`).join('')
}

const GAP = '  '

type Printed = { readonly text: string; readonly width: number; readonly style?: Style }

const NOTHING: Printed = { text: '', width: 0 }

function toPrinted(cell: Cell, { style }: { readonly style?: Style }): Printed {
  const own = typeof cell === 'string' ? { text: cell, style } : { style, ...cell }
  const text = visibleLine(own.text)
  return { text, width: widthOf(text), ...(own.style && { style: own.style }) }
}

function missing(columns: readonly Column[], leftOut: readonly number[]): string {
  const names = leftOut.toSorted((a, b) => a - b).map((at) => columns[at]?.name)
  return `no room for ${names.join(', ')}`
}

type Layout = { readonly widths: ReadonlyMap<number, number>; readonly leftOut: readonly number[] }

/** How wide each column is, by its place; those that are left out have none. */
function layOut(columns: readonly Column[], natural: readonly number[], width: number | undefined): Layout {
  const there = new Set(natural.keys())
  const leftOut: number[] = []
  for (;;) {
    const gently = widthsOf(columns, natural, [...there], { width, isGentle: true })
    const widths = isRoomFor(gently, width) ? gently : widthsOf(columns, natural, [...there], { width })
    const next = isRoomFor(widths, width) ? undefined : firstToGo(columns, [...there])
    if (next === undefined) return { widths, leftOut }
    there.delete(next)
    leftOut.push(next)
  }
}

function isRoomFor(widths: ReadonlyMap<number, number>, width: number | undefined): boolean {
  const total = [...widths.values()].reduce((sum, one) => sum + one, GAP.length * (widths.size - 1))
  return width === undefined || total <= width
}

/** No column of text wider than a level, the highest with which all fit; none narrower than it may be. */
function widthsOf(
  columns: readonly Column[],
  natural: readonly number[],
  there: readonly number[],
  { width, isGentle = false }: { readonly width: number | undefined; readonly isGentle?: boolean },
): ReadonlyMap<number, number> {
  const at = (level: number): ReadonlyMap<number, number> =>
    new Map(
      there.map((place) => {
        const whole = natural[place] ?? 0
        const least = isGentle && columns[place]?.cutLast ? whole : leastOf(columns[place], whole)
        return [place, Math.min(whole, Math.max(level, least))]
      }),
    )
  let [low, high] = [0, Math.max(...there.map((place) => natural[place] ?? 0))]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (isRoomFor(at(middle), width)) low = middle
    else high = middle - 1
  }
  return at(low)
}

const LEAST = 8

function leastOf(column: Column | undefined, natural: number): number {
  if (column === undefined || column.align === 'right') return natural
  return column.least ?? Math.max(LEAST, widthOf(column.name))
}

function firstToGo(columns: readonly Column[], there: readonly number[]): number | undefined {
  const rankOf = (at: number): number => columns[at]?.rank ?? 0
  return there
    .filter((at) => at !== 0)
    .reduce<number | undefined>(
      (worst, at) => (worst === undefined || rankOf(at) >= rankOf(worst) ? at : worst),
      undefined,
    )
}
