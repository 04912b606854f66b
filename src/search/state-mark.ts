/** One line that stands for all that the state says of units and sessions: another one after everything that could change it. */
import type { Database } from '../sqlite/driver.ts'

/** In no time, for a search begins with it. */
export function stateMark(database: Database): string {
  const row = database
    .prepare(
      `SELECT (SELECT value FROM facts WHERE name = 'born') AS born,
         (SELECT value FROM facts WHERE name = 'reading') AS reading,
         (SELECT count(*) FROM units WHERE reading IS NOT NULL) AS units,
         (SELECT count(*) FROM recordings) AS recordings, (SELECT count(*) FROM sessions) AS sessions,
         (SELECT seq FROM sqlite_sequence WHERE name = 'sessions') AS written`,
    )
    .get()
  return JSON.stringify([
    row?.['reading'],
    row?.['units'],
    row?.['recordings'],
    row?.['sessions'],
    row?.['born'],
    row?.['written'],
  ])
}

export type StateMark = {
  /** The last pass over a unit. */
  readonly reading: number
  readonly units: number
  readonly sessions: number
  /** Another one for every state that was begun. */
  readonly born: string
  /** The last row of a session that was written. */
  readonly written: number
}

export function readMark(mark: string): StateMark {
  const [reading, units, , sessions, born, written] = JSON.parse(mark) as unknown[]
  return {
    reading: Number(reading ?? 0),
    units: Number(units),
    sessions: Number(sessions),
    born: String(born),
    written: Number(written ?? 0),
  }
}
