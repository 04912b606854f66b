/** Two sessions compared. Both are read from end to end, one comparison after the other: a thread does it where there is one. */
import { createSide, diffSessions, type Taken } from '../replay/diff/diff.ts'
import { openReadings, type Readings } from '../search/outline-build.ts'
import type { RowSession } from '../search/session-row.ts'
import { createOutlet } from '../sources/outlet.ts'
import { findSession } from '../sources/sessions.ts'
import type { Database } from '../sqlite/driver.ts'
import { answer, queryOf } from './answers.ts'
import { diffQuerySchema } from './api-diff.ts'
import type { SessionRow } from './api-model.ts'
import type { App, AskingContext } from './context.ts'
import { MOST_CHANGES, toDiffAnswer } from './diff-answer.ts'
import { toSessionRow, withoutSecrets } from './rows.ts'
import { listedOf } from './session-at.ts'

export function registerDiff(app: App, context: AskingContext): void {
  let before: Promise<unknown> = Promise.resolve()
  app.get('/api/v1/diff', async (c) => {
    const { a, b } = queryOf(c, diffQuerySchema)
    // Each may take hundreds of megabytes.
    const mine = before.then(async () => {
      const [one, other] = [await readSide(a, context), await readSide(b, context)]
      return toDiffAnswer(diffSessions(one.taken, other.taken, MOST_CHANGES), { a: one.row, b: other.row })
    })
    before = mine.catch(() => undefined)
    return answer(c, await mine)
  })
}

type ReadSide = { readonly taken: Taken; readonly row: SessionRow }

/** Throws `session-not-found`, `ambiguous-id` or `invalid-id`. */
async function readSide(id: string, context: AskingContext): Promise<ReadSide> {
  const { archive, redactor, state } = context
  const look = (
    database: Database | undefined,
  ): { readonly listed: RowSession; readonly readings: Readings } => {
    const found = findSession(archive, database, id)
    const listed = database && listedOf(database, found.key)
    return {
      listed: listed ?? { id: found.id, status: 'running' as const },
      readings: openReadings(archive, database, found),
    }
  }
  const { listed, readings } = (await state.read(look)) ?? look(undefined)
  const side = createSide()
  for await (const items of createOutlet(archive, false).items(readings.open({ whole: true }).items))
    for (const item of items) if (item.type === 'entry') side.add(item.entry)
  const { did: _, ...facts } = listed
  return { taken: side.end(withoutSecrets(facts, redactor)), row: toSessionRow(listed, redactor) }
}
