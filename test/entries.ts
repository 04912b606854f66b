/** Entries for tests, in a word: who said what, when. Numbered in the order they are made, in one source. */
import type { Block } from '../src/transcript/block.ts'
import type { Entry, Role } from '../src/transcript/entry.ts'

let made = 0

/** Without a role it is an event. Text stands for a text block. */
export function entry(role: Role | undefined, at: string | undefined, ...blocks: (Block | string)[]): Entry {
  const sequence = made
  made += 1
  return {
    id: `e${sequence}`,
    source: 'primary',
    sequence,
    kind: role === undefined ? 'event' : 'message',
    ...(role !== undefined && { role }),
    ...(at !== undefined && { at }),
    blocks: blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)),
  }
}
