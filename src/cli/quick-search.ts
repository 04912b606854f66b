/**
 * The commonest search, in a file by itself: words, from an index that has everything. Whatever asks for more (logs that
 * are not indexed yet, a format that this file cannot read, an error to be told) is left to the program, which then does all of it;
 * until it is known that nothing is, nothing is printed.
 */
import { openArchive } from '../archive/archive.ts'
import { explainNone } from '../search/explain.ts'
import { parseQuery } from '../search/query.ts'
import { openSearchIndex } from '../search/search.ts'
import { redactorOf } from '../search/searched-entry.ts'
import { coloursFor } from './colour.ts'
import { loadConfig } from './config.ts'
import { wasAskedLater } from './later.ts'
import { flush, note, out } from './print.ts'
import { toPage, toReasons, toSummary, type Shown } from './search-page.ts'
import { createShow } from './search-show.ts'
import { stdout } from './streams.ts'
import { terminalWidth } from './width.ts'

const LIMIT = 20

/** False when the program has to do it. */
export async function searchQuickly(words: readonly string[]): Promise<boolean> {
  try {
    return await answer(words)
  } catch {
    return false
  }
}

async function answer(words: readonly string[]): Promise<boolean> {
  const { home, utc = false } = await loadConfig({})
  const archive = openArchive(home)
  const query = parseQuery(words.join(' '), { ...(utc && { utc }) })
  const index = await openSearchIndex(archive)
  try {
    if (!(await index.isCurrent())) return false
    const result = await index.search(query, { limit: LIMIT, order: 'ranked', mayRead: false })
    // What takes long is not done twice.
    if (result.scanned.units > 0 || result.unreadable.length > 0) return false
    const explained = result.hits.length === 0 ? await explainNone(index, query) : undefined
    const redactor = redactorOf(archive)
    const show = createShow(index, query, result.hits, (text) => redactor.text(text))
    const shown: Shown[] = []
    for (const hit of result.hits) shown.push(await show(hit))
    const page = toPage(shown, { utc, colours: coloursFor(stdout), width: terminalWidth() })
    if (wasAskedLater()) return false
    await out(page)
    note(toSummary(shown, result), 'dim')
    for (const line of explained === undefined ? [] : toReasons(explained, archive.home))
      note(`  ${line}`, 'dim')
    await flush()
    return true
  } finally {
    index.close()
  }
}
