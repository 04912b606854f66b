/** How much of what was read for a search is held on to until it is shown: an entry may have many MB, and can be read again. */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'

/** In UTF-16 units: of all that are found at once, and of those of one unit that are shown after each other. */
export const MOST_FOUND = 8 * 1024 * 1024
export const MOST_SHOWN = 1024 * 1024
const LIGHT = 256 * 1024

/** Asked for each of several: whether there is room for it besides those before. */
export function createHolding(most: number): (entry: Entry) => boolean {
  let room = most
  return (entry) => {
    const weight = weightOf(entry.blocks, room)
    if (weight > room) return false
    room -= weight
    return true
  }
}

/** Whether dozens of its size may be held. */
export function isLight({ blocks }: Entry): boolean {
  return weightOf(blocks, LIGHT) <= LIGHT
}

/** In UTF-16 units; counted no further than `most`. By a stack of our own: hostile values are deeper than the machine's. */
function weightOf(blocks: readonly Block[], most: number): number {
  let weight = 0
  const stack: unknown[] = [blocks]
  while (stack.length > 0 && weight <= most) {
    const next = stack.pop()
    weight += typeof next === 'string' ? next.length + 1 : 1
    if (typeof next === 'object' && next !== null) for (const value of Object.values(next)) stack.push(value)
  }
  return weight
}
