/** What a rollout does not hold of an entry from elsewhere: told by what its lines read back as. */
import { hasBlob, type Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { FoldedLine } from './codex-fold.ts'
import type { WriteContext } from './format.ts'
import { loseEntry, loseEntryFacts, type HeldEntry } from './lost-facts.ts'

type Written = {
  /** The entry's lines, as the reader gives them. */
  readonly read: readonly FoldedLine[]
  readonly lost: readonly string[]
  /** The entry before, which this one follows where it says nothing else. */
  readonly last: string | undefined
}

export function loseOfItems(entry: Entry, { read, lost, last }: Written, context: WriteContext): void {
  const messages = read.flatMap(({ line }) => (line.kind === 'message' ? [line] : []))
  const count = read.find((line) => line.count !== undefined)?.count
  if (messages.length === 0 && count === undefined) {
    loseEntry(
      entry,
      entry.kind === 'event' ? 'an event that Codex has no record for' : 'nothing of it is an item',
      context,
    )
    return
  }
  const [first] = messages
  const blocks = messages.flatMap((message) => message.blocks)
  const isOneRole = messages.every(({ role }) => role === entry.role)
  const model = messages.find((message) => message.model !== undefined)?.model ?? count?.model
  if (entry.role === 'assistant' && entry.model === undefined && model !== undefined) {
    context.filled(entry, 'model')
  }
  const held: HeldEntry = {
    kind: first === undefined ? 'event' : 'message',
    source: 'primary',
    ...(isOneRole && entry.role !== undefined && { role: entry.role }),
    ...(first?.at !== undefined && { at: first.at }),
    ...(model !== undefined && { model }),
    ...(count !== undefined && { usage: count.usage }),
    ...(first?.durationMs !== undefined && { durationMs: first.durationMs }),
    ...(entry.parent === last && last !== undefined && { parent: last }),
    callIds: true,
  }
  const losses = new Set([...blockLosses(entry.blocks, blocks), ...lost])
  if (messages.length > 1) losses.add('block boundaries')
  loseEntryFacts(entry, held, context, losses)
}

function* blockLosses(blocks: readonly Block[], read: readonly Block[]): Generator<string> {
  let at = 0
  for (const block of blocks) {
    if (block.type === 'unknown') yield 'content that was not understood'
    else if (block.type === 'error') yield 'error as an event of its own'
    else {
      if (hasBlob(block)) yield 'content kept in a blob'
      else if (!isHeld(block, read[at])) yield LOST[block.type]
      at += 1
    }
  }
}

const LOST = {
  text: 'text',
  thinking: 'thinking facts',
  image: 'image facts',
  'tool-call': 'tool input',
  'tool-result': 'tool result facts',
} as const

function isHeld(block: Block, read: Block | undefined): boolean {
  if (read === undefined) return false
  // The tool's name stands with its call, and an id that was missing was filled in.
  const { name: _, ...said } = block.type === 'tool-result' ? block : { ...block, name: undefined }
  const known = new Map(Object.entries(read))
  return Object.entries(said).every(([key, value]) => value === undefined || same(value, known.get(key)))
}

const same = (a: unknown, b: unknown): boolean => a === b || (b !== undefined && toJson(a) === toJson(b))
