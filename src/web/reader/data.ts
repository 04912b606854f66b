/** What stands in an exported file, by the names that src/server/export-reader.ts gives it. Read when it is needed, and not kept. */
import type { EntriesAnswer, EntryRow, OutlineAnswer, RawAnswer, SessionAnswer } from '../../server/api.ts'
import type { InsightAnswer } from '../../server/api-cost.ts'

export type About = { readonly length: number; readonly damageAtEnd?: EntriesAnswer['damageAtEnd'] }

/** The session that was exported goes by this; those that it started by their ids. */
export const MAIN = 'exported'
const BLOCK = 100

export const made = (): { readonly version: string; readonly at: string } | undefined =>
  read('made') as ReturnType<typeof made>

let known: ReadonlyMap<string, string> | undefined
/** Prefixes of the blocks of sessions. */
function prefixes(): ReadonlyMap<string, string> {
  if (known !== undefined) return known
  const started = (read('started') as readonly string[] | undefined) ?? []
  return (known = new Map([[MAIN, ''], ...started.map((id, at) => [id, `s${at}-`] as const)]))
}
export const hasSession = (id: string): boolean => prefixes().has(id)

const of = (id: string, name: string): unknown => {
  const prefix = prefixes().get(id)
  return prefix === undefined ? undefined : read(prefix + name)
}
export const about = (id: string): About | undefined => of(id, 'about') as About | undefined
export const session = (id: string): SessionAnswer | undefined =>
  of(id, 'session') as SessionAnswer | undefined
export const outline = (id: string): OutlineAnswer | undefined =>
  of(id, 'outline') as OutlineAnswer | undefined
export const insight = (id: string): InsightAnswer | undefined =>
  of(id, 'insight') as InsightAnswer | undefined
export const blob = (hash: string): string | undefined =>
  read(`blob-${hash.replace(/^sha256:/, '')}`) as string | undefined

type Record = RawAnswer & { readonly position: number }
export function raw(id: string, position: number): RawAnswer | undefined {
  const records = of(id, `records-${Math.floor(position / BLOCK)}`) as readonly Record[] | undefined
  return records?.find((one) => one.position === position)
}

/** Entries from one position up to another. */
export function entries(id: string, from: number, to: number): readonly EntryRow[] {
  const rows: EntryRow[] = []
  for (let at = Math.floor(from / BLOCK); at * BLOCK < to; at += 1) {
    const block = blockAt(id, at)
    if (block === undefined) break
    rows.push(...block.filter(({ position }) => position >= from && position < to))
  }
  return rows
}

/** The last one that was read: pages are asked for one after another. */
let last: { readonly id: string; readonly at: number; readonly rows: readonly EntryRow[] } | undefined

function blockAt(id: string, at: number): readonly EntryRow[] | undefined {
  if (last?.id === id && last.at === at) return last.rows
  const rows = of(id, `entries-${at}`) as readonly EntryRow[] | undefined
  if (rows !== undefined) last = { id, at, rows }
  return rows
}

/** What it is, our own server says, which wrote it: see export-reader.ts. */
function read(id: string): unknown {
  const element = document.getElementById(id)
  if (!(element instanceof HTMLScriptElement) || element.type !== 'application/json') return undefined
  return JSON.parse(element.text)
}
