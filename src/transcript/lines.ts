/**
 * Bytes into lines, in one pass and bounded memory: split on 0x0A only (U+2028 is text), a byte order mark stripped, CRLF
 * taken, blank lines passed over. A line over the limit is not held: it comes without text, with its place in the file.
 */
import { isUtf8 } from 'node:buffer'
import type { Json } from './json.ts'
import { parseLong } from './long-json.ts'
import { isSwelling } from './swelling.ts'

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
  /** Of a line of many MB, for who asked for JSON: what it says. `text` is without its longest strings then. */
  readonly value?: Json
}

export type LineOptions = { readonly limit?: number; readonly isJson?: boolean }

/** A record over this many bytes is kept as one unknown and never held in memory. */
export const RECORD_LIMIT = 32 * 1024 * 1024

/** Lines handed over at a time: of a chunk of nothing but very short ones, what is made of them would be hundreds of times as much. */
export const MOST_LINES = 8192

const NEWLINE = 0x0a
const RETURN = 0x0d

/** The lines of a file, a batch for each chunk: one `await` per chunk, not per line, is what keeps reading near JSON.parse's own speed. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { limit = RECORD_LIMIT, isJson = false }: LineOptions = {},
): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter(limit, isJson)
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const lines: Line[] = []
      from = splitter.some(chunk, from, lines)
      if (lines.length > 0) yield lines
      // Whoever asks for more is done with these: a frame that waits would hold on to them while the next are read.
      lines.length = 0
    }
  }
  const last = splitter.end()
  if (last.length > 0) yield last
}

/** The same, for a caller that has its bytes at hand. */
export function createLineSplitter(
  limit: number = RECORD_LIMIT,
  isJson = false,
): {
  push(chunk: Buffer): Line[]
  /** The same from an offset on, until there are `MOST_LINES`. Where the next one begins; the chunk's length when that was all. */
  some(chunk: Buffer, from: number, lines: Line[]): number
  end(): Line[]
} {
  let number = 1
  let offset = 0
  const open = createOpenLine(limit)

  const take = (bytes: Buffer | undefined, length: number, ended: boolean): Line[] => {
    const line = {
      number,
      byteOffset: offset,
      ended,
      isJson: isJson && bytes !== undefined && open.isOwn(bytes),
    }
    number += 1
    offset += length + (ended ? 1 : 0)
    return toLine(bytes, length, line)
  }

  const some = (chunk: Buffer, from: number, lines: Line[]): number => {
    let start = from
    for (let at = chunk.indexOf(NEWLINE, start); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      if (lines.length >= MOST_LINES) return start
      const length = open.length + at - start
      const whole = open.end(chunk.subarray(start, at))
      for (const line of take(whole, length, true)) lines.push(line)
      start = at + 1
    }
    if (start < chunk.length) open.add(chunk.subarray(start))
    return chunk.length
  }

  return {
    push(chunk) {
      const lines: Line[] = []
      for (let from = 0; from < chunk.length;) {
        const more: Line[] = []
        from = some(chunk, from, more)
        for (const line of more) lines.push(line)
      }
      return lines
    },
    some,
    end() {
      const { length } = open
      return length === 0 ? [] : take(open.end(Buffer.alloc(0)), length, false)
    },
  }
}

/** A line that lies in several chunks is put together in one place from here on, the same for every line. */
const LONG_BYTES = 1024 * 1024

/** The unfinished line: its parts, or only its length once it is over the limit. `isPassing`: what is added is written over later. */
export function createOpenLine(limit: number, isPassing = false) {
  let parts: Buffer[] = []
  let held = 0
  let long: Buffer | undefined
  const copy = (part: Buffer): void => {
    // All at once: memory that was never written to takes none, and what is large goes back to the system when it is let go.
    long ??= Buffer.allocUnsafeSlow(limit)
    let at = 0
    for (const one of parts) at += one.copy(long, at)
    parts = []
    part.copy(long, held)
  }
  const add = (part: Buffer): void => {
    if (held + part.length > limit) parts = []
    else if (held + part.length > LONG_BYTES) copy(part)
    else parts.push(isPassing ? Buffer.from(part) : part)
    held += part.length
  }
  return {
    get length() {
      return held
    },
    add,
    /** Undefined when it is over the limit. What it gives stays as it is until the next line. */
    end(last: Buffer): Buffer | undefined {
      if (held === 0 && last.length <= limit) return last
      add(last)
      const [length, all] = [held, parts]
      parts = []
      held = 0
      if (length > limit) return undefined
      return length > LONG_BYTES ? long?.subarray(0, length) : Buffer.concat(all)
    },
    /** True for what it gave of a long line: its own memory, which nobody else reads. */
    isOwn: (bytes: Buffer): boolean => long !== undefined && bytes.buffer === long.buffer,
    /** Of the memory for long lines, when there are no more. */
    letGo: (): void => void (long = undefined),
  }
}

/** The line of so many bytes; none where it is blank. Without the bytes it is over the limit. `isJson`: the bytes may be written over. */
export function toLine(
  bytes: Buffer | undefined,
  length: number,
  { isJson, ...place }: Pick<Line, 'number' | 'byteOffset' | 'ended'> & { readonly isJson: boolean },
): Line[] {
  if (bytes === undefined) return [{ ...place, byteLength: length, text: undefined, isUtf8: true }]
  let from = 0
  let to = bytes.length
  if (place.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3
  if (to > from && bytes[to - 1] === RETURN) to -= 1
  if (from === to) return []
  const long = isJson ? parseLong(bytes.subarray(from, to)) : undefined
  if (long !== undefined)
    return [{ ...place, byteOffset: place.byteOffset + from, byteLength: to - from, ...long, isUtf8: true }]
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
