/**
 * An answer exactly as it came: its head, and each chunk with its time, so that it can be played back to an agent byte for byte. Held in
 * memory until its end, for it may be written only when it is known that there is no secret in it; within a budget that all open calls
 * share, over which an answer is recorded without its tape.
 */
import type { Json } from '../../transcript/json.ts'
import type { TapeJson } from '../../wire/tape.ts'
import type { AnswerHead } from './answer.ts'

export type Tape = {
  /** `at`: when it came, as `performance.now()` has it. */
  push(chunk: Buffer, at?: number): void
  /** All of it; undefined when it was too much. Ends the tape. `broken`: by whom, where it was broken off. */
  end(call: string, broken?: string): { readonly line: string; readonly words: string } | undefined
}

export type TapeDeck = { begin(head: AnswerHead, began: number): Tape }

/** Bytes of all open calls. */
const MOST_HELD = 48 * 1024 * 1024
/** What a chunk takes beside its bytes. */
const PER_CHUNK = 64

export function createTapeDeck(budget = MOST_HELD): TapeDeck {
  let held = 0
  return {
    begin({ status, headers }, began) {
      let chunks: { readonly ms: number; readonly bytes: Buffer }[] | undefined = []
      let own = 0
      const giveUp = (): void => {
        chunks = undefined
        held -= own
        own = 0
      }
      return {
        push(chunk, at = performance.now()) {
          if (chunks === undefined) return
          const size = chunk.length + PER_CHUNK
          held += size
          own += size
          if (held > budget) return giveUp()
          chunks.push({ ms: at - began, bytes: Buffer.from(chunk) })
        },
        end(call, broken) {
          const all = chunks
          giveUp()
          if (all === undefined) return undefined
          const tape: TapeJson = {
            v: 1,
            call,
            status,
            headers: kept(headers),
            chunks: all.map(({ ms, bytes }) => [Math.round(ms * 10) / 10, bytes.toString('base64')]),
            ...(broken !== undefined && { broken }),
          }
          const said = Buffer.concat(all.map(({ bytes }) => bytes)).toString()
          return {
            line: JSON.stringify(tape satisfies Json),
            words: `${JSON.stringify(tape.headers)}\n${said}`,
          }
        },
      }
    },
  }
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
