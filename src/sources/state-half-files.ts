/** Files of which not all could be taken in, as long as they stay as they are. */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from './state-statements.ts'

export type HalfFile = {
  readonly id: number
  readonly path: string
  readonly problem: string
  /** The same in words. */
  readonly reason: string
}

export type HalfFiles = {
  /** What can be taken in of it was: it is not tried again before it changes. */
  half(file: number, problem: string, reason: string): void
  /** Those of a place, but for what was found changed. */
  halves(place: number): readonly HalfFile[]
}

export function openHalfFiles(database: Database): HalfFiles {
  return {
    half: (file, problem, reason) =>
      void prepared(database, 'UPDATE files SET problem = ?, reason = ? WHERE id = ?').run(
        problem,
        reason,
        file,
      ),
    halves: (place) =>
      prepared(
        database,
        'SELECT id, path, problem, reason FROM files WHERE place = ? AND problem IS NOT NULL AND pending = 0',
      )
        .all(place)
        .map(({ id, path, problem, reason }) => ({
          id: Number(id),
          path: String(path),
          problem: String(problem),
          reason: String(reason ?? problem),
        })),
  }
}
