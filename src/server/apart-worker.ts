/** A thread that answers what takes long, by the same routes as the server. */
import { parentPort, workerData } from 'node:worker_threads'
import { Hono } from 'hono'
import { openArchive } from '../archive/archive.ts'
import { isHansardError, messageOf } from '../errors.ts'
import { createRedactor } from '../redact/redactor.ts'
import { parseQuery } from '../search/query.ts'
import { findHits } from '../search/outline-find.ts'
import { createTexts, type TextAsked } from '../search/outline-text.ts'
import { openSearchIndex, type SearchIndex } from '../search/search.ts'
import { toJson } from '../transcript/json.ts'
import { failWith } from './answers.ts'
import type { ApartData, FromApart, ToApart } from './apart.ts'
import type { App, AskingContext } from './context.ts'
import { registerCost } from './routes-cost.ts'
import { registerDiff } from './routes-diff.ts'
import { registerSearch } from './routes-search.ts'
import { registerStats } from './routes-stats.ts'
import { openSharedState } from './shared-state.ts'

// What whoever started this thread gave it.
const { home, utc, prices } = workerData as ApartData
const archive = openArchive(home)
let index: Promise<SearchIndex> | undefined
const post = (said: FromApart): void => parentPort?.postMessage(said)

const context: AskingContext = {
  archive,
  options: { ...(utc && { utc }), ...(prices && { prices }) },
  redactor: createRedactor({ key: archive.redactionKey(), env: process.env }),
  state: openSharedState(archive),
  searchIndex: () => (index ??= openSearchIndex(archive)),
}

const app: App = new Hono()
app.onError((error, c) => {
  if (!isHansardError(error)) post({ trouble: messageOf(error) })
  return failWith(c, error, (text) => context.redactor.text(text))
})
registerSearch(app, context)
registerCost(app, context)
registerStats(app, context)
registerDiff(app, context)
// Not one of the server's: what it does with the outline of the session is done there.
app.get('/hits', async (c) => {
  const query = parseQuery(c.req.query('q') ?? '', { ...(utc && { utc }) })
  return c.body(toJson(await findHits(await context.searchIndex(), query, c.req.query('session') ?? '')))
})

const texts = createTexts(archive)

parentPort?.on('message', ({ number, path, text }: ToApart) => {
  void (async () => {
    if (text !== undefined) return post({ number, ...(await answerText(text)) })
    const response = await app.request(path)
    return post({ number, status: response.status, body: await response.text() })
  })()
})

async function answerText(asked: TextAsked) {
  try {
    const piece = await texts.piece(asked)
    return { status: 200, body: '', ...(piece && { piece }) }
  } catch (error) {
    post({ trouble: messageOf(error) })
    return { status: 500, body: '' }
  }
}
