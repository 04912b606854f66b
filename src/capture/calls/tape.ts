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
const MOST_HELD = 16 * 1024 * 1024
/** What a chunk takes beside its bytes: when it came, and where it ends. */
const PER_CHUNK = 16

export function createTapeDeck(budget = MOST_HELD): TapeDeck {
  let held = 0
  return {
    begin({ status, headers }, began) {
      let reel: Reel | undefined = createReel()
      let own = 0
      const giveUp = (): void => {
        reel = undefined
        held -= own
        own = 0
      }
      return {
        push(chunk, at = performance.now()) {
          if (reel === undefined) return
          const size = chunk.length + PER_CHUNK
          held += size
          own += size
          if (held > budget) return giveUp()
          reel.add(chunk, at - began)
        },
        end(call, broken) {
          const all = reel
          giveUp()
          if (all === undefined) return undefined
          const tape: TapeJson = {
            v: 1,
            call,
            status,
            headers: kept(headers),
            chunks: all.chunks(),
            ...(broken !== undefined && { broken }),
          }
          return {
            line: JSON.stringify(tape satisfies Json),
            words: `${JSON.stringify(tape.headers)}\n${all.bytes().toString()}`,
          }
        },
      }
    },
  }
}

type Reel = {
  add(chunk: Buffer, ms: number): void
  bytes(): Buffer
  chunks(): [number, string][]
}

/** Of a block of chunks: a stream's are far smaller, and each by itself would take twice its size. */
const BLOCK = 16 * 1024

function createReel(): Reel {
  const full: Buffer[] = []
  let block = Buffer.alloc(0)
  let used = 0
  const times: number[] = []
  const lengths: number[] = []
  const bytes = (): Buffer => Buffer.concat([...full, block.subarray(0, used)])
  return {
    add(chunk, ms) {
      times.push(ms)
      lengths.push(chunk.length)
      if (used + chunk.length > block.length) {
        full.push(block.subarray(0, used))
        // The first is as long as its chunk: most answers that come whole are one.
        block = Buffer.allocUnsafeSlow(Math.max(times.length > 1 ? BLOCK : 0, chunk.length))
        used = 0
      }
      chunk.copy(block, used)
      used += chunk.length
    },
    bytes,
    chunks() {
      const all = bytes()
      let from = 0
      return times.map((ms, at) => {
        const to = from + (lengths[at] as number)
        const chunk = all.toString('base64', from, to)
        from = to
        return [Math.round(ms * 10) / 10, chunk]
      })
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
