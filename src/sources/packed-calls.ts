/**
 * The calls of a whole pass as two texts, made where it is read, for the thread that fills a state to take in without looking at any of
 * them: what all of them share, and what each says besides. With it goes what has to be known of them by then.
 */
import { hashText } from '../transcript/text-hash.ts'
import type { SqlValue } from '../transcript/source.ts'
import { KEY, SESSION, storedKey, valueAt, type CallTable } from './call-rows.ts'
import { unlike } from './state-load-calls.ts'
import type { SessionFacts } from './unit-facts.ts'

/** Nothing but values: it comes from another thread. */
export type PackedCalls = {
  readonly count: number
  /** A list, in the order of `CALL_COLUMNS`: the value that all share, else null. */
  readonly shared: string
  /** A list of such lists: the values that are not shared. */
  readonly calls: string
  /** Of the keys, as `hashText` has them. */
  readonly hashes: Float64Array
  /** By session: how many of them are its own, and the sum of their places among all, from 0. */
  readonly sessions: ReadonlyMap<string, { readonly count: number; readonly places: number }>
}

/**
 * Undefined where more has to be known of them: calls of no session of the pass, or what a session did in vain in calls of others. And where
 * they say what SQLite would take out of JSON as something else.
 */
export function packCalls(table: CallTable, facts: readonly SessionFacts[]): PackedCalls | undefined {
  const [all, ...others] = unlike([table])
  if (all === undefined || others.length > 0 || all.count === 0) return undefined
  const sessions = sessionsIn(all)
  const known = new Set(facts.map(({ key }) => key))
  if ([...sessions.keys()].some((key) => !known.has(key))) return undefined
  if (facts.some((one) => foreignFindings(one, [all]).length > 0)) return undefined
  const { count, columns } = all
  const shared = columns.map((column) => (Array.isArray(column) ? null : column))
  const packed = { shared: JSON.stringify(shared), calls: JSON.stringify(callsIn(all)) }
  if (MISREAD.test(packed.shared) || MISREAD.test(packed.calls)) return undefined
  return { count, ...packed, hashes: Float64Array.from(keysOf(all).map(hashText)), sessions }
}

/** By `push`: V8 spells out lists that were made with holes, as `map` makes them, in twice the time. */
function callsIn({ count, columns }: CallTable): SqlValue[][] {
  const calls: SqlValue[][] = []
  for (let row = 0; row < count; row += 1) {
    const call: SqlValue[] = []
    for (const column of columns)
      call.push(Array.isArray(column) ? ((column as readonly SqlValue[])[row] ?? null) : null)
    calls.push(call)
  }
  return calls
}

/** A NUL ends a text there, and half a surrogate pair becomes bytes that are no UTF-8: asked for them, the driver ends the process. */
const MISREAD = /\\u(?:0000|d[89a-f])/

export function unpackCalls({ shared, calls }: Pick<PackedCalls, 'shared' | 'calls'>): CallTable {
  const rows = JSON.parse(calls) as readonly (readonly SqlValue[])[]
  const columns = (JSON.parse(shared) as readonly SqlValue[]).map((value, at) => {
    if (value !== null) return value
    const each = rows.map((row) => row[at] ?? null)
    return each.every((one) => one === null) ? null : each
  })
  return { count: rows.length, columns }
}

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
