/**
 * What of a request is new. Clients send the whole history with every call, and change it on the way: cached parts are marked, old tool
 * results are cleared, thinking is left out. So blocks are told apart by what makes them one: a call or a result by its id, words by
 * themselves. Each is recorded once; said twice, it is recorded twice.
 */
import { createHash } from 'node:crypto'
import type { Block } from '../../transcript/block.ts'
import type { Role } from '../../transcript/entry.ts'
import { toJson } from '../../transcript/json.ts'

export type KnownBlocks = {
  /** Those of a history's messages that were not there before, in order; messages without any are left out. */
  take<M extends Message>(
    messages: readonly M[],
  ): { readonly message: M; readonly blocks: readonly Block[] }[]
  /** An answer, which the next request will repeat. */
  add(role: Role, blocks: readonly Block[]): void
  /** How much of these is known, to tell whose history a request goes on with. */
  overlap(messages: readonly Message[]): Overlap
}

export type Overlap = {
  /** Answers, calls and results: nobody else can have heard them. */
  readonly own: number
  /** What anybody may have been asked. */
  readonly asked: number
}

type Message = { readonly role: Role; readonly blocks: readonly Block[] }

/** In a session that goes on for weeks, the oldest are forgotten: at worst they are recorded again. */
const MOST_KNOWN = 200_000

export function createKnownBlocks(): KnownBlocks {
  const known = new Map<string, number>()
  const remember = (mark: string, times: number): void => {
    known.set(mark, times)
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as string)
  }
  return {
    take(messages) {
      const met = new Map<string, number>()
      return messages.flatMap((message) => {
        const blocks = message.blocks.filter((block) => {
          const mark = toMark(message.role, block)
          if (mark === undefined) return false
          const times = (met.get(mark) ?? 0) + 1
          met.set(mark, times)
          if (times <= (known.get(mark) ?? 0)) return false
          remember(mark, times)
          return true
        })
        return blocks.length === 0 ? [] : [{ message, blocks }]
      })
    },
    add(role, blocks) {
      for (const block of blocks) {
        const mark = toMark(role, block)
        if (mark !== undefined) remember(mark, (known.get(mark) ?? 0) + 1)
      }
    },
    overlap(messages) {
      let own = 0
      let asked = 0
      for (const { role, blocks } of messages)
        for (const block of blocks) {
          const mark = toMark(role, block)
          if (mark === undefined) continue
          // What a tool gave belongs to whoever called it, also where the call is not repeated.
          const isCalled = block.type === 'tool-result' && known.has(`call ${block.callId}`)
          if (!known.has(mark) && !isCalled) continue
          if (role === 'assistant' || block.type === 'tool-result') own += 1
          else asked += 1
        }
      return { own, asked }
    },
  }
}

/** A request is compared with many conversations: what a block is known by is made once. */
const marks = new WeakMap<Block, string>()

function toMark(role: Role, block: Block): string | undefined {
  const known = marks.get(block)
  if (known !== undefined) return known
  const mark = markOf(role, block)
  if (mark !== undefined) marks.set(block, mark)
  return mark
}

/** Undefined for what says nothing by itself: thinking comes back changed or not at all, and was recorded with its answer. */
function markOf(role: Role, block: Block): string | undefined {
  switch (block.type) {
    case 'thinking':
      return undefined
    case 'tool-call':
      return block.callId === undefined ? `${role} ${hashOf(toJson(block))}` : `call ${block.callId}`
    case 'tool-result':
      return block.callId === undefined ? `${role} ${hashOf(toJson(block))}` : `result ${block.callId}`
    case 'text': {
      const text = typeof block.text === 'string' ? block.text.trim() : block.text.blob
      return text === '' ? undefined : `${role} ${hashOf(text)}`
    }
    case 'image':
    case 'error':
    case 'unknown':
      return `${role} ${hashOf(toJson(block))}`
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
