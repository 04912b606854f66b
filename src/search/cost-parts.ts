/**
 * The billed calls of the archive, added up by the database as far as a question allows: by what they are grouped by, and by
 * whether they have a price. Stubs are no part of it, nor what no provider was asked for.
 */
import { isNotBilled } from '../cost/models.ts'
import { allCalls } from '../sources/all-calls.ts'
import { isSettled } from '../sources/state-billing.ts'
import { CALL_SUMS, HAS_COST, HAS_NO_COUNTS, PICO_IN_MICRO } from '../sources/state-sums.ts'
import { toUsage } from '../sources/state-usage.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { CostPart } from './cost-sum.ts'
import type { Sql } from './session-where.ts'
import type { Repricing } from './cost-repricing.ts'

/** Instants: at or after `since`, before `until`. */
export type Bounds = {
  readonly since?: string
  readonly until?: string
  /** Only what these sessions pay: SQL over `listing`. */
  readonly payers?: Sql
}

/** `key`: the value of what calls are grouped by. */
export type BilledPart = CostPart & { readonly key: string | undefined }

/** What calls are grouped by. `isOfHalfHours`: what so many characters tell of calls is the same for all within a half hour. */
export type Column =
  | { readonly name: 'at'; readonly characters: number; readonly isOfHalfHours: boolean }
  | { readonly name: 'model' | 'source' | 'tools' | 'billed_to' }

const COLUMNS = 'input, cache_read, cache_write_5m, cache_write_1h, output, reasoning'
const SUMS = `${COLUMNS}, micro, pico, calls, uncounted`.replaceAll(/\w+/g, 'sum($&) AS $&')

/** SQLite would look through all calls: it does not know that these are few. */
const WITHOUT_COST = 'calls INDEXED BY calls_without_cost'

export type PartsOptions = {
  readonly bounds: Bounds
  readonly repricing?: Repricing | undefined
  /** The column says something of every call that the sums of half hours do not. */
  readonly isOfCalls?: boolean
}

/** `column`: SQL over the columns of `calls`. */
export function billedParts(
  database: Database,
  column: string,
  { bounds, repricing, isOfCalls = false }: PartsOptions,
): readonly BilledPart[] {
  const repriced = repricing?.models(modelsOf(database)) ?? []
  const parts = !isOfCalls && isSettled(database) && isOfHalfHours(bounds) ? partsOfSums : partsOfCalls
  if (repricing === undefined || repriced.length === 0) return parts(database, column, within(bounds))
  const { where, values } = within(bounds)
  const given = [...values, JSON.stringify(repriced)]
  const own = 'model IN (SELECT value FROM json_each(?))'
  return [
    ...parts(database, column, within(bounds, repriced)),
    ...each(database, column, { where: `${HAS_COST} ${where} AND ${own}`, values: given }).map((call) =>
      repricing.priced(call),
    ),
  ]
}

/** Calls that say no time are in no bounds. */
export function countUndated(database: Database): number {
  const sql = isSettled(database)
    ? 'SELECT sum(calls) AS count FROM sums WHERE at IS NULL'
    : `SELECT count(*) AS count FROM ${allCalls(database)} WHERE ${HAS_COST} AND at IS NULL`
  return Number(database.prepare(sql).get()?.['count'] ?? 0)
}

/** `but`: not the costs of these models, which are priced anew. */
type Within = { readonly where: string; readonly values: readonly SqlValue[]; readonly but?: string }

/** Instants have 3 to 9 digits of fraction: without its last letter the bound stands before all that continue it. */
function within({ since, until, payers }: Bounds, repriced?: readonly string[]): Within {
  const cut = (bound: string): string => (isHalfHour(bound) ? bound.slice(0, 16) : bound.replace(/Z$/, ''))
  const bounds = [
    ...(since === undefined ? [] : [['at >= ?', cut(since)] as const]),
    ...(until === undefined ? [] : [['at < ?', cut(until)] as const]),
  ]
  const paid = payers === undefined ? [] : [`billed_to IN (SELECT key FROM listing WHERE ${payers.where})`]
  return {
    where: [...bounds.map(([test]) => test), ...paid].map((test) => `AND ${test}`).join(' '),
    values: [...bounds.map(([, value]) => value), ...(payers?.values ?? [])],
    ...(repriced && { but: JSON.stringify(repriced) }),
  }
}

