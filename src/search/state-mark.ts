/** One line that stands for all that the state says of units and sessions: another one after everything that could change it. */
import type { Database } from '../sqlite/driver.ts'

/** In no time, for a search begins with it. */
export function stateMark(database: Database): string {
  const row = database
    .prepare(
      `SELECT (SELECT value FROM facts WHERE name = 'born') AS born,
         (SELECT value FROM facts WHERE name = 'reading') AS reading,
         (SELECT count(*) FROM units WHERE reading IS NOT NULL) AS units,
         (SELECT count(*) FROM recordings) AS recordings, (SELECT count(*) FROM sessions) AS sessions`,
    )
    .get()
  return JSON.stringify([
    row?.['reading'],
    row?.['units'],
    row?.['recordings'],
    row?.['sessions'],
    row?.['born'],
  ])
}
