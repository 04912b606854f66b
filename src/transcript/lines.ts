/**
 * Bytes into lines, in one pass and bounded memory: split on 0x0A only (U+2028 is text), a byte order mark stripped, CRLF
 * taken, blank lines passed over. A line over the limit is not held: it comes without text, with its place in the file.
 */
import { isUtf8 } from 'node:buffer'
import { isSwelling } from './json.ts'

export type Line = {
  /** From 1, blank lines counted. */
  readonly number: number
  readonly byteOffset: number
  /** Without the line's end. */
  readonly byteLength: number
  /** False for a last line without its newline: its writer may have died, or not be done. */
  readonly ended: boolean
  /** Undefined when the line is over the limit, or would be once it is parsed. */
  readonly text: string | undefined
  /** Bytes that are no UTF-8 stand in `text` as U+FFFD. */
  readonly isUtf8: boolean
}

/** A record over this many bytes is kept as one unknown and never held in memory. */
export const RECORD_LIMIT = 32 * 1024 * 1024

const NEWLINE = 0x0a
const RETURN = 0x0d

/** The lines of a file, a batch for each chunk: one `await` per chunk, not per line, is what keeps reading near JSON.parse's own speed. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { limit = RECORD_LIMIT }: { readonly limit?: number } = {},
): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter(limit)
  for await (const chunk of chunks) {
    const lines = splitter.push(chunk)
    if (lines.length > 0) yield lines
  }
  const last = splitter.end()
  if (last.length > 0) yield last
}

/** The same, for a caller that has its bytes at hand. */
export function createLineSplitter(limit: number = RECORD_LIMIT): {
  push(chunk: Buffer): Line[]
  end(): Line[]
} {
  let number = 1
  let offset = 0
  /** The unfinished line: its parts, or only its length once it is over the limit. */
  let parts: Buffer[] = []
  let held = 0

  const take = (bytes: Buffer | undefined, length: number, ended: boolean): Line[] => {
    const line = { number, byteOffset: offset, ended }
    number += 1
    offset += length + (ended ? 1 : 0)
    if (bytes === undefined) return [{ ...line, byteLength: length, text: undefined, isUtf8: true }]
    return toLine(bytes, line)
  }

  return {
    push(chunk) {
      const lines: Line[] = []
      let start = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        const piece = chunk.subarray(start, at)
        const length = held + piece.length
        const whole = length > limit ? undefined : held === 0 ? piece : Buffer.concat([...parts, piece])
        // Let go before the line is read: of a long one there is no room for two.
        parts = []
        held = 0
        for (const line of take(whole, length, true)) lines.push(line)
        start = at + 1
      }
      if (start < chunk.length) {
        held += chunk.length - start
        if (held > limit) parts = []
        else parts.push(chunk.subarray(start))
      }
      return lines
    },
    end() {
      if (held === 0) return []
      const whole = held > limit ? undefined : Buffer.concat(parts)
      const length = held
      held = 0
      parts = []
      return take(whole, length, false)
    },
  }
}

function toLine(bytes: Buffer, place: Pick<Line, 'number' | 'byteOffset' | 'ended'>): Line[] {
  let from = 0
  let to = bytes.length
  if (place.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3
  if (to > from && bytes[to - 1] === RETURN) to -= 1
  if (from === to) return []
  const text = bytes.toString('utf8', from, to)
  if (isBlank(text)) return []
  if (isSwelling(text)) {
    const { number, byteOffset, ended } = place
    return [
      {
        number,
        byteOffset: byteOffset + from,
        byteLength: to - from,
        ended,
        text: undefined,
        isUtf8: true,
      },
    ]
  }
  return [
    {
      number: place.number,
      byteOffset: place.byteOffset + from,
      byteLength: to - from,
      ended: place.ended,
      text,
      isUtf8: !text.includes('\uFFFD') || isUtf8(bytes.subarray(from, to)),
    },
  ]
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0)
  return (first === 0x20 || first === 0x09 || first === RETURN) && text.trim() === ''
}
