/**
 * Rows of many MB among those that were kept: what is long in them is left in the file, and something short stands for it until the row is
 * given. So loading them takes no more memory than loading others, and who reads one holds each of its values once.
 */
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Files } from '../journal/files.ts'
import { readPart } from '../journal/read-part.ts'
import { allocateLong } from '../transcript/long-bytes.ts'
import { asString, isObject, parseJson, type Json } from '../transcript/json.ts'
import { type Row, type SqlValue, TextBytes } from '../transcript/source.ts'
import type { ByteLine } from './byte-lines.ts'
import { type KeptRow, nameInParts, toRow } from './kept-row-lines.ts'

export type LongCells = {
  /**
   * The row of a line, with something short for each of its long cells; undefined for one that is no row. `keyOf`: the columns that rows
   * of a table are asked for by, whose text is all here.
   */
  row(line: ByteLine, keyOf: (table: string) => readonly string[]): KeptRow | undefined
  /** Whether there are any: else no row needs to be looked at. */
  hasAny(): boolean
  /** Of a row, how many bytes lie there; 0 where all of it is here. */
  bytesIn(row: Row): number
  /** The row with what is in the file. */
  whole(row: Row): Row
  close(): void
}

/** Bytes between the quotes of a string, and whether they are text as JSON has it. */
type Place = { readonly from: number; readonly to: number; readonly isText: boolean }

/** Bytes of a string in the file: longer ones stay there. */
const LONG_STRING = 16 * 1024
const NONCE_BYTES = 16
const MARK_BYTES = NONCE_BYTES + 17

export function createLongCells(files: Files, path: string): LongCells {
  // Nobody knows it who wrote a row: nothing else can look like what stands for a cell.
  const nonce = randomBytes(NONCE_BYTES)
  const before = nonce.toString('hex')
  let fd: number | undefined
  let count = 0
  const parts = (from: number, to: number): Generator<Buffer> =>
    readPart(files, (fd ??= files.openRead(path)), from, to)
  const toMark = ({ from, to, isText }: Place): Buffer => {
    const mark = Buffer.alloc(MARK_BYTES)
    nonce.copy(mark)
    mark.writeDoubleLE(from, NONCE_BYTES)
    mark.writeDoubleLE(to, NONCE_BYTES + 8)
    mark[MARK_BYTES - 1] = isText ? 1 : 0
    count += 1
    return mark
  }
  const placeOf = (value: SqlValue): Place | undefined => {
    if (!(value instanceof Uint8Array) || value.length !== MARK_BYTES) return undefined
    const mark = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    if (!mark.subarray(0, NONCE_BYTES).equals(nonce)) return undefined
    const [from, to] = [mark.readDoubleLE(NONCE_BYTES), mark.readDoubleLE(NONCE_BYTES + 8)]
    return { from, to, isText: mark[MARK_BYTES - 1] === 1 }
  }
  const read = ({ from, to, isText }: Place): SqlValue =>
    isText ? toText(parts(from, to), to - from) : toBytes(parts(from, to), to - from)
  return {
    row({ offset, length }, keyOf) {
      const name = nameInParts(parts(offset, offset + length))
      if (name === undefined) return undefined
      // What names the row is all here, too: two with something short for it would be one.
      const { text, strings } = cut(parts(offset, offset + length), {
        offset,
        before,
        from: offset + name.length,
      })
      const value = parseJson(text)
      if (!isObject(value) || !isObject(value['row'])) return undefined
      const key = Array.isArray(value['key']) ? keyOf(asString(value['table']) ?? '') : []
      const nth = (cell: unknown): { from: number; to: number } | undefined =>
        typeof cell === 'string' && cell.startsWith(before)
          ? strings[Number(cell.slice(before.length))]
          : undefined
      const short: Record<string, Json> = Object.create(null)
      const long: Record<string, SqlValue> = Object.create(null)
      const textAt = ({ from, to }: { from: number; to: number }): string =>
        toText(parts(from, to), to - from).toString()
      for (const [called, cell] of Object.entries(value['row'])) {
        const longName = nth(called)
        const column = longName === undefined ? called : textAt(longName)
        const bytes = isObject(cell) ? nth(cell['$base64']) : undefined
        const place = bytes ?? nth(cell)
        if (place === undefined) short[column] = cell
        else if (bytes === undefined && key.includes(column)) short[column] = textAt(place)
        else long[column] = toMark({ ...place, isText: bytes === undefined })
      }
      const kept = toRow({ ...value, row: short })
      return kept && { ...kept, row: Object.assign(kept.row, long) }
    },
    hasAny: () => count > 0,
    bytesIn(row) {
      let bytes = 0
      for (const column in row) {
        const { from, to } = placeOf(row[column] ?? null) ?? NOWHERE
        bytes += to - from
      }
      return bytes
    },
    whole(row) {
      const whole: Record<string, SqlValue> = Object.create(null)
      for (const [column, value] of Object.entries(row)) {
        const place = placeOf(value)
        whole[column] = place === undefined ? value : read(place)
      }
      return whole
    },
    close() {
      if (fd !== undefined) files.close(fd)
      fd = undefined
    },
  }
}

