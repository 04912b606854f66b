/**
 * The exact bytes of a journal line. One JSON object that begins `{"v":1,"seq":` and ends with the hash of the line before
 * (`p`), its own hash (`h`) and a checksum (`c`), so that each line verifies on its own and the chain shows order and loss.
 *
 * The beginning is a mark: those bytes occur nowhere else in a line, so whatever follows them in a damaged file was meant to
 * be a record.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'

export const MARK = '{"v":1,"seq":'

/** What stands in for the hash before the very first line of a chain. */
export const NO_HASH = 'A'.repeat(43)

export type Place = {
  readonly seq: number
  /** Monotonic microseconds since the machine started. */
  readonly mt: number
  /** The hash of the line before. */
  readonly p: string
}

export type LineEncoder = {
  /** Encodes a record's JSON text; gives the line's length. The bytes stand in `bytes()` until anybody encodes the next. */
  encode(json: string, place: Place): number
  bytes(): Buffer
  /** The hash of the line encoded last. */
  hash(): string
}

export type ParsedLine = {
  readonly seq: number
  readonly mt: number
  readonly p: string
  readonly h: string
  readonly value: JsonObject
}

/** `,"c":"xxxxxxxx"}` */
const CHECKSUM_LENGTH = 16
/** `,"h":"<43>"` */
const HASH_LENGTH = 50
/** `,"p":"<43>"` and the two above. */
const TAIL_LENGTH = 50 + HASH_LENGTH + CHECKSUM_LENGTH

const ROOM = 256 * 1024
/** A buffer grown past this for one large line is given back after it. */
const ROOM_KEPT = 4 * 1024 * 1024

/** One buffer for all, used again: recording allocates nothing for the bytes it writes, however many sessions are open. */
let buffer = Buffer.alloc(0)

export function createLineEncoder(): LineEncoder {
  let h = NO_HASH

  return {
    encode(json, { seq, mt, p }) {
      const head = `${MARK}${seq},"mt":${mt},`
      const room = head.length + json.length * 3 + TAIL_LENGTH
      if (room > buffer.length || (buffer.length > ROOM_KEPT && room < ROOM))
        buffer = Buffer.allocUnsafeSlow(Math.max(room, ROOM))
      // The record's own braces give way: its first byte to the head's comma, its last to the tail's.
      const end = head.length - 1 + buffer.write(json, head.length - 1, 'utf8') - 1
      buffer.write(head, 0, 'latin1')
      const hashed = end + buffer.write(`,"p":"${p}"`, end, 'latin1')
      h = hash('sha256', buffer.subarray(0, hashed), 'base64url')
      const checked = hashed + buffer.write(`,"h":"${h}"`, hashed, 'latin1')
      const c = checksumText(crc32(buffer.subarray(0, checked)))
      return checked + buffer.write(`${c}\n`, checked, 'latin1')
    },
    bytes: () => buffer,
    hash: () => h,
  }
}

/** One line with its newline, for callers that write few. `json` is a record as `toRecordJson` gives it. */
export function encodeLine(json: string, place: Place): { readonly text: string; readonly h: string } {
  const encoder = createLineEncoder()
  const length = encoder.encode(json, place)
  return { text: encoder.bytes().toString('utf8', 0, length), h: encoder.hash() }
}

/** The line in these bytes (without its newline), or undefined when they are not exactly one that a writer wrote. */
export function parseLine(bytes: Buffer, from = 0, to: number = bytes.length): ParsedLine | undefined {
  const checked = to - CHECKSUM_LENGTH
  if (checked - from < MARK.length) return undefined
  // The checksum's own text is compared, not its value: a flipped case of a hex digit is a flipped bit too.
  const tail = bytes.toString('latin1', checked, to)
  if (tail !== checksumText(crc32(bytes.subarray(from, checked)))) return undefined
  const text = bytes.toString('utf8', from, to)
  return text.startsWith(MARK) ? toParsed(parseJson(text)) : undefined
}

/**
 * Where the line that begins here ends, when bytes that are not its own may follow: the first place where the checksum fits.
 * One pass, however many places look like an end.
 */
export function findLineEnd(bytes: Buffer, from: number, to: number): number | undefined {
  // A search in the whole buffer would run on past `to`, once for each of a line's pieces.
  const piece = bytes.subarray(from, to)
  let crc = 0
  let done = 0
  for (let at = piece.indexOf(CHECKSUM); at !== -1; at = piece.indexOf(CHECKSUM, at + 1)) {
    crc = crc32(piece.subarray(done, at), crc)
    done = at
    const end = at + CHECKSUM_LENGTH
    if (piece.toString('latin1', at, end) !== checksumText(crc)) continue
    if (parseLine(piece, 0, end) !== undefined) return from + end
  }
  return undefined
}

/** True when these bytes end as a line does, whatever its checksum says. */
export function endsAsLine(bytes: Buffer, from: number, to: number): boolean {
  const at = to - CHECKSUM_LENGTH
  return at >= from && /^,"c":"[0-9a-f]{8}"\}$/.test(bytes.toString('latin1', at, to))
}

/** True when the line's own hash is the hash of its bytes. Only asked of lines that `parseLine` took. */
export function hashMatches(bytes: Buffer, h: string): boolean {
  const hashed = bytes.length - CHECKSUM_LENGTH - HASH_LENGTH
  return hashed > 0 && hash('sha256', bytes.subarray(0, hashed), 'base64url') === h
}

const CHECKSUM = ',"c":"'

function checksumText(crc: number): string {
  return `${CHECKSUM}${crc.toString(16).padStart(8, '0')}"}`
}

function toParsed(value: unknown): ParsedLine | undefined {
  if (!isObject(value)) return undefined
  const { seq, mt, p, h, t } = value
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(mt)) return undefined
  if (typeof p !== 'string' || typeof h !== 'string' || typeof t !== 'string') return undefined
  return { seq: seq as number, mt: mt as number, p, h, value }
}
