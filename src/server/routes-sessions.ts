/** The sessions of the archive: in an order, page by page, with what they can be narrowed down by. */
import { FACETS, queryFacets, type Facets } from '../search/facets.ts'
import { querySessions } from '../search/sessions.ts'
import { stateMark } from '../search/state-mark.ts'
import { answer, queryOf } from './answers.ts'
import { sessionsQuerySchema, type SessionsAnswer } from './api.ts'
import { createMemory, filterOf } from './ask.ts'
import type { App, AppContext } from './context.ts'
import { toSessionRow } from './rows.ts'

const LIMIT = 100

const NONE: SessionsAnswer = {
  sessions: [],
  total: 0,
  facets: { agent: [], model: [], project: [], status: [], branch: [] },
}

export function registerSessions(app: App, context: AppContext): void {
  const { state, redactor } = context
  const remember = createMemory<Facets>()
  app.get('/api/v1/sessions', async (c) => {
    const { q, sort, reverse, limit = LIMIT, after, offset } = queryOf(c, sessionsQuerySchema)
    const found = await state.read((database): SessionsAnswer => {
      const filter = filterOf(database, q, context)
      const page = querySessions(database, {
        filter,
        limit,
        ...(sort && { sort }),
        ...(reverse && { reverse }),
        ...(after !== undefined && { after }),
        ...(offset !== undefined && { offset }),
      })
      const facets = remember(stateMark(database), q ?? '', () =>
        withoutSecrets(queryFacets(database, filter), (text) => redactor.text(text)),
      )
      return {
        sessions: page.sessions.map((session) => toSessionRow(session, redactor)),
        total: page.total,
        ...(page.next !== undefined && { next: page.next }),
        ...(page.unsure > 0 && { unsure: page.unsure }),
        facets,
      }
    })
    return answer(c, found ?? NONE)
  })
}

function withoutSecrets(facets: Facets, redact: (text: string) => string): Facets {
  const clean = FACETS.map((name) => {
    return [name, facets[name].map(({ value, count }) => ({ value: redact(value), count }))] as const
  })
  return { ...facets, ...Object.fromEntries(clean) }
}
