/**
 * Traces repeat the whole conversation in every call. Here each message is told once: of a call's messages, those that are there more often
 * than they were told so far are new. Memory is a few bytes for each message.
 */
import { createHash } from 'node:crypto'
import { isObject, toJson, type Json } from '../transcript/json.ts'
import { spelledPieces } from '../transcript/long-spelling.ts'
import { sha256 } from '../transcript/sha256.ts'
import { createIdSet, type IdSet } from './id-set.ts'
import type { Said } from './placing.ts'

export type ToldMessages = {
  /** Those of a call's messages that are new, in their order. They are told from now on. */
  news(messages: readonly Said[]): readonly Said[]
  /** Says that a message was told elsewhere: an answer, whose echo comes with the next call. */
  tell(message: Said): void
}

export function createToldMessages(): ToldMessages {
  /** `<message> <n>` for each message that was told n times or more. */
  const told = createIdSet()
  return {
    news(messages) {
      const here = new Map<string, number>()
      return messages.filter((message) => {
        const key = keyOf(message)
        const count = (here.get(key) ?? 0) + 1
        here.set(key, count)
        if (told.has(`${key} ${count}`)) return false
        told.add(`${key} ${count}`)
        return true
      })
    },
    tell(message) {
      const key = keyOf(message)
      told.add(`${key} ${timesTold(told, key) + 1}`)
    },
  }
}

/** How often, found in a few steps however often: some say the same a million times. */
function timesTold(told: IdSet, key: string): number {
  let least = 0
  let beyond = 1
  while (told.has(`${key} ${beyond}`)) {
    least = beyond
    beyond *= 2
  }
  while (beyond - least > 1) {
    const middle = Math.floor((least + beyond) / 2)
    if (told.has(`${key} ${middle}`)) least = middle
    else beyond = middle
  }
  return least
}

/** By what was said: an echo often lacks what was thought, and the names that a provider gave. */
function keyOf({ role, blocks }: Said): string {
  const said = blocks.map((block) => {
    if (block.type === 'text') return typeof block.text === 'string' ? toShort(block.text) : block.text
    if (block.type === 'tool-call')
      return [block.callId ?? null, block.name, withoutLong(block.input ?? null)]
    // What a call returned is known by its call: clients cut old results short.
    if (block.type === 'tool-result')
      return block.callId === undefined ? withoutLong(block.output ?? null) : [block.callId]
    return block.type === 'thinking' ? '' : block
  })
  return sha256(toJson([role ?? null, said.filter((one) => one !== '')])).toString('base64', 0, 12)
}

/** UTF-16 units; of a longer text, what it says is hashed by itself and piece by piece, or it would be here three times. */
const LONG = 1024 * 1024

/** The same value, with long texts in it as their hashes: what is compared or hashed as JSON would be there twice. */
export function withoutLong(value: Json, depth = DEEPEST): Json {
  if (typeof value === 'string') return toShort(value)
  if (!hasLong(value, depth)) return value
  if (Array.isArray(value)) return value.map((one) => withoutLong(one, depth - 1))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutLong(one, depth - 1)]))
}

/** Levels down to which it is looked for: hostile values are deeper than the machine's stack. */
const DEEPEST = 100

function hasLong(value: Json, depth: number): boolean {
  if (typeof value === 'string') return value.length > LONG
  if (depth === 0) return false
  if (Array.isArray(value)) return value.some((one) => hasLong(one, depth - 1))
  if (!isObject(value)) return false
  for (const key in value) if (hasLong(value[key] as Json, depth - 1)) return true
  return false
}

function toShort(text: string): string {
  if (text.length <= LONG) return text
  const hash = createHash('sha256')
  for (const piece of spelledPieces(text)) hash.update(piece)
  return hash.digest('base64')
}