/** Bounds that no half hour lies on both sides of. */
export function isOfHalfHours({ since, until }: Bounds): boolean {
  return [since, until].every((bound) => bound === undefined || isHalfHour(bound))
}

const isHalfHour = (instant: string): boolean => /^.{14}[03]0:00(?:\.0+)?Z?$/.test(instant)

const NOT_OWN = 'AND (model IS NULL OR model NOT IN (SELECT value FROM json_each(?)))'

function partsOfSums(
  database: Database,
  column: string,
  { where, values, but }: Within,
): readonly BilledPart[] {
  // Those that nobody counted have no price to be priced anew.
  const own = but === undefined ? '' : `${NOT_OWN.slice(0, -1)} OR uncounted > 0)`
  const given = but === undefined ? values : [...values, but]
  return database
    .prepare(
      `SELECT ${column} AS key, ${SUMS}, unpriced, max(quality) AS quality,
         CASE WHEN uncounted > 0 THEN model END AS model
       FROM sums WHERE true ${where} ${own}
       GROUP BY 1, unpriced, micro IS NULL, CASE WHEN uncounted > 0 THEN ifnull(model, '') END`,
    )
    .all(...given)
    .flatMap(toPart)
}

function partsOfCalls(
  database: Database,
  column: string,
  { where, values, but }: Within,
): readonly BilledPart[] {
  const own = but === undefined ? '' : NOT_OWN
  const given = but === undefined ? values : [...values, but]
  // By the name that conditions have.
  const all = `${allCalls(database)} AS calls`
  const withoutCost = all === 'calls AS calls' ? WITHOUT_COST : all
  // By one column where it can be: sorting rows is most of the work.
  const sum = (calls: string, test: string, group: string): readonly BilledPart[] =>
    database
      .prepare(
        `SELECT ${column} AS key, ${CALL_SUMS}, unpriced, count(*) AS calls, 0 AS uncounted, max(quality) AS quality
         FROM ${calls} WHERE ${HAS_COST} ${where} ${own} AND ${test} GROUP BY ${group}`,
      )
      .all(...given)
      .flatMap(toPart)
  const uncounted = database
    .prepare(
      `SELECT ${column} AS key, model, 0 AS calls, count(*) AS uncounted FROM ${withoutCost}
       WHERE ${HAS_NO_COUNTS} ${where} GROUP BY 1, 2`,
    )
    .all(...values)
    .flatMap(toPart)
  return [
    ...sum(all, 'pico IS NOT NULL', '1'),
    ...sum(withoutCost, 'pico IS NULL', '1, unpriced'),
    ...uncounted,
  ]
}

/** A call as it stands in the state: what it is priced by, but for the provider's own object. */
export type BilledCallPart = BilledPart & {
  readonly model: string | undefined
  readonly at: string | undefined
}

function each(database: Database, column: string, { where, values }: Within): readonly BilledCallPart[] {
  const sql = `SELECT ${column} AS key, model, unpriced, at, ${COLUMNS}, quality, pico, 1 AS calls, 0 AS uncounted
    FROM ${allCalls(database)} WHERE ${where}`
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
  const { key, model, unpriced, micro, pico, calls, uncounted } = row
  if (typeof model === 'string' && isNotBilled(model)) return []
  return [
    {
      key: typeof key === 'string' ? key : undefined,
      calls: Number(calls),
      uncounted: Number(uncounted),
      usage: toUsage(row) ?? { quality: 'unavailable' },
      ...((typeof pico === 'number' || typeof pico === 'bigint') && {
        pico: BigInt(pico) + BigInt(Number(micro ?? 0)) * BigInt(PICO_IN_MICRO),
      }),
      ...(typeof unpriced === 'string' && { unpriced }),
    },
  ]
}

function modelsOf(database: Database): readonly string[] {
  const table = isSettled(database) ? 'sums' : allCalls(database)
  const rows = database.prepare(`SELECT DISTINCT model FROM ${table} WHERE model IS NOT NULL`).all()
  return rows.map(({ model }) => String(model))
}
