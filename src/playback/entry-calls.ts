/**
 * The provider calls of a session as its entries tell them: what was new, what was answered, and where each stands. For what no tape
 * has, and to say which entry a call is.
 */
import type { ReadItem } from '../formats/format.ts'
import { turnOf, type Turn } from '../replay/matching/turn.ts'
import type { Block, ErrorBlock } from '../transcript/block.ts'
import { citation, type Entry } from '../transcript/entry.ts'
import { asNumber, asObject, asString } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'

export type EntryCall = {
  readonly source: string
  /** As the recorder named it; agents' own logs name none. */
  readonly call?: string
  readonly turn: Turn
  /** The first entry that was new in it, and the one that it was answered with. */
  readonly asked?: string
  readonly answered?: string
  /** Where its parameters were last said: tools, limits. */
  readonly parameters?: string
  readonly answer: EntryAnswer
}

export type EntryAnswer = {
  readonly blocks: readonly Block[]
  readonly model?: string
  readonly messageId?: string
  readonly stopReason?: string
  readonly usage?: Usage
  readonly error?: ErrorBlock
  readonly status?: number
  /** Nothing was recorded of an answer: the recording stops there. */
  readonly isMissing?: boolean
}

export type SessionCalls = {
  readonly calls: readonly EntryCall[]
  /** Where what a message says was recorded: a tool's call or result by its id, words by themselves. */
  readonly places: ReadonlyMap<string, string>
  readonly damaged: number
}

type Open = { -readonly [K in keyof EntryCall]: EntryCall[K] }

/** Places are kept of so many; of what comes after, the call is named instead. */
const MOST_PLACES = 200_000

export async function readCalls(
  session: string,
  items: AsyncIterable<readonly ReadItem[]>,
): Promise<SessionCalls> {
  const calls: Open[] = []
  const open = new Map<string, Open>()
  const fresh = new Map<
    string,
    {
      readonly blocks: Block[]
      first?: string
      parameters?: string
      answers: number
      last?: Open | undefined
    }
  >()
  /** What tells the entries of one answer from those of the next. */
  const keys = new Map<Open, string | undefined>()
  const places = new Map<string, string>()
  let damaged = 0

  const begin = (entry: Entry, call: string | undefined, key: string | undefined): Open => {
    const of = freshOf(entry.source)
    const made: Open = {
      source: entry.source,
      ...(call !== undefined && { call }),
      turn: turnOf(of.answers, of.blocks),
      ...(of.first !== undefined && { asked: of.first }),
      ...(of.parameters !== undefined && { parameters: of.parameters }),
      answer: { blocks: [], isMissing: true },
    }
    keys.set(made, key)
    of.blocks.length = 0
    delete of.first
    calls.push(made)
    if (call !== undefined) open.set(call, made)
    of.last = made
    return made
  }
  const freshOf = (source: string) => {
    const known = fresh.get(source) ?? { blocks: [], answers: 0 }
    fresh.set(source, known)
    return known
  }
  const take = (entry: Entry): void => {
    const at = citation(session, entry)
    const of = freshOf(entry.source)
    const said = asString(entry.metadata?.['call']) ?? startedCall(entry)
    if (places.size < MOST_PLACES)
      for (const block of entry.blocks) {
        const mark = markOf(block)
        if (mark !== undefined && !places.has(mark)) places.set(mark, at)
      }
    if (said !== undefined && startedCall(entry) !== undefined) {
      begin(entry, said, said).asked ??= at
      return
    }
    if (entry.metadata?.['record'] === 'parameters') of.parameters = at
    const error = entry.blocks.find((block): block is ErrorBlock => block.type === 'error')
    const isAnswer = entry.role === 'assistant' || (error !== undefined && said !== undefined)
    if (!isAnswer) {
      if (entry.kind === 'message' && entry.role !== 'system') {
        of.first ??= at
        of.blocks.push(...entry.blocks)
        of.last = undefined
      }
      return
    }
    const key = said ?? entry.call?.messageId
    const known = (said === undefined ? undefined : open.get(said)) ?? of.last
    const own =
      known !== undefined && (key === undefined || keys.get(known) === undefined || keys.get(known) === key)
        ? known
        : begin(entry, said, key)
    if (own.answer.isMissing === true && error === undefined) of.answers += 1
    own.answered ??= at
    own.answer = joined(own.answer, entry, error)
  }
  for await (const batch of items)
    for (const item of batch) {
      if (item.type === 'damage') damaged += 1
      else if (item.type === 'entry') take(item.entry)
    }
  return { calls, places, damaged }
}

/** By what a message is known to its entry. */
export function markOf(block: Block): string | undefined {
  if (block.type === 'tool-call' && block.callId !== undefined) return `call ${block.callId}`
  if (block.type === 'tool-result' && block.callId !== undefined) return `result ${block.callId}`
  if (block.type === 'text' && typeof block.text === 'string') return `text ${block.text.trim()}`
  return undefined
}

function startedCall({ metadata, blocks }: Entry): string | undefined {
  const [block] = blocks
  if (metadata?.['record'] !== 'call-started' || block?.type !== 'unknown') return undefined
  return asString(asObject(block.raw)?.['call'])
}

function joined(answer: EntryAnswer, entry: Entry, error: ErrorBlock | undefined): EntryAnswer {
  const { isMissing: _, ...known } = answer
  const { model, usage, stopReason, call } = entry
  const status = asNumber(entry.metadata?.['status'])
  return {
    ...known,
    blocks: [...known.blocks, ...entry.blocks.filter(({ type }) => type !== 'error')],
    ...(model !== undefined && { model }),
    ...(call?.messageId !== undefined && { messageId: call.messageId }),
    ...(stopReason !== undefined && { stopReason }),
    ...(usage && { usage }),
    ...(error && { error }),
    ...(status !== undefined && { status }),
  }
}
