/** What a session without a title is known by: the first thing that a person said in it, cut short. */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { saidText } from '../transcript/said.ts'

const PROMPT_LENGTH = 200

/** Undefined for what is no prompt: programs put context before the first one, as markup (see said.ts) or marked as theirs. */
export function promptOf({ role, source, blocks, metadata }: Entry): string | undefined {
  if (role !== 'user' || source !== PRIMARY || metadata?.['isMeta'] === true) return undefined
  for (const block of blocks) {
    if (block.type !== 'text' || typeof block.text !== 'string') continue
    const text = saidText(block.text)
      ?.slice(0, PROMPT_LENGTH * 2)
      .replaceAll(/\s+/g, ' ')
      .trim()
    // A copy: a part of a text holds on to all of it.
    if (text !== undefined && text !== '')
      return JSON.parse(JSON.stringify(text.slice(0, PROMPT_LENGTH))) as string
  }
  return undefined
}

/** `/mode` alone says little of a session: what is asked after it says more. */
export const isBareCommand = (prompt: string): boolean => /^\/[\w:-]+$/.test(prompt)
