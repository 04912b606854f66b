/** Searching while somebody types: the last question is the one that is answered, and those before it are taken back. */
import { useEffect, useState } from 'preact/hooks'
import type { SearchAnswer } from '../../../server/api.ts'
import { ask, type Problem } from '../../api.ts'

export type Found = {
  /** What it answers; while the next answer is on its way, that of the question before. */
  readonly query: string
  readonly answer?: SearchAnswer
  readonly problem?: Problem
}

export type Searching = { readonly found?: Found; readonly isBusy: boolean }

const LIMIT = '100'

/** Nothing is searched for while `query` is undefined. */
export function useSearch(query: string | undefined): Searching {
  const [found, setFound] = useState<Found>()
  useEffect(() => {
    if (query === undefined) return setFound(undefined)
    const mine = new AbortController()
    void ask.search({ q: query, limit: LIMIT }, { signal: mine.signal }).then((answer) => {
      if (mine.signal.aborted) return
      setFound(answer.ok ? { query, answer: answer.value } : { query, problem: answer.problem })
    })
    return () => mine.abort()
  }, [query])
  return {
    ...(query !== undefined && found && { found }),
    isBusy: query !== undefined && found?.query !== query,
  }
}
