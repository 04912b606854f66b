/** What stands in an exported file, by the names that src/server/export-reader.ts gives it. Read when it is needed, and not kept. */
import type { EntriesAnswer, EntryRow, OutlineAnswer, SessionAnswer } from '../../server/api.ts'
import type { InsightAnswer } from '../../server/api-cost.ts'

export type About = {
  readonly version: string
  readonly at: string
  readonly length: number
  readonly damageAtEnd?: EntriesAnswer['damageAtEnd']
}

const BLOCK = 100

export const about = (): About | undefined => read('about') as About | undefined
export const session = (): SessionAnswer | undefined => read('session') as SessionAnswer | undefined
export const outline = (): OutlineAnswer | undefined => read('outline') as OutlineAnswer | undefined
export const insight = (): InsightAnswer | undefined => read('insight') as InsightAnswer | undefined
export const blob = (hash: string): string | undefined =>
  read(`blob-${hash.replace(/^sha256:/, '')}`) as string | undefined

/** Entries from one position up to another. */
export function entries(from: number, to: number): readonly EntryRow[] {
  const rows: EntryRow[] = []
  for (let at = Math.floor(from / BLOCK); at * BLOCK < to; at += 1) {
    const block = blockAt(at)
    if (block === undefined) break
    rows.push(...block.filter(({ position }) => position >= from && position < to))
  }
  return rows
}

/** The last one that was read: pages are asked for one after another. */
let last: { readonly at: number; readonly rows: readonly EntryRow[] } | undefined

function blockAt(at: number): readonly EntryRow[] | undefined {
  if (last?.at === at) return last.rows
  const rows = read(`entries-${at}`) as readonly EntryRow[] | undefined
  if (rows !== undefined) last = { at, rows }
  return rows
}

/** What it is, our own server says, which wrote it: see export-reader.ts. */
function read(id: string): unknown {
  const element = document.getElementById(id)
  if (!(element instanceof HTMLScriptElement) || element.type !== 'application/json') return undefined
  return JSON.parse(element.text)
}
