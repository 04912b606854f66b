/**
 * The billed calls of the archive, added up by the database as far as a question allows: by what they are grouped by, and by
 * whether they have a price. Stubs are no part of it, nor what no provider was asked for.
 */
import { isNotBilled } from '../cost/models.ts'
import { messageOf } from '../errors.ts'
import { toUsage } from '../sources/state-usage.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { CostPart } from './cost-sum.ts'
import type { Repricing } from './cost-repricing.ts'

/** Instants: at or after `since`, before `until`. */
export type Bounds = { readonly since?: string; readonly until?: string }

/** `key`: the value of what calls are grouped by. */
export type BilledPart = CostPart & { readonly key: string | undefined }

const COLUMNS = 'input, cache_read, cache_write_5m, cache_write_1h, output, reasoning'
const SUMS = `${COLUMNS}, pico`.replaceAll(/\w+/g, 'sum($&) AS $&')
const IS_COUNTED = `coalesce(${COLUMNS}) IS NOT NULL`

/** SQLite would look through all calls: it does not know that these are few. */
const WITHOUT_COST = 'calls INDEXED BY calls_without_cost'

/** What was counted and has neither a price nor none was asked of no provider. */
const HAS_COST = 'billed_to IS NOT NULL AND (pico IS NOT NULL OR unpriced IS NOT NULL)'
/** What nobody counted, but for stubs. */
const HAS_NO_COUNTS = `billed_to IS NOT NULL AND pico IS NULL AND unpriced IS NULL AND NOT (${IS_COUNTED})
  AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.key = calls.billed_to
    AND instr(sessions.session, '"stub":true') > 0)`

/** `column`: SQL over the columns of `calls`. */
export function billedParts(
  database: Database,
  column: string,
  bounds: Bounds,
  repricing?: Repricing,
): readonly BilledPart[] {
  const { where, values } = within(bounds)
  const uncounted = database
    .prepare(
      `SELECT ${column} AS key, model, 0 AS calls, count(*) AS uncounted FROM ${WITHOUT_COST}
       WHERE ${HAS_NO_COUNTS} ${where} GROUP BY 1, 2`,
    )
    .all(...values)
    .flatMap(toPart)
  const repriced = repricing?.models(modelsOf(database)) ?? []
  if (repricing === undefined || repriced.length === 0)
    return [...summed(database, column, `${HAS_COST} ${where}`, values), ...uncounted]
  const given = [...values, JSON.stringify(repriced)]
  const own = 'model IN (SELECT value FROM json_each(?))'
  return [
    ...summed(database, column, `${HAS_COST} ${where} AND (model IS NULL OR NOT ${own})`, given),
    ...each(database, column, `${HAS_COST} ${where} AND ${own}`, given).map((call) => repricing.priced(call)),
    ...uncounted,
  ]
}

/** Calls that say no time are in no bounds. */
export function countUndated(database: Database): number {
  const row = database.prepare(`SELECT count(*) AS count FROM calls WHERE ${HAS_COST} AND at IS NULL`).get()
  return Number(row?.['count'] ?? 0)
}

/** Instants have 3 to 9 digits of fraction: without its last letter the bound stands before all that continue it. */
function within({ since, until }: Bounds): { readonly where: string; readonly values: readonly SqlValue[] } {
  const bounds = [
    ...(since === undefined ? [] : [['at >= ?', since.replace(/Z$/, '')] as const]),
    ...(until === undefined ? [] : [['at < ?', until.replace(/Z$/, '')] as const]),
  ]
  return {
    where: bounds.map(([test]) => `AND ${test}`).join(' '),
    values: bounds.map(([, value]) => value),
  }
}

function summed(
  database: Database,
  column: string,
  where: string,
  values: readonly SqlValue[],
): readonly BilledPart[] {
  // By one column where it can be: sorting rows is most of the work.
  const sum = (calls: string, test: string, group: string): readonly BilledPart[] =>
    database
      .prepare(
        `SELECT ${column} AS key, ${SUMS}, unpriced, count(*) AS calls, 0 AS uncounted, max(quality) AS quality
         FROM ${calls} WHERE ${where} AND ${test} GROUP BY ${group}`,
      )
      .all(...values)
      .flatMap(toPart)
  try {
    return [...sum('calls', 'pico IS NOT NULL', '1'), ...sum(WITHOUT_COST, 'pico IS NULL', '1, unpriced')]
  } catch (error) {
    // Counts that nobody can have used add up to more than SQLite can say.
    if (!messageOf(error).includes('integer overflow')) throw error
    return each(database, column, where, values)
  }
}

/** A call as it stands in the state: what it is priced by, but for the provider's own object. */
export type BilledCallPart = BilledPart & {
  readonly model: string | undefined
  readonly at: string | undefined
}

function each(
  database: Database,
  column: string,
  where: string,
  values: readonly SqlValue[],
): readonly BilledCallPart[] {
  const sql = `SELECT ${column} AS key, model, unpriced, at, ${COLUMNS}, quality, pico, 1 AS calls, 0 AS uncounted
    FROM calls WHERE ${where}`
  const parts: BilledCallPart[] = []
  for (const row of database.prepare(sql).iterate(...values)) {
    const [at, model] = [row['at'], row['model']].map((value) =>
      typeof value === 'string' ? value : undefined,
    )
    for (const part of toPart(row)) parts.push({ ...part, at, model })
  }
  return parts
}

function toPart(row: Row): BilledPart[] {
  const { key, model, unpriced, pico, calls, uncounted } = row
  if (typeof model === 'string' && isNotBilled(model)) return []
  return [
    {
      key: typeof key === 'string' ? key : undefined,
      calls: Number(calls),
      uncounted: Number(uncounted),
      usage: toUsage(row) ?? { quality: 'unavailable' },
      ...((typeof pico === 'number' || typeof pico === 'bigint') && { pico: BigInt(pico) }),
      ...(typeof unpriced === 'string' && { unpriced }),
    },
  ]
}

function modelsOf(database: Database): readonly string[] {
  const rows = database.prepare('SELECT DISTINCT model FROM calls WHERE model IS NOT NULL').all()
  return rows.map(({ model }) => String(model))
}
