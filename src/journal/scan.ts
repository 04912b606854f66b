/**
 * Bytes into journal lines, and around damage: whatever is between two good lines, each line that was written whole is found,
 * and every other byte is part of a damage that says where it is and what it looks like. Bounded memory, linear time.
 */
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { isObject, parseJson } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { endsAsLine, findLineEnd, hashMatches, MARK, parseLine, type ParsedLine } from './line.ts'

export type Span = LineSpan | DamageSpan

export type LineSpan = Place & { readonly parsed: ParsedLine }

/** `records`: how many lines these bytes are the remains of, so that what is damaged is not reported missing as well. */
export type DamageSpan = { readonly parsed: undefined; readonly damage: Damage; readonly records: number }

/** `byteLength` without the newline. */
type Place = { readonly line: number; readonly byteOffset: number; readonly byteLength: number }

export type Scanner = { push(chunk: Buffer): Span[]; end(): Span[] }

/** Of the last record in a file that may still be growing. */
export const TORN_TAIL = 'the file ends inside this record'

const NEWLINE = 0x0a
const RETURN = 0x0d
const MARK_BYTES = Buffer.from(MARK)

type Options = { readonly limit?: number; /** Also compare each line's hash. */ readonly hashes?: boolean }

export function createScanner(file: string, { limit = RECORD_LIMIT, hashes = false }: Options = {}): Scanner {
  let line = 1
  let offset = 0
  /** The unfinished line: its parts, or only its length once it is over the limit. */
  let parts: Buffer[] = []
  let held = 0
  /** A record without its end: when the rest of it stands on the next line, both are one damage. */
  let torn: DamageSpan | undefined

  const take = (bytes: Buffer, from: number, to: number, ended: boolean, out: Span[]): void => {
    const parsed = parseLine(bytes, from, to)
    if (parsed === undefined) {
      const place = { file, line, offset: offset - from, ended }
      for (const span of salvage(bytes, from, to, place)) put(span, out)
    } else {
      put({ line, byteOffset: offset, byteLength: to - from, parsed }, out)
      if (hashes && !hashMatches(bytes.subarray(from, to), parsed.h)) {
        const reason = 'the hash is not the hash of its bytes'
        put(toDamage('chain', { file, line, byteOffset: offset, byteLength: 0, reason }, 0), out)
      }
    }
    line += 1
    offset += to - from + (ended ? 1 : 0)
  }

  const put = (span: Span, out: Span[]): void => {
    if (torn !== undefined) {
      const joined = span.parsed === undefined ? join(torn, span) : undefined
      out.push(joined ?? torn)
      torn = undefined
      if (joined !== undefined) return
    }
    if (span.parsed === undefined && span.damage.kind === 'torn') torn = span
    else out.push(span)
  }

  const tooLarge = (ended: boolean, out: Span[]): void => {
    const reason = `a line of ${held} bytes, over the limit of ${limit}`
    put(toDamage('too-large', { file, line, byteOffset: offset, byteLength: held, reason }, 1), out)
    line += 1
    offset += held + (ended ? 1 : 0)
  }

  return {
    push(chunk) {
      const out: Span[] = []
      let start = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        if (held === 0) take(chunk, start, at, true, out)
        else {
          parts.push(chunk.subarray(start, at))
          held += at - start
          const whole = held > limit ? undefined : Buffer.concat(parts, held)
          if (whole === undefined) tooLarge(true, out)
          else take(whole, 0, whole.length, true, out)
          parts = []
          held = 0
        }
        start = at + 1
      }
      if (start < chunk.length) {
        held += chunk.length - start
        if (held > limit) parts = []
        else parts.push(start === 0 ? chunk : chunk.subarray(start))
      }
      return out
    },
    end() {
      const out: Span[] = []
      if (held > limit) tooLarge(false, out)
      else if (held > 0) take(Buffer.concat(parts, held), 0, held, false, out)
      parts = []
      held = 0
      if (torn !== undefined) out.push(torn)
      torn = undefined
      return out
    },
  }
}

