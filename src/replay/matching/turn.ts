/** What was new when a call was made, where only entries tell: the words of the prompt, the results of tools. */
import type { Block } from '../../transcript/block.ts'
import { contentText } from '../../transcript/block.ts'
import { envelopeOf } from '../../wire/call-apis.ts'
import { parseRequest } from '../../wire/request.ts'
import type { Asked } from './keys.ts'

export type Turn = {
  /** How many answers have come before. */
  readonly position: number
  /** Of the prompt. */
  readonly words: readonly string[]
  /** Calls that were answered. */
  readonly results: readonly string[]
}

export function turnOf(position: number, blocks: readonly Block[]): Turn {
  return {
    position,
    words: blocks.flatMap((block) => (block.type === 'text' ? [contentText(block.text).trim()] : [])),
    results: blocks.flatMap((block) =>
      block.type === 'tool-result' && block.callId !== undefined ? [block.callId] : [],
    ),
  }
}

/** Whether a request says the same since the last answer. Clients add to it what no log has: only what was recorded has to be there. */
export function isSameTurn(turn: Turn, live: Asked): boolean {
  const envelope = envelopeOf(live.api)
  const { messages } = parseRequest(envelope.api, envelope.request(live.body))
  const after = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  const said = turnOf(
    0,
    messages.slice(after).flatMap(({ blocks }) => blocks),
  )
  const [words, results] = [new Set(said.words), new Set(said.results)]
  const isAll = turn.words.every((one) => words.has(one)) && turn.results.every((one) => results.has(one))
  return isAll && turn.words.length + turn.results.length > 0
}
