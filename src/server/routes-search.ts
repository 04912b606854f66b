/** The archive searched, as `hansard search` does: the best entries, each with the words around what was found. */
import { explainNone } from '../search/explain.ts'
import { textsOf } from '../search/match-texts.ts'
import { parseQuery, type Query } from '../search/query.ts'
import type { SearchHit, SearchIndex } from '../search/search.ts'
import { createShownEntries } from '../search/shown-entries.ts'
import { createSnippets, SNIPPET_LENGTH } from '../search/snippet.ts'
import type { Database } from '../sqlite/driver.ts'
import { findSessions, getSession } from '../sources/state-sessions.ts'
import { answer, queryOf } from './answers.ts'
import { searchQuerySchema, type ApiHit, type SearchAnswer } from './api.ts'
import type { App, AskingContext } from './context.ts'

const LIMIT = 20
/** What was found until then is the answer: a page waits, and asks again as the user types. */
const PATIENCE_MS = 10_000

export function registerSearch(app: App, context: AskingContext): void {
  const { options, redactor } = context
  app.get('/api/v1/search', async (c) => {
    const { q, limit = LIMIT, order = 'ranked', regex, caseSensitive } = queryOf(c, searchQuerySchema)
    const query = parseQuery(q, {
      ...(regex && { regex }),
      ...(caseSensitive && { caseSensitive }),
      ...(options.utc && { utc: true }),
    })
    const index = await context.searchIndex()
    const deadline = Date.now() + PATIENCE_MS
    const result = await index.search(query, { limit, order, deadline })
    const explained = result.hits.length > 0 ? undefined : await explainNone(index, query, { deadline })
    const { total, scanned, isPartial, unreadable, tookMs } = result
    const found: SearchAnswer = {
      hits: await toHits(index, query, result.hits, context),
      ...(total !== undefined && { total }),
      scanned: { ...scanned },
      isPartial,
      ...(explained && {
        searched: { ...explained.searched },
        without: explained.without,
        spelling: explained.spelling.map(({ word, nearest }) => ({ word, nearest: redactor.text(nearest) })),
      }),
      ...(unreadable.length > 0 && {
        unreadable: unreadable.map(({ unit, message }) => ({
          unit: redactor.text(unit),
          message: redactor.text(message),
        })),
      }),
      tookMs: Math.round(tookMs),
    }
    return answer(c, found)
  })
}

async function toHits(
  index: SearchIndex,
  query: Query,
  hits: readonly SearchHit[],
  { redactor, state }: AskingContext,
): Promise<readonly ApiHit[]> {
  const snippets = createSnippets(query)
  const redact = (text: string): string => redactor.text(text)
  const untitled = new Set(hits.filter(({ title }) => title === undefined).map(({ session }) => session))
  const prompts = await state.read((database) => promptsOf(database, untitled))
  const shown: ApiHit[] = []
  const entryOf = createShownEntries(index, hits)
  for (const hit of hits) {
    const entry = await entryOf(hit)
    // What was said says more than what the session is called, where both match.
    const [texts, titled] = entry === undefined ? [[], []] : [textsOf(entry), textsOf(entry, hit)]
    const given = [...texts, ...titled.slice(0, titled.length - texts.length)]
    const snippet = snippets(given, { redact, length: SNIPPET_LENGTH })
    const prompt = prompts?.get(hit.session)
    const { session, source, sequence, citation, role, at, title, agent, cwd, score } = hit
    shown.push({
      session: redactor.id(session),
      source: redact(source),
      sequence,
      citation: redact(citation),
      ...(role && { role }),
      ...(at !== undefined && { at }),
      ...(title !== undefined && { title: redact(title) }),
      ...(prompt !== undefined && { prompt: redact(prompt) }),
      ...(agent !== undefined && { agent: redact(agent) }),
      ...(cwd !== undefined && { cwd: redact(cwd) }),
      ...(snippet && { snippet: snippet.text, marks: snippet.marks }),
      ...(score !== undefined && { score }),
    })
  }
  return shown
}

function promptsOf(database: Database, ids: ReadonlySet<string>): ReadonlyMap<string, string> {
  const prompts = new Map<string, string>()
  for (const id of ids) {
    const [found] = findSessions(database, id)
    const prompt = found && getSession(database, found.key)?.prompt
    if (prompt !== undefined) prompts.set(id, prompt)
  }
  return prompts
}
