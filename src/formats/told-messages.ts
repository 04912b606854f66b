/**
 * Traces repeat the whole conversation in every call. Here each message is told once: of a call's messages, those that are there more often
 * than they were told so far are new. Memory is a few bytes for each message.
 */
import { sha256 } from '../transcript/sha256.ts'
import { toJson } from '../transcript/json.ts'
import type { Said } from './placing.ts'

export type ToldMessages = {
  /** Those of a call's messages that are new, in their order. They are told from now on. */
  news(messages: readonly Said[]): readonly Said[]
  /** Says that a message was told elsewhere: an answer, whose echo comes with the next call. */
  tell(message: Said): void
}

export function createToldMessages(): ToldMessages {
  const told = new Map<string, number>()
  return {
    news(messages) {
      const here = new Map<string, number>()
      return messages.filter((message) => {
        const key = keyOf(message)
        const count = (here.get(key) ?? 0) + 1
        here.set(key, count)
        if (count <= (told.get(key) ?? 0)) return false
        told.set(key, count)
        return true
      })
    },
    tell(message) {
      const key = keyOf(message)
      told.set(key, (told.get(key) ?? 0) + 1)
    },
  }
}

/** By what was said: an echo often lacks what was thought, and the names that a provider gave. */
function keyOf({ role, blocks }: Said): string {
  const said = blocks.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'tool-call') return [block.callId ?? null, block.name, block.input ?? null]
    // What a call returned is known by its call: clients cut old results short.
    if (block.type === 'tool-result')
      return block.callId === undefined ? (block.output ?? null) : [block.callId]
    return block.type === 'thinking' ? '' : block
  })
  return sha256(toJson([role ?? null, said.filter((one) => one !== '')])).toString('base64', 0, 12)
}
