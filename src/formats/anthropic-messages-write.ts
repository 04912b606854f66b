/**
 * A session as a request of Anthropic's Messages holds it: what the system says first is `system`, everything after it `messages`. Results
 * are the user's; the API joins messages of one role that follow each other, so each entry is a message.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asArray, asObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import type { Writer } from './format.ts'
import { loseEntry } from './lost-facts.ts'
import { messageWriter, type Lane, type LaneOptions } from './message-lanes.ts'
import { loseByReadingAgain } from './message-losses.ts'
import { fromRequest, fromRequestMessage } from './provider-entries.ts'

const ID = 'anthropic-messages'

export const anthropicMessagesWriter: Writer = messageWriter({
  root: ID,
  extension: 'jsonl',
  close: ']}\n',
  lane: createLane,
})

function createLane({ context, ids }: LaneOptions): Lane {
  const system: Json[] = []
  let first: Entry | undefined
  let isBegun = false

  /** What stands outside of the messages is one text of several blocks: entries in it are not told apart. */
  const takeSystem = (entry: Entry, message: JsonObject): void => {
    const content = asArray(message['content']) ?? []
    const isMore = system.length > 0
    if (first !== undefined) context.lost(first, 'that it is an entry of its own')
    first = isMore ? undefined : entry
    system.push(...content)
    const others = isMore ? ['that it is an entry of its own'] : []
    const read = fromRequest(ID, { system: content })
    loseByReadingAgain(entry, { read, toolOf: ids.toolOf, others }, context)
  }
  return {
    head() {
      isBegun = true
      return system.length === 0 ? '{"messages":[' : `{"system":${toJson(system)},"messages":[`
    },
    entry(entry) {
      if (entry.kind === 'event') {
        loseEntry(entry, 'a list of messages has no events', context)
        return []
      }
      const isOwn = entry.origin?.format === ID
      const blocks = entry.blocks
        .filter(({ type }) => isOwn || type !== 'unknown')
        .map((block) => ids.fill(block, entry, context))
      if (blocks.length === 0) {
        loseEntry(entry, 'nothing in it is a message', context)
        return []
      }
      const message = toMessage(blocks, entry, isOwn)
      if (entry.role === 'system' && !isBegun) {
        takeSystem(entry, message)
        return []
      }
      isBegun = true
      const read = fromRequestMessage(ID, message)
      loseByReadingAgain(entry, { read, toolOf: ids.toolOf }, context)
      return [message]
    },
    end: () => [],
    hasHead: () => system.length > 0,
  }
}

function toMessage(blocks: readonly Block[], { role, metadata }: Entry, isOwn: boolean): JsonObject {
  const extras = isOwn ? asArray(metadata?.['extras']) : undefined
  const fields = isOwn ? asObject(metadata?.['fields']) : undefined
  return {
    role: role === 'assistant' ? role : 'user',
    content: blocks.map((block, index): Json => toAnthropicBlock(asHeld(block), asObject(extras?.[index]))),
    ...fields,
  }
}

/** An error of the API is nothing that somebody said: it is kept as text. */
const asHeld = (block: Block): Block =>
  block.type === 'error' ? { type: 'text', text: block.message } : block
