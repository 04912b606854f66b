/** One session looked into: where words stand in it, what it started, its tools, its context, and what it did in vain. */
import { KIND_FLAGS } from '../transcript/kinds.ts'
import { parseCitation } from '../transcript/entry.ts'
import { CONTEXT_PARTS, contextParts } from '../search/context-parts.ts'
import { contextPoints, NOWHERE, positionsBySource, positionsOfKind } from '../search/outline-columns.ts'
import type { Outline } from '../search/outline-now.ts'
import { findHits, findInSession, type Hits } from '../search/outline-find.ts'
import { parseQuery } from '../search/query.ts'
import { NO_STATS, queryStats } from '../search/stats.ts'
import { answer, queryOf } from './answers.ts'
import { findQuerySchema, placeQuerySchema, type FindAnswer } from './api.ts'
import type { InsightAnswer } from './api-cost.ts'
import { treeOf } from './children.ts'
import type { App, AppContext } from './context.ts'
import { withoutSecrets } from './routes-stats.ts'
import { noEntry, PATIENCE_MS, sessionAt, type SessionAt } from './session-at.ts'

const MOST_FOUND = 10_000
const MOST_POINTS = 2000
const MOST_FINDINGS = 20

export function registerInsight(app: App, context: AppContext): void {
  const { state, redactor, options } = context
  app.get('/api/v1/sessions/:id/find', async (c) => {
    const { q, from = 0, limit = MOST_FOUND } = queryOf(c, findQuerySchema)
    const query = parseQuery(q, { ...(options.utc && { utc: true }) })
    const at = await sessionAt(c, context)
    const outline = await at.outline.reach(at.length, PATIENCE_MS)
    const hits = await hitsOf(context, q, at.found.id)
    const found: FindAnswer = await findInSession(hits, outline, query, {
      id: at.found.id,
      from,
      limit,
      ...(at.listed && { session: at.listed }),
    })
    return answer(c, found)
  })

  app.get('/api/v1/sessions/:id/position', async (c) => {
    const { source = 'primary', sequence } = queryOf(c, placeQuerySchema)
    const at = await sessionAt(c, context)
    const outline = await at.outline.reach(at.length, PATIENCE_MS)
    const position = (await positionsBySource(outline)).get(source)?.[sequence]
    if (position === undefined || position === NOWHERE) throw noEntry(`${source}/${sequence}`)
    return answer(c, { position })
  })

  app.get('/api/v1/sessions/:id/tree', async (c) => {
    const { found, listed } = await sessionAt(c, context)
    const tree = await state.read((database) => treeOf(database, found, redactor))
    const alone = { id: found.id, status: listed?.status ?? ('running' as const), children: [] }
    return answer(c, tree ?? alone)
  })

  app.get('/api/v1/sessions/:id/insight', async (c) => {
    const at = await sessionAt(c, context)
    const outline = await at.outline.reach(at.length, PATIENCE_MS)
    return answer(c, await insightAnswer(at, outline, context))
  })
}

/** Its tools, its context over time, what it did in vain. */
export async function insightAnswer(
  { found }: SessionAt,
  outline: Outline,
  { state, redactor }: AppContext,
): Promise<InsightAnswer> {
  const stats = await state.read((database) => {
    const filter = { where: 'listing.key = ?', values: [found.key] }
    return withoutSecrets(queryStats(database, { filter, findings: MOST_FINDINGS }), redactor)
  })
  const { tools, findings } = stats ?? NO_STATS
  const points = await contextPoints(outline, MOST_POINTS)
  const parts = await contextParts(
    outline,
    points.map(({ position }) => position),
  )
  return {
    tools,
    parts: CONTEXT_PARTS,
    context: points.map(({ position, at: when, source, tokens, quality }, number) => ({
      position,
      source: redactor.text(outline.sources[source] ?? ''),
      ...(Number.isFinite(when) && { at: new Date(when).toISOString() }),
      input: tokens,
      ...(quality && { quality }),
      ...(parts[number] && { characters: parts[number] }),
    })),
    fills: (outline.note?.fills ?? []).map(({ what, characters }) => ({
      what: redactor.text(what),
      characters,
    })),
    compactions: await positionsOfKind(outline, KIND_FLAGS.compaction, MOST_POINTS),
    findings: await placed(findings, outline),
  }
}

async function hitsOf(context: AppContext, q: string, session: string): Promise<Hits> {
  const asked = context.apart.ask('search', `/hits?${String(new URLSearchParams({ q, session }))}`)
  if (asked !== undefined) {
    const { status, body } = await asked
    // Written by the route of that name, in the thread; without it the session is read.
    return status === 200 ? (JSON.parse(body) as Hits) : { hits: [] }
  }
  const { utc } = context.options
  return findHits(await context.searchIndex(), parseQuery(q, { ...(utc && { utc }) }), session)
}

type Findings = InsightAnswer['findings']

async function placed(findings: Findings, outline: Outline): Promise<Findings> {
  if (findings.length === 0) return findings
  const positions = await positionsBySource(outline)
  return findings.map((finding) => ({
    ...finding,
    positions: finding.citations.flatMap((text) => {
      const cited = parseCitation(text)
      const position = cited && positions.get(cited.source)?.[cited.sequence]
      return position === undefined || position === NOWHERE ? [] : [position]
    }),
  }))
}
