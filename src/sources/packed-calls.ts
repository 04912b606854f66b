/**
 * The calls of a whole pass as one text, made where it is read, for the thread that fills a state to take in without looking at any of
 * them: column by column, what all of them share once. With it goes what has to be known of them by then.
 */
import { damagedDatabase } from '../sqlite/errors.ts'
import { hashText } from '../transcript/text-hash.ts'
import type { SqlValue } from '../transcript/source.ts'
import { CALL_COLUMNS, KEY, SESSION, storedKey, valueAt, type CallTable } from './call-rows.ts'
import { unlike } from './state-load-calls.ts'
import type { SessionFacts } from './session-facts.ts'

/** Nothing but values: it comes from another thread. */
export type PackedCalls = {
  readonly count: number
  /** The columns of a table of them, as JSON. */
  readonly calls: string
  /** Of the keys, as `hashText` has them. */
  readonly hashes: Float64Array
  /** By session: how many of them are its own, and the sum of their places among all, from 0. */
  readonly sessions: ReadonlyMap<string, { readonly count: number; readonly places: number }>
}

/**
 * Undefined where more has to be known of them: calls of no session of the pass, or what a session did in vain in calls of others.
 */
export function packCalls(table: CallTable, facts: readonly SessionFacts[]): PackedCalls | undefined {
  const [all, ...others] = unlike([table])
  if (all === undefined || others.length > 0 || all.count === 0) return undefined
  const sessions = sessionsIn(all)
  const known = new Set(facts.map(({ key }) => key))
  for (const key of sessions.keys()) if (!known.has(key)) return undefined
  if (facts.some((one) => foreignFindings(one, [all]).length > 0)) return undefined
  const { count, columns } = all
  return { count, calls: JSON.stringify(columns), hashes: hashesOf(all), sessions }
}

function hashesOf(table: CallTable): Float64Array {
  const keys = keysOf(table)
  const hashes = new Float64Array(keys.length)
  for (let at = 0; at < keys.length; at += 1) hashes[at] = hashText(keys[at] as string)
  return hashes
}

/** Throws as a damaged database does where that is not what was packed. */
export function unpackCalls({ count, calls }: Pick<PackedCalls, 'count' | 'calls'>): CallTable {
  const columns = columnsIn(calls)
  const isWhole = columns.every((column) =>
    Array.isArray(column) ? column.length === count && column.every(isValue) : isValue(column),
  )
  if (!isWhole || columns.length !== CALL_COLUMNS.length)
    throw damagedDatabase('packed calls are not what was packed')
  return { count, columns: columns as CallTable['columns'] }
}

function columnsIn(calls: string): readonly unknown[] {
  try {
    const columns: unknown = JSON.parse(calls)
    return Array.isArray(columns) ? columns : []
  } catch {
    return []
  }
}

const isValue = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'number'

/** Those that calls have. */
export function keysOf({ count, columns }: CallTable): readonly string[] {
  const keys: string[] = []
  for (let row = 0; row < count; row += 1) {
    const key = valueAt(columns[KEY], row)
    if (key !== null) keys.push(String(key))
  }
  return keys
}

export function sessionsIn({ count, columns }: CallTable): PackedCalls['sessions'] {
  const column = columns[SESSION]
  if (!Array.isArray(column))
    return new Map([[String(valueAt(column, 0)), { count, places: (count * (count - 1)) / 2 }]])
  const sessions = new Map<string, { count: number; places: number }>()
  for (let row = 0; row < count; row += 1) {
    const session = String(valueAt(column, row))
    const { count, places } = sessions.get(session) ?? { count: 0, places: 0 }
    sessions.set(session, { count: count + 1, places: places + row })
  }
  return sessions
}

/** The calls that a session's findings name and that are not its own. */
export function foreignFindings(
  { key, work }: Pick<SessionFacts, 'key' | 'work'>,
  tables: readonly CallTable[],
): readonly string[] {
  const named = work.findings.flatMap(({ call }) => (call === undefined ? [] : [storedKey(call)]))
  if (named.length === 0) return []
  const own = new Set<SqlValue>()
  for (const { count, columns } of tables) {
    for (let at = 0; at < count; at += 1)
      if (valueAt(columns[SESSION], at) === key) own.add(valueAt(columns[KEY], at))
  }
  return named.filter((call) => !own.has(call))
}
