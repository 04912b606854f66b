/** How answers were typed, asked for when they come next. Nobody waits long for it: an answer of which it is not known appears whole. */
import type { Block } from '../../../transcript/block.ts'
import type { Beat } from '../../../replay/playback/typed.ts'
import { ask } from '../../api.ts'
import type { SessionStore } from './store.ts'

export type Typist = {
  /** Undefined while it is asked for; none where it is not known. */
  beats(position: number): readonly Beat[] | undefined
}

const NONE: readonly Beat[] = []
/** Answers that are known. */
const MOST_KNOWN = 100

export function createTypist(id: string, pages: Pick<SessionStore['pages'], 'get'>): Typist {
  const known = new Map<number, readonly Beat[] | undefined>()
  const fetchBeats = async (position: number, call: string, length: number): Promise<void> => {
    known.set(position, undefined)
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as number)
    const answer = await ask.typing(id, { call })
    const beats: readonly Beat[] = answer.ok ? answer.value.beats : NONE
    // What the entry says must be what was typed.
    const isSame = beats.reduce((sum, [, more]) => sum + more, 0) === length
    known.set(position, isSame ? beats : NONE)
  }
  return {
    beats(position) {
      if (known.has(position)) return known.get(position)
      const entry = pages.get(position)?.entry
      if (entry === undefined) return undefined
      const { call, tape } = entry.metadata ?? {}
      const length = unitsOf(entry.blocks)
      if (entry.role !== 'assistant' || tape !== true || typeof call !== 'string' || length === 0) return NONE
      void fetchBeats(position, call, length)
      return undefined
    },
  }
}

/** UTF-16 units of their texts. */
export function unitsOf(blocks: readonly Block[]): number {
  return blocks.reduce(
    (sum, block) => sum + (block.type === 'text' && typeof block.text === 'string' ? block.text.length : 0),
    0,
  )
}
