/**
 * Rows as they were drawn last: while nothing that a row shows has changed it is not drawn again, however much is scrolled. Signals that
 * a row reads draw it by themselves.
 */
import type { VNode } from 'preact'
import type { EntryRow } from '../../../server/api.ts'
import type { Allowance } from './allowance.ts'
import { isRecord } from './records.ts'
import type { SessionStore } from './store.ts'

/** Rows that are remembered: some screens. */
const MOST = 300

export function createDrawn(allowance: Pick<Allowance, 'take'>) {
  const known = new Map<number, { readonly of: readonly unknown[]; readonly node: VNode }>()
  /** Nothing where it was not drawn yet and may not be in this frame. */
  return (position: number, of: readonly unknown[], draw: () => VNode): VNode | undefined => {
    const before = known.get(position)
    if (before !== undefined && isSame(before.of, of)) return before.node
    if (before === undefined && !allowance.take()) return undefined
    if (known.size >= MOST) known.clear()
    const node = draw()
    known.set(position, { of, node })
    return node
  }
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at])

/** What a row shows of other entries: another one when one of these has come. */
export function relatedTo(row: EntryRow, { pages, version, length }: SessionStore): readonly unknown[] {
  const { position, entry } = row
  // Prompts sum up what follows them, records stand in a row, and the last has what is damaged after it: of these any may be near.
  if (entry.role === 'user' || isRecord(row) || position >= length.peek() - 1) return [version.peek()]
  return entry.blocks.flatMap((block): readonly unknown[] => {
    if ((block.type !== 'tool-call' && block.type !== 'tool-result') || block.callId === undefined) return []
    const result = pages.resultOf(entry.source, block.callId)
    const answer = result && pages.get(result.position)
    return [
      result?.block,
      answer,
      block.type === 'tool-result' ? pages.callOf(entry.source, block.callId)?.position : 0,
    ]
  })
}