const NOWHERE = { from: 0, to: 0 }

const [QUOTE, BACKSLASH, SMALL_U] = [0x22, 0x5c, 0x75] as const

type Cut = {
  readonly text: string
  readonly strings: readonly { readonly from: number; readonly to: number }[]
}

/** `before`: what the short strings begin with. `from`: strings before this place stay as they are. */
type CutOptions = { readonly offset: number; readonly before: string; readonly from: number }

/** A line's text with something short in each long string, and where in the file these are. */
function cut(parts: Iterable<Buffer>, { offset, before, from }: CutOptions): Cut {
  const out: Buffer[] = []
  const strings: { from: number; to: number }[] = []
  /** Of the string that is open: where it begins, and its bytes unless it is long. */
  let open: { readonly from: number; held: Buffer[]; isLong: boolean } | undefined
  let isEscaped = false
  let at = offset
  const isLong = (start: number, end: number): boolean => start >= from && end - start > LONG_STRING
  const hold = (bytes: Buffer): void => {
    if (open === undefined) out.push(bytes)
    else if (!open.isLong) open.held.push(bytes)
  }
  for (const part of parts) {
    let start = 0
    for (let place = 0; place < part.length; place += 1) {
      const byte = part[place] as number
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = open !== undefined
      else if (byte === QUOTE) {
        hold(part.subarray(start, open === undefined ? place + 1 : place))
        start = open === undefined ? place + 1 : place
        if (open === undefined) open = { from: at + place + 1, held: [], isLong: false }
        else {
          const to = at + place
          if (isLong(open.from, to)) {
            out.push(Buffer.from(`${before}${strings.length}`))
            strings.push({ from: open.from, to })
          } else out.push(...open.held)
          open = undefined
        }
      }
    }
    hold(part.subarray(start))
    at += part.length
    if (open !== undefined && isLong(open.from, at)) {
      open.held = []
      open.isLong = true
    }
  }
  return { text: Buffer.concat(out).toString('utf8'), strings }
}

const ESCAPED: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, stands]) => [
    letter.charCodeAt(0),
    stands.charCodeAt(0),
  ]),
)

/** One escape of a character, or the two of a pair. */
const UNITS = /^(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....)/s

/** What `\u00XX` stands for where that is one byte, as nearly all that are written are. */
function controlAt(part: Buffer, at: number): number | undefined {
  const [high, low] = [(part[at + 4] ?? 0) - 0x30, part[at + 5] ?? 0]
  if (part[at + 2] !== 0x30 || part[at + 3] !== 0x30 || high < 0 || high > 7) return undefined
  if (low >= 0x30 && low <= 0x39) return high * 16 + low - 0x30
  const letter = low | 0x20
  return letter >= 0x61 && letter <= 0x66 ? high * 16 + letter - 0x57 : undefined
}

/** What the inside of a JSON string says. Nothing is longer than its escape. */
function toText(parts: Iterable<Buffer>, length: number): TextBytes {
  const bytes = allocateLong(length)
  let to = 0
  let rest = Buffer.alloc(0)
  // Byte by byte: text of nothing but escapes must not take longer than any other.
  const take = (part: Buffer, isLast: boolean): Buffer => {
    let at = 0
    while (at < part.length) {
      const byte = part[at] as number
      if (byte !== BACKSLASH) {
        bytes[to] = byte
        to += 1
        at += 1
        continue
      }
      // A pair of escapes is one character.
      if (at + 12 > part.length && !isLast) break
      const letter = part[at + 1] as number
      const control = letter === SMALL_U ? controlAt(part, at) : (ESCAPED.get(letter) ?? letter)
      if (control === undefined) {
        const [units = ''] = UNITS.exec(part.toString('latin1', at, at + 12)) ?? []
        to += bytes.write(asString(parseJson(`"${units}"`)) ?? '', to, 'utf8')
        at += Math.max(2, units.length)
        continue
      }
      bytes[to] = control
      to += 1
      at += letter === SMALL_U ? 6 : 2
    }
    return part.subarray(at)
  }
  for (const part of parts)
    rest = Buffer.from(take(rest.length === 0 ? part : Buffer.concat([rest, part]), false))
  take(rest, true)
  const text = new TextBytes(bytes.buffer, bytes.byteOffset, to)
  // A disk may have made other bytes of it.
  return isUtf8(text) ? text : new TextBytes(Buffer.from(text.toString()))
}

function toBytes(parts: Iterable<Buffer>, length: number): Buffer {
  const bytes = allocateLong(Math.ceil((length * 3) / 4))
  let to = 0
  let rest = ''
  for (const part of parts) {
    const text = rest + part.toString('latin1')
    // Four letters are three bytes.
    const whole = text.length - (text.length % 4)
    to += bytes.write(text.slice(0, whole), to, 'base64')
    rest = text.slice(whole)
  }
  to += bytes.write(rest, to, 'base64')
  return bytes.subarray(0, to)
}
