/** Find in a session: positions that match, and the words marked where they are in sight. The document is not changed for it. */
import { signal } from '@preact/signals'
import { ask, type Problem } from '../../api.ts'

const MOST = 10_000
const LONGEST_WORD = 100

export type Finding = ReturnType<typeof createFinding>

export function createFinding(id: string) {
  const positions = signal<readonly number[]>([])
  const query = signal('')
  const isBusy = signal(false)
  const isMore = signal(false)
  const problem = signal<Problem | undefined>(undefined)
  let abort = new AbortController()
  return {
    positions,
    query,
    isBusy,
    isMore,
    problem,
    async find(text: string): Promise<void> {
      abort.abort()
      abort = new AbortController()
      const { signal: wanted } = abort
      query.value = text
      problem.value = undefined
      if (text.trim() === '') {
        positions.value = []
        isBusy.value = false
        return
      }
      isBusy.value = true
      const found = await positionsOf(id, text, wanted)
      if (wanted.aborted) return
      isBusy.value = false
      positions.value = found.positions
      isMore.value = found.isMore
      problem.value = found.problem
    },
    end: () => abort.abort(),
  }
}

/** All of them, up to ten thousand; the server looks through a part at a time. */
export async function positionsOf(
  id: string,
  q: string,
  wanted: AbortSignal,
): Promise<{ positions: readonly number[]; isMore: boolean; problem?: Problem }> {
  const positions: number[] = []
  let from = 0
  for (;;) {
    const answer = await ask.find(id, { q, from: String(from), limit: String(MOST) }, { signal: wanted })
    if (!answer.ok) return { positions, isMore: false, problem: answer.problem }
    positions.push(...answer.value.positions)
    const { next } = answer.value
    if (next === undefined || next <= from) return { positions, isMore: false }
    if (positions.length >= MOST) return { positions, isMore: true }
    from = next
  }
}

/** Words of a query as they would stand in a text: without the names of fields and marks. */
export function wordsOf(query: string): readonly string[] {
  return query
    .slice(0, 1000)
    .split(/\s+/)
    .filter((word) => !/^-|^\w+:/.test(word))
    .map((word) => word.replaceAll(/["()*]/g, '').toLowerCase())
    .filter((word) => word.length > 0 && word.length <= LONGEST_WORD && !/^(?:and|or|not)$/.test(word))
    .slice(0, 20)
}

/** Marks the words below the element by ranges, which the browser draws. */
export function markWords(below: Element, words: readonly string[]): void {
  if (typeof Highlight === 'undefined' || !('highlights' in CSS)) return
  CSS.highlights.delete('found')
  if (words.length === 0) return
  const ranges: Range[] = []
  const walk = document.createTreeWalker(below, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node !== null && ranges.length < 2000; node = walk.nextNode()) {
    const text = (node.nodeValue ?? '').slice(0, 200_000).toLowerCase()
    for (const word of words)
      for (
        let at = text.indexOf(word);
        at !== -1 && ranges.length < 2000;
        at = text.indexOf(word, at + word.length)
      ) {
        // Lower case may be longer than what it stands for.
        if (at + word.length > (node.nodeValue ?? '').length) break
        const range = new Range()
        range.setStart(node, at)
        range.setEnd(node, at + word.length)
        ranges.push(range)
      }
  }
  CSS.highlights.set('found', new Highlight(...ranges))
}
