/** What an entry is at a glance: see transcript/kinds.ts. */
import type { Block } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import { toKind, type KindFlag } from '../transcript/kinds.ts'
import { wayOf } from '../transcript/tool-files.ts'

/** `before`: the damage between the entry and the one before it. */
export function kindOf(entry: Entry, before: readonly Damage[] = []): number {
  const flags = new Set<KindFlag>()
  for (const block of entry.blocks) addFlags(flags, block)
  if (isCompaction(entry)) flags.add('compaction')
  else if (isPrompt(entry)) flags.add('prompt')
  for (const { kind } of before) flags.add(kind === 'missing' ? 'gap' : 'damage')
  return toKind(entry.role, [...flags])
}

function addFlags(flags: Set<KindFlag>, block: Block): void {
  switch (block.type) {
    case 'thinking':
      flags.add('thinking')
      return
    case 'error':
      flags.add('error')
      return
    case 'tool-call': {
      flags.add('tool')
      const way = wayOf(block.name, block.input)
      if (way === 'edited' || way === 'written') flags.add('edit')
      return
    }
    case 'tool-result':
      flags.add('tool')
      if (block.isError === true || block.error !== undefined) flags.add('error')
      return
    case 'text':
    case 'image':
    case 'unknown':
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

/** Programs put context in the person's place, as markup or marked as theirs. */
function isPrompt({ kind, role, blocks, metadata }: Entry): boolean {
  if (role !== 'user' || kind !== 'message' || metadata?.['isMeta'] === true) return false
  return blocks.some(({ type, ...block }) => {
    if (type === 'image') return true
    const text = type === 'text' && 'text' in block ? block.text : undefined
    if (typeof text !== 'string') return text !== undefined
    const said = text.slice(0, 1000).trimStart()
    return said !== '' && !said.startsWith('<') && !said.startsWith('# AGENTS.md')
  })
}
