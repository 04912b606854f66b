/** What an entry is at a glance: see kinds.ts. */
import { hasFailed, type Block } from './block.ts'
import type { Damage } from './damage.ts'
import type { Entry } from './entry.ts'
import { KIND_FLAGS, toKind } from './kinds.ts'
import { saidText } from './said.ts'
import { wayOf } from './tool-files.ts'

/** `before`: the damage between the entry and the one before it. */
export function kindOf(entry: Entry, before: readonly Damage[] = []): number {
  let bits = toKind(entry.role, [])
  for (const block of entry.blocks) bits |= flagsOf(block)
  if (isCompaction(entry)) bits |= KIND_FLAGS.compaction
  else if (isPrompt(entry)) bits |= KIND_FLAGS.prompt
  for (const { kind } of before) bits |= kind === 'missing' ? KIND_FLAGS.gap : KIND_FLAGS.damage
  return bits
}

function flagsOf(block: Block): number {
  switch (block.type) {
    case 'thinking':
      return KIND_FLAGS.thinking
    case 'error':
      return KIND_FLAGS.error
    case 'tool-call': {
      const way = wayOf(block.name, block.input)
      return KIND_FLAGS.tool | (way === 'edited' || way === 'written' ? KIND_FLAGS.edit : 0)
    }
    case 'tool-result':
      return KIND_FLAGS.tool | (hasFailed(block) ? KIND_FLAGS.error : 0)
    case 'text':
    case 'image':
    case 'unknown':
      return 0
  }
}

const COMPACTION = /compact/i

/** Programs name it in the kind of the record, or mark the summary that takes the place of what was said. */
function isCompaction({ metadata }: Entry): boolean {
  if (metadata === undefined) return false
  const { record, subtype, isCompactSummary } = metadata
  return isCompactSummary === true || [record, subtype].some(namesCompaction)
}

function namesCompaction(name: unknown): boolean {
  return typeof name === 'string' && name.length < 100 && COMPACTION.test(name)
}

/** Programs put context in the person's place, as markup (see said.ts) or marked as theirs. */
function isPrompt({ kind, role, blocks, metadata }: Entry): boolean {
  if (role !== 'user' || kind !== 'message' || metadata?.['isMeta'] === true) return false
  return blocks.some((block) => {
    if (block.type === 'image') return true
    if (block.type !== 'text') return false
    return typeof block.text !== 'string' || saidText(block.text) !== undefined
  })
}
