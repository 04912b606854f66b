/**
 * An answer exactly as it came: its head, and each chunk with its time, so that it can be played back to an agent byte for byte. Held
 * until its end, for it may be written only when it is known that there is no secret in it: a few megabytes of all open calls in memory,
 * and what is more outside of it. Where that cannot be, an answer is recorded without its tape.
 */
import { collect } from '../../sources/one-at-a-time.ts'
import type { TapeJson } from '../../wire/tape.ts'
import type { Spill } from '../spill.ts'
import type { AnswerHead } from './answer.ts'
import { createReel, type Reel, type Room } from './reel.ts'

export type Tape = {
  /** `at`: when it came, as `performance.now()` has it. */
  push(chunk: Buffer, at?: number): void
  /** All of it; undefined when it was too much. Ends the tape. `broken`: by whom, where it was broken off. */
  end(call: string, broken?: string): { readonly line: string; readonly words: string } | undefined
}

export type TapeDeck = { begin(head: AnswerHead, began: number): Tape }

export type DeckOptions = {
  readonly spill?: Spill
  /** Bytes of all open calls in memory. */
  readonly budget?: number
}

const MOST_HELD = 4 * 1024 * 1024
/** Bytes of one answer: at its end it is in memory, some times over. */
const MOST_OF_ONE = 16 * 1024 * 1024
/** Chunks of one answer, each with what stands around it: real ones have some ten thousand. */
const MOST_CHUNKS = 1_000_000
/** Bytes of answers put together until what is left of them is let go: each was in memory some times over. */
const COLLECT_BYTES = 4 * 1024 * 1024

export function createTapeDeck({ spill, budget = MOST_HELD }: DeckOptions = {}): TapeDeck {
  let held = 0
  let ended = 0
  const room: Room = {
    take(bytes) {
      held += bytes
    },
    isFull: () => held > budget,
    blocks: [],
    ...(spill && { spill }),
  }
  return {
    begin({ status, headers }, began) {
      let reel: Reel | undefined = createReel(room)
      let own = 0
      let count = 0
      const giveUp = (): void => {
        reel?.clear()
        reel = undefined
      }
      return {
        push(chunk, at = performance.now()) {
          own += chunk.length
          count += 1
          const isTooMuch = own > MOST_OF_ONE || count > MOST_CHUNKS
          if (isTooMuch || reel?.add(chunk, at - began) === false) giveUp()
        },
        end(call, broken) {
          ended += own
          if (ended > COLLECT_BYTES) {
            ended = 0
            collect()
          }
          const shown = kept(headers)
          const facts = {
            v: 1,
            call,
            status,
            headers: shown,
            ...(broken !== undefined && { broken }),
          } as const
          const all = reel && playedOf(reel, own, count)
          const played = all && {
            line: lineOf(facts, all.chunks),
            words: `${JSON.stringify(shown)}\n${all.text}`,
          }
          giveUp()
          return played
        },
      }
    },
  }
}

/** Its time in tenths of milliseconds, brackets, quotes and commas. */
const MOST_AROUND = 24

/**
 * All that was said as text, and the list of its chunks as JSON, each out of one block of memory: ten thousand strings of it would be
 * moved about by every collection. Undefined when some cannot be read again.
 */
function playedOf(
  reel: Reel,
  bytes: number,
  count: number,
): { readonly text: string; readonly chunks: string } | undefined {
  const text = Buffer.allocUnsafeSlow(bytes)
  const list = Buffer.allocUnsafeSlow(Math.ceil((bytes * 4) / 3) + count * (MOST_AROUND + 4))
  let textEnd = 0
  let listEnd = 0
  const isWhole = reel.play((ms, block, from, to) => {
    textEnd += block.copy(text, textEnd, from, to)
    const chunk = `${listEnd === 0 ? '' : ','}[${Math.round(ms * 10) / 10},"${block.toString('base64', from, to)}"]`
    listEnd += list.write(chunk, listEnd, 'latin1')
  })
  if (!isWhole) return undefined
  return { text: text.toString('utf8', 0, textEnd), chunks: list.toString('latin1', 0, listEnd) }
}

/** The same as one `JSON.stringify` of it. */
function lineOf(facts: Omit<TapeJson, 'chunks'>, chunks: string): string {
  const { broken, ...first } = facts
  const last = broken === undefined ? '' : `,"broken":${JSON.stringify(broken)}`
  return `${JSON.stringify(first).slice(0, -1)},"chunks":[${chunks}]${last}}`
}

/** Who is served, and what only the connection had. */
const LEFT_OUT =
  /^(set-cookie|date|connection|keep-alive|transfer-encoding|content-length|alt-svc|cf-.*|report-to|nel)$/

function kept(headers: AnswerHead['headers']): [string, string][] {
  const all: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    if (LEFT_OUT.test(name) || value === undefined) continue
    for (const one of typeof value === 'string' ? [value] : value) all.push([name, one])
  }
  return all
}
