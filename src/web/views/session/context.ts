/** Context that a program gave the agent, in the person's place or as the system's: nobody reads it before what was asked. */
import type { Block } from '../../../transcript/block.ts'
import type { Entry } from '../../../transcript/entry.ts'
import { saidText } from '../../../transcript/said.ts'

/** Shorter ones are read as soon as a line of them. */
const SHORT = 400
const FEW_LINES = 6

/** In a person's place, and nothing of it is a person's. */
export function isGiven({ role, source, blocks, metadata }: Entry): boolean {
  if (role !== 'user' || source !== 'primary') return false
  const texts = blocks.filter((block) => block.type === 'text')
  if (texts.length === 0 || texts.length < blocks.length) return false
  return metadata?.['isMeta'] === true || texts.every(({ text }) => isContext(text))
}

const isContext = (text: unknown): boolean => typeof text === 'string' && saidText(text) === undefined

/** Its text is folded to a line: instructions, context, what takes the place of what was compacted. */
export function isFoldedText(entry: Entry, block: Block): boolean {
  if (block.type !== 'text' || typeof block.text !== 'string') return false
  if (entry.role !== 'system' && !isGiven(entry)) return false
  return block.text.length > SHORT || block.text.split('\n', FEW_LINES + 1).length > FEW_LINES
}
