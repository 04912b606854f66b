/** Who pays for the calls that a session mentions: itself, or the session that it was forked or copied from. */
import { allCalls } from '../sources/all-calls.ts'
import { toUsage } from '../sources/state-usage.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Usage } from '../transcript/usage.ts'

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
      `SELECT DISTINCT billed.key AS key, billed.billed_to AS payer, sessions.id AS id, billed.pico AS pico,
         billed.input, billed.cache_read, billed.cache_write_5m, billed.cache_write_1h, billed.output, billed.reasoning, billed.quality
         FROM recordings JOIN ${calls} own ON own.reading = recordings.reading AND own.session = recordings.session
         JOIN ${calls} billed ON billed.key = own.key AND billed.billed_to IS NOT NULL
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
