/**
 * Amazon's event stream out of byte chunks that may be split anywhere: frames with headers and a payload, both of whose checksums hold.
 * One that does not check ends it: what follows cannot be told from noise. Linear in the bytes; a frame over the limit is not held.
 */
import { crc32 } from 'node:zlib'
import { asBuffer } from './held-bytes.ts'

export type EventFrame = {
  /** Text and numbers, by name: `:event-type`, `:message-type`, `:exception-type`. Foreign names, so a map. */
  readonly headers: ReadonlyMap<string, string | number | boolean | Buffer>
  readonly payload: Buffer
}

export type EventStreamParser = {
  push(chunk: Uint8Array): EventFrame[]
  /** Why there are no more frames, where the bytes made no sense or ended inside of one. */
  end(): string | undefined
}

/** Two lengths and their checksum; then headers, payload, and the checksum of all. */
const PRELUDE = 12
const CHECKSUM = 4
/** Amazon's own limit is 24 MB. */
const MOST_FRAME = 64 * 1024 * 1024

export function createEventStreamParser(): EventStreamParser {
  let held: Buffer[] = []
  let heldBytes = 0
  /** Of the frame that is being gathered; 0 while its length is not known. */
  let wanted = 0
  let problem: string | undefined

  const gathered = (): Buffer => {
    const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held, heldBytes)
    held = [all]
    return all
  }
  const stop = (why: string): undefined => {
    problem = why
    held = []
    heldBytes = 0
    return undefined
  }
  const next = (): EventFrame | undefined => {
    if (wanted === 0) {
      if (heldBytes < PRELUDE) return undefined
      const prelude = gathered()
      if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
        return stop('a frame’s first checksum does not hold')
      wanted = prelude.readUInt32BE(0)
      const least = PRELUDE + prelude.readUInt32BE(4) + CHECKSUM
      if (wanted < least || wanted > MOST_FRAME) return stop(`a frame says that it has ${wanted} bytes`)
    }
    if (heldBytes < wanted) return undefined
    const all = gathered()
    const frame = all.subarray(0, wanted)
    const rest = all.subarray(wanted)
    held = rest.length === 0 ? [] : [rest]
    heldBytes = rest.length
    wanted = 0
    const end = frame.length - CHECKSUM
    if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
      return stop('a frame’s checksum does not hold')
    const body = PRELUDE + frame.readUInt32BE(4)
    return { headers: readHeaders(frame.subarray(PRELUDE, body)), payload: frame.subarray(body, end) }
  }

  return {
    push(bytes) {
      if (problem !== undefined) return []
      // A copy: the caller's chunk is its own.
      held.push(Buffer.from(asBuffer(bytes)))
      heldBytes += bytes.byteLength
      const frames: EventFrame[] = []
      for (let frame = next(); frame !== undefined; frame = next()) frames.push(frame)
      return frames
    },
    end: () =>
      problem ?? (heldBytes > 0 ? `the stream ends inside of a frame, after ${heldBytes} bytes` : undefined),
  }
}

/** Name, type, value. What cannot be read ends the list; the frame's checksum says that it was meant so. */
function readHeaders(bytes: Buffer): EventFrame['headers'] {
  const headers = new Map<string, string | number | boolean | Buffer>()
  let at = 0
  const take = (count: number): Buffer | undefined => {
    if (at + count > bytes.length) return undefined
    at += count
    return bytes.subarray(at - count, at)
  }
  const sized = (): Buffer | undefined => {
    const size = take(2)
    return size && take(size.readUInt16BE(0))
  }
  while (at < bytes.length) {
    const length = take(1)
    const name = length && take(length.readUInt8(0))
    const type = name && take(1)
    if (name === undefined || type === undefined) break
    const value = readValue(type.readUInt8(0), take, sized)
    if (value === undefined) break
    headers.set(name.toString(), value)
  }
  return headers
}

function readValue(
  type: number,
  take: (count: number) => Buffer | undefined,
  sized: () => Buffer | undefined,
): string | number | boolean | Buffer | undefined {
  switch (type) {
    case 0:
      return true
    case 1:
      return false
    case 2:
      return take(1)?.readInt8(0)
    case 3:
      return take(2)?.readInt16BE(0)
    case 4:
      return take(4)?.readInt32BE(0)
    case 5:
    case 8: {
      const value = take(8)
      return value && Number(value.readBigInt64BE(0))
    }
    case 6:
      return sized()
    case 7:
      return sized()?.toString()
    case 9:
      return take(16)?.toString('hex')
    default:
      return undefined
  }
}

/** A frame with headers that are text, and both of its checksums. */
export function toEventFrame(headers: Readonly<Record<string, string>>, payload: Buffer): Buffer {
  const named = Buffer.concat(Object.entries(headers).map(([name, value]) => toTextHeader(name, value)))
  const frame = Buffer.alloc(PRELUDE + named.length + payload.length + CHECKSUM)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(named.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  named.copy(frame, PRELUDE)
  payload.copy(frame, PRELUDE + named.length)
  const end = frame.length - CHECKSUM
  frame.writeUInt32BE(crc32(frame.subarray(0, end)), end)
  return frame
}

function toTextHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)]
  return Buffer.concat([
    Buffer.from([key.length]),
    key,
    Buffer.from([TEXT, text.length >> 8, text.length & 0xff]),
    text,
  ])
}

/** Of a header's value. */
const TEXT = 7
