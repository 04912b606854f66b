/** Whether the server is well, what it is of, and what is going on in it; and a sync, where one may be asked for. */
import { countSessions } from '../sources/state-sessions.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { VERSION } from '../version.ts'
import { answer, fail } from './answers.ts'
import type { Health } from './api.ts'
import type { App, AppContext } from './context.ts'

export function registerHealth(app: App, { archive, options, progress, state, redactor }: AppContext): void {
  app.get('/api/v1/health', async (c) => {
    const health: Health = {
      status: 'ok',
      version: VERSION,
      home: redactor.text(archive.home),
      sessions: (await state.read((database) => countSessions(database))) ?? 0,
      ...(progress.indexing && { indexing: progress.indexing }),
      ...(progress.syncing && { syncing: progress.syncing }),
      readOnly: options.write !== true,
    }
    return answer(c, health)
  })
  app.post('/api/v1/sync', async (c) => {
    const { write, sync } = options
    if (write !== true || sync === undefined)
      return fail(c, 403, {
        code: 'read-only',
        message: 'this server only reads',
        hint: 'start it with hansard serve --write, or run hansard sync',
      })
    // Its problems name files, and say what is wrong with them.
    return answer(c, redactor.json(JSON.parse(toJson((await sync()) ?? null)) as Json))
  })
}
