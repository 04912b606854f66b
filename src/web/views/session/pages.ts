/**
 * Entries of a session by position, fetched in pages as they come into sight, those beside each other in one question. No more than
 * forty pages are held, so that a session of a million entries takes no more memory than one of two thousand; the longest unseen goes
 * first.
 */
import type { EntriesAnswer, EntryRow } from '../../../server/api.ts'
import type { ToolCallBlock, ToolResultBlock } from '../../../transcript/block.ts'
import { ask, type Answer, type Problem } from '../../api.ts'

export const PAGE = 50
const MOST_PAGES = 40
/** Pages that are asked for at once: two hundred entries are as many as the server gives. */
const MOST_AT_ONCE = 4
/** Questions on their way whose answers nobody sees at the moment: a jump's is one of them until it is there. */
const MOST_UNSEEN = 2
/** Entries after a call among which its result mostly is. */
const FOLLOWING = 12
/** Entries fetched whole, which may have megabytes each. */
const MOST_WHOLE = 3

export type Found<T> = { readonly position: number; readonly block: T; readonly at: number }

export type Pages = {
  get(position: number): EntryRow | undefined
  /** Fetches what is missing of these, and of what follows each: results follow their calls. */
  want(positions: readonly number[]): void
  /** What lies from here on may be another now. */
  refresh(from: number): void
  /** Entries joined those up to here, which are as they were. */
  grow(from: number): void
  whole(position: number): Promise<Problem | undefined>
  /** What is damaged after the last entry, where that was loaded. */
  damageAtEnd(): NonNullable<EntriesAnswer['damageAtEnd']>
  callOf(source: string, callId: string): Found<ToolCallBlock> | undefined
  resultOf(source: string, callId: string): Found<ToolResultBlock> | undefined
  end(): void
}

export type PagesOptions = {
  readonly onChange: () => void
  readonly onProblem: (problem: Problem) => void
  readonly onLength: (length: number) => void
  /** Entries that there are. */
  readonly most: () => number
}

type Page = { readonly rows: readonly EntryRow[]; isStale: boolean }

