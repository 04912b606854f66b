/**
 * Server-sent events out of byte chunks that may be split anywhere: inside CRLF, a character, a field. Linear in the bytes;
 * an event over the limit is reported and not held; what the stream ends with is given too, marked as incomplete.
 */
import type { Json } from '../transcript/json.ts'
import { asBuffer, createHeldBytes } from './held-bytes.ts'
import { EVENT_LIMIT } from './limits.ts'

export type SseEvent = {
  readonly event?: string
  /** The `data` lines joined by newlines; empty when there were none (a comment alone, or over the limit). */
  readonly data: string
  /** What the data says, where it was read from JSON that had it as a value. */
  readonly value?: Json
  readonly id?: string
  /** Milliseconds. */
  readonly retry?: number
  readonly comments?: readonly string[]
  /** Fields the standard does not know, and values it forbids, in order: name, value. */
  readonly fields?: readonly (readonly [string, string])[]
  /** False when the stream ended before the blank line that ends an event. */
  readonly complete: boolean
  /** Bytes of an event that was over the limit and whose content is not here. */
  readonly oversize?: number
}

export type SseParser = {
  push(chunk: Uint8Array): SseEvent[]
  /** What was not ended by a blank line: one event, marked as incomplete, or none. */
  end(): SseEvent[]
}

const LF = 0x0a
const CR = 0x0d
const BOM = '\uFEFF'

export function createSseParser({ limit = EVENT_LIMIT }: { readonly limit?: number } = {}): SseParser {
  const held = createHeldBytes()
  let draft = createDraft()
  let isFirstLine = true
  let afterReturn = false
  /** Bytes of the unfinished line, and of the event up to that line: counted also when nothing is held any more. */
  let lineBytes = 0
  let eventBytes = 0

  const hold = (chunk: Buffer, from: number, to: number): void => {
    lineBytes += to - from
    if (eventBytes + lineBytes <= limit) held.append(chunk, from, to)
    else {
      held.clear()
      draft.forget()
    }
  }

  const takeLine = (events: SseEvent[], chunk: Buffer, from: number, to: number): void => {
    let line: string | undefined
    // The usual case, a whole line in one chunk, is not copied.
    if (lineBytes === 0 && eventBytes + to - from <= limit) {
      line = chunk.toString('utf8', from, to)
      lineBytes = to - from
    } else {
      hold(chunk, from, to)
      if (eventBytes + lineBytes <= limit) line = held.take()
    }
    eventBytes += lineBytes
    const isBlank = lineBytes === 0 || (isFirstLine && line === BOM)
    lineBytes = 0
    if (line !== undefined && !isBlank) draft.take(isFirstLine && line.startsWith(BOM) ? line.slice(1) : line)
    isFirstLine = false
    if (isBlank) dispatch(events, true)
  }

  const dispatch = (events: SseEvent[], complete: boolean): void => {
    const event = draft.toEvent(complete, eventBytes > limit ? eventBytes : undefined)
    if (event !== undefined) events.push(event)
    draft = createDraft()
    eventBytes = 0
  }

  return {
    push(bytes) {
      const chunk = asBuffer(bytes)
      const events: SseEvent[] = []
      let start = 0
      // A line feed that completes the CRLF of the chunk before ends nothing.
      if (afterReturn && chunk.length > 0) {
        afterReturn = false
        if (chunk[0] === LF) start = 1
      }
      let feed = chunk.indexOf(LF, start)
      let back = chunk.indexOf(CR, start)
      while (feed !== -1 || back !== -1) {
        const end = feed === -1 ? back : back === -1 ? feed : Math.min(feed, back)
        takeLine(events, chunk, start, end)
        start = end + 1
        if (end === back) {
          if (start === chunk.length) afterReturn = true
          else if (chunk[start] === LF) start += 1
        }
        // Each kind is looked for again only when passed: a stream without CR is searched for CR once a chunk.
        if (feed !== -1 && feed < start) feed = chunk.indexOf(LF, start)
        if (back !== -1 && back < start) back = chunk.indexOf(CR, start)
      }
      if (start < chunk.length) hold(chunk, start, chunk.length)
      return events
    },
    end() {
      const events: SseEvent[] = []
      if (lineBytes > 0) takeLine(events, Buffer.alloc(0), 0, 0)
      dispatch(events, false)
      isFirstLine = true
      afterReturn = false
      return events
    },
  }
}

type Draft = {
  take(line: string): void
  /** Over the limit: what was kept goes, the event's name and id stay. */
  forget(): void
  toEvent(complete: boolean, oversize: number | undefined): SseEvent | undefined
}

function createDraft(): Draft {
  let event: string | undefined
  let id: string | undefined
  let retry: number | undefined
  let data: string[] | undefined
  let comments: string[] | undefined
  let fields: [string, string][] | undefined
  return {
    take(line) {
      const colon = line.indexOf(':')
      const name = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
      if (name === 'data') (data ??= []).push(value)
      else if (name === 'event') event = value
      else if (name === '') (comments ??= []).push(value)
      else if (name === 'id' && !value.includes('\0')) id = value
      else if (name === 'retry' && /^\d{1,15}$/.test(value)) retry = Number(value)
      else (fields ??= []).push([name, value])
    },
    forget() {
      data = undefined
      comments = undefined
      fields = undefined
    },
    toEvent(complete, oversize) {
      // Nearly all there is; spreading what is not there costs as much as the rest of the reading.
      if (data?.length === 1 && (id ?? retry ?? comments ?? fields ?? oversize) === undefined) {
        const [only = ''] = data
        return event === undefined ? { data: only, complete } : { event, data: only, complete }
      }
      const said = event ?? id ?? retry ?? data ?? comments ?? fields ?? oversize
      if (said === undefined) return undefined
      return {
        ...(event !== undefined && { event }),
        data: data?.join('\n') ?? '',
        ...(id !== undefined && { id }),
        ...(retry !== undefined && { retry }),
        ...(comments !== undefined && { comments }),
        ...(fields !== undefined && { fields }),
        complete,
        ...(oversize !== undefined && { oversize }),
      }
    },
  }
}