/** `offset` is where the file's byte 0 of the buffer would be: a place in the buffer plus this is a place in the file. */
type Line = {
  readonly file: string
  readonly line: number
  readonly offset: number
  readonly ended: boolean
}

/** The lines inside a line that is not one: cut at each mark, and every piece is a record and what follows it, or damage. */
function salvage(bytes: Buffer, from: number, to: number, line: Line): Span[] {
  const end = line.ended && to > from && bytes[to - 1] === RETURN ? to - 1 : to
  if (from === end) return []
  const spans: Span[] = []
  const damaged = (start: number, stop: number): void => {
    if (start >= stop) return
    const last = spans.at(-1)
    const span = classify(bytes, start, stop, { ...line, isLast: stop === end })
    // Side by side, they are one damage: a line of nothing but marks must not become a million of them.
    if (last?.parsed === undefined && last !== undefined) spans[spans.length - 1] = extend(last, span)
    else spans.push(span)
  }
  let at = findMark(bytes, from, end)
  damaged(from, at)
  while (at < end) {
    const next = findMark(bytes, at + 1, end)
    const stop = findLineEnd(bytes, at, next)
    const parsed = stop === undefined ? undefined : parseLine(bytes, at, stop)
    if (stop !== undefined && parsed !== undefined) {
      spans.push({ line: line.line, byteOffset: line.offset + at, byteLength: stop - at, parsed })
      damaged(stop, next)
    } else damaged(at, next)
    at = next
  }
  return spans
}

function findMark(bytes: Buffer, from: number, to: number): number {
  const at = bytes.subarray(from, to).indexOf(MARK_BYTES)
  return at === -1 ? to : from + at
}

function classify(
  bytes: Buffer,
  from: number,
  to: number,
  { file, line, offset, ended, isLast }: Line & { readonly isLast: boolean },
): DamageSpan {
  const piece = bytes.subarray(from, to)
  const [kind, reason, records] = describe(piece, isLast, ended)
  return toDamage(kind, { file, line, byteOffset: offset + from, byteLength: to - from, reason }, records)
}

function describe(piece: Buffer, isLast: boolean, ended: boolean): [DamageKind, string, number] {
  const start = piece.toString('latin1', 0, MARK.length)
  const isRecord = MARK.startsWith(start)
  const nul = piece.includes(0)
  if (nul) return ['nul', 'a run of NUL bytes', 1]
  if (!isLast)
    return ['fused', 'the remains of a record, with the next one on the same line', isRecord ? 1 : 0]
  if (isRecord && !ended) return ['torn', TORN_TAIL, 1]
  if (endsAsLine(piece, 0, piece.length)) return ['checksum', 'changed after it was written', 1]
  if (isRecord) return ['torn', 'a record without its end', 1]
  const value = parseJson(piece.toString('utf8'))
  if (isObject(value))
    return ['not-an-entry', `JSON that is no line of this version${version(value['v'])}`, 0]
  return ['not-json', 'not a journal line', 1]
}

function version(v: unknown): string {
  return typeof v === 'number' ? ` (version ${v})` : ''
}

/** The two halves of a record that a changed byte broke in two; undefined when they are not. */
function join(torn: DamageSpan, { damage }: DamageSpan): DamageSpan | undefined {
  const end = torn.damage.byteOffset + torn.damage.byteLength + 1
  if (damage.kind !== 'checksum' || damage.byteOffset !== end) return undefined
  const byteLength = torn.damage.byteLength + 1 + damage.byteLength
  const reason = 'changed after it was written, and broken in two'
  return toDamage('checksum', { ...torn.damage, byteLength, reason }, 1)
}

function extend(first: DamageSpan, second: DamageSpan): DamageSpan {
  const byteLength = first.damage.byteLength + second.damage.byteLength
  return { ...first, damage: { ...first.damage, byteLength }, records: first.records + second.records }
}

function toDamage(kind: DamageKind, facts: Omit<Damage, 'kind'>, records: number): DamageSpan {
  return { parsed: undefined, damage: { kind, ...facts }, records }
}
