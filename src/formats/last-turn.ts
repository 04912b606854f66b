/**
 * How the last turn of a log ended. Agents' logs have no closing record: a session whose last word is an error has failed, and one that
 * goes on after an error has not.
 */
import type { Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Said } from './placing.ts'

export type LastTurn = {
  see(said: Pick<Said, 'kind' | 'blocks' | 'source'>): void
  /** Empty unless the last turn failed. */
  facts(): Partial<Pick<Session, 'status' | 'error'>>
}

/** Only the main agent's entries count: it goes on when a subagent fails. */
export function createLastTurn(): LastTurn {
  let error: string | undefined
  return {
    see({ kind, blocks, source = PRIMARY }) {
      if (source !== PRIMARY) return
      const failed = blocks.findLast(isError)
      if (failed !== undefined) error = failed.message
      else if (kind === 'message') error = undefined
    },
    facts: () => (error === undefined ? {} : { status: 'failed', error }),
  }
}

const isError = (block: Block): block is Extract<Block, { readonly type: 'error' }> => block.type === 'error'
