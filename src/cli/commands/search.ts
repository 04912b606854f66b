/** `hansard search`: the entries that say what was asked for, each with its citation and the words around it. */
import { openArchive } from '../../archive/archive.ts'
import { createRedactor } from '../../redact/redactor.ts'
import type { Explained } from '../../search/explain.ts'
import { parseQuery, type Query } from '../../search/query.ts'
import { openSearchIndex, type SearchIndex, type SearchResult } from '../../search/search.ts'
import { SNIPPET_LENGTH } from '../../search/snippet.ts'
import { isCurrent } from '../../sources/current.ts'
import { budgetBytes, ESTIMATE, tokensOf } from '../budget.ts'
import { coloursFor } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { FAILED, flush, note, out, outJson, printableJson } from '../print.ts'
import { toPage, toReasons, toSummary, type PageOptions, type Shown } from '../search-page.ts'
import { createShow, type Show } from '../search-show.ts'
import { terminalWidth } from '../width.ts'
import { stdout } from '../streams.ts'

export type SearchCommandOptions = {
  readonly limit?: number
  readonly newest?: boolean
  readonly caseSensitive?: boolean
  readonly regex?: boolean
  /** The best that fit so many tokens. */
  readonly budgetTokens?: number
  /** Seconds. */
  readonly timeout?: number
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

const LIMIT = 20
/** What a budget is to be filled with. */
const BUDGET_LIMIT = 50

export async function search(words: readonly string[], options: SearchCommandOptions): Promise<void> {
  const { home, utc } = await loadConfig(options)
  const archive = openArchive(home)
  const { budgetTokens, newest, timeout, caseSensitive, regex } = options
  const bytes = budgetTokens === undefined ? undefined : budgetBytes(budgetTokens)
  const limit = options.limit ?? (bytes === undefined ? LIMIT : BUDGET_LIMIT)
  const deadline = timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout * 1000
  const query = parseQuery(words.join(' '), {
    ...(caseSensitive && { caseSensitive }),
    ...(regex && { regex }),
    ...(utc && { utc }),
  })
  // What was recorded since is taken in first; what does that is loaded when there is something.
  if (!(await isCurrent(archive)))
    (await (await import('../../sources/sessions.ts')).openSessions(home)).close()
  const index = await openSearchIndex(archive)
  let isBehind = false
  try {
    const result = await index.search(query, { limit, order: newest ? 'newest' : 'ranked', deadline })
    const explained = result.hits.length === 0 ? await explain(index, query, deadline) : undefined
    const redactor = createRedactor({ key: archive.redactionKey(), env: process.env })
    const show = createShow(index, query, result.hits, (text) => redactor.text(text))
    const page: PageOptions = {
      utc: utc === true,
      colours: coloursFor(stdout),
      width: terminalWidth(),
    }
    if (options.json) {
      if (bytes === undefined) await printJson(await all(result, show), result, explained)
      else await printWithin(bytes, result, show, explained)
    } else {
      const shown =
        bytes === undefined
          ? await all(result, show)
          : await within(bytes, result, show, (one) => toPage([one], { ...page, colours: coloursFor({}) }))
      await out(toPage(shown, page))
      say(shown, result, explained, archive.home)
    }
    if (result.unreadable.length > 0) process.exitCode = FAILED
    isBehind = result.scanned.units > 0 && Date.now() < deadline
  } finally {
    index.close()
  }
  if (!isBehind) return
  // The answer first: nobody waits for what comes after it, and whatever that meets does not take its place.
  await flush()
  await (await import('../catch-up.ts')).catchUpAfterSearch(archive)
}

async function explain(index: SearchIndex, query: Query, deadline: number): Promise<Explained> {
  const { explainNone } = await import('../../search/explain.ts')
  return explainNone(index, query, { deadline })
}

async function all({ hits }: SearchResult, show: Show): Promise<readonly Shown[]> {
  const shown: Shown[] = []
  for (const hit of hits) shown.push(await show(hit))
  return shown
}

/** Shorter than this, a snippet tells nothing. */
const LEAST_SNIPPET = 60
/** Longer than this, it is an entry to be shown. */
const MOST_SNIPPET = 8000

/** From the best on, each with a quarter of the room that is left, as long as there is some. */
async function within(
  bytes: number,
  { hits }: SearchResult,
  show: Show,
  draw: (shown: Shown) => string,
): Promise<readonly Shown[]> {
  const shown: Shown[] = []
  let room = bytes
  for (const hit of hits) {
    let length = Math.min(MOST_SNIPPET, Math.max(SNIPPET_LENGTH, Math.floor(room / 4)))
    for (; length >= LEAST_SNIPPET; length = Math.floor(length / 2)) {
      const one = await show(hit, length)
      const size = Buffer.byteLength(draw(one)) + 2
      if (size > room) continue
      shown.push(one)
      room -= size
      break
    }
    if (length < LEAST_SNIPPET) break
  }
  return shown
}

function toHit({ session, source, sequence, citation, role, at, title, score, snippet }: Shown): object {
  const marks = snippet?.marks
  return { session, source, sequence, citation, role, at, title, snippet: snippet?.text, marks, score }
}

function toDocument(shown: readonly Shown[], result: SearchResult, explained: Explained | undefined): object {
  const { total, scanned, isPartial, unreadable, tookMs } = result
  return {
    hits: shown.map(toHit),
    total,
    scanned,
    isPartial,
    ...explained,
    ...(unreadable.length > 0 && { unreadable }),
    tookMs: Math.round(tookMs),
  }
}

async function printJson(
  shown: readonly Shown[],
  result: SearchResult,
  explained: Explained | undefined,
): Promise<void> {
  await outJson(toDocument(shown, result, explained))
}

async function printWithin(
  bytes: number,
  result: SearchResult,
  show: Show,
  explained: Explained | undefined,
): Promise<void> {
  const tokens = tokensOf(bytes)
  const few = { ...result, unreadable: result.unreadable.slice(0, 1) }
  const about = { tokens, used: tokens, estimate: ESTIMATE, leftOut: result.hits.length }
  const frame = (more: Explained | undefined): number =>
    Buffer.byteLength(printableJson({ ...toDocument([], few, more), budget: about })) + 1
  // What explains an empty answer is left out before the answer is.
  const said = explained !== undefined && frame(explained) <= bytes ? explained : undefined
  const shown = await within(bytes - frame(said), few, show, (one) => printableJson(toHit(one)))
  const document = {
    ...toDocument(shown, few, said),
    budget: { ...about, leftOut: result.hits.length - shown.length },
  }
  const used = tokensOf(Buffer.byteLength(printableJson(document)) + 1)
  await outJson({ ...document, budget: { ...document.budget, used } })
}

function say(
  shown: readonly Shown[],
  result: SearchResult,
  explained: Explained | undefined,
  home: string,
): void {
  note(toSummary(shown, result), 'dim')
  for (const line of explained === undefined ? [] : toReasons(explained, home)) note(`  ${line}`, 'dim')
  if (result.isPartial) note('hansard: the time was up before everything was looked at: there may be more')
  for (const { unit, message } of result.unreadable.slice(0, 3))
    note(`hansard: ${unit} could not be read: ${message}`)
}
