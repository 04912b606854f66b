/**
 * The calls of a pass as the state's table has them, and many of them as one: column by column, each value that all of them share
 * once. Made where units are read, for little to be handed from thread to thread and little to be given to SQLite.
 */
import type { SqlValue } from '../transcript/source.ts'
import { qualityRank } from '../transcript/usage.ts'
import type { Call } from './session-facts.ts'
import type { ToolCounts } from './work.ts'

/** No call has a billion tokens, or costs a thousand dollars: a file that says so must not make sums overflow. */
export const MOST_TOKENS = 1_000_000_000
export const MOST_PICO = 1_000_000_000_000_000n

/** What a row of `calls` says, but for its pass and who pays. */
export const CALL_COLUMNS = [
  'session',
  'key',
  'provider',
  'model',
  'at',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'quality',
  'pico',
  'unpriced',
  'source',
  'tools',
  'work',
] as const

/** In the order of `CALL_COLUMNS`. */
export type CallRow = readonly SqlValue[]

/** Where a row has them. */
export const SESSION = 0
export const KEY = 1
export const PROVIDER = 2
export const MODEL = 3
export const AT = 4
export const FIRST_COUNT = 5
export const QUALITY = 11
export const PICO = 12
export const UNPRICED = 13
const TOOLS = 15
const WORK = 16

/** By column, in the order of `CALL_COLUMNS`: the value that all rows share, or that of each. None is a list by itself. */
export type CallTable = {
  readonly count: number
  readonly columns: readonly (SqlValue | readonly SqlValue[])[]
}

export function toCallRow(call: Call): SqlValue[] {
  const { session, key, provider, model, at, usage, pico, unpriced, source, tools, work } = call
  return [
    session,
    key === undefined ? null : storedKey(key),
    provider === undefined ? '' : storedKey(provider),
    model ?? null,
    at ?? null,
    toCount(usage.input),
    toCount(usage.cacheRead),
    toCount(usage.cacheWrite5m),
    toCount(usage.cacheWrite1h),
    toCount(usage.output),
    toCount(usage.reasoning),
    qualityRank(usage.quality),
    // What is within the limit is a whole number that a number holds.
    pico !== undefined && pico <= MOST_PICO ? Number(pico) : null,
    unpriced ?? null,
    source ?? null,
    tools === undefined ? null : toolsJson(tools),
    work === undefined ? null : workJson(work),
  ]
}

/**
 * What calls are told apart by, as the state has it. Keys are asked for in JSON, where SQLite ends a text at a NUL; and half a surrogate pair,
 * which no bytes stand for, is written as this, whichever half it is.
 */
export function storedKey(key: string): string {
  return PLAIN.test(key) ? key : key.replace(UNSTORED, '\uFFFD')
}

/** As nearly all are: told in a third of the time. */
const PLAIN = /^[ -~]*$/
const UNSTORED = /[\0\p{Cs}]/gu

/** Of tools that are called by themselves, as nearly all are. A hostile file may name any number. */
const alone = new Map<string, string>()
const MOST_ALONE = 1000

function toolsJson(tools: readonly string[]): string {
  const [only] = tools
  if (only === undefined || tools.length > 1) return JSON.stringify(tools)
  const known = alone.get(only)
  if (known !== undefined) return known
  const json = JSON.stringify(tools)
  if (alone.size < MOST_ALONE) alone.set(only, json)
  return json
}

/** As `JSON.stringify` spells it, in a third of the time. */
export function workJson(work: readonly ToolCounts[]): string {
  let json = ''
  for (const [calls, failed, ms, timed, repeats, rereads] of work)
    json += `${json === '' ? '[' : ','}[${calls},${failed},${ms},${timed},${repeats},${rereads}]`
  return json === '' ? '[]' : `${json}]`
}

function toCount(tokens: number | undefined): number | null {
  return tokens !== undefined && tokens <= MOST_TOKENS ? tokens : null
}

export function hasCount(row: CallRow): boolean {
  for (let at = FIRST_COUNT; at < QUALITY; at += 1) if (row[at] !== null) return true
  return false
}

export function toTable(rows: readonly CallRow[]): CallTable {
  const columns: CallTable['columns'][number][] = []
  for (let at = 0; at < CALL_COLUMNS.length; at += 1) columns.push(columnOf(rows, at))
  return { count: rows.length, columns }
}

function columnOf(rows: readonly CallRow[], at: number): CallTable['columns'][number] {
  const same = rows[0]?.[at] ?? null
  let n = 0
  while (n < rows.length && (rows[n] as CallRow)[at] === same) n += 1
  if (n === rows.length) return same
  const values: SqlValue[] = []
  for (const row of rows) values.push(row[at] ?? null)
  return values
}

export function rowsOf({ count, columns }: CallTable): readonly CallRow[] {
  return Array.from({ length: count }, (_, row) => columns.map((column) => valueAt(column, row)))
}

export function valueAt(column: SqlValue | readonly SqlValue[] | undefined, row: number): SqlValue {
  return Array.isArray(column) ? (column[row] ?? null) : ((column as SqlValue | undefined) ?? null)
}

/** As many calls of the usual length take as much memory: a hostile one may name fifty tools, each as long as a name may be. */
export function weightOf({ count, columns }: CallTable): number {
  let characters = 0
  for (const column of [columns[TOOLS], columns[WORK]]) {
    if (!Array.isArray(column)) continue
    for (const one of column as readonly SqlValue[]) if (typeof one === 'string') characters += one.length
  }
  return Math.max(count, Math.ceil(characters / USUAL_CHARACTERS))
}

const USUAL_CHARACTERS = 200

/** Without the calls of these sessions. */
export function withoutSessions(table: CallTable, sessions: ReadonlySet<string>): CallTable {
  if (sessions.size === 0) return table
  const rows = rowsOf(table)
  const left = rows.filter((row) => !sessions.has(String(row[SESSION])))
  return left.length === rows.length ? table : toTable(left)
}
