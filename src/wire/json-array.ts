/**
 * The elements of a JSON array that is still arriving, each as soon as it ends: Gemini's stream without `alt=sse`. They come
 * as events, so that one reassembly takes both. Also takes what stands outside an array, such as an error's bare object.
 */
import { asBuffer, createHeldBytes } from './held-bytes.ts'
import { EVENT_LIMIT } from './limits.ts'
import type { SseEvent, SseParser } from './sse.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Whitespace, and the bytes of a byte order mark, which stand in no JSON outside of strings. */
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

export function createJsonArrayParser({ limit = EVENT_LIMIT }: { readonly limit?: number } = {}): SseParser {
  const held = createHeldBytes()
  let inArray = false
  let inElement = false
  let inString = false
  let escaped = false
  let depth = 0
  let elementBytes = 0

  const hold = (chunk: Buffer, from: number, to: number): void => {
    elementBytes += to - from
    if (elementBytes <= limit) held.append(chunk, from, to)
    else held.clear()
  }

  const finish = (complete: boolean): SseEvent => {
    const oversize = elementBytes > limit ? elementBytes : undefined
    const data = oversize === undefined ? held.take() : ''
    inElement = false
    inString = false
    escaped = false
    depth = 0
    elementBytes = 0
    return { data, complete, ...(oversize !== undefined && { oversize }) }
  }

  /** Takes one byte of an element; true when the element ends with it, 'before' when it ended before it. */
  const step = (byte: number): boolean | 'before' => {
    if (inString) {
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) {
        inString = false
        return depth === 0
      }
      return false
    }
    if (byte === QUOTE) inString = true
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return 'before'
      depth -= 1
      return depth === 0
    } else if (depth === 0 && (byte === COMMA || BLANK.has(byte))) return 'before'
    return false
  }

  return {
    push(bytes) {
      const chunk = asBuffer(bytes)
      const events: SseEvent[] = []
      let start = 0
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] as number
        if (!inElement) {
          if (BLANK.has(byte) || byte === COMMA) continue
          if (byte === OPEN_LIST && !inArray) inArray = true
          else if (byte === CLOSE_LIST) inArray = false
          else {
            inElement = true
            start = at
          }
          if (!inElement) continue
        }
        const ended = step(byte)
        if (ended === false) continue
        const isEmpty = at === start && elementBytes === 0
        // The byte after an element is looked at again, as one between elements; one that cannot begin any is its own.
        if (ended === 'before' && !isEmpty) at -= 1
        hold(chunk, start, at + 1)
        events.push(finish(true))
      }
      if (inElement) hold(chunk, start, chunk.length)
      return events
    },
    end() {
      const events = inElement ? [finish(false)] : []
      inArray = false
      return events
    },
  }
}