export function createPages(id: string, { onChange, onProblem, onLength, most }: PagesOptions): Pages {
  const pages = new Map<number, Page>()
  const asking = new Map<number, AbortController>()
  const wholes = new Map<number, EntryRow>()
  const calls = new Map<string, Found<ToolCallBlock>>()
  const results = new Map<string, Found<ToolResultBlock>>()
  const ending = new AbortController()
  let wanted: ReadonlySet<number> = new Set()
  let damage: NonNullable<EntriesAnswer['damageAtEnd']> = []
  /** Only who asked for the last entry is told. */
  const noteEnd = ({ from, length, entries, damageAtEnd = [] }: EntriesAnswer): void => {
    if (from + entries.length >= length) damage = damageAtEnd
  }

  /** So many pages from the first on. */
  const load = async (first: number, count: number): Promise<void> => {
    const abort = new AbortController()
    for (let page = first; page < first + count; page += 1) asking.set(page, abort)
    const signal = AbortSignal.any([abort.signal, ending.signal])
    const range = { from: String(first * PAGE), to: String((first + count) * PAGE) }
    const answer = await ask.entries(id, range, { signal })
    for (const [page, one] of asking) if (one === abort) asking.delete(page)
    if (!answer.ok) {
      if (answer.problem.code !== 'aborted') onProblem(answer.problem)
      return
    }
    const { entries } = answer.value
    for (let at = 0; at < count; at += 1) {
      const rows = entries.slice(at * PAGE, (at + 1) * PAGE)
      forget(first + at)
      pages.set(first + at, { rows, isStale: false })
      for (const row of rows) remember(row)
    }
    noteEnd(answer.value)
    drop()
    onLength(answer.value.length)
    onChange()
  }
  /** Only what is new of a page: the rest of it is there. */
  const loadTail = async (page: number, from: number): Promise<void> => {
    const abort = new AbortController()
    asking.set(page, abort)
    const signal = AbortSignal.any([abort.signal, ending.signal])
    const to = String((page + 1) * PAGE)
    const answer = await ask.entries(id, { from: String(from), to }, { signal })
    if (asking.get(page) !== abort) return
    asking.delete(page)
    const before = pages.get(page)
    if (!answer.ok || before === undefined || before.rows.length !== from % PAGE) {
      if (before !== undefined) before.isStale = true
      return fetchWanted()
    }
    pages.set(page, { rows: [...before.rows, ...answer.value.entries], isStale: before.isStale })
    noteEnd(answer.value)
    for (const row of answer.value.entries) remember(row)
    onChange()
    onLength(answer.value.length)
    // More may have come while this was asked for.
    if (
      before.isStale ||
      page * PAGE + before.rows.length + answer.value.entries.length < Math.min(most(), (page + 1) * PAGE)
    )
      own.grow(from + answer.value.entries.length)
  }
  const remember = ({ position, entry }: EntryRow): void => {
    entry.blocks.forEach((block, at) => {
      if (block.type === 'tool-call' && block.callId !== undefined) {
        const key = keyOf(entry.source, block.callId)
        if (!calls.has(key)) calls.set(key, { position, block, at })
      } else if (block.type === 'tool-result' && block.callId !== undefined) {
        const key = keyOf(entry.source, block.callId)
        if (!results.has(key)) results.set(key, { position, block, at })
      }
    })
  }
  /** Of an entry that was fetched whole, the whole: its page may have come again since. */
  const wholeOf = <T extends ToolCallBlock | ToolResultBlock>(
    found: Found<T> | undefined,
    type: T['type'],
  ): Found<T> | undefined => {
    const block = found && wholes.get(found.position)?.entry.blocks[found.at]
    // Blocks of one type are of one shape.
    return found !== undefined && block?.type === type ? { ...found, block: block as T } : found
  }
  const forget = (page: number): void => {
    for (const { position, entry } of pages.get(page)?.rows ?? [])
      for (const block of entry.blocks) {
        if ((block.type !== 'tool-call' && block.type !== 'tool-result') || block.callId === undefined)
          continue
        const found = block.type === 'tool-call' ? calls : results
        const key = keyOf(entry.source, block.callId)
        if (found.get(key)?.position === position) found.delete(key)
      }
    pages.delete(page)
  }
  const drop = (): void => {
    for (const page of pages.keys()) {
      if (pages.size <= MOST_PAGES) return
      if (!wanted.has(page)) forget(page)
    }
  }
  const fetchWanted = (): void => {
    // Somebody who scrolls fast does not wait for what they passed.
    const stillWanted = new Set([...asking].flatMap(([page, abort]) => (wanted.has(page) ? [abort] : [])))
    const unseen = [...new Set(asking.values())].filter((abort) => !stillWanted.has(abort))
    const passed = new Set(unseen.slice(0, Math.max(0, unseen.length - MOST_UNSEEN)))
    for (const [page, abort] of asking)
      if (passed.has(abort)) {
        abort.abort()
        asking.delete(page)
        // What was to be added to it is missing now.
        const known = pages.get(page)
        if (known !== undefined) known.isStale = true
      }
    const missing: number[] = []
    for (const page of wanted) {
      const known = pages.get(page)
      if (known !== undefined) {
        // Used now: last to go.
        pages.delete(page)
        pages.set(page, known)
      }
      if ((known === undefined || known.isStale) && !asking.has(page)) missing.push(page)
    }
    missing.sort((a, b) => a - b)
    for (let at = 0, count = 1; at < missing.length; at += count, count = 1) {
      const first = missing[at] ?? 0
      while (count < MOST_AT_ONCE && missing[at + count] === first + count) count += 1
      void load(first, count)
    }
  }

  const own: Pages = {
    get(position) {
      return wholes.get(position) ?? pages.get(pageOf(position))?.rows[position % PAGE]
    },
    want(positions) {
      const all = positions.flatMap((position) => [pageOf(position), pageOf(position + FOLLOWING)])
      wanted = new Set(all.filter((page) => page * PAGE < most()))
      fetchWanted()
    },
    refresh(from) {
      for (const [number, page] of pages) if (number >= pageOf(from)) page.isStale = true
      for (const [number, abort] of asking)
        if (number >= pageOf(from)) {
          abort.abort()
          asking.delete(number)
        }
      fetchWanted()
    },
    grow(from) {
      const page = pages.get(pageOf(from))
      const isWhole = page !== undefined && !page.isStale && page.rows.length === from % PAGE
      if (isWhole && !asking.has(pageOf(from))) void loadTail(pageOf(from), from)
      else own.refresh(Math.max(0, from - 1))
      fetchWanted()
    },
    async whole(position) {
      const answer: Answer<EntryRow> = await ask.entry(id, position, { signal: ending.signal })
      if (!answer.ok) return answer.problem
      wholes.set(position, answer.value)
      for (const old of wholes.keys()) if (wholes.size > MOST_WHOLE) wholes.delete(old)
      remember(answer.value)
      onChange()
      return undefined
    },
    damageAtEnd: () => damage,
    callOf: (source, callId) => wholeOf(calls.get(keyOf(source, callId)), 'tool-call'),
    resultOf: (source, callId) => wholeOf(results.get(keyOf(source, callId)), 'tool-result'),
    end: () => ending.abort(),
  }
  return own
}

const pageOf = (position: number): number => Math.floor(position / PAGE)
const keyOf = (source: string, callId: string): string => `${source}\n${callId}`
