/**
 * One session as the page knows it: what it is, its columns and pages, and what happened to it meanwhile. Follows what the server
 * tells: new entries are fetched as they come, a server that began again is asked for everything anew.
 */
import { signal } from '@preact/signals'
import type { SessionAnswer } from '../../../server/api.ts'
import { ask, type Problem } from '../../api.ts'
import { on } from '../../live.ts'
import { joinColumns, NO_COLUMNS, type Columns } from './columns.ts'
import { createPages } from './pages.ts'
import { createSpawned } from './spawned.ts'

/** Entries of one answer of the outline: half a megabyte, so that whoever jumps meanwhile does not wait long behind one. */
const OUTLINE_PART = 25_000
/** Between two of them, for the same reason. */
const BETWEEN_PARTS_MS = 15
const BUILDING_MS = 700

const isNotThere = ({ code }: Problem): boolean => code === 'session-not-found' || code === 'not-found'

export type SessionStore = ReturnType<typeof createSessionStore>

export function createSessionStore(id: string) {
  const answer = signal<SessionAnswer | undefined>(undefined)
  const problem = signal<Problem | undefined>(undefined)
  const isGone = signal(false)
  const length = signal(0)
  const columns = signal<Columns>(NO_COLUMNS)
  /** Goes up when pages have come: what shows entries reads it. */
  const version = signal(0)
  /** Columns are complete, or will not be soon: rows can be made. */
  const isOutlined = signal(false)
  const ending = new AbortController()
  const { signal: ended } = ending
  const spawned = createSpawned(id)
  /** Times that it was said to be deleted: an answer that was asked for before knows nothing of it. */
  let deletions = 0
  let isOutlining = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const pages = createPages(id, {
    onChange: () => void (version.value += 1),
    onProblem(one) {
      // Of a session that is gone, what comes into sight is gone as well.
      if (isNotThere(one) && answer.value !== undefined) isGone.value = true
      else problem.value = one
    },
    // Before the first answer the first page may be asked for.
    most: () => Math.max(1, length.value),
    onLength: (now) => now > length.value && grow(now),
  })
  const grow = (now: number): void => {
    const before = length.value
    length.value = now
    if (now < before) {
      columns.value = NO_COLUMNS
      pages.refresh(0)
    } else if (now > before) pages.grow(before)
    void outline()
  }
  const outline = async (): Promise<void> => {
    if (isOutlining) return
    isOutlining = true
    while (columns.value.length < length.value && !ended.aborted) {
      const from = columns.value.length
      const range = { from: String(from), to: String(Math.min(length.value, from + OUTLINE_PART)) }
      const part = await ask.outline(id, range, { signal: ended })
      if (!part.ok || part.value.to <= part.value.from) break
      if (part.value.from !== columns.value.length) continue
      columns.value = joinColumns(columns.value, part.value)
      if (columns.value.length < length.value)
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_PARTS_MS))
    }
    isOutlining = false
    isOutlined.value = true
    spawned.follow(columns.value)
  }
  const load = async (): Promise<void> => {
    clearTimeout(timer)
    const known = deletions
    const found = await ask.session(id, { signal: ended })
    if (ended.aborted) return
    if (!found.ok) {
      if (isNotThere(found.problem) && answer.value !== undefined) isGone.value = true
      else problem.value = found.problem
      return
    }
    problem.value = undefined
    if (known === deletions) isGone.value = false
    answer.value = found.value
    grow(found.value.length)
    if (found.value.outline.state === 'building') timer = setTimeout(() => void load(), BUILDING_MS)
  }
  const reload = (): void => {
    columns.value = NO_COLUMNS
    pages.refresh(0)
    void load()
  }
  const ends = [
    on('entries', (event) => {
      if (event.id === id && event.length !== length.value) grow(event.length)
    }),
    on('session', ({ row }) => {
      if (row.id !== id || answer.value === undefined) return
      answer.value = { ...answer.value, row, session: { ...answer.value.session, status: row.status } }
      if (row.entries !== undefined && row.entries > length.value) grow(row.entries)
    }),
    on('gone', (event) => {
      if (event.id !== id) return
      deletions += 1
      isGone.value = true
    }),
    on('reset', reload),
  ]
  void load()
  return {
    id,
    answer,
    problem,
    isGone,
    length,
    columns,
    version,
    isOutlined,
    pages,
    spawned,
    reload,
    end(): void {
      clearTimeout(timer)
      ending.abort()
      pages.end()
      spawned.end()
      for (const end of ends) end()
    },
  }
}
