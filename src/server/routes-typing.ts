/** How an answer was typed: when how much of it came. No word of it leaves by this way; the page has them with the entry. */
import { findAnswer } from '../playback/tape-file.ts'
import { beatsOf, deltasOf } from '../replay/playback/cadence.ts'
import type { Database } from '../sqlite/driver.ts'
import { findSession, journalsOf } from '../sources/sessions.ts'
import { answer, queryOf } from './answers.ts'
import { typingQuerySchema, type TypingAnswer } from './api.ts'
import type { App, AppContext } from './context.ts'

export function registerTyping(app: App, { archive, state }: AppContext): void {
  app.get('/api/v1/sessions/:id/typing', async (c) => {
    const { call } = queryOf(c, typingQuerySchema)
    const look = (database: Database | undefined): readonly string[] =>
      journalsOf(findSession(archive, database, c.req.param('id')), archive, database)
    const journals = (await state.read(look)) ?? look(undefined)
    for (const id of journals) {
      const tape = await findAnswer(archive.files, archive.sessionFolder(id), call)
      if (tape === undefined) continue
      const found: TypingAnswer = { beats: beatsOf(deltasOf(tape)).map(([ms, length]) => [ms, length]) }
      return answer(c, found)
    }
    return answer(c, { beats: [] } satisfies TypingAnswer)
  })
}
