/** Numbers of passes over units: each is higher than any before. */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from './state-statements.ts'

/** The highest number that a pass may have. */
export function lastReading(database: Database): number {
  return Number(prepared(database, `SELECT value FROM facts WHERE name = 'reading'`).get()?.['value'] ?? 0)
}

/** The last of so many numbers. Also above readings that a crash left: their rows must not be taken for this one's. */
export function nextReading(database: Database, many = 1): number {
  const next = prepared(
    database,
    `INSERT INTO facts (name, value) VALUES ('reading', CAST(?1 AS TEXT))
       ON CONFLICT (name) DO UPDATE SET value = CAST(value + ?1 AS TEXT) RETURNING value`,
  ).get(many)
  return Number(next?.['value'])
}
