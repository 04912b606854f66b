/** Ways from entry to entry: the call that an answer is shown with, the next row that is shown, what of an entry can be opened. */
import { isWithAnother } from './entry.tsx'
import type { TranscriptRow } from './rows.ts'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'

export function callOf(store: SessionStore, position: number) {
  const entry = store.pages.get(position)?.entry
  const block = entry?.blocks.find(({ type }) => type === 'tool-result')
  if (entry === undefined || block?.type !== 'tool-result' || block.callId === undefined) return undefined
  return store.pages.callOf(entry.source, block.callId)
}

type RowList = { readonly count: number; at(row: number): TranscriptRow }

/** Rows whose entry is shown with another are passed over. */
export function nextShown(
  store: SessionStore,
  shown: Shown,
  rows: RowList,
  from: number,
  step: 1 | -1,
): number | undefined {
  for (let at = from + step; at >= 0 && at < rows.count; at += step) {
    const { position, lane } = rows.at(at)
    const row = store.pages.get(position)
    if (lane !== undefined || row === undefined || !isWithAnother(row, store, shown)) return at
  }
  return undefined
}

const PARTS: { readonly [type: string]: string } = {
  text: 'text',
  thinking: 'thinking',
  'tool-call': 'tool',
  'tool-result': 'result',
  unknown: 'unknown',
}

export function partsOf(store: SessionStore, position: number): readonly string[] {
  const blocks = store.pages.get(position)?.entry.blocks ?? []
  const parts = blocks.flatMap(({ type }, at) => (PARTS[type] === undefined ? [] : [`${PARTS[type]} ${at}`]))
  return parts.length === 0 ? ['event'] : parts
}
