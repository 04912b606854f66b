/** Queries as people type them, put to sessions; and the answers of an archive in which nothing was ever recorded. */
import type { AskingContext } from './context.ts'
import { parseField } from '../search/query-fields.ts'
import { parseQuery } from '../search/query.ts'
import { toSessionFilter } from '../search/session-filter.ts'
import { EVERY_SESSION, toWhere, type SessionFilter } from '../search/session-where.ts'
import type { Database } from '../sqlite/driver.ts'

/** What words it takes to find is found once, whatever is asked of it then. */
export function filterOf(
  database: Database,
  q: string | undefined,
  { options }: AskingContext,
): SessionFilter {
  if (q === undefined || q.trim() === '') return EVERY_SESSION
  const filter = toSessionFilter(parseQuery(q, { utc: options.utc === true }))
  return { ...toWhere(database, filter), isUnsure: filter.isUnsure === true }
}

/** `2026-01-31`, `7d`, `yesterday` as an instant. */
export function instantOf(
  name: 'since' | 'until',
  value: string | undefined,
  time: { readonly utc: boolean },
): string | undefined {
  if (value === undefined) return undefined
  const given = value.trim() === '' ? '-' : value
  const token = { type: 'field', name, operator: ':', value: given, quoted: false, raw: value } as const
  const test = parseField(token, time)
  return test !== undefined && 'instant' in test ? test.instant : undefined
}

/** Answers to what was asked before, while nothing that they say has changed. */
export function createMemory<T>(most = 50): (mark: string, question: string, make: () => T) => T {
  let now = ''
  const known = new Map<string, T>()
  return (mark, question, make) => {
    if (mark !== now) known.clear()
    now = mark
    const before = known.get(question)
    if (before !== undefined) return before
    const made = make()
    if (known.size >= most) known.clear()
    known.set(question, made)
    return made
  }
}
