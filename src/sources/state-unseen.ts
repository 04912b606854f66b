/** Folders that could not be looked into the last time: nobody knows what is in them, so no file stands for them. `doctor` names them. */
import fs from 'node:fs'
import type { Database } from '../sqlite/driver.ts'
import { HARMLESS } from './problems.ts'
import { prepared } from './state-statements.ts'
import { toProblem, type OnProblem } from './walk.ts'

export type Unseen = {
  readonly note: OnProblem
  /** Everything was looked at. `isPart`: no more than some of it, so that what was noted before may be as it was. */
  settle(isPart: boolean): void
}

/** Remembered: a hostile folder may have any number. */
const MOST = 1000

export function openUnseen(database: Database): Unseen {
  const now = new Map<string, string>()
  return {
    note(path, { cause }) {
      if (!HARMLESS.has(cause) && now.size < MOST) now.set(path, cause)
    },
    settle(isPart) {
      const before = prepared(database, 'SELECT path, problem FROM unseen').all()
      for (const { path, problem } of isPart ? before : [])
        if (now.size < MOST && !now.has(String(path)) && isClosed(String(path)))
          now.set(String(path), String(problem))
      const isSame = before.every(({ path, problem }) => now.get(String(path)) === problem)
      if (isSame && before.length === now.size) return
      database.transaction(() => {
        prepared(database, 'DELETE FROM unseen').run()
        const add = prepared(database, 'INSERT OR REPLACE INTO unseen (path, problem) VALUES (?, ?)')
        for (const [path, problem] of now) add.run(path, problem)
      })
    },
  }
}

function isClosed(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.R_OK)
    return false
  } catch (error) {
    // What is gone is not closed.
    return toProblem(error) !== undefined
  }
}
