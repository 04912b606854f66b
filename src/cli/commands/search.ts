/** `hansard search`: the entries that say what was asked for, each with its citation and the words around it. */
import { openArchive } from '../../archive/archive.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { counted, toBytes, toCount } from '../../replay/amounts.ts'
import { createClock } from '../../replay/clock.ts'
import { visibleLine } from '../../replay/escape.ts'
import { textsOf } from '../../search/match-texts.ts'
import { parseQuery, type Query } from '../../search/query.ts'
import { openSearchIndex, type SearchHit, type SearchIndex, type SearchResult } from '../../search/search.ts'
import { createSnippets, type Snippet } from '../../search/snippet.ts'
import { isCurrent } from '../../sources/current.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out, outJson } from '../print.ts'

export type SearchCommandOptions = {
  readonly limit?: number
  readonly newest?: boolean
  readonly caseSensitive?: boolean
  readonly regex?: boolean
  /** Seconds. */
  readonly timeout?: number
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

const LIMIT = 20

export async function search(words: readonly string[], options: SearchCommandOptions): Promise<void> {
  const { home, utc } = await loadConfig(options)
  const archive = openArchive(home)
  const { limit = LIMIT, newest, timeout, caseSensitive, regex } = options
  const query = parseQuery(words.join(' '), {
    ...(caseSensitive && { caseSensitive }),
    ...(regex && { regex }),
    ...(utc && { utc }),
  })
  // What was recorded since is taken in first; what does that is loaded when there is something.
  if (!(await isCurrent(archive)))
    (await (await import('../../sources/sessions.ts')).openSessions(home)).close()
  const index = await openSearchIndex(archive)
  try {
    const result = await index.search(query, {
      limit,
      order: newest ? 'newest' : 'ranked',
      ...(timeout !== undefined && { deadline: Date.now() + timeout * 1000 }),
    })
    const redactor = createRedactor({ key: archive.redactionKey(), env: process.env })
    const shown = await withSnippets(index, query, result.hits, (text) => redactor.text(text))
    if (options.json) await printJson(shown, result)
    else await printText(shown, result, { utc: utc === true, home: archive.home })
  } finally {
    index.close()
  }
}

type Shown = SearchHit & { readonly snippet: Snippet | undefined }

async function withSnippets(
  index: SearchIndex,
  query: Query,
  hits: readonly SearchHit[],
  redact: (text: string) => string,
): Promise<readonly Shown[]> {
  const snippets = createSnippets(query)
  const shown: Shown[] = []
  for (const hit of hits) {
    const entry = await index.entry(hit)
    shown.push({ ...hit, snippet: entry && snippets(textsOf(entry), { redact }) })
  }
  return shown
}

async function printJson(shown: readonly Shown[], result: SearchResult): Promise<void> {
  const { total, scanned, isPartial, unreadable, tookMs } = result
  if (unreadable.length > 0) process.exitCode = FAILED
  await outJson({
    hits: shown.map(({ session, source, sequence, citation, role, at, score, snippet }) => ({
      session,
      source,
      sequence,
      citation,
      role,
      at,
      snippet: snippet?.text,
      marks: snippet?.marks,
      score,
    })),
    total,
    scanned,
    isPartial,
    ...(unreadable.length > 0 && { unreadable }),
    tookMs: Math.round(tookMs),
  })
}

async function printText(
  shown: readonly Shown[],
  { total, scanned, isPartial, unreadable, tookMs }: SearchResult,
  { utc, home }: { readonly utc: boolean; readonly home: string },
): Promise<void> {
  const clock = createClock(utc ? 'UTC' : undefined)
  for (const { citation, role, at, snippet } of shown) {
    await out(`${visibleLine(citation)}  ${clock.date(at)}  ${role ?? 'event'}\n`)
    if (snippet !== undefined) await out(`  ${marked(snippet)}\n`)
  }
  const read =
    scanned.units === 0
      ? ''
      : `; ${counted(scanned.units, 'unit')} not indexed yet, ${toBytes(scanned.bytes)}, read through`
  const found =
    total === undefined ? `the first ${toCount(shown.length)}` : counted(total, 'entry', 'entries')
  note(`${shown.length === 0 ? `nothing in ${home} says that` : found} (${Math.round(tookMs)} ms${read})`)
  if (isPartial) note('hansard: the time was up before everything was looked at: there may be more')
  for (const { unit, message } of unreadable.slice(0, 3)) {
    process.exitCode = FAILED
    note(`hansard: ${unit} could not be read: ${message}`)
  }
}

/** Matches stand out on a terminal that shows colours. */
function marked({ text, marks, isCutBefore, isCutAfter }: Snippet): string {
  const hasColour = process.stdout.isTTY && !process.env['NO_COLOR']
  let shown = ''
  let at = 0
  for (const { start, end } of hasColour ? marks : []) {
    shown += `${visibleLine(text.slice(at, start))}\x1b[1;33m${visibleLine(text.slice(start, end))}\x1b[0m`
    at = end
  }
  shown += visibleLine(text.slice(at))
  return `${isCutBefore ? '…' : ''}${shown}${isCutAfter ? '…' : ''}`
}
