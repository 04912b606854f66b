/** A provider's block in two: what the model can hold, and what it cannot. */
import type { Block } from '../transcript/block.ts'
import type { JsonObject } from '../transcript/json.ts'

/**
 * `extras` holds the fields of the raw block that `block` does not say, and is absent when there are none. For an Anthropic
 * tool result made of blocks, `extras.content` is a list with the extras of each of them, `null` where one has none.
 */
export type SplitBlock = { readonly block: Block; readonly extras?: JsonObject }

/** A message's blocks with their extras by place; `extras` is absent when no block has any. */
export type SplitBlocks = {
  readonly blocks: readonly Block[]
  readonly extras?: readonly (JsonObject | null)[]
}

export function toBlocks(split: readonly SplitBlock[]): SplitBlocks {
  const blocks = split.map(({ block }) => block)
  if (split.every(({ extras }) => extras === undefined)) return { blocks }
  return { blocks, extras: split.map(({ extras }) => extras ?? null) }
}
