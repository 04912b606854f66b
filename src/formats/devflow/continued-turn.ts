/** Finds the turn that an entry continues: one provider message, or a tool call of the answer before it, is one turn. */
import { textOf } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import { asObject } from '../../transcript/json.ts'
import { isNamed } from '../../transcript/totals.ts'

/** What is known of a turn here. */
type Turn = { readonly entry: Entry; readonly role: string }

export type ContinuedTurns<T extends Turn> = {
  /** Undefined where the entry begins a turn of its own. */
  find(entry: Entry): T | undefined
  /** A turn that has begun. */
  open(turn: T): void
  /** The turn that its source's entries went to last. */
  last(source: string): T | undefined
  /** An entry went to this turn. */
  use(source: string, turn: T): void
}

export function createContinuedTurns<T extends Turn>(): ContinuedTurns<T> {
  const byId = new Map<string, T>()
  const byMessage = new Map<string, T>()
  const lastTurn = new Map<string, T>()
  return {
    find(entry) {
      // The runs store names the turn that a call belongs to.
      const own = asObject(entry.metadata?.['devflow'])?.['turn']
      const named = typeof own === 'string' ? byId.get(own) : undefined
      if (named !== undefined) return named.entry.source === entry.source ? named : undefined
      const key = messageKey(entry)
      if (key !== undefined) return byMessage.get(key)
      const last = lastTurn.get(entry.source)
      return last?.role === 'assistant' && hasAnswer(last.entry) && isLoneCall(entry) ? last : undefined
    },
    open(turn) {
      byId.set(turn.entry.id, turn)
      const key = messageKey(turn.entry)
      if (key !== undefined) byMessage.set(key, turn)
    },
    last: (source) => lastTurn.get(source),
    use: (source, turn) => void lastTurn.set(source, turn),
  }
}

/** What the entries of one assistant message share. */
function messageKey({ role, source, call }: Entry): string | undefined {
  return role === 'assistant' && isNamed(call?.messageId) ? `${source}\n${call.messageId}` : undefined
}

/**
 * A call that was recorded by itself, as `toolCall()` does: it belongs to the answer before it, as AddToolCall has it. Logs of other
 * programs keep their entries apart, and so does a call that has counts of its own: it may be an answer without a text.
 */
function isLoneCall({ role, blocks, usage, call, origin }: Entry): boolean {
  const isOurs = origin === undefined || origin.format === JOURNAL
  const isAlone = blocks.length === 1 && blocks[0]?.type === 'tool-call'
  return role === 'assistant' && isAlone && isOurs && usage === undefined && call === undefined
}

/** A turn without a text or call of its own would read back as the entry that was added to it. */
function hasAnswer({ blocks }: Entry): boolean {
  return blocks.some(({ type }) => type === 'tool-call') || textOf(blocks) !== ''
}

const JOURNAL = 'journal'
