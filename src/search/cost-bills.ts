/** Who pays for the calls that a session mentions: itself, or the session that it was forked or copied from. */
import { allCalls } from '../sources/all-calls.ts'
import { toUsage } from '../sources/state-usage.ts'
import type { Database } from '../sqlite/driver.ts'
import { COUNTS, type Usage } from '../transcript/usage.ts'

export type SessionBill = {
  /** The id of another session that pays; absent when the asked one does. */
  readonly billedTo?: string
  /** US dollars × 10⁻¹² on the bill. */
  readonly pico?: bigint
  /** What that is of: counts and their quality alone. */
  readonly usage?: Usage
}

/** By what the reports of a call share. */
export type Bills = ReadonlyMap<string, SessionBill>

export function readBills(database: Database, session: string): Bills {
  const bills = new Map<string, SessionBill>()
  const calls = allCalls(database)
  const rows = database
    .prepare(
      `SELECT DISTINCT own.key AS key, billed.billed_to AS payer, sessions.id AS id, billed.pico AS pico,
         billed.input, billed.cache_read, billed.cache_write_5m, billed.cache_write_1h, billed.output, billed.reasoning, billed.quality
         FROM recordings JOIN ${calls} own ON own.reading = recordings.reading AND own.session = recordings.session
         LEFT JOIN same_calls mine ON mine.key = own.key
         JOIN ${calls} billed ON billed.billed_to IS NOT NULL AND billed.key IN (
           SELECT ifnull(mine.same, own.key) UNION SELECT key FROM same_calls WHERE same = ifnull(mine.same, own.key))
         LEFT JOIN sessions ON sessions.key = billed.billed_to WHERE recordings.session = ?`,
    )
    .all(session)
  for (const row of rows) {
    const { key, payer, id, pico } = row
    const usage = toUsage(row)
    const isOurs = payer === session
    // Two providers may have given out one id: the call of the two that is ours is the one that is asked for.
    if (!isOurs && bills.get(String(key))?.billedTo === undefined && bills.has(String(key))) continue
    bills.set(String(key), {
      ...(!isOurs && { billedTo: String(id ?? payer) }),
      ...((typeof pico === 'number' || typeof pico === 'bigint') && { pico: BigInt(pico) }),
      ...(usage && { usage }),
    })
  }
  return bills
}

/**
 * Calls without a name are those of the recording that speaks for the session: of the others', nothing tells which are the same. True for
 * each that is on the bill, asked once for every call. Undefined for a session in one recording, all of whose calls are.
 */
export function readUnnamed(database: Database, session: string): ((usage: Usage) => boolean) | undefined {
  const recordings = database
    .prepare('SELECT count(*) AS count FROM recordings WHERE session = ?')
    .get(session)
  if (Number(recordings?.['count'] ?? 0) < 2) return undefined
  const billed = new Map<string, number>()
  const rows = database
    .prepare(
      `SELECT input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, quality FROM ${allCalls(database)}
         WHERE billed_to = ? AND key IS NULL`,
    )
    .all(session)
  for (const row of rows) {
    const said = countsOf(toUsage(row))
    billed.set(said, (billed.get(said) ?? 0) + 1)
  }
  return (usage) => {
    const said = countsOf(usage)
    const left = billed.get(said) ?? 0
    billed.set(said, left - 1)
    return left > 0
  }
}

function countsOf(usage: Usage | undefined): string {
  return COUNTS.map((count) => usage?.[count] ?? '').join(' ')
}
