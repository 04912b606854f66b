/**
 * What each session pays for, added up by half an hour and model: some thousand rows where there are a hundred thousand calls.
 * Written when bills are settled, for all whose bills have changed, so that sums and calls say the same whenever nothing is in
 * question.
 */
import type { Database } from '../sqlite/driver.ts'
import type { OwnBill } from './state-own-bill.ts'
import { prepared } from './state-statements.ts'

const COUNTS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning']
const IS_COUNTED = `coalesce(${COUNTS.join(', ')}) IS NOT NULL`

/** What was counted and has neither a price nor none was asked of no provider. */
export const HAS_COST = 'billed_to IS NOT NULL AND (pico IS NOT NULL OR unpriced IS NOT NULL)'
/** What nobody counted, but for stubs. */
export const HAS_NO_COUNTS = `billed_to IS NOT NULL AND pico IS NULL AND unpriced IS NULL AND NOT (${IS_COUNTED})
  AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.key = calls.billed_to
    AND instr(sessions.session, '"stub":true') > 0)`

/** Pico-dollars in a micro-dollar: no number of calls has too many of either to be added up. */
export const PICO_IN_MICRO = 1_000_000

/** The sums that a column of counts, and the cost, come to over calls. */
export const CALL_SUMS = `${COUNTS.map((count) => `sum(${count}) AS ${count}`).join(', ')},
  sum(pico / ${PICO_IN_MICRO}) AS micro, sum(pico % ${PICO_IN_MICRO}) AS pico`

/** Days begin on the hour or half past it, but for a few places. */
const HALF_HOUR = "substr(at, 1, 14) || CASE WHEN substr(at, 15, 2) < '30' THEN '00' ELSE '30' END"

const FORGET = 'DELETE FROM sums WHERE billed_to = ?'
const SUM = `INSERT INTO sums (billed_to, at, model, unpriced, calls, uncounted, ${COUNTS.join(', ')}, micro, pico, quality)
  SELECT billed_to, ${HALF_HOUR}, model, unpriced, sum(${HAS_COST}), sum(NOT (${HAS_COST})), ${CALL_SUMS}, max(quality)
  FROM calls WHERE billed_to = ? AND ((${HAS_COST}) OR (${HAS_NO_COUNTS}))
  GROUP BY 2, model, unpriced, pico IS NULL`

/** Of sessions that may pay. Their rows in `sessions` say what they are by now: stubs pay for nothing. */
export function sumBills(database: Database, keys: readonly string[]): void {
  for (const key of keys) {
    prepared(database, FORGET).run(key)
    prepared(database, SUM).run(key)
  }
}

const ADD = `INSERT INTO sums (billed_to, at, model, unpriced, calls, uncounted, ${COUNTS.join(', ')}, micro, pico, quality)
  VALUES (?, ?, ?, ?, ?, ?, ${COUNTS.map(() => '?').join(', ')}, ?, ?, ?)`

/** The same for one whose calls were added up as they were read. `isNew`: it has no sums yet. */
export function setSums(
  database: Database,
  key: string,
  { slots }: OwnBill,
  { isStub, isNew }: { readonly isStub: boolean; readonly isNew: boolean },
): void {
  if (!isNew) prepared(database, FORGET).run(key)
  const add = prepared(database, ADD)
  for (const { hasCost, row } of slots) if (hasCost || !isStub) add.run(key, ...row)
}
