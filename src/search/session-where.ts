/** Which sessions are meant, as SQL over the state's `listing`. Light: what free words and names of files need is loaded with a query. */
import type { Database } from '../sqlite/driver.ts'
import type { SqlValue } from '../transcript/source.ts'

export type Sql = { readonly where: string; readonly values: readonly SqlValue[] }

export type SessionFilter = Sql & {
  /** Where SQL cannot tell all: the numbers of those that match. Throws an error of ours when patterns take too long. */
  readonly numbers?: (database: Database) => readonly number[]
  /** True when a session that names more files, tools or sources than are remembered could be missing. */
  readonly isUnsure?: boolean
}

export type SessionFlags = {
  readonly status?: string
  readonly flow?: string
  readonly run?: string
  /** Instants: something of it at or after `since`, something before `until`. */
  readonly since?: string
  readonly until?: string
}

export const EVERY_SESSION: SessionFilter = { where: 'true', values: [] }

/** Those that belong to a run, which of most archives are few. */
export const OF_A_RUN: SessionFilter = {
  where: 'EXISTS (SELECT 1 FROM sessions AS one WHERE one.key = listing.key AND one.run IS NOT NULL)',
  values: [],
}

export function flagsFilter({ status, flow, run, since, until }: SessionFlags): SessionFilter {
  const isSame = (column: string): string =>
    `EXISTS (SELECT 1 FROM sessions AS one WHERE one.key = listing.key AND one.${column} = ?)`
  return all([
    ...(status === undefined ? [] : [{ where: 'status = ?', values: [status] }]),
    ...(flow === undefined ? [] : [{ where: isSame('flow'), values: [flow] }]),
    ...(run === undefined ? [] : [{ where: isSame('run'), values: [run] }]),
    ...(since === undefined ? [] : [toTime('since', since)]),
    ...(until === undefined ? [] : [toTime('until', until)]),
  ])
}

/** Instants have 3 to 9 digits of fraction: without its last letter the bound stands before all that continue it. */
export function toTime(field: 'since' | 'until', instant: string): Sql {
  const where = field === 'since' ? 'ifnull(last_at >= ?, 0)' : 'ifnull(started_at < ?, 0)'
  return { where, values: [instant.replace(/Z$/, '')] }
}

/** All of them hold. At most one may need more than SQL. */
export function all(filters: readonly SessionFilter[]): SessionFilter {
  const numbers = filters.find((filter) => filter.numbers !== undefined)?.numbers
  return {
    where: filters.length === 0 ? 'true' : filters.map(({ where }) => `(${where})`).join(' AND '),
    values: filters.flatMap(({ values }) => values),
    ...(numbers && { numbers }),
    isUnsure: filters.some(({ isUnsure }) => isUnsure === true),
  }
}

/** As SQL, whatever tells them. */
export function toWhere(database: Database, { where, values, numbers }: SessionFilter): Sql {
  if (numbers === undefined) return { where, values }
  return {
    where: `${where} AND listing.n IN (SELECT value FROM json_each(?))`,
    values: [...values, JSON.stringify(numbers(database))],
  }
}
