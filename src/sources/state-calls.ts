/**
 * The calls of a pass as rows. What the pass before said word for word is handed on instead of written: of a log that grew by a line,
 * all but the last, and their keys lie anywhere in an index of gigabytes of logs.
 */
import type { Database } from '../sqlite/driver.ts'
import type { SqlValue } from '../transcript/source.ts'
import { hasCounts, qualityRank } from '../transcript/usage.ts'
import { prepared } from './state-statements.ts'
import type { Call } from './unit-facts.ts'

/** No call has a billion tokens, or costs a thousand dollars: a file that says so must not make sums overflow. */
export const MOST_TOKENS = 1_000_000_000
export const MOST_PICO = 1_000_000_000_000_000n

/** In the order of `toValues`. */
const COLUMNS = `session, key, provider, model, at, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
  quality, pico, unpriced, source, tools, work`
const PLACES = COLUMNS.replaceAll(/[a-z]\w*/g, '?')
/** Of a pass with more of them, all are written anew: comparing takes memory. */
const MOST_COMPARED = 2000

export type InsertOptions = {
  /** They are on their session's bill at once: nobody sees the pass before it is whole. */
  readonly isBilled?: boolean
  readonly onRow?: (call: Call, values: readonly SqlValue[]) => void
}

/** A call may be reported again after it was settled: the last report wins, unless it counts nothing. */
export function insertCalls(
  database: Database,
  reading: number,
  calls: readonly Call[],
  { isBilled = false, onRow }: InsertOptions = {},
): void {
  const toInsert = (verb: 'REPLACE' | 'IGNORE') =>
    prepared(
      database,
      `INSERT OR ${verb} INTO calls (${COLUMNS}, reading, billed_to) VALUES (${PLACES}, ?, ?)`,
    )
  const [replace, addOnly] = [toInsert('REPLACE'), toInsert('IGNORE')]
  for (const call of calls) {
    const values = toValues(call)
    onRow?.(call, values)
    values.push(reading, isBilled ? call.session : null)
    ;(hasCounts(call.usage) ? replace : addOnly).run(...values)
  }
}

/** All calls of a pass, those that `before` said too with the rows that it wrote. What is left of it then is what it alone said. */
export function takeOverCalls(
  database: Database,
  { before, reading }: { readonly before: number; readonly reading: number },
  calls: readonly Call[],
): void {
  const ids = new Map<string, number[]>()
  const rows = prepared(
    database,
    `SELECT id, ${COLUMNS} FROM calls WHERE reading = ? LIMIT ${MOST_COMPARED}`,
  ).lists(before)
  if (rows.length < MOST_COMPARED) {
    for (const [id, ...values] of rows) {
      const words = toWords(values)
      ids.set(words, [...(ids.get(words) ?? []), Number(id)])
    }
  }
  const same: number[] = []
  const others = lastReports(calls).filter((call) => {
    const id = ids.get(toWords(toValues(call)))?.pop()
    if (id !== undefined) same.push(id)
    return id === undefined
  })
  prepared(database, 'UPDATE calls SET reading = ? WHERE id IN (SELECT value FROM json_each(?))').run(
    reading,
    JSON.stringify(same),
  )
  insertCalls(database, reading, others)
}

function toValues(call: Call): SqlValue[] {
  const { session, key, provider, model, at, usage, pico, unpriced, source, tools, work } = call
  return [
    session,
    // Keys are asked for in JSON, where SQLite ends a text at this.
    key?.replaceAll('\0', '\uFFFD') ?? null,
    provider ?? '',
    model ?? null,
    at ?? null,
    toCount(usage.input),
    toCount(usage.cacheRead),
    toCount(usage.cacheWrite5m),
    toCount(usage.cacheWrite1h),
    toCount(usage.output),
    toCount(usage.reasoning),
    qualityRank(usage.quality),
    pico !== undefined && pico <= MOST_PICO ? pico : null,
    unpriced ?? null,
    source ?? null,
    tools === undefined ? null : JSON.stringify(tools),
    work === undefined ? null : JSON.stringify(work),
  ]
}

function toCount(tokens: number | undefined): number | null {
  return tokens !== undefined && tokens <= MOST_TOKENS ? tokens : null
}

/** The same for a row that was read and for values that are to be written, which hold other kinds of whole numbers. */
function toWords(values: readonly SqlValue[]): string {
  return JSON.stringify(values.map((value) => (typeof value === 'bigint' ? Number(value) : value)))
}

/** As rows that take each other's place would be. Without a key, no call is another's report. */
function lastReports(calls: readonly Call[]): Call[] {
  const last = new Map<unknown, Call>()
  for (const call of calls) {
    const { session, key, provider } = call
    const name = key === undefined ? call : JSON.stringify([session, key, provider ?? ''])
    if (hasCounts(call.usage) || !last.has(name)) last.set(name, call)
  }
  return [...last.values()]
}
