/**
 * What is asked of the list, as the address has it: words, values of facets, an order. Values of one facet are alternatives, facets
 * narrow each other down, and both become a query in the language that the command line has (docs/search.md).
 */
import type { SessionsQuery } from '../../../server/api.ts'
import { SESSION_SORTS, type SessionSort } from '../../../search/session-sorts.ts'
import type { Params } from '../../router.ts'

export const FACET_NAMES = ['status', 'agent', 'model', 'project', 'branch'] as const
export type FacetName = (typeof FACET_NAMES)[number]

export type Question = {
  readonly words: string
  readonly facets: Readonly<Record<FacetName, readonly string[]>>
  readonly sort: SessionSort
  readonly isReversed: boolean
}

export function questionOf(params: URLSearchParams): Question {
  const values = (name: FacetName): readonly string[] => [...new Set(params.getAll(name))]
  return {
    words: params.get('q') ?? '',
    facets: {
      status: values('status'),
      agent: values('agent'),
      model: values('model'),
      project: values('project'),
      branch: values('branch'),
    },
    sort: SESSION_SORTS.find((name) => name === params.get('sort')) ?? 'newest',
    isReversed: params.get('reverse') === 'true',
  }
}

/** `without`: as if nothing of that facet were chosen, which is how its other values are counted. */
export function queryOf({ words, facets }: Question, without?: FacetName): string {
  const fields = FACET_NAMES.filter((name) => name !== without).flatMap((name) => {
    const values = facets[name]
    if (values.length === 0) return []
    // Plain names as a list, which the state answers by itself; others one by one, in quotes.
    if (values.every((value) => /^[\w.@/-]+$/.test(value))) return [`${name}:${values.join(',')}`]
    const quoted = values.map((value) => `${name}:"${value.replaceAll('"', '\\"')}"`)
    return [quoted.length === 1 ? quoted.join('') : `(${quoted.join(' OR ')})`]
  })
  // Words may hold an OR, which binds less than standing side by side.
  const asked = words.trim()
  const own = fields.length > 0 && /(^|\s)OR(\s|$)/.test(asked) ? `(${asked})` : asked
  return [own, ...fields].filter((part) => part !== '').join(' ')
}

export const toSessionsQuery = (question: Question): SessionsQuery => ({
  q: queryOf(question),
  ...(question.sort !== 'newest' && { sort: question.sort }),
  ...(question.isReversed && { reverse: 'true' }),
})

/** Whether there is something to look for in entries: fields alone choose sessions. */
export const hasWords = ({ words }: Question): boolean => wordsAlone(words) !== ''

/** What is looked for in entries, without what chooses sessions. */
export function wordsAlone(words: string): string {
  return words
    .replaceAll(/(^|\s)-?[a-z]+(:("[^"]*"|\S*)|[<>=]+\S*)/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function toggled({ facets }: Question, name: FacetName, value: string): Params {
  const before = facets[name]
  const isOn = before.includes(value)
  return { [name]: isOn ? before.filter((one) => one !== value) : [...before, value] }
}

export function chosenCount({ facets }: Question): number {
  return FACET_NAMES.reduce((sum, name) => sum + facets[name].length, 0)
}
