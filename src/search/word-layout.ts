/** What FTS5's own tables have in common for who reads their leaves (word-leaves.ts) and who writes some (word-segment.ts). */
import type { Prepared } from './shard-statements.ts'

/** What a table says of how its leaves are laid out, since there is FTS5. */
const LEAF_VERSION = 4

/** Whether the leaves of a table are laid out as they are known here. */
export function hasKnownLeaves(ask: Prepared, table: string): boolean {
  return ask(`SELECT v FROM ${table}_config WHERE k = 'version'`).get()?.['v'] === LEAF_VERSION
}

/** Numbers of leaves: those of a list begin at its own multiple of this. */
export const LIST = 2 ** 37

/** Before each word, for FTS5 may have several kinds. */
export const KIND = 0x30
